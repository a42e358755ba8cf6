/**
 * The expected results of the classifier: a list of rules, compared byte by byte. In: the same
 * changes and keys as the core. Out: the rule that the core must find.
 */
import { KEY_SIZE } from "../../../../src/abi/key.js";
import type { Core } from "../../../../src/engine/core.js";
import { insertRule, type FieldRange } from "../../../../src/engine/rules.js";
import { RuleMask } from "../../../../src/engine/ruleMask.js";
import type { Random } from "../../../oracle/generate/frame.js";

export interface ModelRule {
  /** The address in the core. */
  handle: number;
  id: number;
  rank: bigint;
  mask: Uint8Array;
  value: Uint8Array;
  ranges: readonly FieldRange[];
  /** The nonzero bytes of the mask. */
  asked: readonly number[];
}

/** The highest rank that a host sets; `2^64 - 1` means no rule in the core. */
export const LAST_RANK = 2n ** 64n - 2n;

export class ModelTable {
  readonly core: Core;
  readonly table: number;
  readonly rules: ModelRule[] = [];
  #nextId = 1;

  constructor(core: Core, flags = 0) {
    this.core = core;
    this.table = core.exports.createTable(flags) >>> 0;
    if (this.table === 0) throw new Error("no memory for a table");
  }

  /** False when the core has no memory for the rule. */
  insert(rank: bigint, given: Uint8Array | RuleMask, value: Uint8Array, ranges: readonly FieldRange[] = []): boolean {
    const id = this.#nextId++;
    const [rankHigh, rankLow] = words(rank);
    const rule = { id, rankHigh, rankLow, mask: given, value, ranges, actions: [] };
    const handle = insertRule(this.core, this.table, rule);
    if (handle === 0) return false;
    const mask = given instanceof RuleMask ? given.key : given;
    const asked = Array.from(mask.keys()).filter((byte) => mask[byte] !== 0);
    this.rules.push({ handle, id, rank, mask, value, ranges, asked });
    return true;
  }

  remove(i: number): void {
    const [rule] = this.rules.splice(i, 1);
    if (rule !== undefined) this.core.exports.removeRule(rule.handle);
  }

  rerank(i: number, rank: bigint): void {
    const [rule] = this.rules.splice(i, 1);
    if (rule === undefined) return;
    rule.rank = rank;
    this.core.exports.rerankRule(rule.handle, ...words(rank));
    // Of equal ranks the rule that got its rank last comes last.
    this.rules.push(rule);
  }

  /**
   * Rules of a table get different ranks: the order of equal ranks of different masks is undefined.
   */
  freeRank(draw: () => bigint): bigint {
    for (;;) {
      const rank = draw();
      if (!this.rules.some((rule) => rule.rank === rank)) return rank;
    }
  }

  clear(random?: Random): void {
    while (this.rules.length > 0) this.remove(random?.below(this.rules.length) ?? this.rules.length - 1);
  }

  destroy(): void {
    this.clear();
    this.core.exports.destroyTable(this.table);
  }

  /** The first rule by rank that the key matches, from a lower bound on. */
  find(key: Uint8Array, lower = 0n): ModelRule | undefined {
    let best: ModelRule | undefined;
    for (const rule of this.rules) {
      if (rule.rank < lower || (best !== undefined && rule.rank >= best.rank)) continue;
      if (hits(rule, key)) best = rule;
    }
    return best;
  }

  /** The result of the core: for each key the address of a rule, or 0. */
  classify(keys: readonly Uint8Array[], lower = 0n): number[] {
    const { core } = this;
    for (const [i, key] of keys.entries()) core.u8.set(key, core.keys + i * KEY_SIZE);
    core.u32.fill(0xdeadbeef, core.found >> 2, (core.found >> 2) + keys.length);
    core.exports.classify(this.table, keys.length, ...words(lower));
    return Array.from(core.u32.subarray(core.found >> 2, (core.found >> 2) + keys.length));
  }
}

function words(rank: bigint): [high: number, low: number] {
  return [Number(rank >> 32n), Number(rank & 0xffffffffn)];
}

function hits({ asked, mask, value, ranges }: ModelRule, key: Uint8Array): boolean {
  for (const byte of asked) if (((key[byte] ?? 0) & (mask[byte] ?? 0)) !== value[byte]) return false;
  return ranges.every((range) => {
    const field = readRange(key, range);
    return field >= range.low && field <= range.high;
  });
}

/** The field of a range, from a big-endian dword. */
export function readRange(key: Uint8Array, { dword, shift, fieldMask }: FieldRange): number {
  return ((viewOf(key).getUint32(dword) >>> shift) & fieldMask) >>> 0;
}

export function writeRange(key: Uint8Array, { dword, shift, fieldMask }: FieldRange, field: number): void {
  const rest = viewOf(key).getUint32(dword) & ~(fieldMask << shift);
  viewOf(key).setUint32(dword, (rest | ((field & fieldMask) << shift)) >>> 0);
}

function viewOf(key: Uint8Array): DataView {
  return new DataView(key.buffer, key.byteOffset, key.byteLength);
}
