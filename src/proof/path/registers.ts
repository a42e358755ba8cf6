/** Keys with other values in metadata registers. */
import { REGISTERS } from "../../abi/engine.js";
import type { StateResult } from "../../model/action/operations.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { FALSE, type Literal } from "../literal.js";
import type { Solver } from "../solver/solver.js";
import { DerivedKey } from "./bits.js";
import { registerBit } from "./places.js";

const WIDTH = 32;
/** Registers that keep their values from domain to domain (assembly/forward/eswitch.ts). */
const PASSING: ReadonlySet<number> = new Set([0, 1]);
const ALL = Array.from({ length: REGISTERS }, (_, register) => register);

/** The key in another domain: only C0 and C1 keep their values. */
export function inOtherDomain(before: SymbolicKey): SymbolicKey {
  return withoutRegisters(
    before,
    ALL.filter((register) => !PASSING.has(register)),
  );
}

/** The key of a frame that its port loops back. */
export function loopedBack(before: SymbolicKey): SymbolicKey {
  return withoutRegisters(before, ALL);
}

function withoutRegisters(before: SymbolicKey, registers: readonly number[]): SymbolicKey {
  const bits = new Map<number, Literal>();
  for (const register of registers) {
    for (let i = 0; i < WIDTH; i++) bits.set(registerBit(register) + i, FALSE);
  }
  return new WithBits(before, bits);
}

/** The key with a result in the low byte of a register C, and the bits of the result, which the state of the device decides. */
export function withResult(
  solver: Solver,
  before: SymbolicKey,
  register: number,
  result: StateResult,
): { readonly key: SymbolicKey; readonly choices: readonly Literal[] } {
  const width = { colour: 2, flag: 1, syndrome: 8 }[result];
  const choices = Array.from({ length: width }, () => solver.newVariable());
  // Red, yellow and green are 0, 1 and 2.
  if (result === "colour") solver.addClause(choices.map((bit) => -bit));
  const bits = new Map<number, Literal>();
  const end = registerBit(register) + WIDTH;
  for (let i = 1; i <= 8; i++) bits.set(end - i, choices[width - i] ?? FALSE);
  return { key: new WithBits(before, bits), choices };
}

/** A key with other bits in some places; its headers are the same. */
class WithBits extends DerivedKey {
  readonly #before: SymbolicKey;
  readonly #bits: ReadonlyMap<number, Literal>;

  constructor(before: SymbolicKey, bits: ReadonlyMap<number, Literal>) {
    super(before.origin ?? null);
    this.#before = before;
    this.#bits = bits;
  }

  protected make(index: number): Literal {
    return this.#bits.get(index) ?? this.#before.bit(index);
  }
}
