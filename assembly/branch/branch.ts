/**
 * A branch: one copy of a frame on its way from table to table.
 *
 *     0     4       8       12     14       15    16            24      28    32    36      40        44      48     52     56    60
 *     | key | frame | table | hops | misses | why | lower bound | index | map | tag | flags | written | found | room | next | end | taped |
 *
 * `index` is the frame's number in the batch: it names the outcome that the branch writes to. `lower bound` is the rank
 * from which the next lookup starts; 0 for all rules. `why` is the reason of a miss that an action has asked for, else 0.
 * `written` are the metadata registers that a rule wrote (REGISTERS), `found` is the rule of the round at hand, `room` the first
 * byte that headers in front of a changed frame may take. `next` to `taped` belong to the cache of decisions (walk/recordedLookups.ts) and are 0 in
 * forks, which it knows nothing of.
 *
 * Branch n < BATCH is the one that frame n starts with; forks have the numbers behind.
 */
import { FRAME_FLAGS, FRAME_PACKED, FRAME_SIZE } from "../../src/abi/engine";
import { MAP_SIZE } from "../../src/abi/headers";
import { KEY_SIZE } from "../../src/abi/key";
import { BATCH, BRANCHES, BRANCH_SIZE, FORK_FRAMES, FORK_KEYS, FORK_MAPS, FORKS, FRAMES, KEYS, MAPS } from "../memory";

export const BRANCH_KEY: usize = 0;
export const BRANCH_FRAME: usize = 4;
export const BRANCH_TABLE: usize = 8;
export const BRANCH_HOPS: usize = 12;
export const BRANCH_MISSES: usize = 14;
export const BRANCH_WHY: usize = 15;
export const BRANCH_LOWER: usize = 16;
export const BRANCH_INDEX: usize = 24;
export const BRANCH_MAP: usize = 28;
export const BRANCH_TAG: usize = 32;
export const BRANCH_FLAGS: usize = 36;
export const BRANCH_WRITTEN: usize = 40;
export const BRANCH_FOUND: usize = 44;
export const BRANCH_ROOM: usize = 48;
/** Results of lookups that the cache has for it: where the next one lies, and where they end. */
export const BRANCH_NEXT: usize = 52;
export const BRANCH_END: usize = 56;
/** Whether what lookups find for it is noted, to be kept. */
export const BRANCH_RECORDING: usize = 60;

/** The branch has a tag. */
export const HAS_TAG: u32 = 1;
/** It has come to a destination of its own, or ended, at the rule at hand. */
export const HAS_VERDICT: u32 = 2;
/** Somebody else has the same bytes: they are copied before they change. */
export const SHARED: u32 = FRAME_PACKED;
/** The bytes are not those that came in. */
export const CHANGED: u32 = 8;
/** The key, or the map too, is not that of the bytes (branch/refresh.ts). */
export const STALE_KEY: u32 = 16;
export const STALE_MAP: u32 = 32;
/** A copy aside: where it arrives are copies, and what becomes of it is only counted. */
export const ASIDE: u32 = 64;
/** What an inline ESP action could not decrypt: ESP_BAD_ICV or ESP_BAD_TRAILER from bit 7 on. */
export const ESP_SHIFT: u32 = 7;
export const ESP_BITS: u32 = 3 << ESP_SHIFT;

// @ts-ignore: decorator
@inline
export function branchAt(number: u32): usize {
  return BRANCHES + <usize>number * BRANCH_SIZE;
}

// @ts-ignore: decorator
@inline
export function numberOf(branch: usize): u32 {
  return <u32>((branch - BRANCHES) / BRANCH_SIZE);
}

/** What never changes in branches. */
export function openBranches(): void {
  for (let index: u32 = 0; index < <u32>BATCH; index++) {
    const n = <usize>index;
    assignMemory(index, FRAMES + n * FRAME_SIZE, KEYS + n * KEY_SIZE, MAPS + n * MAP_SIZE);
    store<u32>(branchAt(index), index, BRANCH_INDEX);
  }
  for (let fork: u32 = 0; fork < <u32>FORKS; fork++) {
    const n = <usize>fork;
    assignMemory(<u32>BATCH + fork, FORK_FRAMES + n * FRAME_SIZE, FORK_KEYS + n * KEY_SIZE, FORK_MAPS + n * MAP_SIZE);
  }
}

function assignMemory(number: u32, frame: usize, key: usize, map: usize): void {
  const branch = branchAt(number);
  store<u32>(branch, <u32>key, BRANCH_KEY);
  store<u32>(branch, <u32>frame, BRANCH_FRAME);
  store<u32>(branch, <u32>map, BRANCH_MAP);
}

/** The branch that a frame of the batch starts with. */
// @ts-ignore: decorator
@inline
export function openBranch(index: u32, table: usize): usize {
  const branch = branchAt(index);
  // The word of hops, misses and why is cleared with it.
  store<u64>(branch, <u64>table, BRANCH_TABLE);
  store<u64>(branch, 0, BRANCH_LOWER);
  v128.store(branch, i64x2.splat(0), BRANCH_TAG);
  // FRAME_PACKED is SHARED.
  store<u32>(branch, load<u8>(FRAMES + <usize>index * FRAME_SIZE, FRAME_FLAGS), BRANCH_FLAGS);
  return branch;
}
