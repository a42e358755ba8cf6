/** Which points of the core count as explained (scripts/coverage-report.mjs). */
import { expect, it } from "vitest";
import { divide, explanationsIn, type Point } from "../../scripts/coverage-report.mjs";

const TEXT = `
/** Unreached: a docstring is none. */
function f(): bool {
  // Unreached: the caller has
  // reserved the memory.
  if (full()) return false;
  // Any other comment.
  g();
  if (h()) {
    // Unreached: h is false
    g();
    g();
  }
  // Unreached: stale
  return true;
}`;

const statement = (line: number, column: number, last: number): Point => ({
  file: "f.ts",
  line,
  column,
  kind: "statement",
  last,
});
const branch = (line: number, column: number): Point => ({ ...statement(line, column, line), kind: "branch" });

const CHECK = statement(6, 3, 15);
const REFUSAL = statement(6, 15, 6);
const ELSE = branch(6, 3);
const CALL = statement(8, 3, 15);
const IF = statement(9, 3, 15);
const FIRST = statement(11, 5, 12);
const SECOND = statement(12, 5, 12);
const END = statement(15, 3, 15);
const POINTS = [CHECK, REFUSAL, ELSE, CALL, IF, FIRST, SECOND, END];

const divided = (...missed: readonly Point[]): object => {
  const { explained, unexplained, stale } = divide(
    [...POINTS],
    (point) => !missed.includes(point),
    explanationsIn(TEXT),
  );
  return { explained: explained.map(({ points }) => points), unexplained, stale: stale.map(({ reason }) => reason) };
};

const RESERVED = "the caller has reserved the memory.";

it("finds comments of a line of their own, with their further lines, and the line of code after them", () => {
  expect(explanationsIn(TEXT)).toEqual([
    { line: 6, reason: RESERVED },
    { line: 11, reason: "h is false" },
    { line: 15, reason: "stale" },
  ]);
});

it("explains the points of the next line, and the rest of a block that begins there", () => {
  expect(divided(REFUSAL, FIRST, SECOND)).toEqual({
    explained: [[REFUSAL], [FIRST, SECOND]],
    unexplained: [],
    stale: ["stale"],
  });
});

it("explains no other points", () => {
  expect(divided(REFUSAL, CALL, FIRST, SECOND)).toMatchObject({ unexplained: [CALL] });
  expect(divided(SECOND)).toMatchObject({ unexplained: [SECOND], stale: [RESERVED, "h is false", "stale"] });
});

it("tells explanations of what is reached", () => {
  expect(divided()).toEqual({ explained: [], unexplained: [], stale: [RESERVED, "h is false", "stale"] });
});
