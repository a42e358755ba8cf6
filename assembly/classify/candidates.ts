/**
 * Candidate bitmaps: which tuples can have a rule for a key. In: the lanes of a key. Out: a bitmap
 * of tuples. Lookups probe only these.
 *
 * Each field chunk (fieldChunk.ts) has a table of bitmaps, indexed by a hash of its bytes. An entry
 * has the tuples with a rule whose mask covers the chunk and whose value has that hash, and all
 * tuples with a rule that does not cover the chunk (the wildcard). The AND of the entries of all
 * chunks has few bits.
 *
 *     0        8       16           20         24      28        32
 *     | usable | built | entry mask | finished | quads | sampled | tuple of bit 128 x 1 | ...
 *     160                    288            1312                2352              3376
 *     | bit of tuple 128 x 1 | best 128 x 8 | best from 129 x 8 | skipped 128 x 8 | bytes 64 x 4 | ...
 *     3632             3888               4912            5680              8752
 *     | bitmaps 64 x 4 | wildcard 64 x 16 | quads 16 x 48 | samples 64 x 48 | changes | keys | 0 8 |
 *
 *     bytes, bitmaps, wildcard:   of each chunk
 *     skipped:                    of each bit, the chunks that some rule of its tuple does not cover
 *     changes, keys:              since chunks were chosen
 *     a quad:                     four chunks that a lookup reads together
 *                                 | bytes 16 | bitmaps 4 x 4 | lane 4 | 0 12 |
 *
 * Bits are in the order of the tuples' best ranks at the time of the rebuild, so the lowest bit
 * names the tuple that is most likely to win. A bitmap may have too many bits after rules are
 * removed; it never has too few.
 *
 * During a rebuild (rebuild.ts) the wildcards are kept apart; `finishBitmaps` merges them into the
 * tables, and lookups read them from then on.
 */
import { allocate, release } from "../arena";
import { BITMAPS } from "../memory";
import { TUPLE_BEST, TUPLE_COUNT, MAX_TUPLES, tupleAt } from "./tuple";
import { MASK_CHUNKS } from "./mask";
import { RULE_TUPLE, RULE_MASK, RULE_RANK, RULE_VALUE } from "./rule";
import { chunkBytes, isChunk, laneOfChunk, CHUNKS } from "./fieldChunk";

/** The chunks that have bitmaps or may get them, a bit each, and the chunks that have them. */
const USABLE: usize = 0;
const BUILT: usize = 8;
/** The bits of a hash that name an entry: (entries - 1) * 16. */
const ENTRY_MASK: usize = 16;
/** Whether the wildcards are merged into the tables. */
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
/** Rules that chooseChunks.ts samples, and how many rules it has seen. */
export const SAMPLED: usize = 28;
export const SAMPLES_AT: usize = 5680;
export const SAMPLES: u32 = 64;
export const SAMPLE: usize = 48;
/** Rules added since chunks were chosen. FORCE_CHOICE if a tuple skipped another chunk. */
const CHANGES_SINCE_CHOICE: usize = 8752;
/** Keys looked up since chunks were chosen. */
const KEYS_SINCE_CHOICE: usize = 8756;
const BITMAPS_SIZE: u32 = 8768;
const FORCE_CHOICE: u32 = 0x40000000;
/** Chunks are chosen at most once for this many keys. */
const CHOICE_KEYS: u32 = 4096;
const BITMAP_SIZE: u32 = 16;

const MULTIPLIER: u32 = 0x9e3779b1;
/** The lowest bit of the product that names an entry. */
const HASH_SHIFT: i32 = 16;
const MIN_ENTRIES: u32 = 128;
const MAX_ENTRIES: u32 = 1024;
/** The bitmap of a missing chunk in a quad: every bit is set. */
const EVERY_BIT: usize = memory.data(16, 16);
/** The bitmaps of a table without any: bit n is tuple n. */
export const NO_BITMAPS: usize = memory.data(3376, 16);

/** Fills in the constant bitmaps. */
export function openBitmaps(): void {
  v128.store(EVERY_BIT, i64x2.splat(-1));
  for (let bitIndex: u32 = 0; bitIndex < MAX_TUPLES; bitIndex++)
    store<u8>(NO_BITMAPS + <usize>bitIndex, <u8>bitIndex, TUPLE_OF_BIT);
  store<u64>(NO_BITMAPS + (MAX_TUPLES << 3), u64.MAX_VALUE, BEST_FROM);
}

