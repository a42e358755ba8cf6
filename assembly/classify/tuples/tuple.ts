/**
 * The tuples of a table (tuple space search): at most MAX_TUPLES masks under which rules are
 * hashed. In: the mask of a rule. Out: the tuple that its rules belong to.
 *
 *     0           8       12     16      20     24      28  32
 *     | best rank | rules | seed | lanes | bits | masks | 0 | mask lanes ... |
 *
 *     best rank   not above the rank of any rule of the tuple
 *     masks       masks of rules that name this tuple for their next rules
 *
 * A rule may belong to any tuple whose mask is a subset of its own mask; the more bits they share,
 * the fewer rules have equal hashes. The first EXACT_TUPLES masks get tuples of their own. Later
 * masks share a tuple of their whole bytes, like TupleMerge (Daly et al. 2019). A tuple without
 * rules and masks is reused.
 */
import { KEY_SIZE } from "../../../src/abi/key";
import { TUPLES_SIZE } from "../../../src/abi/table";
import { allocate, release } from "../../arena";
import { NEW_TUPLE_MASK } from "../../memory";
import { lanesOf, MASK_BYTES, MASK_LANES_COUNT } from "../mask";

export const MAX_TUPLES: u32 = 128;

export const TUPLE_BEST: usize = 0;
export const TUPLE_RULES: usize = 8;
export const TUPLE_SEED: usize = 12;
export const TUPLE_LANES: usize = 16;
const TUPLE_BITS: usize = 20;
export const TUPLE_MASKS: usize = 24;
export const TUPLE_MASK: usize = 32;

/*
 * The tuples of a table, inside the table:
 *
 *     0        4       8      12
 *     | tuples | count | room | stride |       count: one more than the last index in use
 */
const TUPLES_AT: usize = 0;
export const TUPLE_COUNT: usize = 4;
const ROOM: usize = 8;
const STRIDE: usize = 12;

const FIRST_ROOM: u32 = 1;
const NONE: u32 = 0xffffffff;

// @ts-ignore: decorator
@inline
export function tupleAt(tuples: usize, index: u32): usize {
  return <usize>load<u32>(tuples, TUPLES_AT) + <usize>(index * load<u32>(tuples, STRIDE));
}

/** Frees the memory of tuples without rules. */
export function clearTuples(tuples: usize): void {
  const address: usize = load<u32>(tuples, TUPLES_AT);
  if (address != 0) release(address, load<u32>(tuples, ROOM) * load<u32>(tuples, STRIDE));
  memory.fill(tuples, 0, TUPLES_SIZE);
}

/** The number of tuples that have the exact mask of their rules; later tuples have its whole bytes. */
const EXACT_TUPLES: u32 = 32;
/**
 * With so many tuples no mask gets one of its own any more: the others are for whole bytes, which more
 * masks share.
 */
const SHARED_FROM: u32 = 96;

/**
 * The tuple for a mask: one with its whole bytes (with all its bits while there are few tuples or
 * if `exact` is set), else the tuple that shares most bits. MAX_TUPLES when memory is full and no
 * tuple fits.
 */
export function tupleFor(tuples: usize, mask: usize, lanes: u32, exact: bool): u32 {
  const count = load<u32>(tuples, TUPLE_COUNT);
  let used: u32 = 0;
  for (let index: u32 = 0; index < count; index++) if (isUsed(tupleAt(tuples, index))) used++;
  const end = exact ? SHARED_FROM : EXACT_TUPLES;
  const wanted = drawMask(mask, used < end);

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
  // The last index is reserved for a tuple that fits every mask, so that one always exists.
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

/**
 * Writes a tuple's mask for rules of `mask` to NEW_TUPLE_MASK: all of it, or its whole bytes.
 * Returns its number of bits.
 */
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

/** Whether the mask of a tuple is a subset of `mask`. */
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

/** Makes a tuple of NEW_TUPLE_MASK at a free index; false when memory is full. */
function openTuple(tuples: usize, index: u32, ownLanes: u32, lanes: u32, bits: u32): bool {
  // Room for every lane of the definer saves moves, but the tuple needs only its own.
  if (!makeRoom(tuples, index, lanes) && !makeRoom(tuples, index, ownLanes)) return false;
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

/**
 * Makes room for a tuple at `index` and for masks of `lanes` lanes. Moves at most MAX_TUPLES
 * tuples.
 */
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
