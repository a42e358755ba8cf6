/** A million rules of one mask are inserted, found and removed. */
import { expect, test } from "vitest";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { insertRule } from "../../../src/engine/rules.js";
import { loadOpenCore } from "../../support/openCore.js";
import { ModelTable } from "./support/plainClassifier.js";
import { rounds } from "../../support/tier.js";

const RULES = 2 * rounds(500_000);
/** Odd, so that the values of rules are all different and spread over 32 bits. */
const STEP = 0x9e3779b1;

// In the second case the first lane is the same for all rules, and the second one differs. Some
// hundred rules have equal 32-bit hashes, so the comparison must reach the second lane.
test.each([
  ["one lane", 44],
  ["two lanes", 28],
])(`${RULES} rules of %s are found, and leave nothing behind`, async (_lanes, firstByte) => {
  const core = await loadOpenCore();
  const before = core.exports.arenaUsed() >>> 0;
  const model = new ModelTable(core);
  const empty = core.exports.arenaUsed() >>> 0;
  const mask = new Uint8Array(KEY_SIZE).fill(0xff, firstByte, 48);
  const value = new Uint8Array(KEY_SIZE).fill(0x5a, firstByte, 44);
  const view = new DataView(value.buffer);
  const address = (i: number): number => Math.imul(i, STEP) >>> 0;
  const handles = new Uint32Array(RULES);
  for (let i = 0; i < RULES; i++) {
    view.setUint32(44, address(i));
    const rule = { id: i, rankHigh: 0, rankLow: i, mask, value, ranges: [], actions: [] };
    handles[i] = insertRule(core, model.table, rule);
  }
  expect(handles.indexOf(0)).toBe(-1);

  /** Looks up rules `from`, `from + 7`, ... and values without a rule. */
  const lookUp = (from: number, there: (i: number) => boolean): void => {
    const keys = Array.from({ length: 256 }, () => new Uint8Array(KEY_SIZE).fill(0x5a));
    for (let i = from; i + 128 * 7 < RULES + 128 * 7; i += 128 * 7) {
      const numbers = keys.map((_, k) => (k < 128 ? (i + k * 7) % RULES : RULES + ((i + k) % RULES)));
      for (const [k, number] of numbers.entries()) new DataView(keys[k]!.buffer).setUint32(44, address(number));
      const expected = numbers.map((number) => (number < RULES && there(number) ? handles[number]! : 0));
      expect(model.classify(keys)).toEqual(expected);
    }
  };
  lookUp(0, () => true);
  for (let i = 0; i < RULES; i += 2) core.exports.removeRule(handles[i]!);
  lookUp(3, (i) => i % 2 === 1);
  for (let i = RULES - 1; i > 0; i -= 2) core.exports.removeRule(handles[i]!);
  lookUp(5, () => false);
  expect(core.exports.arenaUsed() >>> 0).toBe(empty);
  model.destroy();
  expect(core.exports.arenaUsed() >>> 0).toBe(before);
});