/** Makes empty bitmaps for a table of `rules` rules; 0 when memory is full. */
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

/** Merges the wildcards into the tables: lookups may read them from now on. */
export function finishBitmaps(bitmaps: usize): void {
  store<u32>(bitmaps, 1, FINISHED);
  // The first lookup chooses chunks.
  store<u32>(bitmaps, CHOICE_KEYS, KEYS_SINCE_CHOICE);
  for (let built = load<u64>(bitmaps, BUILT); built != 0; built &= built - 1) {
    const number = <u32>ctz(built);
    const bitmapTable: usize = load<u32>(wordOf(bitmaps, number), CHUNK_BITMAPS);
    const wildcard = v128.load(wildcardOf(bitmaps, number));
    const end = bitmapTable + <usize>bitmapBytes(bitmaps);
    for (let entry = bitmapTable; entry < end; entry += 16) v128.store(entry, v128.or(v128.load(entry), wildcard));
  }
}

/** Assigns bits in the order of the tuples' best ranks. */
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

/** Adds a rule. A chunk without memory for its table is not used any more. */
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
}

// @ts-ignore: decorator
@inline
function put(byte: usize, bit: u32): void {
  store<u8>(byte, <u8>((<u32>load<u8>(byte)) | bit));
}

/** The offsets of the entries of four chunks of a lane in their tables. */
// @ts-ignore: decorator
@inline
export function entriesIn(lane: usize, bytes: v128, entryMask: v128): v128 {
  const products = i32x4.mul(i8x16.swizzle(v128.load(lane), bytes), i32x4.splat(MULTIPLIER));
  return v128.and(i32x4.shr_u(products, HASH_SHIFT), entryMask);
}

/** Adds a tuple to the wildcards of chunks that a rule of it does not cover. */
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

/**
 * Makes the tables of chunks that are first covered now. A chunk without memory is not used any
 * more.
 */
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

/** Puts chunks into quads, lane by lane: lookups read these from now on. */
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
  v128.store(quad, i32x4.splat(<i32>EVERY_BIT), QUAD_TABLES);
  store<u32>(quad, <u32>lane, QUAD_LANE);
}

/** Counts `count` keys; whether it is time to choose chunks again. */
// @ts-ignore: decorator
@inline
export function isChoiceDue(bitmaps: usize, count: u32): bool {
  const keys = load<u32>(bitmaps, KEYS_SINCE_CHOICE) + count;
  store<u32>(bitmaps, keys, KEYS_SINCE_CHOICE);
  return keys >= CHOICE_KEYS && load<u32>(bitmaps, CHANGES_SINCE_CHOICE) > load<u32>(bitmaps, SAMPLED) >> 2;
}

/** The chunks that have tables, a bit each. */
export function chunksBuilt(bitmaps: usize): u64 {
  return load<u64>(bitmaps, BUILT);
}

/** The candidates of lanes by one chunk of finished bitmaps. */
// @ts-ignore: decorator
@inline
export function candidatesOf(bitmaps: usize, number: u32, lanes: usize): v128 {
  const at = wordOf(bitmaps, number);
  const bytes = v128.load32_splat(at, CHUNK_BYTES);
  const entries = entriesIn(lanes + laneOfChunk(number), bytes, i32x4.splat(load<u32>(bitmaps, ENTRY_MASK)));
  return v128.load(<usize>load<u32>(at, CHUNK_BITMAPS) + <usize>i32x4.extract_lane(entries, 0));
}

/** The number of quads that a lookup reads. */
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

/** The address of a chunk's word in CHUNK_BYTES and CHUNK_BITMAPS. */
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

/** A mask of the lowest `count` bits, at most 64. */
export function lowBits(count: u32): u64 {
  return count == 64 ? u64.MAX_VALUE : ((<u64>1) << count) - 1;
}

/**
 * A lower bound of the ranks of all tuples from this bit on; the largest rank after the last bit.
 */
// @ts-ignore: decorator
@inline
export function bestFrom(bitmaps: usize, bitIndex: usize): u64 {
  return load<u64>(bitmaps + (bitIndex << 3), BEST_FROM);
}

/** The lowest bit of a key's bitmap, 128 if it is empty. */
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

/** The best rank that `addToBitmaps` saw in a tuple. */
export function bestSeen(bitmaps: usize, tuple: u32): u64 {
  return load<u64>(bitmaps + BEST + ((<usize>tuple) << 3));
}
