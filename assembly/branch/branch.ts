/**
 * A branch: one copy of a frame on its path from table to table. This file has its fields and its
 * first state. Branch n < Rows.count belongs to frame n of the batch; forks (fork.ts) have other
 * numbers.
 *
 *     0     4       8       12     14       15       16            24      28    32    36
 *     | key | frame | table | hops | misses | reason | lower bound | index | map | tag | flags, vport | ...
 *     40        44      48     52     56    60
 *     | written | found | room | next | end | recording |
 *
 *     reason        of a miss, set by an action; 0 for none
 *     lower bound   rank from which the next lookup starts; 0 for all rules
 *     index         number of the frame in the batch, whose outcome the branch writes
 *     vport         function that the eSwitch sent it to: the highest byte of the flags
 *     written       metadata registers that rules wrote, a bit each
 *     found         rule that the lookup of this round found
 *     room          first byte in front of a changed frame that headers may take
 *     next, end     recorded lookups in the flow cache that are left; equal in forks (walk/recordedLookups.ts)
 *     recording     whether lookups of the branch are recorded; 0 in forks
 */
import { FRAME_FLAGS, FRAME_PACKED, FRAME_SIZE } from "../../src/abi/engine";
import { MAP_SIZE } from "../../src/abi/headers";
import { KEY_SIZE } from "../../src/abi/key";
import { BRANCH_SIZE } from "../memory";
import { Forks, Rows } from "../rows";

export const BRANCH_KEY: usize = 0;
export const BRANCH_FRAME: usize = 4;
export const BRANCH_TABLE: usize = 8;
export const BRANCH_HOPS: usize = 12;
export const BRANCH_MISSES: usize = 14;
export const BRANCH_REASON: usize = 15;
export const BRANCH_LOWER: usize = 16;
export const BRANCH_INDEX: usize = 24;
export const BRANCH_MAP: usize = 28;
export const BRANCH_TAG: usize = 32;
export const BRANCH_FLAGS: usize = 36;
export const BRANCH_VPORT: usize = 39;
export const BRANCH_WRITTEN: usize = 40;
export const BRANCH_FOUND: usize = 44;
export const BRANCH_ROOM: usize = 48;
/** The addresses of the next recorded lookup and of the end of the record. */
export const BRANCH_NEXT: usize = 52;
export const BRANCH_END: usize = 56;
/** Whether the results of lookups are recorded for the flow cache. */
export const BRANCH_RECORDING: usize = 60;

/** The branch has a tag. */
export const HAS_TAG: u32 = 1;
/** The branch has a verdict: it reached a destination of its own, or ended. */
export const HAS_VERDICT: u32 = 2;
/** Another branch or a destination has the same bytes: they are copied before they change. */
export const SHARED: u32 = FRAME_PACKED;
/** The bytes differ from those that were received. */
export const CHANGED: u32 = 8;
/** The key, or also the frame map, is not that of the bytes (refresh.ts). */
export const STALE_KEY: u32 = 16;
export const STALE_MAP: u32 = 32;
/** The copy of a sampler: its destinations are copies, and its verdict is only counted. */
export const ASIDE: u32 = 64;
/** The result of an inline ESP action: ESP_BAD_ICV or ESP_BAD_TRAILER, from bit 7 on. */
export const ESP_SHIFT: u32 = 7;
export const ESP_BITS: u32 = 3 << ESP_SHIFT;
/** The branch reached NIC_RX because no rule of the FDB matched. */
export const FDB_MISSED: u32 = 1 << 9;

// @ts-ignore: decorator
@inline
export function branchAt(number: u32): usize {
  return Rows.branches + <usize>number * BRANCH_SIZE;
}

// @ts-ignore: decorator
@inline
export function numberOf(branch: usize): u32 {
  return <u32>((branch - Rows.branches) / BRANCH_SIZE);
}

/** The number of a branch among those of its frame: 0 for the first, forks from 1. */
export function numberInFrame(branch: usize): u32 {
  if (branch - Rows.branches < <usize>Rows.count * BRANCH_SIZE) return 0;
  return <u32>((branch - Forks.start) / BRANCH_SIZE) + 1;
}

/** Writes the fields of the branches of rows that never change. */
export function openBranches(): void {
  for (let index: u32 = 0; index < Rows.count; index++) {
    const n = <usize>index;
    const branch = branchAt(index);
    assignMemory(branch, Rows.frames + n * FRAME_SIZE, Rows.keys + n * KEY_SIZE, Rows.maps + n * MAP_SIZE);
    store<u32>(branch, index, BRANCH_INDEX);
  }
}

/** Writes where a branch has its frame descriptor, key and frame map. */
export function assignMemory(branch: usize, frame: usize, key: usize, map: usize): void {
  store<u32>(branch, <u32>key, BRANCH_KEY);
  store<u32>(branch, <u32>frame, BRANCH_FRAME);
  store<u32>(branch, <u32>map, BRANCH_MAP);
}

/** Opens the first branch of a frame of the batch. */
// @ts-ignore: decorator
@inline
export function openBranch(index: u32, table: usize): usize {
  const branch = branchAt(index);
  // This also clears hops, misses and reason.
  store<u64>(branch, <u64>table, BRANCH_TABLE);
  store<u64>(branch, 0, BRANCH_LOWER);
  v128.store(branch, i64x2.splat(0), BRANCH_TAG);
  // FRAME_PACKED is SHARED.
  store<u32>(branch, load<u8>(Rows.frames + <usize>index * FRAME_SIZE, FRAME_FLAGS), BRANCH_FLAGS);
  return branch;
}
