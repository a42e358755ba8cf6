/** What an ESP action cannot work on is dropped, each for a reason of its own (docs/esp.md). */
import { Verdict } from "../../src/abi/engine";
import { setVerdict } from "../branch/outcome";

/** In place of what was asked for: the branch has ended, for want of memory. */
export const ENDED: u32 = 0x101;

/** What became of a packet that was to be made ready for its cipher. */
export enum Prepared {
  /** The branch has ended. */
  ended,
  ready,
  /** It is for its own turn. */
  alone,
}

/** The branch ends; always false. */
export function drop(branch: usize, reason: u32): bool {
  setVerdict(branch, Verdict.drop, reason);
  return false;
}
