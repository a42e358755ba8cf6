/** Clauses about numbers beside arithmetic, for all numbers of one to six bits. */
import { expect, test } from "vitest";
import { constant, type Literal } from "../../../src/proof/literal.js";
import { andOf, atLeast, atMost, differs, equal, exclusiveOr, orOf, sum } from "../../../src/proof/solver/numbers.js";
import { Solver } from "../../../src/proof/solver/solver.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const WIDTHS = [1, 2, 3, 4, 5, 6];
const ROUNDS = rounds(1000);

function makeNumber(solver: Solver, width: number): Literal[] {
  return Array.from({ length: width }, () => solver.newVariable());
}

/** Literals that say that bits are a number, for assumptions. */
function is(bits: readonly Literal[], value: number): Literal[] {
  return bits.map((bit, index) => ((value >> (bits.length - 1 - index)) & 1 ? bit : -bit));
}

function valueOf(solver: Solver, bits: readonly Literal[]): number {
  return bits.reduce((value, bit) => 2 * value + (solver.value(bit) ? 1 : 0), 0);
}

function numbersOf(width: number): number[] {
  return Array.from({ length: 1 << width }, (_, value) => value);
}

/** The numbers that the clauses allow. */
function allowed(width: number, constrain: (solver: Solver, bits: Literal[]) => void): number[] {
  const solver = new Solver();
  const bits = makeNumber(solver, width);
  constrain(solver, bits);
  return numbersOf(width).filter((value) => solver.solve(is(bits, value)) === true);
}

test.each(WIDTHS)("comparisons of %i bits with constants", (width) => {
  const numbers = numbersOf(width);
  for (let limit = -2; limit < (1 << width) + 3; limit++) {
    for (const given of [limit, BigInt(limit)]) {
      expect(allowed(width, (solver, bits) => atLeast(solver, bits, given))).toEqual(numbers.filter((n) => n >= limit));
      expect(allowed(width, (solver, bits) => atMost(solver, bits, given))).toEqual(numbers.filter((n) => n <= limit));
      expect(allowed(width, (solver, bits) => equal(solver, bits, given))).toEqual(numbers.filter((n) => n === limit));
      expect(allowed(width, (solver, bits) => differs(solver, bits, given))).toEqual(
        numbers.filter((n) => n !== limit),
      );
    }
  }
});

test.each(WIDTHS)("sums of %i bits and constants", (width) => {
  for (let added = -1; added <= 1 << width; added++) {
    const solver = new Solver();
    const bits = makeNumber(solver, width);
    const total = sum(solver, bits, added % 2 === 0 ? added : BigInt(added));
    for (const value of numbersOf(width)) {
      expect(solver.solve(is(bits, value))).toBe(true);
      expect(valueOf(solver, total)).toBe((value + added + (1 << width)) % (1 << width));
    }
  }
});

test.each(WIDTHS)("two numbers of %i bits", (width) => {
  const solver = new Solver();
  const [first, second] = [makeNumber(solver, width), makeNumber(solver, width)];
  const total = sum(solver, first, second);
  const twice = sum(solver, first, first);
  const zero = sum(
    solver,
    sum(
      solver,
      first,
      first.map((bit) => -bit),
    ),
    1,
  );
  const base = solver.mark();
  const pairs = numbersOf(width).flatMap((a) => numbersOf(width).map((b) => [a, b] as const));
  const answers = (constrain: () => void) => {
    constrain();
    const holding = pairs.filter(([a, b]) => solver.solve([...is(first, a), ...is(second, b)]) === true);
    solver.restore(base);
    return holding;
  };
  expect(answers(() => equal(solver, first, second))).toEqual(pairs.filter(([a, b]) => a === b));
  expect(answers(() => differs(solver, first, second))).toEqual(pairs.filter(([a, b]) => a !== b));
  for (const [a, b] of pairs) {
    expect(solver.solve([...is(first, a), ...is(second, b)])).toBe(true);
    const mask = (1 << width) - 1;
    expect([total, twice, zero].map((bits) => valueOf(solver, bits))).toEqual([(a + b) & mask, (2 * a) & mask, 0]);
  }
});

test("sums of constant and variable bits", () => {
  const random = new Random(seedFor("sums"));
  for (let round = 0; round < ROUNDS; round++) {
    const solver = new Solver();
    const free = makeNumber(solver, 4);
    const draw = () => {
      if (random.chance(0.4)) return constant(random.chance(0.5));
      return random.pick(free) * (random.chance(0.5) ? 1 : -1);
    };
    const width = 1 + random.below(6);
    const [first, second] = [Array.from({ length: width }, draw), Array.from({ length: width }, draw)];
    const total = sum(solver, first, second);
    for (const value of numbersOf(4)) {
      expect(solver.solve(is(free, value))).toBe(true);
      expect(valueOf(solver, total)).toBe((valueOf(solver, first) + valueOf(solver, second)) % (1 << width));
    }
  }
});

test("and, or, exclusive or of constants and literals", () => {
  const solver = new Solver();
  const [a, b] = [solver.newVariable(), solver.newVariable()];
  const literals = [a, -a, b, -b, 1, -1];
  const lists = [
    [],
    ...literals.flatMap((x) => [
      [x],
      ...literals.flatMap((y) => [
        [x, y],
        [x, y, a],
      ]),
    ]),
  ];
  const made = lists.map((list) => ({ list, and: andOf(solver, list), or: orOf(solver, list) }));
  const pairs = literals.flatMap((x) => literals.map((y) => ({ x, y, one: exclusiveOr(solver, x, y) })));
  for (const value of numbersOf(2)) {
    expect(solver.solve(is([a, b], value))).toBe(true);
    for (const { list, and, or } of made) {
      const values = list.map((literal) => solver.value(literal));
      expect([solver.value(and), solver.value(or)]).toEqual([values.every(Boolean), values.some(Boolean)]);
    }
    for (const { x, y, one } of pairs) expect(solver.value(one)).toBe(solver.value(x) !== solver.value(y));
  }
});
