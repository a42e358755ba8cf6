/**
 * The groups of a table, at most MAX_TUPLES: each a mask, under which the values of its rules are hashed.
 *
 *     0           8       12     16      20     24      28  32
 *     | best rank | rules | seed | lanes | bits | masks | 0 | mask lanes ... |      `stride` bytes each, one behind the other
 *
 * A rule may stand in any group whose mask asks for no bit that its own does not ask for; the more bits are common, the
 * fewer rules share a hash. The first masks have groups of their own, later ones share those of their whole bytes
 * (TupleMerge, Daly et al. 2019, merges alike). `best rank` is never above the rank of any rule of the group. A group of
 * no rules, whose place no mask keeps for its next ones (`masks`), is free to be another.
 */
import { KEY_SIZE } from "../../src/abi/key";
import { allocate, release } from "../arena";
import { NEW_TUPLE_MASK } from "../memory";
import { lanesOf, MASK_BYTES, MASK_LANES_COUNT } from "./mask";

export const MAX_TUPLES: u32 = 128;

export const TUPLE_BEST: usize = 0;
export const TUPLE_RULES: usize = 8;
export const TUPLE_SEED: usize = 12;
export const TUPLE_LANES: usize = 16;
const TUPLE_BITS: usize = 20;
export const TUPLE_MASKS: usize = 24;
export const TUPLE_MASK: usize = 32;

/*
 * In the table:
 *     0        4       8      12
 *     | groups | count | room | stride |       count: one beyond the last group in use
 */
const TUPLES_AT: usize = 0;
export const TUPLE_COUNT: usize = 4;
const ROOM: usize = 8;
const STRIDE: usize = 12;
export const TUPLES_SIZE: usize = 16;

const FIRST_ROOM: u32 = 1;
const NONE: u32 = 0xffffffff;

// @ts-ignore: decorator
@inline
export function tupleAt(tuples: usize, index: u32): usize {
  return <usize>load<u32>(tuples, TUPLES_AT) + <usize>(index * load<u32>(tuples, STRIDE));
}

/** Gives back the memory of groups that have no rules. */
export function clearTuples(tuples: usize): void {
  const address: usize = load<u32>(tuples, TUPLES_AT);
  if (address != 0) release(address, load<u32>(tuples, ROOM) * load<u32>(tuples, STRIDE));
  memory.fill(tuples, 0, TUPLES_SIZE);
}

/** So many groups have the masks of their rules; those of later ones are whole bytes. */
const EXACT_TUPLES: u32 = 32;

/**
 * The group for a mask: one that has its whole bytes (its bits, while there are few groups or `exact` asks for it), else
 * the one with most of its bits. MAX_TUPLES when memory is full and there is none.
 */
export function tupleFor(tuples: usize, mask: usize, lanes: u32, exact: bool): u32 {
  const count = load<u32>(tuples, TUPLE_COUNT);
  let used: u32 = 0;
  for (let index: u32 = 0; index < count; index++) if (isUsed(tupleAt(tuples, index))) used++;
  const wanted = drawMask(mask, exact || used < EXACT_TUPLES);

  let best = NONE;
  let bestBits: u32 = 0;
  let hasAll = false;
  let free = count < MAX_TUPLES ? count : NONE;
  for (let index: u32 = 0; index < count; index++) {
    const tuple = tupleAt(tuples, index);
    if (!isUsed(tuple)) {
      free = index;
      continue;
    }
    const bits = load<u32>(tuple, TUPLE_BITS);
    if (bits == 0) hasAll = true;
    if ((best != NONE && bits <= bestBits) || !isSubset(tuple, mask)) continue;
    best = index;
    bestBits = bits;
  }
  if (best != NONE && bestBits >= wanted) return best;
  // The last place is kept for a group that takes every mask, so that there is always one.
  const last = used == MAX_TUPLES - 1 && !hasAll;
  if (free == NONE || (last && best != NONE)) return best;
  if (last) memory.fill(NEW_TUPLE_MASK, 0, KEY_SIZE);
  if (
    openTuple(
      tuples,
      free,
      last ? 1 : lanesOf(NEW_TUPLE_MASK, load<u32>(mask, MASK_LANES_COUNT)),
      lanes,
      last ? 0 : wanted,
    )
  )
    return free;
  return best == NONE ? MAX_TUPLES : best;
}

