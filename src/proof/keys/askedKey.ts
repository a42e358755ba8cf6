/** A key that remembers which of its bits were asked for, so that a solution of them is a key to look up. */
import { KEY_SIZE } from "../../abi/key.js";
import type { Literal } from "../literal.js";
import type { Solver } from "../solver/solver.js";
import type { SymbolicKey } from "./symbolicKey.js";

export class AskedKey implements SymbolicKey {
  readonly #of: SymbolicKey;
  /** The literal of each bit; 0 for bits that nobody asked for. */
  readonly #literals = new Int32Array(KEY_SIZE * 8);
  readonly asked: number[] = [];
  readonly origin: SymbolicKey | null;

  constructor(of: SymbolicKey) {
    this.#of = of;
    this.origin = of.origin ?? null;
  }

  bit(index: number): Literal {
    let literal = this.#literals[index] as number;
    if (literal === 0) {
      literal = this.#of.bit(index);
      this.#literals[index] = literal;
      this.asked.push(index);
    }
    return literal;
  }

  /** The key of the solver's solution; bits that nobody asked for are 0. */
  solution(solver: Solver, into: Uint8Array): Uint8Array {
    into.fill(0);
    for (const bit of this.asked) {
      if (solver.value(this.#literals[bit] as number))
        into[bit >> 3] = (into[bit >> 3] as number) | (0x80 >> (bit & 7));
    }
    return into;
  }
}
