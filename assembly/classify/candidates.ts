/**
 * Which groups can hold a rule for a key at all.
 *
 * Each slice (fieldChunk.ts) has a table that gives, for a hash of its bytes, the set of groups with a rule whose mask asks for
 * all of them and whose value has that hash; groups with a rule that leaves some of them out are in every entry. The AND
 * over all slices is small.
 *
 *     0       8      16     20        24      28     32             160            288         1312             2352
 *     | asked | made | mask | settled | quads | seen | group at 128 | place of 128 | best 1024 | best from 1032 | left 1024 | ...
 *     3376           3632            3888           4912            5680              8752
 *     | bytes 64 x 4 | tables 64 x 4 | wild 64 x 16 | quads 16 x 48 | samples 64 x 48 | news | asked for | 0 8 |
 *
 *     bytes, tables, wild:    of each slice; wild: the places that are in every entry
 *     left:                   of each place, the slices that a rule of it leaves out
 *     a quad:                 | bytes 16 | tables 4 x 4 | lane 4 | 0 12 |     four slices that a lookup asks together
 *
 * Sets have a bit a place, and places are in the order of the groups' best ranks when this was made, so that the lowest
 * bit names the group that is likeliest to win. Sets may hold too much, after rules are gone; they never hold too little.
 *
 * While a sweep makes them (rebuild.ts), `wild` lies beside the tables; when they are settled it is in them, and lookups ask.
 */
import { allocate, release } from "../arena";
import { SETS } from "../memory";
import { GROUP_BEST, GROUP_COUNT, GROUPS, groupAt } from "./tuple";
import { MASK_SLICES } from "./mask";
import { RULE_GROUP, RULE_MASK, RULE_RANK, RULE_VALUE } from "./rule";
import { drawSlice, isDrawn, laneOfSlice, SLICES } from "./fieldChunk";

/** Slices that have tables, or may get them: a bit each; and those that have. */
const ASKED: usize = 0;
const MADE: usize = 8;
/** The bits of a hash that name an entry: (entries - 1) * 16. */
const ENTRY_MASK: usize = 16;
/** Whether `wild` is in the tables. */
const SETTLED: usize = 20;
const QUADS: usize = 24;
const GROUP_AT: usize = 32;
const PLACE: usize = 160;
const BEST: usize = 288;
const BEST_FROM: usize = 1312;
const LEFT: usize = 2352;
const SLICE_BYTES: usize = 3376;
const SLICE_TABLES: usize = 3632;
const SLICE_WILD: usize = 3888;
const QUADS_AT: usize = 4912;
export const QUAD_TABLES: usize = 16;
export const QUAD_LANE: usize = 32;
const QUAD: usize = 48;
/** Rules that chooseChunks.ts tries slices on, and how many it has seen. */
export const SAMPLED: usize = 28;
export const SAMPLES_AT: usize = 5680;
export const SAMPLES: u32 = 64;
export const SAMPLE: usize = 48;
/** What is new since slices were chosen: rules; more than any number of them where a place left out another slice. */
const NEWS: usize = 8752;
/** Keys looked up since. */
const ASKED_FOR: usize = 8756;
const SETS_SIZE: u32 = 8768;
const GREAT_NEWS: u32 = 0x40000000;
/** Slices are chosen once for so many keys at the most. */
const CHOICE_KEYS: u32 = 4096;
const SET: u32 = 16;

const MULTIPLIER: u32 = 0x9e3779b1;
/** Bits of the product below those that name an entry. */
const HASH_SHIFT: i32 = 16;
const MIN_ENTRIES: u32 = 128;
const MAX_ENTRIES: u32 = 1024;
/** What a quad asks where it has no fourth slice: it says every place. */
const EVERY_PLACE: usize = memory.data(16, 16);
/** Sets of a table that has none: every group in the order of its number. */
export const NO_SETS: usize = memory.data(3376, 16);

/** Makes what is there once. */
export function openSets(): void {
  v128.store(EVERY_PLACE, i64x2.splat(-1));
  for (let place: u32 = 0; place < GROUPS; place++) store<u8>(NO_SETS + <usize>place, <u8>place, GROUP_AT);
  store<u64>(NO_SETS + (GROUPS << 3), u64.MAX_VALUE, BEST_FROM);
}

