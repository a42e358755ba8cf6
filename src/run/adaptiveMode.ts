/**
 * Chooses between two ways to do a piece of work: shared among several cores, or by one core alone. Both are measured at the
 * start; the slower one is measured again from time to time, less and less often.
 */

/** Pieces of a measurement. */
const PIECES = 16;
/** Pieces between two measurements: at first, and at most. */
const FIRST_PAUSE = 128;
const LAST_PAUSE = 8192;

export class AdaptiveMode {
  /** Whether one core alone does the next piece. */
  alone = false;
  /** Milliseconds a unit in the last pieces of either way; Infinity before the first. */
  readonly #costs = { shared: Infinity, alone: Infinity };
  #units = 0;
  #milliseconds = 0;
  /** Pieces until the next choice. */
  #left = PIECES;
  #pause = FIRST_PAUSE;
  /** Whether the pieces since the last choice are a measurement. */
  #measures = true;

  /**
   * Notes the cost of a piece.
   * @param units the size of the piece, such as its frames
   */
  done(units: number, milliseconds: number): void {
    this.#units += units;
    this.#milliseconds += milliseconds;
    if (--this.#left > 0) return;
    this.#costs[this.alone ? "alone" : "shared"] = this.#milliseconds / this.#units;
    this.#units = 0;
    this.#milliseconds = 0;
    this.#choose();
  }

  /** After a measurement the faster way is used for a while; then the other one is measured. */
  #choose(): void {
    const { shared, alone } = this.#costs;
    const measuredBoth = shared < Infinity && alone < Infinity;
    this.#measures = !measuredBoth || !this.#measures;
    this.alone = this.#measures ? !this.alone : alone <= shared;
    this.#left = this.#measures ? PIECES : this.#pause;
    if (!this.#measures) this.#pause = Math.min(2 * this.#pause, LAST_PAUSE);
  }
}
