/** The solver beside truth tables, and on formulas whose answer is known. */
import { expect, test } from "vitest";
import type { Literal } from "../../../src/proof/literal.js";
import { Solver, type Mark } from "../../../src/proof/solver/solver.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const FORMULAS = rounds(60_000);

/** A formula of few variables: all assignments are tried. */
interface Small {
  variables: Literal[];
  clauses: Literal[][];
}

/** Whether assignment `bits` makes a literal true: bit n is the variable n + 2, variable 1 is true. */
function holds(bits: number, literal: Literal): boolean {
  const variable = Math.abs(literal);
  const value = variable === 1 || ((bits >> (variable - 2)) & 1) === 1;
  return value === literal > 0;
}

/** Whether an assignment satisfies a formula and makes all of `also` true. */
function isSatisfiable(small: Small, also: readonly Literal[]): boolean {
  const clauses = [...small.clauses, ...also.map((literal) => [literal])];
  for (let bits = 0; bits < 1 << small.variables.length; bits++) {
    if (clauses.every((clause) => clause.some((literal) => holds(bits, literal)))) return true;
  }
  return false;
}

function drawLiteral(random: Random, small: Small): Literal {
  const variable = random.chance(0.02) ? 1 : random.pick(small.variables);
  return random.chance(0.5) ? variable : -variable;
}

function drawClause(random: Random, small: Small): Literal[] {
  const width = random.pick([1, 2, 2, 2, 3, 3, 3, 4, 6]);
  return Array.from({ length: width }, () => drawLiteral(random, small));
}

function grow(random: Random, solver: Solver, small: Small, variables: number, clauses: number): void {
  for (let n = 0; n < variables; n++) {
    const variable = solver.newVariable();
    small.variables.push(variable);
    if (random.chance(0.5)) solver.prefer(variable);
  }
  for (let n = 0; n < clauses; n++) {
    const clause = drawClause(random, small);
    small.clauses.push(clause);
    const possible = solver.addClause(clause);
    if (!possible) expect(isSatisfiable(small, [])).toBe(false);
  }
}

function check(random: Random, solver: Solver, small: Small): boolean {
  const assumptions = Array.from({ length: random.pick([0, 0, 1, 2, 4]) }, () => drawLiteral(random, small));
  const answer = solver.solve(assumptions);
  if (answer !== isSatisfiable(small, assumptions)) expect(answer).toBe(!answer);
  if (answer === true) {
    for (const clause of [...small.clauses, ...assumptions.map((literal) => [literal]), [1]]) {
      if (!clause.some((literal) => solver.value(literal))) expect(clause).toContain("a true literal");
    }
  } else {
    for (const literal of solver.failed) expect(assumptions).toContain(literal);
    expect(isSatisfiable(small, solver.failed)).toBe(false);
  }
  return answer === true;
}

test(`${FORMULAS} random formulas agree with truth tables`, () => {
  const random = new Random(seedFor("formulas"));
  const solver = new Solver();
  const answers = [0, 0];
  for (let round = 0; round < FORMULAS;) {
    solver.reset();
    const small: Small = { variables: [], clauses: [] };
    grow(random, solver, small, 3 + random.below(random.chance(0.2) ? 10 : 5), random.below(24));
    const marks: { mark: Mark; variables: number; clauses: number }[] = [];
    for (let step = 2 + random.below(8); step > 0; step--, round++) {
      answers[check(random, solver, small) ? 1 : 0]!++;
      const draw = random.below(4);
      if (draw === 0) {
        marks.push({ mark: solver.mark(), variables: small.variables.length, clauses: small.clauses.length });
      } else if (draw === 1 && marks.length > 0) {
        const place = random.below(marks.length);
        const { mark, variables, clauses } = marks[place]!;
        marks.length = place + 1;
        solver.restore(mark);
        small.variables.length = variables;
        small.clauses.length = clauses;
        continue;
      }
      grow(random, solver, small, small.variables.length < 12 ? random.below(2) : 0, random.below(4));
    }
  }
  expect(Math.min(...answers)).toBeGreaterThan(FORMULAS / 10);
});

/** `pigeons` pigeons in one hole less: no two share a hole. */
function addPigeons(solver: Solver, pigeons: number): void {
  const inHole = Array.from({ length: pigeons }, () => Array.from({ length: pigeons - 1 }, () => solver.newVariable()));
  for (const holes of inHole) solver.addClause(holes);
  for (let hole = 0; hole < pigeons - 1; hole++) {
    for (let first = 0; first < pigeons; first++) {
      for (let second = 0; second < first; second++)
        solver.addClause([-inHole[first]![hole]!, -inHole[second]![hole]!]);
    }
  }
}

test.each([5, 6, 7])("%i pigeons need as many holes", (pigeons) => {
  const solver = new Solver();
  const room = solver.newVariable();
  addPigeons(solver, pigeons);
  expect(solver.solve([room], 5)).toBe(undefined);
  expect(solver.solve()).toBe(false);
  expect(solver.failed).toEqual([]);
  expect(solver.addClause([room])).toBe(false);
});

test("clauses of three literals near the threshold", () => {
  const random = new Random(seedFor("threshold"));
  const solver = new Solver();
  const answers = [0, 0];
  for (let round = 0; round < rounds(1000); round++) {
    solver.reset();
    const size = 60 + random.below(41);
    const variables = Array.from({ length: size }, () => solver.newVariable());
    const clauses = Array.from({ length: Math.round(4.26 * size) }, () =>
      Array.from({ length: 3 }, () => random.pick(variables) * (random.chance(0.5) ? 1 : -1)),
    );
    for (const clause of clauses) solver.addClause(clause);
    const answer = solver.solve();
    answers[answer === true ? 1 : 0]!++;
    if (answer !== true) continue;
    expect(clauses.filter((clause) => !clause.some((literal) => solver.value(literal)))).toEqual([]);
  }
  expect(Math.min(...answers)).toBeGreaterThan(0);
});

test("variables without clauses have the values they prefer", () => {
  const solver = new Solver();
  const [a, b, c] = [solver.newVariable(), solver.newVariable(), solver.newVariable()];
  solver.prefer(b);
  expect(solver.solve()).toBe(true);
  expect([a, b, c].map((literal) => solver.value(literal))).toEqual([false, true, false]);
  solver.prefer(-b);
  solver.prefer(c);
  solver.addClause([a, -c]);
  expect(solver.solve()).toBe(true);
  expect(solver.value(b)).toBe(false);
  expect(solver.value(-b)).toBe(true);
  const later = solver.newVariable();
  expect([solver.value(later), solver.value(-later)]).toEqual([false, true]);
  solver.prefer(later);
  expect([solver.value(later), solver.value(-later)]).toEqual([true, false]);
});

test("a solver that answers often keeps few learnt clauses", () => {
  const random = new Random(seedFor("long"));
  const solver = new Solver();
  const variables = Array.from({ length: 60 }, () => solver.newVariable());
  const clauses = Array.from({ length: 245 }, () =>
    Array.from({ length: 3 }, () => random.pick(variables) * (random.chance(0.5) ? 1 : -1)),
  );
  for (const clause of clauses) solver.addClause(clause);
  for (let round = 0; round < rounds(20_000); round++) {
    const assumptions = Array.from({ length: 4 }, () => random.pick(variables) * (random.chance(0.5) ? 1 : -1));
    if (solver.solve(assumptions) !== true) continue;
    if (!clauses.every((clause) => clause.some((literal) => solver.value(literal)))) expect.fail("no solution");
  }
});
