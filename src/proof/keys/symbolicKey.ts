/**
 * A key (src/abi/key.ts) whose bits are literals: constants, or functions of the frame that came in. Bit 0 is the most
 * significant bit of byte 0, as in `Field.bit`.
 */
import type { Literal } from "../literal.js";

export interface SymbolicKey {
  /** The literal of a bit. The first call for a bit may add variables and clauses to the solver. */
  bit(index: number): Literal;
  /**
   * The key that the parser made of the frame, while the headers of the packet inside a tunnel are still those that it found:
   * decapsulation asks it for the rest of that packet. Keys of the parser are their own origin.
   */
  readonly origin?: SymbolicKey | null;
}
