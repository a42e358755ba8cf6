/**
 * Allocations of a table fail while rules come and go: what is refused changes nothing, and lookups find what a plain
 * list finds. Lookups allocate too, and do without.
 */
import { expect, test } from "vitest";
import debug from "../../build/debug/core.wasm";
import { MAX_ACTIONS, MAX_BATCH, Op } from "../../src/abi/engine.js";
import { KEY_SIZE } from "../../src/abi/key.js";
import type { Core } from "../../src/engine/core.js";
import { loadCore } from "../../src/engine/load.js";
import { changeActions, insertRule } from "../../src/engine/rules.js";
import { drawPools, drawRanges, hittingKey, under } from "../assembly/classify/support/draw.js";
import { type ModelRule, readRange } from "../assembly/classify/support/plainClassifier.js";
import { Random } from "../oracle/generate/random.js";
import { loadOpenCore } from "../support/openCore.js";
import { rounds } from "../support/tier.js";
import { Countdown, faultyCore } from "./support/faultyCore.js";

const STEPS = Math.max(6000, rounds(20_000));
const KEYS = 16;

type Listed = ModelRule & { handle: number };

function matches({ mask, value, ranges }: ModelRule, key: Uint8Array): boolean {
  for (let byte = 0; byte < KEY_SIZE; byte++) if ((key[byte]! & mask[byte]!) !== value[byte]) return false;
  return ranges.every((range) => {
    const field = readRange(key, range);
    return field >= range.low && field <= range.high;
  });
}

function found(rules: readonly Listed[], key: Uint8Array): number {
  let best: Listed | undefined;
  for (const rule of rules) if ((best === undefined || rule.rank < best.rank) && matches(rule, key)) best = rule;
  return best?.handle ?? 0;
}

function classify(core: Core, table: number, keys: readonly Uint8Array[]): number[] {
  for (const [i, key] of keys.entries()) core.u8.set(key, core.keys + i * KEY_SIZE);
  core.exports.classify(table, keys.length, 0, 0);
  return [...core.u32.subarray(core.found >> 2, (core.found >> 2) + keys.length)];
}

/** How many masks there are, whether rules have ranges, and how many rules there are when most come and when most go. */
const TABLES = [
  { masks: 12, ranges: false, most: 1500, least: 20 },
  { masks: 60, ranges: true, most: 400, least: 100 },
  { masks: 150, ranges: false, most: 600, least: 300 },
  // Few rules in many buckets.
  { masks: 40, ranges: false, most: 44, least: 36, room: 70_000, lookups: 4000 },
];

test.each(TABLES)(
  "$masks masks, $least to $most rules",
  async ({ masks, ranges, most, least, room = 0, lookups = 200 }) => {
    // The same failures each time.
    const random = new Random(masks);
    const core = await loadOpenCore(faultyCore(debug));
    const countdown = new Countdown({ core });
    const table = core.exports.createTable(0) >>> 0;
    const empty = core.exports.arenaUsed();
    expect(core.exports.reserveRules(table, room)).toBe(1);
    const pools = drawPools(random, masks, 6, 4);
    const rules: Listed[] = [];
    let growing = true;
    let refused = 0;
    // Some failures come one after the other.
    let failing = 0;
    let scarce = false;
    for (let step = 0; step < STEPS; step++) {
      if (failing === 0 && random.chance(0.01)) {
        failing = random.pick([1, 20, 100]);
        scarce = random.chance(0.5);
      }
      // In half of these times there is hardly any memory.
      if (failing > 0 && scarce) core.exports.limitArena(core.exports.arenaUsed() + 16 * random.below(20));
      if (failing > 0) failing--;
      else core.exports.limitArena(-1);
      const fail = failing > 0 && !scarce ? random.between(1, 4) : 0;
      if (rules.length <= least) growing = true;
      if (rules.length >= most) growing = false;
      const what = random.below(100);
      if (what < 1) {
        countdown.run(fail, () => core.exports.reserveRules(table, room + random.below(2 * most)));
      } else if (what < 2) {
        countdown.run(fail, () => core.exports.trimTable(table));
      } else if (what < 20) {
        const keys = Array.from({ length: random.pick([1, KEYS]) }, () => {
          const base = random.pick(pools.bases);
          return rules.length === 0 || random.chance(0.2) ? base : hittingKey(random, random.pick(rules), base);
        });
        let handles: number[] = [];
        countdown.run(fail, () => (handles = classify(core, table, keys)));
        expect(handles, `step ${step}`).toEqual(keys.map((key) => found(rules, key)));
      } else if (rules.length > 0 && random.chance(growing ? 0.2 : 0.8)) {
        const [rule] = rules.splice(random.below(rules.length), 1);
        countdown.run(fail, () => core.exports.removeRule(rule!.handle));
      } else {
        const mask = random.pick(pools.masks);
        const key = random.pick(pools.bases).map((bits) => (random.chance(0.05) ? random.below(256) : bits));
        const rule = { id: step, rank: BigInt(step), mask, value: under(mask, key) };
        const made = { ...rule, ranges: ranges ? drawRanges(random, key) : [], asked: [] };
        let handle = 0;
        countdown.run(fail, () => {
          handle = insertRule(core, table, { ...made, rankHigh: 0, rankLow: step, actions: [] });
        });
        if (handle !== 0) rules.push({ ...made, handle });
        else refused++;
      }
    }
    expect(refused).toBeGreaterThan(0);
    core.exports.limitArena(-1);
    for (let n = 0; n < lookups; n++) {
      const rule = random.pick(rules);
      const keys = Array.from({ length: KEYS }, () => hittingKey(random, rule, random.pick(pools.bases)));
      const handles = classify(core, table, keys);
      if (n % 200 === 0) expect(handles).toEqual(keys.map((key) => found(rules, key)));
    }
    for (const { handle } of rules) core.exports.removeRule(handle);
    core.exports.reserveRules(table, 0);
    core.exports.trimTable(table);
    expect(core.exports.arenaUsed()).toBe(empty);
  },
);

