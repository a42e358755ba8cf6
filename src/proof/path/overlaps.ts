/**
 * Finds the rules of a table that overlap one of them. A bitmap for the bits that a rule asks of one byte has the rules
 * that ask nothing else of it; the conjunction over the bytes has the candidates.
 */
import type { TableRules } from "./tableRules.js";

/** Bytes of bitmaps for one table. Without a bitmap for a byte, more candidates are compared. */
const MAX_BYTES = 1 << 26;

export class Overlaps {
  readonly #rules: TableRules;
  readonly #length: number;
  /** By word, byte, mask and value. */
  readonly #bitmaps = new Map<string, Bitmap>();
  #left: number;

  constructor(rules: TableRules) {
    this.#rules = rules;
    this.#length = (rules.count + 31) >> 5;
    this.#left = Math.floor(MAX_BYTES / (4 * this.#length + 1));
  }

  /**
   * The rules from `from` up to `to`, without it, that overlap rule `i`, by rank.
   * @param without rules that are left out: a bit for each
   */
  *of(i: number, from: number, to: number, without: readonly Uint32Array[] = []): Iterable<number> {
    const maps = this.#mapsOf(i);
    for (let at = from >> 5; at << 5 < to; at++) {
      let bits = at === from >> 5 ? -1 << (from & 31) : -1;
      if (at === to >> 5) bits &= ~(-1 << (to & 31));
      for (let n = 0; n < maps.length && bits !== 0; n++) bits &= (maps[n] as Bitmap).bits[at] as number;
      for (let n = 0; n < without.length && bits !== 0; n++) bits &= ~((without[n] as Uint32Array)[at] as number);
      for (; bits !== 0; bits &= bits - 1) {
        const j = (at << 5) + 31 - Math.clz32(bits & -bits);
        if (j !== i && this.#rules.overlaps(i, j)) yield j;
      }
    }
  }

  /** The bitmap of the rules that `has` is true for. */
  bitmapOf(has: (i: number) => boolean): Uint32Array {
    const bits = new Uint32Array(this.#length);
    for (let i = 0; i < this.#rules.count; i++) if (has(i)) (bits[i >> 5] as number) |= 1 << (i & 31);
    return bits;
  }

  /** Those of a rule, the rarest first. */
  #mapsOf(i: number): Bitmap[] {
    const maps: Bitmap[] = [];
    for (let w = 0; w < this.#rules.words.length; w++) {
      const mask = this.#rules.mask(i, w);
      for (let shift = 0; shift < 32; shift += 8) {
        if (((mask >>> shift) & 0xff) === 0) continue;
        const map = this.#mapOf(w, mask & (0xff << shift), this.#rules.value(i, w) & (0xff << shift));
        if (map !== undefined) maps.push(map);
      }
    }
    return maps.sort((a, b) => a.count - b.count);
  }

  #mapOf(w: number, mask: number, value: number): Bitmap | undefined {
    const key = `${w} ${mask} ${value}`;
    let map = this.#bitmaps.get(key);
    if (map !== undefined || this.#left === 0) return map;
    this.#left--;
    let count = 0;
    const bits = this.bitmapOf((j) => {
      const agrees = ((this.#rules.value(j, w) ^ value) & this.#rules.mask(j, w) & mask) === 0;
      count += Number(agrees);
      return agrees;
    });
    this.#bitmaps.set(key, (map = { bits, count }));
    return map;
  }
}

interface Bitmap {
  readonly bits: Uint32Array;
  /** How many rules it has. */
  readonly count: number;
}
