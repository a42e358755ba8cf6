/**
 * The branches of the next round of the walk. In: branches that go on, also from actions that split
 * a frame. Out: the list that walk/walk.ts looks up next.
 */
import { numberOf } from "../branch/branch";

export namespace NextRound {
  /** The list and its length. */
  export let list: usize = 0;
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
