/** Forks: further branches of a frame, each with a key, a frame map and a frame descriptor of its own. */
import { BRANCHES_PER_FRAME, FRAME_SIZE, OUTCOME_BRANCHES } from "../../src/abi/engine";
import { MAP_SIZE } from "../../src/abi/headers";
import { KEY_SIZE } from "../../src/abi/key";
import { BATCH } from "../memory";
import {
  branchAt,
  BRANCH_FLAGS,
  BRANCH_FRAME,
  BRANCH_INDEX,
  BRANCH_KEY,
  BRANCH_MAP,
  BRANCH_ROOM,
  BRANCH_TABLE,
  BRANCH_TAG,
  HAS_VERDICT,
  SHARED,
} from "./branch";
import { outcomeAt } from "./outcome";

export namespace Forks {
  /** The first frame of those that are walked together: forks of frame n have their places by its distance. */
  export let first: u32 = 0;
}

/**
 * Another copy of the frame, at the same place of its way; 0 where the frame has as many as it can have.
 * The two have the same bytes until one of them changes them.
 */
export function fork(branch: usize): usize {
  const index = load<u32>(branch, BRANCH_INDEX);
  const outcome = outcomeAt(index);
  const forks: u32 = load<u16>(outcome, OUTCOME_BRANCHES);
  const most: u32 = BRANCHES_PER_FRAME - 1;
  if (forks >= most) return 0;
  store<u16>(outcome, <u16>(forks + 1), OUTCOME_BRANCHES);
  const copy = branchAt(<u32>BATCH + (index - Forks.first) * most + forks);
  const flags = load<u32>(branch, BRANCH_FLAGS) | SHARED;
  store<u32>(branch, flags, BRANCH_FLAGS);
  memory.copy(load<u32>(copy, BRANCH_KEY), load<u32>(branch, BRANCH_KEY), KEY_SIZE);
  memory.copy(load<u32>(copy, BRANCH_FRAME), load<u32>(branch, BRANCH_FRAME), FRAME_SIZE);
  memory.copy(load<u32>(copy, BRANCH_MAP), load<u32>(branch, BRANCH_MAP), MAP_SIZE);
  v128.store(copy, v128.load(branch, BRANCH_TABLE), BRANCH_TABLE);
  v128.store(copy, v128.load(branch, BRANCH_TAG), BRANCH_TAG);
  store<u32>(copy, load<u32>(branch, BRANCH_ROOM), BRANCH_ROOM);
  store<u32>(copy, index, BRANCH_INDEX);
  store<u32>(copy, flags & ~HAS_VERDICT, BRANCH_FLAGS);
  return copy;
}