test("areas that grow once", async () => {
  const core = await loadCore(faultyCore(debug));
  const countdown = new Countdown({ core });
  for (const open of [
    () => core.exports.openRows(MAX_BATCH),
    () => core.exports.openBytes(100_000),
    () => core.exports.openClasses(),
  ]) {
    const before = core.exports.arenaTop();
    let opened: number | undefined;
    countdown.run(1, () => (opened = open()));
    expect([opened, core.exports.arenaTop()]).toEqual([0, before]);
    expect(open()).toBe(1);
    const after = core.exports.arenaTop();
    expect(after).toBeGreaterThan(before);
    // They have this memory already.
    expect([open(), core.exports.arenaTop()]).toEqual([1, after]);
  }
});

test("a long list of actions becomes a shorter one without memory", async () => {
  const core = await loadOpenCore(faultyCore(debug));
  const countdown = new Countdown({ core });
  const table = core.exports.createTable(0) >>> 0;
  const before = core.exports.arenaUsed();
  const [key, value] = [new Uint8Array(KEY_SIZE), new Uint8Array(KEY_SIZE)];
  const untag = (count: number): number[] => Array.from({ length: count }, () => [Op.untag, 0]).flat();
  const rule = { id: 7, rankHigh: 0, rankLow: 0, mask: new Uint8Array(KEY_SIZE), value, ranges: [] };
  const handle = insertRule(core, table, { ...rule, actions: untag(MAX_ACTIONS) });
  for (const count of [100, 2, 1]) {
    let done = false;
    countdown.run(1, () => (done = changeActions(core, handle, untag(count))));
    expect(done).toBe(true);
    expect(classify(core, table, [key])).toEqual([handle]);
  }
  core.exports.removeRule(handle);
  expect(core.exports.arenaUsed()).toBe(before);
});

test("a mask that no tuple has shares one while there is no memory", async () => {
  for (let n = 1; n <= 6; n++) {
    const core = await loadOpenCore(faultyCore(debug));
    const countdown = new Countdown({ core });
    const table = core.exports.createTable(0) >>> 0;
    const key = new Uint8Array(KEY_SIZE).fill(0x5a);
    const handles: number[] = [];
    // Each mask has a bit more than the one before; later rules come first.
    for (let bits = 1; bits <= 100; bits++) {
      const mask = new Uint8Array(KEY_SIZE);
      for (let bit = 0; bit < bits; bit++) mask[bit >> 3]! |= 0x80 >> (bit & 7);
      const rule = {
        id: bits,
        rankHigh: 0,
        rankLow: 1000 - bits,
        mask,
        value: under(mask, key),
        ranges: [],
        actions: [],
      };
      const before = core.exports.arenaUsed();
      let handle = 0;
      countdown.run(bits % 3 === 0 ? 0 : n, () => (handle = insertRule(core, table, rule)));
      // The table keeps columns for the mask, and room for tuples: 128 of 64 bytes at most.
      if (handle === 0) expect(core.exports.arenaUsed() - before).toBeLessThanOrEqual(8192);
      else handles.push(handle);
      expect(classify(core, table, [key])).toEqual([handles.at(-1) ?? 0]);
    }
    expect(handles.length).toBeGreaterThan(0);
  }
});
