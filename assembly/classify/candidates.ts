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
 * While a sweep makes them (rebuild.ts), `wildcard` lies beside the tables; when they are settled it is in them, and lookups ask.
 */
import { allocate, release } from "../arena";
import { BITMAPS } from "../memory";
import { TUPLE_BEST, TUPLE_COUNT, MAX_TUPLES, tupleAt } from "./tuple";
import { MASK_CHUNKS } from "./mask";
import { RULE_TUPLE, RULE_MASK, RULE_RANK, RULE_VALUE } from "./rule";
import { chunkBytes, isChunk, laneOfChunk, CHUNKS } from "./fieldChunk";

/** Slices that have tables, or may get them: a bit each; and those that have. */
const USABLE: usize = 0;
const BUILT: usize = 8;
/** The bits of a hash that name an entry: (entries - 1) * 16. */
const ENTRY_MASK: usize = 16;
/** Whether `wildcard` is in the tables. */
const FINISHED: usize = 20;
const QUADS: usize = 24;
const TUPLE_OF_BIT: usize = 32;
const BIT_OF_TUPLE: usize = 160;
const BEST: usize = 288;
const BEST_FROM: usize = 1312;
const SKIPPED: usize = 2352;
const CHUNK_BYTES: usize = 3376;
const CHUNK_BITMAPS: usize = 3632;
const CHUNK_WILDCARD: usize = 3888;
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
const CHANGES_SINCE_CHOICE: usize = 8752;
/** Keys looked up since. */
const KEYS_SINCE_CHOICE: usize = 8756;
const BITMAPS_SIZE: u32 = 8768;
const FORCE_CHOICE: u32 = 0x40000000;
/** Slices are chosen once for so many keys at the most. */
const CHOICE_KEYS: u32 = 4096;
const BITMAP_SIZE: u32 = 16;

const MULTIPLIER: u32 = 0x9e3779b1;
/** Bits of the product below those that name an entry. */
const HASH_SHIFT: i32 = 16;
const MIN_ENTRIES: u32 = 128;
const MAX_ENTRIES: u32 = 1024;
/** What a quad asks where it has no fourth slice: it says every place. */
const EVERY_PLACE: usize = memory.data(16, 16);
/** Sets of a table that has none: every group in the order of its number. */
export const NO_BITMAPS: usize = memory.data(3376, 16);

/** Makes what is there once. */
export function openBitmaps(): void {
  v128.store(EVERY_PLACE, i64x2.splat(-1));
  for (let bitIndex: u32 = 0; bitIndex < MAX_TUPLES; bitIndex++)
    store<u8>(NO_BITMAPS + <usize>bitIndex, <u8>bitIndex, TUPLE_OF_BIT);
  store<u64>(NO_BITMAPS + (MAX_TUPLES << 3), u64.MAX_VALUE, BEST_FROM);
}

/** Empty sets, sized for so many rules; 0 when memory is full. */
export function createBitmaps(definer: usize, tuples: usize, rules: u32): usize {
  const bitmaps = allocate(BITMAPS_SIZE);
  if (bitmaps == 0) return 0;
  memory.fill(bitmaps, 0, BITMAPS_SIZE);
  let entries = MIN_ENTRIES;
  while (entries < MAX_ENTRIES && entries < rules * 2) entries *= 2;
  store<u32>(bitmaps, (entries - 1) * BITMAP_SIZE, ENTRY_MASK);
  memory.fill(bitmaps + BEST, 0xff, 2 * MAX_TUPLES * 8 + 8);
  let usable: u64 = 0;
  for (let number: u32 = 0; number < CHUNKS; number++) {
    const bytes = chunkBytes(definer, number);
    store<u32>(wordOf(bitmaps, number), bytes, CHUNK_BYTES);
    if (isChunk(bytes)) usable |= (<u64>1) << number;
  }
  store<u64>(bitmaps, usable, USABLE);
  orderTuples(bitmaps, tuples);
  return bitmaps;
}

