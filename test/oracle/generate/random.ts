// A small seeded random number generator (mulberry32). Callers print the seed, so that a failing
// case can be repeated.

/** What each word adds to the state. */
const STEP = 0x6d2b79f5;

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The generator of a seed after so many words. */
  static after(seed: number, words: number): Random {
    return new Random(seed + Math.imul(words, STEP));
  }

  /** 32 random bits. */
  word(): number {
    this.#state = (this.#state + STEP) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** 0 .. limit - 1. */
  below(limit: number): number {
    return Math.floor((this.word() / 2 ** 32) * limit);
  }

  /** low .. high, both inclusive. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.word() / 2 ** 32 < probability;
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)];
    if (chosen === undefined) throw new Error("nothing to pick from");
    return chosen;
  }

  shuffle<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, key: this.word() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }

  /** `width` random bits. */
  bits(width: number): bigint {
    let value = 0n;
    for (let have = 0; have < width; have += 32) value = (value << 32n) | BigInt(this.word());
    return BigInt.asUintN(width, value);
  }

  bytes(length: number): number[] {
    return Array.from({ length }, () => this.below(256));
  }
}
