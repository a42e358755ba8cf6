/** Words of flexible parsers, whose numbers a dump does not contain. */
import { expect, test } from "vitest";
import { planOf } from "../../../src/formats/dump/read/plan.js";
import type { DumpMatcher, DumpRule } from "../../../src/formats/dump/read/tree.js";
import { valueOf } from "../../../src/formats/dump/read/value.js";
import { fieldNamed, readField, type Field } from "../../../src/model/match/fields.js";
import { maskOf } from "../../../src/model/match/match.js";

const TEID = fieldNamed("misc3.gtpu_teid") as Field;

/** A matcher with one entry of the lookup type of parsers 0 to 3, and the value of a rule of it. */
function rule(...fields: string[]) {
  const mask = maskOf("mask", Object.fromEntries(fields.map((name) => [name, "full"])));
  const domain = { format: 0, type: "nic_rx", flexParsers: new Map(), flexProtocols: 1 << 19 };
  const matcher = {
    mask: mask.slice(0, 448),
    builders: [{ side: "rx", lookupType: 0x22, definer: -1 }],
    rules: [],
    table: { domain },
  } as unknown as DumpMatcher;
  const hex = `${"00".repeat(32)}${"00000000".repeat(2)}0000002a00000000`;
  return valueOf(planOf(matcher), { value: null, entries: [{ side: "rx", hex }] } as unknown as DumpRule);
}

test("one word is the one that is not 0", () => {
  const { value, unknown } = rule("misc3.gtpu_teid");
  expect(unknown).toEqual([]);
  expect(readField(value, TEID)).toBe(42n);
});

test("which of two words is which, the dump does not say", () => {
  const { unknown } = rule("misc3.gtpu_teid", "misc3.gtpu_dw_0");
  expect(unknown.map(({ name }) => name).sort()).toEqual(["misc3.gtpu_dw_0", "misc3.gtpu_teid"]);
});
