/** The rules of a table by rank, as flat arrays for the tests of thousands of rules. */
import { RANGE_DWORD, RANGE_HIGH, RANGE_LOW, RANGE_MASK, RANGE_SHIFT, RANGE_SIZE } from "../../abi/engine.js";
import { RANK_SLOT, STAGE_MASK, STAGE_RANGES, STAGE_VALUE } from "../../abi/engine.js";
import { KEY_SIZE } from "../../abi/key.js";
import type { StoredRule, TracedCore } from "../../engine/tracedCore.js";
import type { FieldRange } from "../../engine/rules.js";
import type { RuleNode, RuleReader } from "../../explain/why/rules.js";
import { greatestIn, leastIn } from "./cube.js";

const DWORDS = KEY_SIZE / 4;
const NO_RANGES: readonly FieldRange[] = [];

/** The numbers that a rule takes in a field of a dword: those of mask and value, from `low` to `high`. */
interface FieldSet {
  readonly mask: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The rules of a table by rank: rule 0 comes first. A lookup takes the first one whose masked words and ranges the key has.
 * Words are signed numbers of 32 bits; the first bit of the key is the most significant one of dword 0.
 */
export class TableRules {
  /** The address of the table. */
  readonly table: number;
  readonly count: number;
  /** The dwords of the key that some rule masks. `w` below is an index in this list. */
  readonly words: Int32Array;
  readonly #reader: RuleReader;
  readonly #stored: readonly StoredRule[];
  /** The index in `words` of each dword of the key; -1 for none. */
  readonly #wordOf = new Int32Array(DWORDS).fill(-1);
  /** The words of each different mask, and the mask of each rule. */
  readonly #masks: Int32Array;
  readonly #maskOf: Uint32Array;
  readonly #values: Int32Array;
  readonly #ranges = new Map<number, readonly FieldRange[]>();
  #indexOf: Map<number, number> | null = null;