/** Empty sets, sized for so many rules; 0 when memory is full. */
export function createSets(definer: usize, groups: usize, rules: u32): usize {
  const sets = allocate(SETS_SIZE);
  if (sets == 0) return 0;
  memory.fill(sets, 0, SETS_SIZE);
  let entries = MIN_ENTRIES;
  while (entries < MAX_ENTRIES && entries < rules * 2) entries *= 2;
  store<u32>(sets, (entries - 1) * SET, ENTRY_MASK);
  memory.fill(sets + BEST, 0xff, 2 * GROUPS * 8 + 8);
  let asked: u64 = 0;
  for (let number: u32 = 0; number < SLICES; number++) {
    const bytes = drawSlice(definer, number);
    store<u32>(wordOf(sets, number), bytes, SLICE_BYTES);
    if (isDrawn(bytes)) asked |= (<u64>1) << number;
  }
  store<u64>(sets, asked, ASKED);
  orderGroups(sets, groups);
  return sets;
}

export function releaseSets(sets: usize): void {
  for (let made = load<u64>(sets, MADE); made != 0; made &= made - 1) {
    release(load<u32>(wordOf(sets, <u32>ctz(made)), SLICE_TABLES), tableBytes(sets));
  }
  release(sets, SETS_SIZE);
}

/** Puts `wild` into the entries of every table: from now on lookups ask them. */
export function settle(sets: usize): void {
  store<u32>(sets, 1, SETTLED);
  // The first lookup chooses.
  store<u32>(sets, CHOICE_KEYS, ASKED_FOR);
  for (let made = load<u64>(sets, MADE); made != 0; made &= made - 1) {
    const number = <u32>ctz(made);
    const table: usize = load<u32>(wordOf(sets, number), SLICE_TABLES);
    const wild = v128.load(wildOf(sets, number));
    const end = table + <usize>tableBytes(sets);
    for (let entry = table; entry < end; entry += 16) v128.store(entry, v128.or(v128.load(entry), wild));
  }
}

/** Gives places by best rank. At most GROUPS of them. */
function orderGroups(sets: usize, groups: usize): void {
  const count = load<u32>(groups, GROUP_COUNT);
  for (let index: u32 = 0; index < GROUPS; index++) {
    let place = index;
    if (index < count) {
      const best = load<u64>(groupAt(groups, index), GROUP_BEST);
      while (place > 0 && load<u64>(groupAt(groups, groupOfPlace(sets, <usize>(place - 1))), GROUP_BEST) > best) {
        store<u8>(sets + <usize>place, <u8>groupOfPlace(sets, <usize>(place - 1)), GROUP_AT);
        place--;
      }
    }
    store<u8>(sets + <usize>place, <u8>index, GROUP_AT);
  }
  for (let place: u32 = 0; place < GROUPS; place++) {
    store<u8>(sets + <usize>groupOfPlace(sets, <usize>place), <u8>place, PLACE);
  }
}

/** Takes in a rule. Where memory is full a slice says nothing any more. */
export function addToSets(sets: usize, rule: usize): void {
  const group: usize = load<u8>(rule, RULE_GROUP);
  const place = <usize>load<u8>(sets + group, PLACE);
  const best = sets + BEST + (group << 3);
  const rank = load<u64>(rule, RULE_RANK);
  if (rank < load<u64>(best)) store<u64>(best, rank);
  for (let from = sets + (place << 3); from >= sets && load<u64>(from, BEST_FROM) > rank; from -= 8) {
    store<u64>(from, rank, BEST_FROM);
  }
  store<u32>(sets, load<u32>(sets, NEWS) + 1, NEWS);
  const whole = load<u64>(load<u32>(rule, RULE_MASK), MASK_SLICES);
  leaveOut(sets, place, load<u64>(sets, ASKED) & ~whole);
  const missing = load<u64>(sets, ASKED) & whole & ~load<u64>(sets, MADE);
  if (missing != 0) makeTables(sets, missing);
  const byte = place >> 3;
  const bit = (<u32>1) << ((<u32>place) & 7);
  const mask = i32x4.splat(load<u32>(sets, ENTRY_MASK));
  // Four at a time, those of consecutive numbers.
  for (let slices = load<u64>(sets, MADE) & whole; slices != 0;) {
    const first = (<u32>ctz(slices)) & ~3;
    const four = (<u32>(slices >> first)) & 15;
    slices &= ~((<u64>15) << first);
    const at = wordOf(sets, first);
    const entries = i32x4.add(
      entriesIn(rule + RULE_VALUE + laneOfSlice(first), v128.load(at, SLICE_BYTES), mask),
      v128.load(at, SLICE_TABLES),
    );
    if (four & 1) put(<usize>i32x4.extract_lane(entries, 0) + byte, bit);
    if (four & 2) put(<usize>i32x4.extract_lane(entries, 1) + byte, bit);
    if (four & 4) put(<usize>i32x4.extract_lane(entries, 2) + byte, bit);
    if (four & 8) put(<usize>i32x4.extract_lane(entries, 3) + byte, bit);
  }
}

