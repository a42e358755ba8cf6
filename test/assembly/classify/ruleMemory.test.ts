/** The memory of a rule: its ranges and actions come and go without a trace. */
import { beforeEach, expect, test } from "vitest";
import { Op } from "../../../src/abi/engine.js";
import { KEY_SIZE } from "../../../src/abi/key.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { changeActions, insertRule, type FieldRange } from "../../../src/engine/rules.js";

const NOTHING = new Uint8Array(KEY_SIZE);
/** A range over 16 bits is kept in the bounds of a rule, others in a block. */
const PORT: FieldRange = { dword: 20, shift: 16, fieldMask: 0xffff, low: 100, high: 200 };
const OTHER_PORT: FieldRange = { ...PORT, shift: 0, low: 300, high: 400 };
const WORD: FieldRange = { dword: 24, shift: 0, fieldMask: 0xffffffff, low: 1000, high: 2000 };
const NIBBLE: FieldRange = { dword: 28, shift: 4, fieldMask: 0xf, low: 3, high: 5 };

let core: Core;
let table: number;
beforeEach(async () => {
  core = await loadOpenCore();
  table = core.exports.createTable(0) >>> 0;
});

const used = (): number => core.exports.arenaUsed() >>> 0;
const actionsOf = (count: number): number[] =>
  Array.from({ length: count }, (_, n) => (n + 1 < count ? [Op.tag, n] : [Op.drop, 0])).flat();

function insert(ranges: readonly FieldRange[], actions: number): number {
  const rule = { id: 1, rankHigh: 0, rankLow: 1, mask: NOTHING, value: NOTHING, ranges, actions: actionsOf(actions) };
  return insertRule(core, table, rule);
}

/** Whether the rule matches these fields. */
function matches(port: number, other: number, word: number, nibble: number): boolean {
  const key = NOTHING.slice();
  const view = new DataView(key.buffer);
  view.setUint32(20, ((port << 16) | other) >>> 0);
  view.setUint32(24, word);
  view.setUint32(28, 0xffffff0f | (nibble << 4));
  core.u8.set(key, core.keys);
  core.exports.classify(table, 1, 0, 0);
  return core.u32[core.found >> 2] !== 0;
}

/** The memory of a table with one such rule, beyond that of the empty table. */
function memoryOf(ranges: readonly FieldRange[], actions: number): number {
  const before = used();
  const rule = insert(ranges, actions);
  expect(rule).not.toBe(0);
  const bytes = used() - before;
  core.exports.removeRule(rule);
  expect(used()).toBe(before);
  return bytes;
}

test("ports are bounds of the rule, wherever they stand among its ranges", () => {
  const both = memoryOf([PORT, WORD], 1);
  expect(memoryOf([WORD, PORT], 1)).toBe(both);
  expect(memoryOf([WORD, OTHER_PORT], 1)).toBe(both);
  expect(memoryOf([PORT, OTHER_PORT], 1)).toBe(memoryOf([PORT], 1));
  expect(memoryOf([PORT, OTHER_PORT], 1)).toBeLessThan(both);
});

test.each([
  ["no range", []],
  ["bounds alone", [PORT, OTHER_PORT]],
  ["a block alone", [WORD, NIBBLE]],
  ["both", [WORD, PORT]],
] as const)("other numbers of actions keep the ranges, and take the memory of a new rule: %s", (_what, ranges) => {
  const sizes = new Map([1, 2, 3, 5].map((count) => [count, memoryOf(ranges, count)]));
  const empty = used();
  const rule = insert(ranges, 1);
  const has = (range: FieldRange): boolean => (ranges as readonly FieldRange[]).includes(range);
  for (const count of [3, 1, 2, 5, 5, 3, 2, 1, 5, 1]) {
    expect(changeActions(core, rule, actionsOf(count))).toBe(true);
    expect(used() - empty, `${count} actions`).toBe(sizes.get(count));
    expect(matches(150, 350, 1500, 4)).toBe(true);
    expect(matches(99, 350, 1500, 4)).toBe(!has(PORT));
    expect(matches(150, 401, 1500, 4)).toBe(!has(OTHER_PORT));
    expect(matches(150, 350, 2001, 4)).toBe(!has(WORD));
    expect(matches(150, 350, 1500, 2)).toBe(!has(NIBBLE));
  }
  core.exports.removeRule(rule);
  expect(used()).toBe(empty);
});
