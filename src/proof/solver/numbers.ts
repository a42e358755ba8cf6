/** Clauses about numbers whose bits are literals, most significant bit first. */
import { constant, FALSE, isConstant, TRUE, type Literal } from "../literal.js";
import type { Solver } from "./solver.js";

/** The bits of a constant, most significant first. */
function constantBits(value: bigint | number, width: number): Literal[] {
  const number = BigInt.asUintN(width, BigInt(value));
  return Array.from({ length: width }, (_, index) => constant(((number >> BigInt(width - 1 - index)) & 1n) === 1n));
}

/** The bits of a number, or of a constant of the same width. */
function bitsOf(value: readonly Literal[] | bigint | number, width: number): readonly Literal[] {
  return typeof value === "object" ? value : constantBits(value, width);
}

/** Whether a number of so many bits can hold a constant. */
function fits(value: bigint | number, width: number): boolean {
  return value >= 0 && BigInt(value) >> BigInt(width) === 0n;
}

/**
 * The number is at least `low`.
 *
 * @example
 * const port = Array.from({ length: 16 }, () => solver.newVariable());
 * atLeast(solver, port, 1024);
 * atMost(solver, port, 2047);
 */
export function atLeast(solver: Solver, bits: readonly Literal[], low: bigint | number): void {
  if (low <= 0) return;
  if (!fits(low, bits.length)) solver.addClause([]);
  else addBound(solver, bits, constantBits(low, bits.length));
}

/** The number is at most `high`. */
export function atMost(solver: Solver, bits: readonly Literal[], high: bigint | number): void {
  if (high < 0) solver.addClause([]);
  else if (fits(high, bits.length)) {
    const inverse = bits.map((bit) => -bit);
    addBound(solver, inverse, constantBits(~BigInt(high), bits.length));
  }
}

/** A bit that the bound needs is set, or a bit before it is set that the bound does not need. */
function addBound(solver: Solver, bits: readonly Literal[], low: readonly Literal[]): void {
  const above: Literal[] = [];
  for (let index = 0; index <= low.lastIndexOf(TRUE); index++) {
    if (low[index] === TRUE) solver.addClause([...above, bits[index]!]);
    else above.push(bits[index]!);
  }
}

/** The number is a constant, or the same as another number of the same width. */
export function equal(solver: Solver, bits: readonly Literal[], value: readonly Literal[] | bigint | number): void {
  if (typeof value !== "object" && !fits(value, bits.length)) {
    solver.addClause([]);
    return;
  }
  bitsOf(value, bits.length).forEach((other, index) => {
    solver.addClause([bits[index]!, -other]);
    solver.addClause([-bits[index]!, other]);
  });
}

/** The number is not a constant, or not the same as another number of the same width. */
export function differs(solver: Solver, bits: readonly Literal[], value: readonly Literal[] | bigint | number): void {
  if (typeof value !== "object" && !fits(value, bits.length)) return;
  solver.addClause(bitsOf(value, bits.length).map((other, index) => exclusiveOr(solver, bits[index]!, other)));
}

/**
 * The sum of a number and a constant, or another number of the same width, modulo 2 to the width.
 *
 * @example
 * const ttl = Array.from({ length: 8 }, () => solver.newVariable());
 * const next = sum(solver, ttl, 255); // ttl - 1
 */
export function sum(solver: Solver, bits: readonly Literal[], value: readonly Literal[] | bigint | number): Literal[] {
  const others = bitsOf(value, bits.length);
  const result = Array.from<Literal>({ length: bits.length });
  let carry = FALSE;
  for (let index = bits.length - 1; index >= 0; index--) {
    const [bit, other] = [bits[index]!, others[index]!];
    result[index] = exclusiveOr(solver, exclusiveOr(solver, bit, other), carry);
    if (index > 0) carry = majority(solver, bit, other, carry);
  }
  return result;
}

/** A literal that is true if at least one of the literals is. */
export function orOf(solver: Solver, literals: readonly Literal[]): Literal {
  return -andOf(
    solver,
    literals.map((literal) => -literal),
  );
}

/** A literal that is true if all of the literals are. */
export function andOf(solver: Solver, literals: readonly Literal[]): Literal {
  const different = new Set(literals);
  different.delete(TRUE);
  for (const literal of different) if (literal === FALSE || different.has(-literal)) return FALSE;
  const [first = TRUE] = different;
  if (different.size < 2) return first;
  const all = solver.newVariable();
  for (const literal of different) solver.addClause([-all, literal]);
  solver.addClause([all, ...[...different].map((literal) => -literal)]);
  return all;
}

/** A literal that is true if exactly one of two is. */
export function exclusiveOr(solver: Solver, first: Literal, second: Literal): Literal {
  if (isConstant(first)) return first === TRUE ? -second : second;
  if (isConstant(second)) return second === TRUE ? -first : first;
  if (first === second) return FALSE;
  if (first === -second) return TRUE;
  const one = solver.newVariable();
  solver.addClause([-one, first, second]);
  solver.addClause([-one, -first, -second]);
  solver.addClause([one, -first, second]);
  solver.addClause([one, first, -second]);
  return one;
}

/** A literal that is true if at least two of three are. */
function majority(solver: Solver, first: Literal, second: Literal, third: Literal): Literal {
  if (first === second || third === -second) return first;
  if (first === third || second === -first) return third;
  if (second === third) return second;
  if (isConstant(first)) return majorityWith(solver, first, second, third);
  if (isConstant(second)) return majorityWith(solver, second, first, third);
  if (isConstant(third)) return majorityWith(solver, third, first, second);
  const most = solver.newVariable();
  for (const [one, other] of [
    [first, second],
    [first, third],
    [second, third],
  ] as const) {
    solver.addClause([-most, one, other]);
    solver.addClause([most, -one, -other]);
  }
  return most;
}

/** The majority of a constant and two literals. */
function majorityWith(solver: Solver, first: Literal, second: Literal, third: Literal): Literal {
  return first === TRUE ? orOf(solver, [second, third]) : andOf(solver, [second, third]);
}
