/**
 * Whether pieces of work are given to several cores or done by one: as was faster of late. Both are tried at the beginning, and the other
 * one again now and then, less and less often.
 */

/** Pieces of a trial. */
const PIECES = 16;
/** Pieces between two trials, at first and at last. */
const FIRST_PAUSE = 128;
const LAST_PAUSE = 8192;

export class Trial {
  /** Whether the next piece is for one alone. */
  alone = false;
  /** Milliseconds a unit, of the last pieces that were spread and of those that were not; none before both were tried. */
  readonly #costs = { spread: Infinity, alone: Infinity };
  #units = 0;
  #milliseconds = 0;
  /** Pieces until it is thought over. */
  #left = PIECES;
  #pause = FIRST_PAUSE;
  /** Whether these pieces are those of a trial. */
  #tries = true;

  /** A piece of so many units took so long. */
  done(units: number, milliseconds: number): void {
    this.#units += units;
    this.#milliseconds += milliseconds;
    if (--this.#left > 0) return;
    this.#costs[this.alone ? "alone" : "spread"] = this.#milliseconds / this.#units;
    this.#units = 0;
    this.#milliseconds = 0;
    this.#choose();
  }

  /** Behind a trial the better way is gone for a while; then the other one is tried. */
  #choose(): void {
    const { spread, alone } = this.#costs;
    const triedBoth = spread < Infinity && alone < Infinity;
    this.#tries = !triedBoth || !this.#tries;
    this.alone = this.#tries ? !this.alone : alone <= spread;
    this.#left = this.#tries ? PIECES : this.#pause;
    if (!this.#tries) this.#pause = Math.min(2 * this.#pause, LAST_PAUSE);
  }
}
