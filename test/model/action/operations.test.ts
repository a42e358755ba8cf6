/** The table of operations has every operation of the core, and a number that is none is refused. */
import { expect, test } from "vitest";
import { Op } from "../../../src/abi/engine.js";
import { createDevice } from "../../../src/index.js";
import { openTracer } from "../../../src/explain/trace/tracer.js";
import { operationOf, opName, opNames } from "../../../src/model/action/operations.js";
import type { SymbolicKey } from "../../../src/proof/keys/symbolicKey.js";
import { changedKey, type Changing } from "../../../src/proof/path/transform.js";
import { Ways } from "../../../src/proof/path/ways.js";
import type { RuleNode } from "../../../src/explain/why/rules.js";

const NUMBERS = Object.values(Op).filter((op) => typeof op === "number");
const UNKNOWN = 1 + Math.max(...NUMBERS);

test("every operation is in the table", () => {
  expect(opNames(() => true)).toEqual(NUMBERS.map((op) => Op[op]));
  for (const op of NUMBERS) expect(operationOf(op).operand).toBeTypeOf("string");
});

test("a number that is no operation is refused", () => {
  for (const op of [UNKNOWN, -1, 0.5]) expect(() => opName(op)).toThrow(RangeError);
});

test("a proof throws on an unknown operation instead of taking it for one that changes nothing", async () => {
  expect(() => changedKey({} as Changing, {} as SymbolicKey, [UNKNOWN, 0])).toThrow(RangeError);
  const { device, traced } = await openTracer(await createDevice());
  expect(() => new Ways(device, traced).ofRule({ table: 0 } as RuleNode, [UNKNOWN, 0])).toThrow(RangeError);
});
