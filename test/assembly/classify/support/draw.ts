/**
 * Random masks, rules and keys that collide with one another. In: a random source. Out: pools to
 * draw rules and keys from.
 */
import { KEY_SIZE } from "../../../../src/abi/key.js";
import type { FieldRange } from "../../../../src/engine/rules.js";
import type { Random } from "../../../oracle/generate/frame.js";
import { LAST_RANK, type ModelRule, readRange, writeRange } from "./plainClassifier.js";

export interface Pools {
  /** Values and keys derive from these few, so that one key meets rules of many masks. */
  bases: readonly Uint8Array[];
  masks: readonly Uint8Array[];
}

/** Masks of at least `leastBits` bits: narrower ones soon match every key. */
export function drawPools(random: Random, masks: number, bases: number, leastBits: number): Pools {
  const wide = (): Uint8Array => {
    for (;;) {
      const mask = drawMask(random);
      if (bitsIn(mask) >= leastBits) return mask;
    }
  };
  return {
    masks: Array.from({ length: masks }, wide),
    bases: Array.from({ length: bases }, () => Uint8Array.from(random.bytes(KEY_SIZE))),
  };
}

function bitsIn(mask: Uint8Array): number {
  let count = 0;
  for (const bits of mask) for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** One byte, a field, part of a block, bytes all over the key, or all of it. */
export function drawMask(random: Random): Uint8Array {
  const mask = new Uint8Array(KEY_SIZE);
  const bits = (): number => random.pick([0xff, 0xff, 0xf0, 1 << random.below(8), random.between(1, 255)]);
  const kind = random.below(12);
  if (kind < 2) mask[random.below(KEY_SIZE)] = bits();
  else if (kind < 6) {
    const at = random.below(KEY_SIZE - 16);
    for (let byte = random.between(1, 16); byte > 0; byte--) mask[at + byte - 1] = bits();
  } else if (kind < 11) for (let left = random.between(1, 40); left > 0; left--) mask[random.below(KEY_SIZE)] = bits();
  else for (let byte = 0; byte < KEY_SIZE; byte++) mask[byte] = bits();
  return mask;
}

export function under(mask: Uint8Array, key: Uint8Array): Uint8Array {
  return key.map((bits, byte) => bits & (mask[byte] ?? 0));
}

/** Ranks of few values, of any value, and at the ends of 32 and 64 bits. */
export function drawRank(random: Random): bigint {
  const kind = random.below(4);
  if (kind === 0) return BigInt(random.below(1000));
  if (kind === 1) return random.pick([0n, 0x7fffffffn, 0x80000000n, 0xffffffffn, 1n << 32n, 1n << 63n, LAST_RANK]);
  return random.bits(64) % (LAST_RANK + 1n);
}

/**
 * Up to two ranges that contain fields of `key`; half the time the field is an end of the range.
 */
export function drawRanges(random: Random, key: Uint8Array): FieldRange[] {
  return Array.from({ length: random.pick([0, 0, 1, 2]) }, () => {
    const width = random.pick([2, 4, 8, 12, 16, 20, 32]);
    const fieldMask = 2 ** width - 1;
    const where = { dword: random.below(KEY_SIZE / 4) * 4, shift: random.below(32 - width + 1), fieldMask };
    const field = readRange(key, { ...where, low: 0, high: 0 });
    const low = random.chance(0.5) ? field : random.between(0, field);
    const high = random.chance(0.5) ? field : random.between(field, fieldMask);
    return { ...where, low, high };
  });
}

/** A key that matches the rule; bytes outside the mask are from `base`. */
export function hittingKey(random: Random, rule: ModelRule, base: Uint8Array): Uint8Array {
  const key = base.map((bits, byte) => (bits & ~(rule.mask[byte] ?? 0)) | (rule.value[byte] ?? 0));
  for (const range of rule.ranges) {
    const field = readRange(key, range);
    if (field >= range.low && field <= range.high) continue;
    writeRange(key, range, random.pick([range.low, range.high, random.between(range.low, range.high)]));
  }
  return key;
}

/** A key that just misses the rule: one wrong bit under the mask, or a field next to its range. */
export function missingKey(random: Random, rule: ModelRule, base: Uint8Array): Uint8Array {
  const key = hittingKey(random, rule, base);
  const range = rule.ranges[random.below(2)];
  if (range !== undefined && (range.low > 0 || range.high < range.fieldMask)) {
    const above = range.low === 0 || (range.high < range.fieldMask && random.chance(0.5));
    writeRange(key, range, above ? range.high + 1 : range.low - 1);
    return key;
  }
  if (rule.asked.length === 0) return key;
  const byte = random.pick(rule.asked);
  const bits = [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (rule.mask[byte] ?? 0) & (1 << bit));
  key[byte] = (key[byte] ?? 0) ^ (1 << random.pick(bits));
  return key;
}
