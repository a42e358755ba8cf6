/**
 * The flow cache: results of lookups for frames whose key was seen before (docs/frames.md). This
 * file manages its entries and its pauses, flowCacheMemory.ts its memory. In: the hash and lanes of a key. Out: an
 * entry. recordedLookups.ts uses the entries, flowCacheKey.ts makes their keys.
 *
 *     tags      | tag 4 | tag 4 | tag 4 | tag 4 | ...     a bucket: bits of the hash, and REFERENCED
 *     entries   | head 16 | lanes ... | result 4 | result 4 | ...     a multiple of 64 bytes
 *
 * A result is a rule, or 0 for a miss. An entry is valid in the epoch that it names, since other
 * epochs may have other rules. A new entry replaces one that was not referenced lately (second
 * chance). While the hit rate is low, the cache pauses.
 */
import { CACHE_HITS, CACHE_MISSES } from "../../src/abi/engine";
import { endLoan } from "../arena";
import { CACHE_COUNTS, CACHE_MAX_LANES } from "../memory";
import { ENTRY_LANES, CacheKey, headOf, isEntryOf, renewCacheKey } from "./flowCacheKey";
import { BUCKET, bucketOf, Cache, hasRoom, WAYS } from "./flowCacheMemory";
import { invalidate } from "../epoch";

/** The entry was used since the bucket was last cleared of this bit. */
const REFERENCED: u32 = 1;
/** Set in every tag, so that 0 means no entry. */
const TAGGED: u32 = 2;

/**
 * The hit rate is checked after this many frames. A pause takes FIRST_PAUSE frames, and twice as
 * many each time.
 */
const WINDOW: u32 = 4096;
const FIRST_PAUSE: u32 = 16 * WINDOW;
const MAX_PAUSE_LEVEL: u32 = 6;

/** An entry that equals no frame's: no root table has the address 0. */
const NO_ENTRY: usize = memory.data(<i32>(ENTRY_LANES + CACHE_MAX_LANES * 16), 16);

namespace Pause {
  /** The frames that are left of the pause. */
  export let frames: u32 = 0;
  /** How often the length of the pause was doubled. */
  export let level: u32 = 0;
  /** Frames and hits of the present window, and hits of the one before. */
  export let seen: u32 = 0;
  export let hits: u32 = 0;
  export let before: u32 = 0;
}

/** Sets how many entries the flow cache has: a power of two, or 0 for no cache. */
export function limitCache(entries: u32): void {
  endLoan();
  Cache.most = entries;
  endPause();
}

/** Removes all entries of the flow cache. */
export function clearCache(): void {
  invalidate();
  endPause();
}

/**
 * Whether the flow cache is off at the moment: it did not pay, the rules read too much of a key, or
 * there was no memory.
 */
export function isCachePaused(): bool {
  return Cache.most != 0 && (Pause.frames != 0 || CacheKey.tooWide);
}

function endPause(): void {
  Pause.frames = 0;
  Pause.level = 0;
  Pause.seen = 0;
  Pause.hits = 0;
  Pause.before = 0;
}

/** Whether the next `count` frames use the cache: it exists, has memory and is not paused. */
export function isCacheOn(count: u32): bool {
  if (Pause.frames != 0) {
    Pause.frames = Pause.frames > count ? Pause.frames - count : 0;
    return false;
  }
  if (Cache.most == 0 || !renewCacheKey()) return false;
  if (hasRoom(count)) return true;
  Pause.level = MAX_PAUSE_LEVEL;
  pause();
  return false;
}

/**
 * Counts hits among `count` frames. At the end of a window it begins a pause if the hit rate is
 * low.
 */
