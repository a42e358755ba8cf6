/**
 * The layout of candidate bitmaps (candidates.ts).
 *
 *     0        8       16           20      24      28  32
 *     | usable | built | entry mask | state | quads | 0 | tuple of bit 128 x 1 | ...
 *     160                    288            1312                2344 2352             3376
 *     | bit of tuple 128 x 1 | best 128 x 8 | best from 129 x 8 | 0 8 | skipped 128 x 8 | bytes 64 x 4 | ...
 *     3632             3888               4912            5680
 *     | bitmaps 64 x 4 | wildcard 64 x 16 | quads 16 x 48 | chosen 8 | 0 | every bit 16 |
 *
 *     bytes, bitmaps, wildcard:   of each chunk
 *     skipped:                    of each bit, the chunks that some rule of its tuple does not cover
 *     chosen:                     chunks that lookups will read
 *     every bit:                  the bitmap of a missing chunk in a quad. It is here and not in static memory, whose
 *                                 addresses differ in the traced core, which reads a copy of this
 *     a quad:                     four chunks that a lookup reads together
 *                                 | bytes 16 | bitmaps 4 x 4 | lane 4 | 0 12 |
 */
import { MAX_TUPLES } from "../tuples/tuple";
import { CHUNKS } from "./fieldChunk";

const BITS: usize = MAX_TUPLES;
/** All chunks in quads: the chunks of a lane are a multiple of four. */
const MAX_QUADS: usize = <usize>CHUNKS / 4;

/** The chunks that have bitmaps, a bit each; USABLE: those that may get them. */
export const USABLE: usize = 0;
export const BUILT: usize = USABLE + 8;
/** The bits of a hash that name an entry: (entries - 1) * BITMAP_SIZE. */
export const ENTRY_MASK: usize = BUILT + 8;
/** How far a rebuild is (candidatesBuild.ts). */
export const STATE: usize = ENTRY_MASK + 4;
/** The number of quads that a lookup reads. */
export const QUADS: usize = STATE + 4;
export const TUPLE_OF_BIT: usize = QUADS + 8;
export const BIT_OF_TUPLE: usize = TUPLE_OF_BIT + BITS;
export const BEST: usize = BIT_OF_TUPLE + BITS;
export const BEST_FROM: usize = BEST + 8 * BITS;
/** BEST and BEST_FROM are adjacent. */
export const BESTS_SIZE: usize = 8 * BITS + 8 * (BITS + 1);
/** Vectors from here on are aligned to 16. */
export const SKIPPED: usize = (BEST + BESTS_SIZE + 15) & ~15;
export const CHUNK_BYTES: usize = SKIPPED + 8 * BITS;
/** Lookups in a table without bitmaps read up to here. */
export const NO_BITMAPS_SIZE: usize = CHUNK_BYTES;
export const CHUNK_BITMAPS: usize = CHUNK_BYTES + 4 * <usize>CHUNKS;
export const CHUNK_WILDCARD: usize = CHUNK_BITMAPS + 4 * <usize>CHUNKS;
export const BITMAP_SIZE: u32 = 16;
export const QUADS_AT: usize = CHUNK_WILDCARD + <usize>BITMAP_SIZE * <usize>CHUNKS;
/** In a quad. */
export const QUAD_TABLES: usize = 16;
export const QUAD_LANE: usize = 32;
export const QUAD_SIZE: usize = 48;
export const CHOSEN: usize = QUADS_AT + QUAD_SIZE * MAX_QUADS;
export const EVERY_BIT: usize = CHOSEN + 16;
export const BITMAPS_SIZE: u32 = <u32>EVERY_BIT + BITMAP_SIZE;
