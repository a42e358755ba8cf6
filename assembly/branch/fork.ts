/**
 * Forks: further branches of a frame, each with its own key, frame map and frame descriptor. In: a
 * branch. Out: a copy of it that takes another path.
 */
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
import { noteFork } from "./events";

export namespace Forks {
  /**
   * The first frame that is walked at the moment: the forks of frame n have fixed numbers by its
   * distance.
   */
  export let first: u32 = 0;
}

/**
 * Makes another branch of the frame in the same state; 0 if the frame has as many as it may have.
 * The two share their bytes until one of them changes them.
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
  if (TRACED) noteFork(branch, copy);
  return copy;
}
