/** The branches of the next round: actions that split a frame add to them, the walk takes them (walk/walk.ts). */
import { WAITING } from "../memory";
import { numberOf } from "../branch/branch";

export namespace NextRound {
  /** The list, and how many branches are on it. */
  export let list: usize = WAITING;
  export let count: u32 = 0;
}

/** Adds a branch to the next round. */
// @ts-ignore: decorator
@inline
export function goOn(branch: usize): void {
  const at = NextRound.count;
  store<u32>(NextRound.list + ((<usize>at) << 2), numberOf(branch));
  NextRound.count = at + 1;
}
