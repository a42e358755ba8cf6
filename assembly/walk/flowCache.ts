/**
 * The cache of decisions: what lookups have found for frames whose keys were seen before (docs/frames.md). This file has its memory,
 * and says when it is asked; recordedLookups.ts asks it, flowCacheKey.ts says what it knows a frame by.
 *
 *     tags       | tag 4 | tag 4 | tag 4 | tag 4 | ...        a bucket: of each of its entries some bits of the hash, and REFERENCED
 *     entries    | head 16 | lanes ... | result 4 | result 4 | ...        to a multiple of 64: one line of memory for rules on a 5-tuple
 *
 * A result is a rule, or 0 where nobody wanted the frame; recordedLookups.ts writes them, with their number in the head (ENTRY_KIND). An entry counts
 * only in the generation that it names: rules that it names may be gone in another one. New entries take the place of one that was not
 * asked for of late.
 */
import { beyond, endLoan, lend, Loan, NO_LOAN } from "../arena";
import { CACHE_COUNTS, CACHE_MAX_LANES, RECORDED_SIZE } from "../memory";
import { ENTRY_LANES, CacheKey, headOf, isEntryOf, renewCacheKey } from "./flowCacheKey";
import { invalidate } from "../epoch";

/** Entries of a bucket. */
const WAYS: u32 = 4;
const BUCKET: u32 = WAYS * 4;
/** The entry was asked for. */
const REFERENCED: u32 = 1;
/** Never 0, which is no entry. */
const TAGGED: u32 = 2;

/** Bytes behind the lanes that every entry has. */
const LEAST_TAIL: usize = 16;

/** Frames after which it is asked whether the cache pays, and how long it sleeps then: so many times as long, twice that ... */
const WINDOW: u32 = 4096;
const FIRST_PAUSE: u32 = 16 * WINDOW;
const MAX_LEVEL: u32 = 6;

/** An entry that is none: no root table has the address 0. */
const NO_ENTRY: usize = memory.data(<i32>(ENTRY_LANES + CACHE_MAX_LANES * 16), 16);

export namespace Cache {
  /** Entries that it may have; 0: there is none. */
  export let most: u32 = 0;
  /** Entries that the borrowed memory holds (Loan in arena.ts), and where they and their tags are. */
  export let entries: u32 = 0;
  export let tags: usize = 0;
  export let first: usize = 0;
  /** Which way of a bucket is the next one to go. */
  export let turn: u32 = 0;
  /** Bytes of an entry, and results that it has room for. */
  export let size: u32 = 0;
  export let results: u32 = 0;
}

namespace Pause {
  /** Frames that it still sleeps for. */
  export let frames: u32 = 0;
  /** How often the time was doubled. */
  export let level: u32 = 0;
  /** Of the window at hand, and of the one before it. */
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

/** Whether `count` frames are to be looked up in it: it is there, and pays. */
export function isCacheOn(count: u32): bool {
  if (Pause.frames != 0) {
    Pause.frames = Pause.frames > count ? Pause.frames - count : 0;
    return false;
  }
  return Cache.most != 0 && renewCacheKey() && hasRoom();
}

/** So many frames were found of those that were looked up; asleep from now on where that was too few. */
export function noteHits(hits: u32, count: u32): void {
  store<u64>(CACHE_COUNTS, load<u64>(CACHE_COUNTS) + hits);
  store<u64>(CACHE_COUNTS, load<u64>(CACHE_COUNTS, 8) + (count - hits), 8);
  Pause.seen += count;
  Pause.hits += hits;
  if (Pause.seen < WINDOW) return;
  if (Pause.hits >= Pause.seen / 3) {
    Pause.level = 0;
  } else if (Pause.hits <= Pause.before + WINDOW / 32) {
    // Nor is it getting better, as it does while a cache fills.
    pause();
  }
  Pause.before = Pause.frames == 0 ? Pause.hits : 0;
  Pause.seen = 0;
  Pause.hits = 0;
}

function pause(): void {
  Pause.frames = FIRST_PAUSE << Pause.level;
  Pause.level = min<u32>(Pause.level + 1, MAX_LEVEL);
}

/** Whether it has memory for entries of this width; takes some where not, for as many entries as there is room for. */
function hasRoom(): bool {
  const size = (<u32>(ENTRY_LANES + CacheKey.stride + LEAST_TAIL) + 63) & ~63;
  // Wider keys leave less room for results, also where entries stay as large as they are.
  Cache.results = min<u32>((size - <u32>(ENTRY_LANES + CacheKey.stride)) / 4, <u32>(RECORDED_SIZE / 4) - 1);
  if (Loan.start != NO_LOAN && Cache.size == size) return true;
  endLoan();
  let entries = Cache.most;
  while (entries != 0 && bytesOf(entries, size) > beyond()) entries >>= 1;
  const first: usize = entries == 0 ? 0 : lend(bytesOf(entries, size));
  if (first == 0) {
    Pause.level = MAX_LEVEL;
    pause();
    return false;
  }
  Cache.first = first;
  Cache.tags = first + <usize>entries * size;
  Cache.entries = entries;
  Cache.size = size;
  memory.fill(Cache.tags, 0, tagBytes(entries));
  return true;
}

/** Removes all entries of the flow cache and gives its memory back, until the next lookup. */
export function dropCache(): void {
  endLoan();
}

function bytesOf(entries: u32, size: u32): usize {
  return <usize>entries * size + tagBytes(entries);
}

function tagBytes(entries: u32): u32 {
  return max<u32>(entries / WAYS, 1) * BUCKET;
}

// @ts-ignore: decorator
@inline
function bucketOf(hash: u64): u32 {
  // With fewer entries than a bucket has there is one bucket.
  return (<u32>(hash >> 32)) & (max<u32>(Cache.entries / WAYS, 1) - 1);
}

// @ts-ignore: decorator
@inline
function tagOf(hash: u64): u32 {
  return ((<u32>hash) | TAGGED) & ~REFERENCED;
}

/** The entries of a bucket that have this tag, a bit each. */
// @ts-ignore: decorator
@inline
function waysWith(bucket: usize, tag: u32): u32 {
  const tags = v128.and(v128.load(bucket), i32x4.splat(~REFERENCED));
  return i32x4.bitmask(i32x4.eq(tags, i32x4.splat(tag)));
}

/** What may be the entry of a hash: its tag says so. It is marked as one that was asked for. */
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

/** An entry for a frame, which has no results yet; 0 where another frame of the batch had the same key. */
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
  v128.store(entry, head);
  memory.copy(entry + ENTRY_LANES, lanes, stride);
  store<u32>(bucket + (way << 2), tag);
  return entry;
}

/** A way that is free, else one that was not asked for since all others were; of all in turn. */
function wayToTake(bucket: usize): u32 {
  const tags = v128.load(bucket);
  const all: u32 = (1 << min<u32>(Cache.entries, WAYS)) - 1;
  const free = i32x4.bitmask(i32x4.eq(tags, i64x2.splat(0))) & all;
  if (free != 0) return ctz(free);
  Cache.turn++;
  const first = Cache.turn & (min<u32>(Cache.entries, WAYS) - 1);
  const idle = ~i32x4.bitmask(i32x4.shl(tags, 31)) & all;
  if (idle != 0) {
    const behind = idle & ~((1 << first) - 1);
    return ctz(behind != 0 ? behind : idle);
  }
  v128.store(bucket, v128.and(tags, i32x4.splat(~REFERENCED)));
  return first;
}
