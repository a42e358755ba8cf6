/**
 * Forks: further branches of a frame, each with its own key, frame map and frame descriptor. In: a
 * branch. Out: a copy of it that takes another path.
 */
import { BRANCHES_PER_FRAME, FRAME_SIZE } from "../../src/abi/engine";
import { OUTCOME_BRANCHES } from "../../src/abi/outcome";
import { MAP_SIZE } from "../../src/abi/headers";
import { KEY_SIZE } from "../../src/abi/key";
import { reserve } from "../arena";
import { BATCH, BRANCH_SIZE } from "../memory";
import { Forks, placeLanes, placeLists } from "../rows";
import {
  assignMemory,
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

const MAX: u32 = BRANCHES_PER_FRAME - 1;
/** The bytes of a fork: branch, frame descriptor, key, frame map. */
const FORK_SIZE: usize = BRANCH_SIZE + FRAME_SIZE + KEY_SIZE + MAP_SIZE;

/**
 * Takes memory for the forks of `frames` frames that are walked together, for lists of their branches,
 * and for lookups of them. Call it while no branch is under way. False when memory is full; then nothing
 * has changed.
 */
export function openForks(frames: u32): bool {
  if (frames <= Forks.frames) return true;
  const count = frames * MAX;
  const branches = <u32>BATCH + count;
  const together = min<u32>(<u32>BATCH, frames * BRANCHES_PER_FRAME);
  const lists: usize = 3 * ((<usize>branches) << 2);
  const start = reserve(<usize>together * KEY_SIZE + <usize>count * FORK_SIZE + lists);
  if (start == 0) return false;
  Forks.frames = frames;
  placeLanes(start, together);
  const forks = start + <usize>together * KEY_SIZE;
  Forks.start = forks;
  const descriptors = forks + <usize>count * BRANCH_SIZE;
  const keys = descriptors + <usize>count * FRAME_SIZE;
  const maps = keys + <usize>count * KEY_SIZE;
  for (let n: usize = 0; n < <usize>count; n++) {
    assignMemory(forks + n * BRANCH_SIZE, descriptors + n * FRAME_SIZE, keys + n * KEY_SIZE, maps + n * MAP_SIZE);
  }
  placeLists(maps + <usize>count * MAP_SIZE, branches);
  return true;
}

/**
 * Makes another branch of the frame in the same state; 0 if the frame has as many as it may have, or
 * there is no memory for forks.
 * The two share their bytes until one of them changes them.
 */
export function fork(branch: usize): usize {
  const index = load<u32>(branch, BRANCH_INDEX);
  const outcome = outcomeAt(index);
  const forks: u32 = load<u16>(outcome, OUTCOME_BRANCHES);
  if (forks >= MAX || Forks.frames == 0) return 0;
  store<u16>(outcome, <u16>(forks + 1), OUTCOME_BRANCHES);
  const copy = Forks.start + <usize>((index - Forks.first) * MAX + forks) * BRANCH_SIZE;
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
