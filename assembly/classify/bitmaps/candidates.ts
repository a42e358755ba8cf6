/**
 * Candidate bitmaps: which tuples can have a rule for a key. In: the lanes of a key. Out: a bitmap
 * of tuples. Lookups probe only these.
 *
 * Each field chunk (fieldChunk.ts) has a table of bitmaps, indexed by a hash of its bytes. An entry
 * has the tuples with a rule whose mask covers the chunk and whose value has that hash, and all
 * tuples with a rule that does not cover the chunk (the wildcard). A rule that leaves a few bits of a
 * chunk uncovered is in the entries of all values that these bits allow. The AND of the entries of the
 * chosen chunks (chooseChunks.ts) has few bits.
 *
 * candidatesLayout.ts has the layout.
 *
 * Bits are in the order of the tuples' best ranks at the time of the rebuild, so the lowest bit
 * names the tuple that is most likely to win. A bitmap may have too many bits after rules are
 * removed; it never has too few.
 *
 * During a rebuild (rebuild.ts) all chunks have tables, and the wildcards are kept apart. At its end
 * `layQuads` keeps only the tables of the chosen chunks, and `finishBitmaps` merges the wildcards
 * into them: lookups read these from then on.
 */
import { release } from "../../arena";
import { BITMAPS } from "../../memory";
import { MAX_TUPLES } from "../tuples/tuple";
import {
  BEST_FROM,
  BITMAP_SIZE,
  BUILT,
  CHUNK_BITMAPS,
  CHUNK_BYTES,
  CHUNK_WILDCARD,
  ENTRY_MASK,
  EVERY_BIT,
  NO_BITMAPS_SIZE,
  QUAD_LANE,
  QUAD_SIZE,
  QUAD_TABLES,
  QUADS,
  QUADS_AT,
  TUPLE_OF_BIT,
  USABLE,
} from "./candidatesLayout";
import { laneOfChunk } from "./fieldChunk";

const MULTIPLIER: u32 = 0x9e3779b1;
/** The lowest bit of the product that names an entry. */
const HASH_SHIFT: i32 = 16;
/** The bitmaps of a table without any: bit n is tuple n. */
export const NO_BITMAPS: usize = memory.data(<i32>NO_BITMAPS_SIZE, 16);

/** Fills in the bitmaps of tables without any. */
export function openBitmaps(): void {
  for (let bitIndex: u32 = 0; bitIndex < MAX_TUPLES; bitIndex++)
    store<u8>(NO_BITMAPS + <usize>bitIndex, <u8>bitIndex, TUPLE_OF_BIT);
  store<u64>(NO_BITMAPS + (MAX_TUPLES << 3), u64.MAX_VALUE, BEST_FROM);
}

/** The offsets of the entries of four chunks of a lane in their tables. */
// @ts-ignore: decorator
@inline
export function entriesIn(lane: usize, bytes: v128, entryMask: v128): v128 {
  const products = i32x4.mul(i8x16.swizzle(v128.load(lane), bytes), i32x4.splat(MULTIPLIER));
  return v128.and(i32x4.shr_u(products, HASH_SHIFT), entryMask);
}

/** The offset of the entry of one chunk, whose bytes are `word`. */
// @ts-ignore: decorator
@inline
export function entryIn(word: u32, entryMask: u32): usize {
  return <usize>(((word * MULTIPLIER) >> HASH_SHIFT) & entryMask);
}

/** Puts chunks into quads, lane by lane, and frees the tables of all others. */
export function layQuads(bitmaps: usize, chunks: u64): void {
  releaseTables(bitmaps, load<u64>(bitmaps, BUILT) & ~chunks);
  store<u64>(bitmaps, chunks, USABLE);
  store<u64>(bitmaps, chunks, BUILT);
  let quads: u32 = 0;
  let used: u32 = 0;
  let lane: usize = 0;
  for (; chunks != 0; chunks &= chunks - 1) {
    const number = <u32>ctz(chunks);
    if ((used & 3) == 0 || laneOfChunk(number) != lane) {
      lane = laneOfChunk(number);
      used = 0;
      openQuad(bitmaps, quadAt(bitmaps, quads++), lane);
    }
    const at = quadAt(bitmaps, quads - 1) + ((<usize>used) << 2);
    store<u32>(at, load<u32>(wordOf(bitmaps, number), CHUNK_BYTES));
    store<u32>(at, load<u32>(wordOf(bitmaps, number), CHUNK_BITMAPS), QUAD_TABLES);
    used = (used + 1) & 3;
  }
  store<u32>(bitmaps, quads, QUADS);
}

/** Frees the tables of chunks that have one. */
export function releaseTables(bitmaps: usize, chunks: u64): void {
  for (; chunks != 0; chunks &= chunks - 1)
    release(load<u32>(wordOf(bitmaps, <u32>ctz(chunks)), CHUNK_BITMAPS), bitmapBytes(bitmaps));
}

function openQuad(bitmaps: usize, quad: usize, lane: usize): void {
  v128.store(quad, i64x2.splat(-1));
  v128.store(quad, i32x4.splat(<i32>(bitmaps + EVERY_BIT)), QUAD_TABLES);
  store<u32>(quad, <u32>lane, QUAD_LANE);
}

/** The chunks that have tables, a bit each. */
export function chunksBuilt(bitmaps: usize): u64 {
  return load<u64>(bitmaps, BUILT);
}

/** The candidates of lanes by one chunk of bitmaps whose wildcards are apart. */
// @ts-ignore: decorator
@inline
export function candidatesOf(bitmaps: usize, number: u32, lanes: usize): v128 {
  const at = wordOf(bitmaps, number);
  const bytes = v128.load32_splat(at, CHUNK_BYTES);
  const entries = entriesIn(lanes + laneOfChunk(number), bytes, i32x4.splat(load<u32>(bitmaps, ENTRY_MASK)));
  const named = v128.load(<usize>load<u32>(at, CHUNK_BITMAPS) + <usize>i32x4.extract_lane(entries, 0));
  return v128.or(named, v128.load(wildcardOf(bitmaps, number)));
}

// @ts-ignore: decorator
@inline
export function wildcardOf(bitmaps: usize, number: u32): usize {
  return bitmaps + CHUNK_WILDCARD + ((<usize>number) << 4);
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
  return bitmaps + QUADS_AT + <usize>n * QUAD_SIZE;
}

// @ts-ignore: decorator
@inline
export function entryMaskOf(bitmaps: usize): u32 {
  return load<u32>(bitmaps, ENTRY_MASK);
}

// @ts-ignore: decorator
@inline
export function bitmapBytes(bitmaps: usize): u32 {
  return load<u32>(bitmaps, ENTRY_MASK) + BITMAP_SIZE;
}

/** The address of a chunk's word in CHUNK_BYTES and CHUNK_BITMAPS. */
// @ts-ignore: decorator
@inline
export function wordOf(bitmaps: usize, number: u32): usize {
  return bitmaps + ((<usize>number) << 2);
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