// @ts-ignore: decorator
@inline
function put(byte: usize, bit: u32): void {
  store<u8>(byte, <u8>((<u32>load<u8>(byte)) | bit));
}

/** Where four slices of a lane have their entries, in bytes from the start of their tables. */
// @ts-ignore: decorator
@inline
export function entriesIn(lane: usize, bytes: v128, entryMask: v128): v128 {
  const products = i32x4.mul(i8x16.swizzle(v128.load(lane), bytes), i32x4.splat(MULTIPLIER));
  return v128.and(i32x4.shr_u(products, HASH_SHIFT), entryMask);
}

/** Puts a place into whatever these slices say, once. */
function leaveOut(sets: usize, place: usize, slices: u64): void {
  const left = sets + LEFT + (place << 3);
  let fresh = slices & ~load<u64>(left);
  if (fresh == 0) return;
  store<u64>(left, load<u64>(left) | fresh);
  store<u32>(sets, GREAT_NEWS, NEWS);
  const byte = place >> 3;
  const bit = (<u32>1) << ((<u32>place) & 7);
  for (; fresh != 0; fresh &= fresh - 1) {
    const number = <u32>ctz(fresh);
    put(wildOf(sets, number) + byte, bit);
    const table: usize = load<u32>(wordOf(sets, number), SLICE_TABLES);
    if (table == 0 || load<u32>(sets, SETTLED) == 0) continue;
    const end = table + <usize>tableBytes(sets);
    for (let set = table + byte; set < end; set += 16) put(set, bit);
  }
}

/** Tables for slices that are first asked now; one without memory says nothing any more. */
function makeTables(sets: usize, slices: u64): void {
  for (; slices != 0; slices &= slices - 1) {
    const number = <u32>ctz(slices);
    const bit = (<u64>1) << number;
    const table = allocate(tableBytes(sets));
    if (table == 0) {
      store<u64>(sets, load<u64>(sets, ASKED) & ~bit, ASKED);
      continue;
    }
    const empty = load<u32>(sets, SETTLED) != 0 ? v128.load(wildOf(sets, number)) : i64x2.splat(0);
    const end = table + <usize>tableBytes(sets);
    for (let entry = table; entry < end; entry += 16) v128.store(entry, empty);
    store<u32>(wordOf(sets, number), <u32>table, SLICE_TABLES);
    store<u64>(sets, load<u64>(sets, MADE) | bit, MADE);
  }
}

/** Puts slices four to a quad, lane by lane: these are what lookups ask from now on. */
export function drawQuads(sets: usize, slices: u64): void {
  let quads: u32 = 0;
  let used: u32 = 0;
  let lane: usize = 0;
  for (; slices != 0; slices &= slices - 1) {
    const number = <u32>ctz(slices);
    if ((used & 3) == 0 || laneOfSlice(number) != lane) {
      lane = laneOfSlice(number);
      used = 0;
      openQuad(quadAt(sets, quads++), lane);
    }
    const at = quadAt(sets, quads - 1) + ((<usize>used) << 2);
    store<u32>(at, load<u32>(wordOf(sets, number), SLICE_BYTES));
    store<u32>(at, load<u32>(wordOf(sets, number), SLICE_TABLES), QUAD_TABLES);
    used = (used + 1) & 3;
  }
  store<u32>(sets, quads, QUADS);
  store<u32>(sets, 0, NEWS);
  store<u32>(sets, 0, ASKED_FOR);
}