export function releaseBitmaps(bitmaps: usize): void {
  for (let built = load<u64>(bitmaps, BUILT); built != 0; built &= built - 1) {
    release(load<u32>(wordOf(bitmaps, <u32>ctz(built)), CHUNK_BITMAPS), bitmapBytes(bitmaps));
  }
  release(bitmaps, BITMAPS_SIZE);
}

/** Puts `wildcard` into the entries of every table: from now on lookups ask them. */
export function finishBitmaps(bitmaps: usize): void {
  store<u32>(bitmaps, 1, FINISHED);
  // The first lookup chooses.
  store<u32>(bitmaps, CHOICE_KEYS, KEYS_SINCE_CHOICE);
  for (let built = load<u64>(bitmaps, BUILT); built != 0; built &= built - 1) {
    const number = <u32>ctz(built);
    const bitmapTable: usize = load<u32>(wordOf(bitmaps, number), CHUNK_BITMAPS);
    const wildcard = v128.load(wildcardOf(bitmaps, number));
    const end = bitmapTable + <usize>bitmapBytes(bitmaps);
    for (let entry = bitmapTable; entry < end; entry += 16) v128.store(entry, v128.or(v128.load(entry), wildcard));
  }
}

/** Gives places by best rank. At most MAX_TUPLES of them. */
function orderTuples(bitmaps: usize, tuples: usize): void {
  const count = load<u32>(tuples, TUPLE_COUNT);
  for (let index: u32 = 0; index < MAX_TUPLES; index++) {
    let bitIndex = index;
    if (index < count) {
      const best = load<u64>(tupleAt(tuples, index), TUPLE_BEST);
      while (
        bitIndex > 0 &&
        load<u64>(tupleAt(tuples, tupleOfBit(bitmaps, <usize>(bitIndex - 1))), TUPLE_BEST) > best
      ) {
        store<u8>(bitmaps + <usize>bitIndex, <u8>tupleOfBit(bitmaps, <usize>(bitIndex - 1)), TUPLE_OF_BIT);
        bitIndex--;
      }
    }
    store<u8>(bitmaps + <usize>bitIndex, <u8>index, TUPLE_OF_BIT);
  }
  for (let bitIndex: u32 = 0; bitIndex < MAX_TUPLES; bitIndex++) {
    store<u8>(bitmaps + <usize>tupleOfBit(bitmaps, <usize>bitIndex), <u8>bitIndex, BIT_OF_TUPLE);
  }
}