// @ts-ignore: decorator
@inline
function isUsed(tuple: usize): bool {
  return (load<u32>(tuple, TUPLE_RULES) | load<u32>(tuple, TUPLE_MASKS)) != 0;
}

/** Draws a group's mask for rules of `mask` at NEW_TUPLE_MASK: all of it, or its whole bytes. Gives how many bits it has. */
function drawMask(mask: usize, exact: bool): u32 {
  const end = (<usize>load<u32>(mask, MASK_LANES_COUNT)) << 4;
  let bits: u64 = 0;
  for (let at: usize = 0; at < end; at += 16) {
    let lane = v128.load(mask + at, MASK_BYTES);
    if (!exact) lane = i8x16.eq(lane, i8x16.splat(-1));
    v128.store(NEW_TUPLE_MASK + at, lane);
    bits += popcnt(i64x2.extract_lane(lane, 0)) + popcnt(i64x2.extract_lane(lane, 1));
  }
  return <u32>bits;
}

/** Whether a group's mask asks for no bit that `mask` does not ask for. */
function isSubset(tuple: usize, mask: usize): bool {
  const lanes = load<u32>(tuple, TUPLE_LANES);
  if (lanes > load<u32>(mask, MASK_LANES_COUNT)) return false;
  let mine = tuple + TUPLE_MASK;
  const end = mine + ((<usize>lanes) << 4);
  for (let its = mask + MASK_BYTES; mine < end; mine += 16, its += 16) {
    if (v128.any_true(v128.andnot(v128.load(mine), v128.load(its)))) return false;
  }
  return true;
}

/** Makes a group of the mask at NEW_TUPLE_MASK at a free index. False when memory is full. */
function openTuple(tuples: usize, index: u32, ownLanes: u32, lanes: u32, bits: u32): bool {
  if (!makeRoom(tuples, index, lanes)) return false;
  const tuple = tupleAt(tuples, index);
  memory.fill(tuple, 0, load<u32>(tuples, STRIDE));
  store<u64>(tuple, u64.MAX_VALUE, TUPLE_BEST);
  store<u32>(tuple, (index + 1) * 0x9e3779b1, TUPLE_SEED);
  store<u32>(tuple, ownLanes, TUPLE_LANES);
  store<u32>(tuple, bits, TUPLE_BITS);
  memory.copy(tuple + TUPLE_MASK, NEW_TUPLE_MASK, (<usize>ownLanes) << 4);
  if (index == load<u32>(tuples, TUPLE_COUNT)) store<u32>(tuples, index + 1, TUPLE_COUNT);
  return true;
}

/** Room for a group at `index`, and for masks of `lanes` lanes. At most MAX_TUPLES groups are moved. */
function makeRoom(tuples: usize, index: u32, lanes: u32): bool {
  const room = load<u32>(tuples, ROOM);
  const stride = load<u32>(tuples, STRIDE);
  const wider = max<u32>(stride, <u32>TUPLE_MASK + (lanes << 4));
  if (index < room && wider == stride) return true;
  const larger = index < room ? room : max<u32>(room * 2, FIRST_ROOM);
  const address = allocate(larger * wider);
  if (address == 0) return false;
  const old: usize = load<u32>(tuples, TUPLES_AT);
  for (let n: u32 = 0; n < load<u32>(tuples, TUPLE_COUNT); n++) {
    const to = address + <usize>(n * wider);
    memory.copy(to, old + <usize>(n * stride), stride);
    memory.fill(to + <usize>stride, 0, wider - stride);
  }
  if (old != 0) release(old, room * stride);
  store<u32>(tuples, <u32>address, TUPLES_AT);
  store<u32>(tuples, larger, ROOM);
  store<u32>(tuples, wider, STRIDE);
  return true;
}
