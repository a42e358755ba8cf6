/**
 * A million rules are inserted and removed in one table while their masks change; a plain list
 * gives the expected results.
 */
import { expect, test } from "vitest";
import release from "../../../build/release/core.wasm";
import {
  KEY_SIZE,
  LAYER_DST_IPV4,
  LAYER_PROTOCOL,
  LAYER_SRC_IPV4,
  LAYER_TCP_PORTS,
  OUTER,
} from "../../../src/abi/key.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { insertRule, type FieldRange } from "../../../src/engine/rules.js";
import { RuleMask } from "../../../src/engine/ruleMask.js";
import { Random } from "../../oracle/generate/random.js";
import { drawMask, drawRanges, hittingKey, missingKey, under } from "./support/draw.js";
import { readRange, type ModelRule } from "./support/plainClassifier.js";
import { seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

const STEPS = rounds(500_000);
/** Steps with the same masks and the same target number of rules. */
const WAVE = 20_000;
const COMPARE_EVERY = 1000;
const KEYS = 32;

/** A mask and its nonzero dwords. */
interface Shape {
  mask: Uint8Array;
  /** The mask as the core takes it: every other one has a number. */
  given: Uint8Array | RuleMask;
  mask32: Uint32Array;
  asked: readonly number[];
  dwords: readonly number[];
}

interface ListedRule extends ModelRule {
  shape: Shape;
  value32: Uint32Array;
}

/** Rules in no order, with different ranks. */
class List {
  readonly core: Core;
  readonly table: number;
  readonly rules: ListedRule[] = [];
  #count = 0;
  #ranks = 0;

  constructor(core: Core) {
    this.core = core;
    this.table = core.exports.createTable(0) >>> 0;
  }

  insert(random: Random, shape: Shape, value: Uint8Array, ranges: readonly FieldRange[]): void {
    const id = ++this.#count;
    const [rankHigh, rankLow] = this.#nextRank(random);
    const { mask, asked, given } = shape;
    const handle = insertRule(this.core, this.table, {
      id,
      rankHigh,
      rankLow,
      mask: given,
      value,
      ranges,
      actions: [],
    });
    if (handle === 0) throw new Error("no memory for a rule");
    const rank = rankOf(rankHigh, rankLow);
    this.rules.push({ handle, id, rank, mask, value, ranges, asked, shape, value32: new Uint32Array(value.buffer) });
  }

  remove(i: number): void {
    this.core.exports.removeRule(this.rules[i]!.handle);
    const last = this.rules.pop()!;
    if (i < this.rules.length) this.rules[i] = last;
  }

  rerank(random: Random, i: number): void {
    const [high, low] = this.#nextRank(random);
    this.core.exports.rerankRule(this.rules[i]!.handle, high, low);
    this.rules[i]!.rank = rankOf(high, low);
  }

  find(key: Uint8Array, lower: bigint): ListedRule | undefined {
    const key32 = new Uint32Array(key.buffer);
    let best: ListedRule | undefined;
    for (const rule of this.rules) {
      if (!hits(rule, key, key32) || rule.rank < lower) continue;
      if (best === undefined || rule.rank < best.rank) best = rule;
    }
    return best;
  }

  classify(keys: readonly Uint8Array[], lower: bigint): Uint32Array {
    const { core } = this;
    for (const [i, key] of keys.entries()) core.u8.set(key, core.keys + i * KEY_SIZE);
    core.exports.classify(this.table, keys.length, Number(lower >> 32n), Number(lower & 0xffffffffn));
    return core.u32.slice(core.found >> 2, (core.found >> 2) + keys.length);
  }

  /**
   * Few different high halves, so that the low halves decide too. A low half is never used twice.
   */
  #nextRank(random: Random): [high: number, low: number] {
    return [random.below(64), Math.imul(++this.#ranks, 0x9e3779b1) >>> 0];
  }
}

function rankOf(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

function hits({ shape, value32, ranges }: ListedRule, key: Uint8Array, key32: Uint32Array): boolean {
  const { mask32, dwords } = shape;
  for (const dword of dwords) if ((key32[dword]! & mask32[dword]!) >>> 0 !== value32[dword]) return false;
  return ranges.every((range) => {
    const field = readRange(key, range);
    return field >= range.low && field <= range.high;
  });
}

function shapeOf(mask: Uint8Array, n: number): Shape {
  const mask32 = new Uint32Array(mask.buffer);
  return {
    mask,
    given: n % 2 === 0 ? mask : new RuleMask(mask),
    mask32,
    asked: Array.from(mask.keys()).filter((byte) => mask[byte] !== 0),
    dwords: Array.from(mask32.keys()).filter((dword) => mask32[dword] !== 0),
  };
}

/** Prefixes of both addresses, either port or none, the protocol or not: typical masks. */
function tupleMask(random: Random): Uint8Array {
  const mask = new Uint8Array(KEY_SIZE);
  const view = new DataView(mask.buffer);
  for (const at of [LAYER_SRC_IPV4, LAYER_DST_IPV4]) {
    const bits = random.pick([0, 8, 16, 24, 32, random.below(33)]);
    view.setUint32(OUTER + at, bits === 0 ? 0 : (-1 << (32 - bits)) >>> 0);
  }
  for (const at of [0, 2]) if (random.chance(0.4)) view.setUint16(LAYER_TCP_PORTS + at, 0xffff);
  if (random.chance(0.7)) mask[LAYER_PROTOCOL] = 0xff;
  return mask;
}

/** A port range, or a range of any field for arbitrary masks. */
function rangesOf(random: Random, tuples: boolean, key: Uint8Array): readonly FieldRange[] {
  if (!tuples) return drawRanges(random, key);
  if (random.chance(0.7)) return [];
  const where = { dword: LAYER_TCP_PORTS, shift: random.pick([0, 16]), fieldMask: 0xffff };
  const port = readRange(key, { ...where, low: 0, high: 0 });
  return [{ ...where, low: random.between(0, port), high: random.between(port, 0xffff) }];
}

interface Pools {
  tuples: boolean;
  shapes: readonly Shape[];
  bases: readonly Uint8Array[];
}

function drawPools(random: Random): Pools {
  const tuples = random.chance(0.6);
  const count = random.pick([1, 10, 60, 200]);
  const shapes = Array.from({ length: count }, (_, n) => shapeOf(tuples ? tupleMask(random) : drawMask(random), n));
  return { tuples, shapes, bases: Array.from({ length: 8 }, () => Uint8Array.from(random.bytes(KEY_SIZE))) };
}

/** A key from the pool that differs from it in few bytes under the mask. */
function near(random: Random, base: Uint8Array, asked: readonly number[]): Uint8Array {
  const key = base.slice();
  for (let n = random.below(4); n > 0 && asked.length > 0; n--) key[random.pick(asked)] = random.below(256);
  return key;
}

function insertOne(list: List, random: Random, { tuples, shapes, bases }: Pools): void {
  const shape = random.pick(shapes);
  const key = near(random, random.pick(bases), shape.asked);
  list.insert(random, shape, under(shape.mask, key), rangesOf(random, tuples, key));
}

function drawKey(list: List, random: Random, { bases }: Pools): Uint8Array {
  const base = random.pick(bases);
  if (list.rules.length === 0 || random.chance(0.1)) return base;
  const rule = random.pick(list.rules);
  return random.chance(0.6) ? hittingKey(random, rule, base) : missingKey(random, rule, base);
}

/** Returns the number of keys that hit. */
function compare(list: List, random: Random, pools: Pools, seed: number): number {
  const keys = Array.from({ length: random.pick([1, 3, KEYS]) }, () => drawKey(list, random, pools));
  const lower = random.chance(0.7) ? 0n : (list.find(keys[0]!, 0n)?.rank ?? 0n) + 1n;
  const found = list.classify(keys, lower);
  let count = 0;
  for (const [i, key] of keys.entries()) {
    const expected = list.find(key, lower);
    if (expected !== undefined) count++;
    if (found[i] === (expected?.handle ?? 0)) continue;
    const got = list.rules.find(({ handle }) => handle === found[i]);
    const text = `key ${i} of ${keys.length} from rank ${lower}, ${list.rules.length} rules`;
    expect.fail(`${text}: ${got?.id ?? found[i]}, not ${expected?.id} (FLOWSTEER_SEED=${seed})`);
  }
  return count;
}

test(`${STEPS} inserts and deletes`, async () => {
  const seed = seedFor("classifier churn");
  const random = new Random(seed);
  const core = await loadOpenCore(release);
  const before = core.exports.arenaUsed() >>> 0;
  const list = new List(core);
  const empty = core.exports.arenaUsed() >>> 0;
  let pools = drawPools(random);
  let target = 2000;
  let hitting = 0;
  let most = 0;
  for (let step = 1; step <= STEPS; step++) {
    const { length } = list.rules;
    if (random.chance(0.02) && length > 0) list.rerank(random, random.below(length));
    if (length === 0 || random.chance(length < target ? 0.85 : 0.15)) insertOne(list, random, pools);
    else list.remove(random.below(length));
    most = Math.max(most, length);
    if (step % COMPARE_EVERY === 0) hitting += compare(list, random, pools, seed);
    if (step % WAVE !== 0) continue;
    // Rules of earlier masks are removed as others come, or all at once.
    pools = drawPools(random);
    target = random.pick([0, 100, 1000, 5000, 12_000]);
    if (random.chance(0.2)) while (list.rules.length > 0) list.remove(random.below(list.rules.length));
    if (list.rules.length === 0) expect(core.exports.arenaUsed() >>> 0).toBe(empty);
  }
  console.log(`up to ${most} rules, ${hitting} keys hit`);
  checkReached(() => expect(hitting).toBeGreaterThan(STEPS / COMPARE_EVERY));
  while (list.rules.length > 0) list.remove(random.below(list.rules.length));
  expect(core.exports.arenaUsed() >>> 0).toBe(empty);
  core.exports.destroyTable(list.table);
  expect(core.exports.arenaUsed() >>> 0).toBe(before);
});
