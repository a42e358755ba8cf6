/** Draws numbers by weight: each as often as its share of the sum. */
export class Shares {
  readonly #until: Float64Array;

  constructor(shares: readonly number[]) {
    this.#until = new Float64Array(shares.length);
    let sum = 0;
    for (const [i, share] of shares.entries()) this.#until[i] = sum += share;
    for (let i = 0; i < shares.length; i++) this.#until[i]! /= sum;
  }

  /** The place that an unsigned 32-bit number falls on. */
  pick(chance: number): number {
    const value = chance / 2 ** 32;
    const until = this.#until;
    let low = 0;
    let high = until.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (until[middle]! > value) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