export function noteHits(hits: u32, count: u32): void {
  store<u64>(CACHE_COUNTS, load<u64>(CACHE_COUNTS, CACHE_HITS) + hits, CACHE_HITS);
  store<u64>(CACHE_COUNTS, load<u64>(CACHE_COUNTS, CACHE_MISSES) + (count - hits), CACHE_MISSES);
  Pause.seen += count;
  Pause.hits += hits;
  if (Pause.seen < WINDOW) return;
  if (Pause.hits >= Pause.seen / 3) {
    Pause.level = 0;
  } else if (Pause.hits <= Pause.before + WINDOW / 32) {
    // The hit rate does not rise either, as it does while the cache fills.
    pause();
  }
  Pause.before = Pause.frames == 0 ? Pause.hits : 0;
  Pause.seen = 0;
  Pause.hits = 0;
}

function pause(): void {
  Pause.frames = FIRST_PAUSE << Pause.level;
  Pause.level = min<u32>(Pause.level + 1, MAX_PAUSE_LEVEL);
}

/** Removes all entries of the flow cache and gives its memory back, until the next lookup. */
export function dropCache(): void {
  endLoan();
}

// @ts-ignore: decorator
@inline
function tagOf(hash: u64): u32 {
  return ((<u32>hash) | TAGGED) & ~REFERENCED;
}

/** The entries of a bucket with this tag, a bit each. */
// @ts-ignore: decorator
@inline
function waysWith(bucket: usize, tag: u32): u32 {
  const tags = v128.and(v128.load(bucket), i32x4.splat(~REFERENCED));
  return i32x4.bitmask(i32x4.eq(tags, i32x4.splat(tag)));
}

/**
 * The entry whose tag matches a hash, marked as referenced; NO_ENTRY for none. The caller compares
 * its key.
 */
// @ts-ignore: decorator
@inline
export function likelyEntry(hash: u64): usize {
  const number = bucketOf(hash);
  const bucket = Cache.tags + <usize>number * BUCKET;
  const tag = tagOf(hash);
  const ways = waysWith(bucket, tag);
  if (ways == 0) return NO_ENTRY;
  const way = <usize>ctz(ways);
  const at = bucket + (way << 2);
  if (!(load<u32>(at) & REFERENCED)) store<u32>(at, tag | REFERENCED);
  return Cache.first + (<usize>number * WAYS + way) * Cache.size;
}

/**
 * Makes an entry without results for a frame; 0 if another frame of the batch made one for the same
 * key.
 */
export function entryFor(number: u32, root: usize, hash: u64, lanes: usize): usize {
  const stride = CacheKey.stride;
  const head = headOf(number, root);
  const bucketNumber = bucketOf(hash);
  const bucket = Cache.tags + <usize>bucketNumber * BUCKET;
  const tag = tagOf(hash);
  const ways = waysWith(bucket, tag);
  const way: usize = ways != 0 ? <usize>ctz(ways) : <usize>wayToTake(bucket);
  const entry = Cache.first + (<usize>bucketNumber * WAYS + way) * Cache.size;
  if (ways != 0 && isEntryOf(entry, head, lanes, stride)) return 0;
  Cache.filled += <u32>(load<u32>(bucket + (way << 2)) == 0);
  v128.store(entry, head);
  memory.copy(entry + ENTRY_LANES, lanes, stride);
  store<u32>(bucket + (way << 2), tag);
  return entry;
}

/**
 * The way of the bucket to fill: a free one, else one not referenced since all others were, in
 * turn.
 */
function wayToTake(bucket: usize): u32 {
  const tags = v128.load(bucket);
  const all: u32 = (1 << min<u32>(Cache.entries, WAYS)) - 1;
  const free = i32x4.bitmask(i32x4.eq(tags, i64x2.splat(0))) & all;
  if (free != 0) return ctz(free);
  Cache.turn++;
  const first = Cache.turn & (min<u32>(Cache.entries, WAYS) - 1);
  const idle = ~i32x4.bitmask(i32x4.shl(tags, 31)) & all;
  if (idle != 0) {
    const later = idle & ~((1 << first) - 1);
    return ctz(later != 0 ? later : idle);
  }
  v128.store(bucket, v128.and(tags, i32x4.splat(~REFERENCED)));
  return first;
}