/** Takes in a rule. Where memory is full a slice says nothing any more. */
export function addToBitmaps(bitmaps: usize, rule: usize): void {
  const tuple: usize = load<u8>(rule, RULE_TUPLE);
  const bitIndex = <usize>load<u8>(bitmaps + tuple, BIT_OF_TUPLE);
  const best = bitmaps + BEST + (tuple << 3);
  const rank = load<u64>(rule, RULE_RANK);
  if (rank < load<u64>(best)) store<u64>(best, rank);
  for (let from = bitmaps + (bitIndex << 3); from >= bitmaps && load<u64>(from, BEST_FROM) > rank; from -= 8) {
    store<u64>(from, rank, BEST_FROM);
  }
  store<u32>(bitmaps, load<u32>(bitmaps, CHANGES_SINCE_CHOICE) + 1, CHANGES_SINCE_CHOICE);
  const whole = load<u64>(load<u32>(rule, RULE_MASK), MASK_CHUNKS);
  skipChunks(bitmaps, bitIndex, load<u64>(bitmaps, USABLE) & ~whole);
  const missing = load<u64>(bitmaps, USABLE) & whole & ~load<u64>(bitmaps, BUILT);
  if (missing != 0) buildBitmaps(bitmaps, missing);
  const byte = bitIndex >> 3;
  const bit = (<u32>1) << ((<u32>bitIndex) & 7);
  const mask = i32x4.splat(load<u32>(bitmaps, ENTRY_MASK));
  // Four at a time, those of consecutive numbers.
  for (let chunks = load<u64>(bitmaps, BUILT) & whole; chunks != 0;) {
    const first = (<u32>ctz(chunks)) & ~3;
    const four = (<u32>(chunks >> first)) & 15;
    chunks &= ~((<u64>15) << first);
    const at = wordOf(bitmaps, first);
    const entries = i32x4.add(
      entriesIn(rule + RULE_VALUE + laneOfChunk(first), v128.load(at, CHUNK_BYTES), mask),
      v128.load(at, CHUNK_BITMAPS),
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
function skipChunks(bitmaps: usize, bitIndex: usize, chunks: u64): void {
  const skipped = bitmaps + SKIPPED + (bitIndex << 3);
  let fresh = chunks & ~load<u64>(skipped);
  if (fresh == 0) return;
  store<u64>(skipped, load<u64>(skipped) | fresh);
  store<u32>(bitmaps, FORCE_CHOICE, CHANGES_SINCE_CHOICE);
  const byte = bitIndex >> 3;
  const bit = (<u32>1) << ((<u32>bitIndex) & 7);
  for (; fresh != 0; fresh &= fresh - 1) {
    const number = <u32>ctz(fresh);
    put(wildcardOf(bitmaps, number) + byte, bit);
    const bitmapTable: usize = load<u32>(wordOf(bitmaps, number), CHUNK_BITMAPS);
    if (bitmapTable == 0 || load<u32>(bitmaps, FINISHED) == 0) continue;
    const end = bitmapTable + <usize>bitmapBytes(bitmaps);
    for (let bitmap = bitmapTable + byte; bitmap < end; bitmap += 16) put(bitmap, bit);
  }
}

/** Tables for slices that are first asked now; one without memory says nothing any more. */
function buildBitmaps(bitmaps: usize, chunks: u64): void {
  for (; chunks != 0; chunks &= chunks - 1) {
    const number = <u32>ctz(chunks);
    const bit = (<u64>1) << number;
    const bitmapTable = allocate(bitmapBytes(bitmaps));
    if (bitmapTable == 0) {
      store<u64>(bitmaps, load<u64>(bitmaps, USABLE) & ~bit, USABLE);
      continue;
    }
    const empty = load<u32>(bitmaps, FINISHED) != 0 ? v128.load(wildcardOf(bitmaps, number)) : i64x2.splat(0);
    const end = bitmapTable + <usize>bitmapBytes(bitmaps);
    for (let entry = bitmapTable; entry < end; entry += 16) v128.store(entry, empty);
    store<u32>(wordOf(bitmaps, number), <u32>bitmapTable, CHUNK_BITMAPS);
    store<u64>(bitmaps, load<u64>(bitmaps, BUILT) | bit, BUILT);
  }
}

/** Puts slices four to a quad, lane by lane: these are what lookups ask from now on. */
export function layQuads(bitmaps: usize, chunks: u64): void {
  let quads: u32 = 0;
  let used: u32 = 0;
  let lane: usize = 0;
  for (; chunks != 0; chunks &= chunks - 1) {
    const number = <u32>ctz(chunks);
    if ((used & 3) == 0 || laneOfChunk(number) != lane) {
      lane = laneOfChunk(number);
      used = 0;
      openQuad(quadAt(bitmaps, quads++), lane);
    }
    const at = quadAt(bitmaps, quads - 1) + ((<usize>used) << 2);
    store<u32>(at, load<u32>(wordOf(bitmaps, number), CHUNK_BYTES));
    store<u32>(at, load<u32>(wordOf(bitmaps, number), CHUNK_BITMAPS), QUAD_TABLES);
    used = (used + 1) & 3;
  }
  store<u32>(bitmaps, quads, QUADS);
  store<u32>(bitmaps, 0, CHANGES_SINCE_CHOICE);
  store<u32>(bitmaps, 0, KEYS_SINCE_CHOICE);
}

function openQuad(quad: usize, lane: usize): void {
  v128.store(quad, i64x2.splat(-1));
  v128.store(quad, i32x4.splat(<i32>EVERY_PLACE), QUAD_TABLES);
  store<u32>(quad, <u32>lane, QUAD_LANE);
}

/** Whether it is time to choose slices anew, now that `count` keys more are looked up. */
// @ts-ignore: decorator
@inline
export function isChoiceDue(bitmaps: usize, count: u32): bool {
  const keys = load<u32>(bitmaps, KEYS_SINCE_CHOICE) + count;
  store<u32>(bitmaps, keys, KEYS_SINCE_CHOICE);
  return keys >= CHOICE_KEYS && load<u32>(bitmaps, CHANGES_SINCE_CHOICE) > load<u32>(bitmaps, SAMPLED) >> 2;
}

/** The slices that can be asked, a bit each. */
export function chunksBuilt(bitmaps: usize): u64 {
  return load<u64>(bitmaps, BUILT);
}

/** What a slice of settled sets says of lanes: the places that can match. */
// @ts-ignore: decorator
@inline
export function candidatesOf(bitmaps: usize, number: u32, lanes: usize): v128 {
  const at = wordOf(bitmaps, number);
  const bytes = v128.load32_splat(at, CHUNK_BYTES);
  const entries = entriesIn(lanes + laneOfChunk(number), bytes, i32x4.splat(load<u32>(bitmaps, ENTRY_MASK)));
  return v128.load(<usize>load<u32>(at, CHUNK_BITMAPS) + <usize>i32x4.extract_lane(entries, 0));
}

/** Slices four by four, as a lookup asks them. */
// @ts-ignore: decorator
@inline
export function quadCount(bitmaps: usize): u32 {
  return load<u32>(bitmaps, QUADS);
}

// @ts-ignore: decorator
@inline
export function quadAt(bitmaps: usize, n: u32): usize {
  return bitmaps + QUADS_AT + <usize>n * QUAD;
}

// @ts-ignore: decorator
@inline
export function entryMaskOf(bitmaps: usize): u32 {
  return load<u32>(bitmaps, ENTRY_MASK);
}

// @ts-ignore: decorator
@inline
function bitmapBytes(bitmaps: usize): u32 {
  return load<u32>(bitmaps, ENTRY_MASK) + BITMAP_SIZE;
}

/** Where CHUNK_BYTES and CHUNK_BITMAPS of a slice lie. */
// @ts-ignore: decorator
@inline
function wordOf(bitmaps: usize, number: u32): usize {
  return bitmaps + ((<usize>number) << 2);
}

// @ts-ignore: decorator
@inline
function wildcardOf(bitmaps: usize, number: u32): usize {
  return bitmaps + CHUNK_WILDCARD + ((<usize>number) << 4);
}

/** The first `count` places of one half of a set: at most 64. */
export function lowBits(count: u32): u64 {
  return count == 64 ? u64.MAX_VALUE : ((<u64>1) << count) - 1;
}

/** A rank that no rule of the groups from this place on is below; the last one for the place behind the last. */
// @ts-ignore: decorator
@inline
export function bestFrom(bitmaps: usize, bitIndex: usize): u64 {
  return load<u64>(bitmaps + (bitIndex << 3), BEST_FROM);
}

/** The first place of a key's set, 128 where it is empty. */
// @ts-ignore: decorator
@inline
export function lowestBit(key: usize): usize {
  return lowestBitOf(load<u64>(key << 4, BITMAPS), load<u64>(key << 4, BITMAPS + 8));
}

// @ts-ignore: decorator
@inline
export function lowestBitOf(low: u64, high: u64): usize {
  return <usize>select<u64>(ctz(low), 64 + ctz(high), low != 0);
}

// @ts-ignore: decorator
@inline
export function tupleOfBit(bitmaps: usize, bitIndex: usize): u32 {
  return load<u8>(bitmaps + bitIndex, TUPLE_OF_BIT);
}

/** The exact best rank of a group, as far as `addToBitmaps` has seen its rules. */
export function bestSeen(bitmaps: usize, tuple: u32): u64 {
  return load<u64>(bitmaps + BEST + ((<usize>tuple) << 3));
}