function openQuad(quad: usize, lane: usize): void {
  v128.store(quad, i64x2.splat(-1));
  v128.store(quad, i32x4.splat(<i32>EVERY_PLACE), QUAD_TABLES);
  store<u32>(quad, <u32>lane, QUAD_LANE);
}

/** Whether it is time to choose slices anew, now that `count` keys more are looked up. */
// @ts-ignore: decorator
@inline
export function isChoiceDue(sets: usize, count: u32): bool {
  const keys = load<u32>(sets, ASKED_FOR) + count;
  store<u32>(sets, keys, ASKED_FOR);
  return keys >= CHOICE_KEYS && load<u32>(sets, NEWS) > load<u32>(sets, SAMPLED) >> 2;
}

/** The slices that can be asked, a bit each. */
export function slicesMade(sets: usize): u64 {
  return load<u64>(sets, MADE);
}

/** What a slice of settled sets says of lanes: the places that can match. */
// @ts-ignore: decorator
@inline
export function said(sets: usize, number: u32, lanes: usize): v128 {
  const at = wordOf(sets, number);
  const bytes = v128.load32_splat(at, SLICE_BYTES);
  const entries = entriesIn(lanes + laneOfSlice(number), bytes, i32x4.splat(load<u32>(sets, ENTRY_MASK)));
  return v128.load(<usize>load<u32>(at, SLICE_TABLES) + <usize>i32x4.extract_lane(entries, 0));
}

/** Slices four by four, as a lookup asks them. */
// @ts-ignore: decorator
@inline
export function quadCount(sets: usize): u32 {
  return load<u32>(sets, QUADS);
}

// @ts-ignore: decorator
@inline
export function quadAt(sets: usize, n: u32): usize {
  return sets + QUADS_AT + <usize>n * QUAD;
}

// @ts-ignore: decorator
@inline
export function entryMaskOf(sets: usize): u32 {
  return load<u32>(sets, ENTRY_MASK);
}

// @ts-ignore: decorator
@inline
function tableBytes(sets: usize): u32 {
  return load<u32>(sets, ENTRY_MASK) + SET;
}

/** Where SLICE_BYTES and SLICE_TABLES of a slice lie. */
// @ts-ignore: decorator
@inline
function wordOf(sets: usize, number: u32): usize {
  return sets + ((<usize>number) << 2);
}

// @ts-ignore: decorator
@inline
function wildOf(sets: usize, number: u32): usize {
  return sets + SLICE_WILD + ((<usize>number) << 4);
}

/** The first `count` places of one half of a set: at most 64. */
export function firstPlaces(count: u32): u64 {
  return count == 64 ? u64.MAX_VALUE : ((<u64>1) << count) - 1;
}

/** A rank that no rule of the groups from this place on is below; the last one for the place behind the last. */
// @ts-ignore: decorator
@inline
export function bestFrom(sets: usize, place: usize): u64 {
  return load<u64>(sets + (place << 3), BEST_FROM);
}

/** The first place of a key's set, 128 where it is empty. */
// @ts-ignore: decorator
@inline
export function lowestPlace(key: usize): usize {
  return lowestOf(load<u64>(key << 4, SETS), load<u64>(key << 4, SETS + 8));
}

// @ts-ignore: decorator
@inline
export function lowestOf(low: u64, high: u64): usize {
  return <usize>select<u64>(ctz(low), 64 + ctz(high), low != 0);
}

// @ts-ignore: decorator
@inline
export function groupOfPlace(sets: usize, place: usize): u32 {
  return load<u8>(sets + place, GROUP_AT);
}

/** The exact best rank of a group, as far as `addToSets` has seen its rules. */
export function bestSeen(sets: usize, group: u32): u64 {
  return load<u64>(sets + BEST + ((<usize>group) << 3));
}
