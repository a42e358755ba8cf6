/** Ranks that lookups of proofs begin with. */
import { expect, test } from "vitest";
import { rankAfter } from "../../../src/proof/path/oracle.js";

test.each([
  [
    [7, 0],
    [7, 1],
  ],
  [
    [7, 0xfffffffe],
    [7, 0xffffffff],
  ],
  [
    [7, 0xffffffff],
    [8, 0],
  ],
  [[0xffffffff, 0xffffffff], null],
] as const)("the rank after %j is %j", ([rankHigh, rankLow], after) => {
  expect(rankAfter({ rankHigh, rankLow })).toEqual(after);
});
