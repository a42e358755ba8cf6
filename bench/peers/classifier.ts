/**
 * Rules in plain JavaScript, a Map a mask: the masks in the order of their best rule, so that a lookup ends where no
 * later mask can win.
 *
 * The Map goes from a 32-bit hash of the masked words to the first rule of a chain by rank. Rules lie in one typed array
 * a mask, | value words | hash | rank | next |: an object a rule would cost two cache misses more in large tables, and
 * text as the Map's key takes longer in small ones.
 */

/** A word of the record and the bits of it that a rule asks about. */
export interface MaskWord {
  word: number;
  bits: number;
}

const NONE = -1;
const FIRST_ROOM = 8;

function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

/** The rules of one mask; a rule is a number that `remove` accepts. */
export class PlainGroup<T> {
  readonly key: string;
  /** At most the lowest rank of the rules. */
  best = Infinity;
  readonly #words: Int32Array;
  readonly #bits: Int32Array;
  readonly #stride: number;
  readonly #chains = new Map<number, number>();
  readonly #whats: (T | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #sort: () => void;
  #rules: Int32Array;

  constructor(key: string, mask: readonly MaskWord[], sort: () => void) {
    this.key = key;
    this.#words = Int32Array.from(mask, ({ word }) => word);
    this.#bits = Int32Array.from(mask, ({ bits }) => bits);
    this.#stride = mask.length + 3;
    this.#rules = new Int32Array(FIRST_ROOM * this.#stride);
    this.#sort = sort;
  }

  /** `values[n]` is the value of the mask's word n, inside its bits; a rank is below 2^31. */
  insert(values: readonly number[], rank: number, what: T): number {
    const rule = this.#free.pop() ?? this.#whats.length;
    this.#whats[rule] = what;
    const width = this.#words.length;
    const at = rule * this.#stride;
    if (at === this.#rules.length) {
      const larger = new Int32Array(2 * at);
      larger.set(this.#rules);
      this.#rules = larger;
    }
    const rules = this.#rules;
    let hash = 0;
    for (let n = 0; n < width; n++) {
      const value = values[n]!;
      hash = mix(hash, value);
      rules[at + n] = value;
    }
    rules[at + width] = hash;
    rules[at + width + 1] = rank;
    let before = this.#chains.get(hash) ?? NONE;
    if (before === NONE || rank < this.#rank(before)) {
      rules[at + width + 2] = before;
      this.#chains.set(hash, rule);
    } else {
      let next = this.#next(before);
      for (; next !== NONE && this.#rank(next) <= rank; next = this.#next(next)) before = next;
      rules[at + width + 2] = next;
      rules[before * this.#stride + width + 2] = rule;
    }
    if (rank < this.best) {
      this.best = rank;
      this.#sort();
    }
    return rule;
  }

  remove(rule: number): void {
    const hash = this.#rules[rule * this.#stride + this.#words.length]!;
    const next = this.#next(rule);
    let before = this.#chains.get(hash)!;
    if (before === rule) {
      if (next === NONE) this.#chains.delete(hash);
      else this.#chains.set(hash, next);
    } else {
      while (this.#next(before) !== rule) before = this.#next(before);
      this.#rules[before * this.#stride + this.#words.length + 2] = next;
    }
    this.#whats[rule] = undefined;
    this.#free.push(rule);
    if (this.#chains.size > 0) return;
    this.best = Infinity;
    this.#sort();
  }

  /** The first rule by rank that the record at `record` matches, or -1. */
  find(fields: Int32Array, record: number): number {
    const words = this.#words;
    const bits = this.#bits;
    let hash = 0;
    for (let n = 0; n < words.length; n++) hash = mix(hash, fields[record + words[n]!]! & bits[n]!);
    let rule = this.#chains.get(hash) ?? NONE;
    while (rule !== NONE && !this.#equals(rule, fields, record)) rule = this.#next(rule);
    return rule;
  }

  rankOf(rule: number): number {
    return this.#rank(rule);
  }

  whatOf(rule: number): T {
    return this.#whats[rule]!;
  }

  #rank(rule: number): number {
    return this.#rules[rule * this.#stride + this.#words.length + 1]!;
  }

  #next(rule: number): number {
    return this.#rules[rule * this.#stride + this.#words.length + 2]!;
  }

  #equals(rule: number, fields: Int32Array, record: number): boolean {
    const words = this.#words;
    const bits = this.#bits;
    const rules = this.#rules;
    const at = rule * this.#stride;
    for (let n = 0; n < words.length; n++) {
      if ((fields[record + words[n]!]! & bits[n]!) !== rules[at + n]!) return false;
    }
    return true;
  }
}

export class PlainClassifier<T> {
  readonly #groups: PlainGroup<T>[] = [];

  /** The group of a mask, created if missing. */
  group(mask: readonly MaskWord[]): PlainGroup<T> {
    const key = mask.map(({ word, bits }) => `${word}/${bits}`).join();
    let group = this.#groups.find((one) => one.key === key);
    if (group === undefined) {
      group = new PlainGroup<T>(key, mask, () => this.#groups.sort((a, b) => a.best - b.best));
      this.#groups.push(group);
    }
    return group;
  }

  /** What the first rule by rank holds that the record at `record` matches. */
  lookup(fields: Int32Array, record: number): T | null {
    const groups = this.#groups;
    let found: T | null = null;
    let best = Infinity;
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!;
      if (best < group.best) break;
      const rule = group.find(fields, record);
      if (rule < 0 || group.rankOf(rule) >= best) continue;
      best = group.rankOf(rule);
      found = group.whatOf(rule);
    }
    return found;
  }
}
