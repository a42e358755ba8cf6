/**
 * A branch: one copy of a frame on its way from table to table.
 *
 *     0     4       8       12     16            24      28
 *     | key | frame | table | hops | lower bound | index | map |
 *
 * `index` is the frame's number in the batch: it names the outcome that the branch writes to. `lower bound` is the rank
 * from which the next lookup starts; 0 for all rules.
 */
import { FRAME_SIZE } from "../../src/abi/engine";
import { MAP_SIZE } from "../../src/abi/headers";
import { KEY_SIZE } from "../../src/abi/key";
import { BRANCHES, BRANCH_SIZE, FRAMES, KEYS, MAPS } from "../memory";

export const BRANCH_KEY: usize = 0;
export const BRANCH_FRAME: usize = 4;
export const BRANCH_TABLE: usize = 8;
export const BRANCH_HOPS: usize = 12;
export const BRANCH_LOWER: usize = 16;
export const BRANCH_INDEX: usize = 24;
export const BRANCH_MAP: usize = 28;

// @ts-ignore: decorator
@inline
export function branchAt(index: u32): usize {
  return BRANCHES + <usize>index * BRANCH_SIZE;
}

/** The branch that a frame of the batch starts with. */
// @ts-ignore: decorator
@inline
export function openBranch(index: u32, table: usize): usize {
  const branch = branchAt(index);
  store<u32>(branch, <u32>(KEYS + <usize>index * KEY_SIZE), BRANCH_KEY);
  store<u32>(branch, <u32>(FRAMES + <usize>index * FRAME_SIZE), BRANCH_FRAME);
  store<u32>(branch, <u32>table, BRANCH_TABLE);
  store<u32>(branch, 0, BRANCH_HOPS);
  store<u64>(branch, 0, BRANCH_LOWER);
  store<u32>(branch, index, BRANCH_INDEX);
  store<u32>(branch, <u32>(MAPS + <usize>index * MAP_SIZE), BRANCH_MAP);
  return branch;
}
