/**
 * Makes candidate bitmaps and keeps them up to date. In: the rules of a table, as a rebuild sees
 * them and as they come: `seeBest` with each, `orderTuples`, `buildTables`, and `addToBitmaps` with
 * each. Out: bitmaps that lookups read after `finishBitmaps` (layout in candidatesLayout.ts). A removed
 * rule stays in the bitmaps until the next rebuild.
 */
import { RULE_TUPLE, RULE_MASK, RULE_RANK, RULE_VALUE } from "../../../src/abi/rule";
import { allocate, release } from "../../arena";
import { TUPLE_BEST, TUPLE_COUNT, MAX_TUPLES, tupleAt } from "../tuples/tuple";
import { MASK_BYTES, MASK_CHUNKS, MASK_NEARLY } from "../mask";
import { chunkBytes, isChunk, laneOfChunk, CHUNKS } from "./fieldChunk";
import { bitmapBytes, entriesIn, entryIn, releaseTables, tupleOfBit, wildcardOf, wordOf } from "./candidates";
import {
  BEST,
  BEST_FROM,
  BESTS_SIZE,
  BIT_OF_TUPLE,
  BITMAP_SIZE,
  BITMAPS_SIZE,
  BUILT,
  CHUNK_BITMAPS,
  CHUNK_BYTES,
  ENTRY_MASK,
  EVERY_BIT,
  SKIPPED,
  STATE,
  TUPLE_OF_BIT,
  USABLE,
} from "./candidatesLayout";

/**
 * How far the rebuild is: bits of tuples are known, all chunks have tables, all rules are entered,
 * lookups may read.
 */
export const ORDERED: u32 = 1;
export const HAS_TABLES: u32 = 2;
export const ENTERED: u32 = 3;
const FINISHED: u32 = 4;
const MIN_ENTRIES: u32 = 256;
const MAX_ENTRIES: u32 = 4096;
/** Bytes that one call of `buildTables` clears. */
const CLEARED: u32 = 1 << 18;

export namespace Uncovered {
  /** Values that were entered for uncovered bits since this was set to 0. */
  export let values: u32 = 0;
}

/** Makes empty bitmaps for a table of `rules` rules; 0 when memory is full. */
export function createBitmaps(definer: usize, rules: u32): usize {
  const bitmaps = allocate(BITMAPS_SIZE);
  if (bitmaps == 0) return 0;
  memory.fill(bitmaps, 0, BITMAPS_SIZE);
  let entries = MIN_ENTRIES;
  while (entries < MAX_ENTRIES && entries * 8 < rules) entries *= 2;
  store<u32>(bitmaps, (entries - 1) * BITMAP_SIZE, ENTRY_MASK);
  memory.fill(bitmaps + BEST, 0xff, BESTS_SIZE);
  v128.store(bitmaps, i64x2.splat(-1), EVERY_BIT);
  let usable: u64 = 0;
  for (let number: u32 = 0; number < CHUNKS; number++) {
    const bytes = chunkBytes(definer, number);
    store<u32>(wordOf(bitmaps, number), bytes, CHUNK_BYTES);
    if (isChunk(bytes)) usable |= (<u64>1) << number;
  }
  store<u64>(bitmaps, usable, USABLE);
  return bitmaps;
}

export function releaseBitmaps(bitmaps: usize): void {
  releaseTables(bitmaps, load<u64>(bitmaps, BUILT));
  release(bitmaps, BITMAPS_SIZE);
}

/** Merges the wildcards into the tables that `layQuads` kept: lookups may read them from now on. */
export function finishBitmaps(bitmaps: usize): void {
  store<u32>(bitmaps, FINISHED, STATE);
  for (let built = load<u64>(bitmaps, BUILT); built != 0; built &= built - 1) {
    const number = <u32>ctz(built);
    const bitmapTable: usize = load<u32>(wordOf(bitmaps, number), CHUNK_BITMAPS);
    const wildcard = v128.load(wildcardOf(bitmaps, number));
    const end = bitmapTable + <usize>bitmapBytes(bitmaps);
    for (let entry = bitmapTable; entry < end; entry += 16) v128.store(entry, v128.or(v128.load(entry), wildcard));
  }
}

/** Notes the rank of a rule for its tuple. */
// @ts-ignore: decorator
@inline
export function seeBest(bitmaps: usize, rule: usize): void {
  const best = bitmaps + BEST + ((<usize>load<u8>(rule, RULE_TUPLE)) << 3);
  const rank = load<u64>(rule, RULE_RANK);
  if (rank < load<u64>(best)) store<u64>(best, rank);
}

/** 0, ORDERED, HAS_TABLES, ENTERED or FINISHED. */
// @ts-ignore: decorator
@inline
export function stateOf(bitmaps: usize): u32 {
  return load<u32>(bitmaps, STATE);
}

export function setState(bitmaps: usize, state: u32): void {
  store<u32>(bitmaps, state, STATE);
}

/** Assigns bits in the order of the tuples' best ranks, which are those of the rules seen. */
export function orderTuples(bitmaps: usize, tuples: usize): void {
  const count = load<u32>(tuples, TUPLE_COUNT);
  for (let index: u32 = 0; index < count; index++) {
    store<u64>(tupleAt(tuples, index), load<u64>(bitmaps + BEST + ((<usize>index) << 3)), TUPLE_BEST);
  }
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
  store<u32>(bitmaps, ORDERED, STATE);
}

