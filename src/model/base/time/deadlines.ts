/** What waits on the clock of a device, in the order of its time: a binary heap that knows the place of each entry. */

/**
 * Something that waits for a time. The owner keeps the object and sets it again and again; an object
 * waits for one time at most. Its fields are data: `at` and `order` say when it comes, its class and
 * its own fields say what it does.
 */
export abstract class Deadline {
  /** Nanoseconds. Meaningful while it waits. */
  at = 0n;
  /** Deadlines of one time come in the order in which they were set. */
  order = 0;
  /** Its index in the heap; -1 while it does not wait. */
  place = -1;

  /** Whether it waits. */
  get waits(): boolean {
    return this.place >= 0;
  }

  /** Does what waited. The deadline does not wait any more and may be set again. */
  abstract due(): void;
}

export class Deadlines {
  private readonly _heap: Deadline[] = [];
  private _next = 0;

  /** The deadline that comes first; undefined while nothing waits. */
  get first(): Deadline | undefined {
    return this._heap[0];
  }

  /** All that waits, in the order in which it comes. */
  all(): Deadline[] {
    return [...this._heap].sort((a, b) => (before(a, b) ? -1 : 1));
  }

  /**
   * Sets the time of a deadline. One that waits already moves.
   * @param order among those of the same time. @default after all that were set before
   */
  set(deadline: Deadline, at: bigint, order = this._next++): void {
    this.cancel(deadline);
    deadline.at = at;
    deadline.order = order;
    this._heap.push(deadline);
    this._rise(deadline, this._heap.length - 1);
  }

  /** Removes a deadline, if it waits. */
  cancel(deadline: Deadline): void {
    const { place } = deadline;
    if (place < 0) return;
    deadline.place = -1;
    const last = this._heap.pop() as Deadline;
    if (last === deadline) return;
    this._sink(last, place);
    this._rise(last, last.place);
  }

  /** Stores a deadline at a place or above it. */
  private _rise(deadline: Deadline, place: number): void {
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this._heap[above] as Deadline;
      if (before(parent, deadline)) break;
      this._store(parent, place);
      place = above;
    }
    this._store(deadline, place);
  }

  /** Stores a deadline at a place or below it. */
  private _sink(deadline: Deadline, place: number): void {
    for (let child = this._child(place); child !== undefined && before(child, deadline); child = this._child(place)) {
      const below = child.place;
      this._store(child, place);
      place = below;
    }
    this._store(deadline, place);
  }

  /** The earlier child of a place. */
  private _child(place: number): Deadline | undefined {
    const left = this._heap[2 * place + 1];
    const right = this._heap[2 * place + 2];
    return left !== undefined && right !== undefined && before(right, left) ? right : left;
  }

  private _store(deadline: Deadline, place: number): void {
    this._heap[place] = deadline;
    deadline.place = place;
  }
}

function before(a: Deadline, b: Deadline): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
