/** Functions of single bits and of fields of keys, with constants folded. */
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { constant, FALSE, TRUE, type Literal } from "../literal.js";
import { andOf, orOf } from "../solver/numbers.js";
import type { Solver } from "../solver/solver.js";

/** `then` where the condition holds, else `otherwise`. */
export function choose(solver: Solver, condition: Literal, then: Literal, otherwise: Literal): Literal {
  if (condition === TRUE || then === otherwise) return then;
  if (condition === FALSE) return otherwise;
  if (then === TRUE || then === condition) return orOf(solver, [condition, otherwise]);
  if (then === FALSE || then === -condition) return andOf(solver, [-condition, otherwise]);
  if (otherwise === TRUE || otherwise === -condition) return orOf(solver, [-condition, then]);
  if (otherwise === FALSE || otherwise === condition) return andOf(solver, [condition, then]);
  const one = solver.newVariable();
  solver.addClause([-condition, -then, one]);
  solver.addClause([-condition, then, -one]);
  solver.addClause([condition, -otherwise, one]);
  solver.addClause([condition, otherwise, -one]);
  return one;
}

/** Whether bits, most significant first, are a number. */
export function isNumber(solver: Solver, bits: readonly Literal[], number: number): Literal {
  return andOf(
    solver,
    bits.map((bit, i) => (((number >>> (bits.length - 1 - i)) & 1) === 1 ? bit : -bit)),
  );
}

/** Whether a bit of a key in bytes is set. */
export function hasBit(bytes: Uint8Array, bit: number): boolean {
  return ((bytes[bit >> 3] as number) & (0x80 >> (bit & 7))) !== 0;
}

/** The bits of a key from one on. */
export function bitsAt(key: SymbolicKey, from: number, width: number): Literal[] {
  return Array.from({ length: width }, (_, i) => key.bit(from + i));
}

/** A key whose bits are made when they are asked for the first time. */
export abstract class DerivedKey implements SymbolicKey {
  readonly origin: SymbolicKey | null;
  readonly #literals = new Map<number, Literal>();

  constructor(origin: SymbolicKey | null) {
    this.origin = origin;
  }

  bit(index: number): Literal {
    let literal = this.#literals.get(index);
    if (literal === undefined) this.#literals.set(index, (literal = this.make(index)));
    return literal;
  }

  protected abstract make(index: number): Literal;
}

/** A key of constants. */
export class ConstantKey implements SymbolicKey {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  bit(index: number): Literal {
    return constant((((this.#bytes[index >> 3] as number) << (index & 7)) & 0x80) !== 0);
  }
}