  constructor(reader: RuleReader, table: number) {
    const { traced } = reader;
    this.table = table;
    this.#reader = reader;
    this.#stored = traced.rulesOf(table);
    this.count = this.#stored.length;
    this.#maskOf = new Uint32Array(this.count);
    const masks = this.#readMasks(traced);
    this.words = Int32Array.from({ length: DWORDS }, (_, dword) => dword).filter((dword) =>
      masks.some((mask) => mask[dword] !== 0),
    );
    this.words.forEach((dword, w) => (this.#wordOf[dword] = w));
    const { words } = this;
    this.#masks = new Int32Array(masks.length * words.length);
    masks.forEach((mask, n) =>
      words.forEach((dword, w) => (this.#masks[n * words.length + w] = mask[dword] as number)),
    );
    this.#values = new Int32Array(this.count * words.length);
    this.#readValues(traced);
  }

  /** The different masks of the table, whole; rules with the same mask share its memory. */
  #readMasks(traced: TracedCore): Int32Array[] {
    const masks: Int32Array[] = [];
    const known = new Map<number, number>();
    this.#stored.forEach(({ address }, i) => {
      const mask = traced.maskAddress(address);
      let n = known.get(mask);
      if (n === undefined) {
        known.set(mask, (n = masks.length));
        traced.stageRule(address);
        masks.push(Int32Array.from({ length: DWORDS }, (_, dword) => stagedWord(traced, STAGE_MASK + 4 * dword)));
      }
      this.#maskOf[i] = n;
    });
    return masks;
  }

  #readValues(traced: TracedCore): void {
    const { words } = this;
    this.#stored.forEach(({ address }, i) => {
      const ranges = traced.stageRule(address);
      for (let w = 0; w < words.length; w++) {
        this.#values[i * words.length + w] = stagedWord(traced, STAGE_VALUE + 4 * (words[w] as number));
      }
      if (ranges > 0) this.#ranges.set(i, stagedRanges(traced, ranges));
    });
  }

  /** The masked bits of rule `i` in dword `words[w]`. */
  mask(i: number, w: number): number {
    return this.#masks[(this.#maskOf[i] as number) * this.words.length + w] as number;
  }

  /** The value of these bits; 0 in other bits. */
  value(i: number, w: number): number {
    return this.#values[i * this.words.length + w] as number;
  }

  /** A number for the mask of a rule: rules with equal numbers have equal masks. */
  maskNumber(i: number): number {
    return this.#maskOf[i] as number;
  }

  ranges(i: number): readonly FieldRange[] {
    return this.#ranges.get(i) ?? NO_RANGES;
  }

  /** The slot of ranks of a rule: `resume` goes on with the next slot. */
  slot(i: number): number {
    return slotOf(this.#stored[i] as StoredRule);
  }

  /** The first rule of a slot or a later one; `count` for none. */
  firstFrom(slot: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.slot(middle) < slot) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  node(i: number): RuleNode {
    return this.#reader.nodeOf(this.table, this.#stored[i] as StoredRule);
  }

  /** The place of the rule at an address; -1 if the table does not have it. */
  indexOf(address: number): number {
    this.#indexOf ??= new Map(this.#stored.map((stored, i) => [stored.address, i]));
    return this.#indexOf.get(address) ?? -1;
  }

  /** Whether some key has the masked words and ranges of both rules. */
  overlaps(i: number, j: number): boolean {
    const { length } = this.words;
    const [a, b] = [i * length, j * length];
    const [ma, mb] = [(this.#maskOf[i] as number) * length, (this.#maskOf[j] as number) * length];
    const values = this.#values;
    const masks = this.#masks;
    for (let w = 0; w < length; w++) {
      const unlike = (values[a + w] as number) ^ (values[b + w] as number);
      if ((unlike & (masks[ma + w] as number) & (masks[mb + w] as number)) !== 0) return false;
    }
    if (this.#ranges.size === 0) return true;
    return [...this.ranges(i), ...this.ranges(j)].every((range) => {
      const [one, other] = [this.#setOf(i, range), this.#setOf(j, range)];
      const both = {
        mask: (one.mask | other.mask) >>> 0,
        value: (one.value | other.value) >>> 0,
        low: Math.max(one.low, other.low),
        high: Math.min(one.high, other.high),
      };
      return leastIn(both.mask, both.value, both.low) <= both.high;
    });
  }

  /** Whether every key that rule `j` takes has the masked words and ranges of rule `i`. */
  contains(i: number, j: number): boolean {
    const { length } = this.words;
    const [a, b] = [i * length, j * length];
    const [ma, mb] = [(this.#maskOf[i] as number) * length, (this.#maskOf[j] as number) * length];
    for (let w = 0; w < length; w++) {
      const mask = this.#masks[ma + w] as number;
      const other = this.#masks[mb + w] as number;
      const unlike = (this.#values[a + w] as number) ^ (this.#values[b + w] as number);
      if ((unlike & mask & other) !== 0) return false;
      if ((mask & ~other) !== 0 && !this.#rangesFix(j, w, mask & ~other, this.#values[a + w] as number)) return false;
    }
    return this.ranges(i).every((range) => {
      const { mask, value, low, high } = this.#setOf(j, range);
      return leastIn(mask, value, low) >= range.low && greatestIn(mask, value, high) <= range.high;
    });
  }

  /** Whether the ranges of a rule, with its masked bits, leave only the bits of `value` under `mask`. */
  #rangesFix(j: number, w: number, mask: number, value: number): boolean {
    let left = mask;
    for (const range of this.ranges(j)) {
      const { dword, shift, fieldMask } = range;
      if (dword !== 4 * (this.words[w] as number)) continue;
      const set = this.#setOf(j, range);
      const low = leastIn(set.mask, set.value, set.low);
      const high = greatestIn(set.mask, set.value, set.high);
      // Numbers from low to high have the bits above the highest one that differs in common; others that are not masked vary.
      const differing = low === high ? 0 : 2 ** (32 - Math.clz32(low ^ high)) - 1;
      const fixed = (fieldMask & ~differing) << shift;
      if ((((low << shift) ^ value) & fixed & left) === 0) left &= ~fixed;
    }
    return left === 0;
  }

  /** The numbers that rule `i` takes in the field of a range. */
  #setOf(i: number, { dword, shift, fieldMask }: FieldRange): FieldSet {
    const w = this.#wordOf[dword >> 2] as number;
    const part = (word: number): number => ((word >>> shift) & fieldMask) >>> 0;
    let [low, high] = [0, fieldMask >>> 0];
    for (const range of this.ranges(i)) {
      if (range.dword !== dword || range.shift !== shift || range.fieldMask !== fieldMask) continue;
      low = Math.max(low, range.low);
      high = Math.min(high, range.high);
    }
    const mask = w < 0 ? 0 : part(this.mask(i, w));
    // Bits beyond the field are 0.
    return { mask: (mask | ~fieldMask) >>> 0, value: w < 0 ? 0 : part(this.value(i, w)), low, high };
  }
}

/** The slot of the rank of a rule. */
export function slotOf({ rankHigh }: StoredRule): number {
  return rankHigh >>> (RANK_SLOT - 32);
}

/** A big-endian word of the staging area. */
function stagedWord({ core }: TracedCore, offset: number): number {
  const word = core.u32[(core.staging + offset) >> 2] as number;
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}

function stagedRanges({ core }: TracedCore, count: number): FieldRange[] {
  return Array.from({ length: count }, (_, n) => {
    const word = (offset: number): number =>
      core.u32[(core.staging + STAGE_RANGES + n * RANGE_SIZE + offset) >> 2] as number;
    return {
      dword: word(RANGE_DWORD),
      shift: word(RANGE_SHIFT),
      fieldMask: word(RANGE_MASK),
      low: word(RANGE_LOW),
      high: word(RANGE_HIGH),
    };
  });
}
