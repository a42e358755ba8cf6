/**
 * A branch: one copy of a frame on its way from table to table.
 *
 *     0     4       8       12     14       15    16            24      28
 *     | key | frame | table | hops | misses | why | lower bound | index | map |
 *
 * `index` is the frame's number in the batch: it names the outcome that the branch writes to. `lower bound` is the rank
 * from which the next lookup starts; 0 for all rules. `why` is the reason of a miss that an action has asked for, else 0.
 */
import { FRAME_SIZE } from "../../src/abi/engine";
import { MAP_SIZE } from "../../src/abi/headers";
import { KEY_SIZE } from "../../src/abi/key";
import { BATCH, BRANCHES, BRANCH_SIZE, FRAMES, KEYS, MAPS } from "../memory";

export const BRANCH_KEY: usize = 0;
export const BRANCH_FRAME: usize = 4;
export const BRANCH_TABLE: usize = 8;
export const BRANCH_HOPS: usize = 12;
export const BRANCH_MISSES: usize = 14;
export const BRANCH_WHY: usize = 15;
export const BRANCH_LOWER: usize = 16;
export const BRANCH_INDEX: usize = 24;
export const BRANCH_MAP: usize = 28;

// @ts-ignore: decorator
@inline
export function branchAt(index: u32): usize {
  return BRANCHES + <usize>index * BRANCH_SIZE;
}

/** What never changes in the branches that frames start with. */
export function openBranches(): void {
  for (let index: u32 = 0; index < <u32>BATCH; index++) {
    const branch = branchAt(index);
    store<u32>(branch, <u32>(KEYS + <usize>index * KEY_SIZE), BRANCH_KEY);
    store<u32>(branch, <u32>(FRAMES + <usize>index * FRAME_SIZE), BRANCH_FRAME);
    store<u32>(branch, index, BRANCH_INDEX);
    store<u32>(branch, <u32>(MAPS + <usize>index * MAP_SIZE), BRANCH_MAP);
  }
}

/** The branch that a frame of the batch starts with. */
// @ts-ignore: decorator
@inline
export function openBranch(index: u32, table: usize): usize {
  const branch = branchAt(index);
  // The word of hops, misses and why is cleared with it.
  store<u64>(branch, <u64>table, BRANCH_TABLE);
  store<u64>(branch, 0, BRANCH_LOWER);
  return branch;
}
