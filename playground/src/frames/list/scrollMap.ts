/**
 * Where a list is scrolled to. Browsers limit the height of an element (Firefox to 17.8 million
 * pixels), and positions near the limit lose their precision. A longer list stands in an element of
 * `MAX_LENGTH` pixels: short ways of the scroll bar move the list by as many pixels, long ones by the same
 * share of the whole. The scroll bar is set right when it rests or comes to an end. Near both ends of
 * the list, pixels of the bar are pixels of the list, so that every way of it comes to the end.
 */

/** Pixels of the highest element. */
export const MAX_LENGTH = 6_000_000;
/** Pixels at both ends of a longer list that are pixels of the element too. */
const EDGE = 100_000;

export class ScrollMap {
  #whole = 0;
  #view = 0;
  /** The position of the element, and of the list. */
  #bar = 0;
  #top = 0;

  /**
   * @param whole pixels of the list
   * @param view pixels that are in view
   */
  resize(whole: number, view: number): void {
    [this.#whole, this.#view] = [whole, view];
    this.#top = this.#within(this.#top);
  }

  /** The height of the element. */
  get height(): number {
    return Math.min(this.#whole, MAX_LENGTH);
  }

  /** Pixels of the list above the view. */
  get top(): number {
    return this.#top;
  }

  /** What is to be added to positions in the list for those in the element. */
  get shift(): number {
    return this.#bar - this.#top;
  }

  /** The element was scrolled. @returns where it should be scrolled to, if not there */
  scrolled(bar: number): number | null {
    const moved = bar - this.#bar;
    this.#bar = bar;
    if (this.#isWhole) this.#top = bar;
    else if (Math.abs(moved) <= 2 * this.#view) this.#top = this.#within(this.#top + moved);
    else this.#top = this.#within(through(bar, this.#barRoom, this.#room));
    const atEnd = bar <= 0 || bar >= this.#barRoom;
    const listAtEnd = this.#top <= 0 || this.#top >= this.#room;
    return atEnd !== listAtEnd ? this.settle() : null;
  }

  /** Scrolls the list. @returns where the element is to be scrolled to */
  scrollTo(top: number): number {
    this.#top = this.#within(top);
    return this.settle() ?? this.#bar;
  }

  /** Brings the element to the share of the list. @returns where it is to be scrolled to, if not there */
  settle(): number | null {
    const bar = this.#isWhole ? this.#top : Math.round(through(this.#top, this.#room, this.#barRoom));
    if (bar === this.#bar) return null;
    this.#bar = bar;
    return bar;
  }

  get #isWhole(): boolean {
    return this.#whole <= MAX_LENGTH;
  }

  get #room(): number {
    return Math.max(0, this.#whole - this.#view);
  }

  get #barRoom(): number {
    return Math.max(1, this.height - this.#view);
  }

  #within(top: number): number {
    return Math.min(Math.max(top, 0), this.#room);
  }
}

/** A position of one length as that of another: the same distance from an end that is near, the same share between them. */
function through(position: number, from: number, to: number): number {
  if (position <= EDGE) return position;
  if (from - position <= EDGE) return to - (from - position);
  return EDGE + ((position - EDGE) * (to - 2 * EDGE)) / (from - 2 * EDGE);
}