/**
 * Adds a rule. Returns whether it makes a chunk worse for all keys, as the first of its tuple that does
 * not cover it.
 */
export function addToBitmaps(bitmaps: usize, rule: usize): bool {
  const mask: usize = load<u32>(rule, RULE_MASK);
  return addCovering(bitmaps, rule, load<u64>(mask, MASK_CHUNKS), load<u64>(mask, MASK_NEARLY));
}

/**
 * Adds a rule that covers the chunks in `whole`, and those in `nearly` but for some bits; or all rules
 * of a list, of which it has the best rank: they are equal in the chunks in `whole`, and others count
 * as not covered.
 */
export function addCovering(bitmaps: usize, rule: usize, whole: u64, nearly: u64): bool {
  const bitIndex = <usize>load<u8>(bitmaps + <usize>load<u8>(rule, RULE_TUPLE), BIT_OF_TUPLE);
  const rank = load<u64>(rule, RULE_RANK);
  for (let from = bitmaps + (bitIndex << 3); from >= bitmaps && load<u64>(from, BEST_FROM) > rank; from -= 8) {
    store<u64>(from, rank, BEST_FROM);
  }
  const worse = skipChunks(bitmaps, bitIndex, load<u64>(bitmaps, USABLE) & ~(whole | nearly));
  const byte = bitIndex >> 3;
  const bit = (<u32>1) << ((<u32>bitIndex) & 7);
  const mask = i32x4.splat(load<u32>(bitmaps, ENTRY_MASK));
  // Four chunks at a time, with consecutive numbers.
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
  for (let chunks = load<u64>(bitmaps, BUILT) & nearly; chunks != 0; chunks &= chunks - 1) {
    putAll(bitmaps, <u32>ctz(chunks), rule, byte, bit);
  }
  return worse;
}

/** Adds a rule to the entries of all values that the bits of a chunk allow which it does not cover. */
function putAll(bitmaps: usize, number: u32, rule: usize, byte: usize, bit: u32): void {
  const at = wordOf(bitmaps, number);
  const lane = laneOfChunk(number);
  const places = v128.load32_splat(at, CHUNK_BYTES);
  const value = chunkIn(v128.load(rule + lane, RULE_VALUE), places);
  const uncovered = chunkIn(v128.not(v128.load(<usize>load<u32>(rule, RULE_MASK) + lane, MASK_BYTES)), places);
  const table = <usize>load<u32>(at, CHUNK_BITMAPS) + byte;
  const entryMask = load<u32>(bitmaps, ENTRY_MASK);
  // All subsets of the uncovered bits, from 0 to `uncovered`.
  let bits: u32 = 0;
  do {
    put(table + entryIn(value | bits, entryMask), bit);
    bits = (bits - uncovered) & uncovered;
  } while (bits != 0);
  Uncovered.values += (<u32>1) << (<u32>popcnt(uncovered));
}

/** The bytes of a chunk in a lane; 0 where it has no byte. */
// @ts-ignore: decorator
@inline
function chunkIn(lane: v128, places: v128): u32 {
  return i32x4.extract_lane(i8x16.swizzle(lane, places), 0);
}

// @ts-ignore: decorator
@inline
function put(byte: usize, bit: u32): void {
  store<u8>(byte, <u8>((<u32>load<u8>(byte)) | bit));
}

/**
 * Adds a tuple to the wildcards of chunks that a rule of it does not cover. Returns whether it is the
 * first such rule of a chunk.
 */
function skipChunks(bitmaps: usize, bitIndex: usize, chunks: u64): bool {
  const skipped = bitmaps + SKIPPED + (bitIndex << 3);
  let fresh = chunks & ~load<u64>(skipped);
  if (fresh == 0) return false;
  store<u64>(skipped, load<u64>(skipped) | fresh);
  const byte = bitIndex >> 3;
  const bit = (<u32>1) << ((<u32>bitIndex) & 7);
  for (; fresh != 0; fresh &= fresh - 1) {
    const number = <u32>ctz(fresh);
    put(wildcardOf(bitmaps, number) + byte, bit);
    const bitmapTable: usize = load<u32>(wordOf(bitmaps, number), CHUNK_BITMAPS);
    if (bitmapTable == 0 || stateOf(bitmaps) != FINISHED) continue;
    const end = bitmapTable + <usize>bitmapBytes(bitmaps);
    for (let bitmap = bitmapTable + byte; bitmap < end; bitmap += 16) put(bitmap, bit);
  }
  return true;
}

/**
 * Makes empty tables of chunks: as many as a call may clear. A chunk without memory is not used. Returns
 * whether all are there.
 */
export function buildTables(bitmaps: usize): bool {
  const size = bitmapBytes(bitmaps);
  for (let cleared: u32 = 0; cleared < CLEARED; cleared += size) {
    const missing = load<u64>(bitmaps, USABLE) & ~load<u64>(bitmaps, BUILT);
    if (missing == 0) return true;
    const number = <u32>ctz(missing);
    const bit = (<u64>1) << number;
    const bitmapTable = allocate(size);
    if (bitmapTable == 0) {
      store<u64>(bitmaps, load<u64>(bitmaps, USABLE) & ~bit, USABLE);
      continue;
    }
    memory.fill(bitmapTable, 0, size);
    store<u32>(wordOf(bitmaps, number), <u32>bitmapTable, CHUNK_BITMAPS);
    store<u64>(bitmaps, load<u64>(bitmaps, BUILT) | bit, BUILT);
  }
  return false;
}
