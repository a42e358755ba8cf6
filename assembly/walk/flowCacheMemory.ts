/**
 * The memory of the flow cache, lent from beyond the arena (Loan in arena.ts). In: the width of an
 * entry, and how many frames come next. Out: the places of tags and entries.
 *
 *     | entry of bucket 0, way 0 | way 1 | ... | entries of bucket 1 | ... | tags of all buckets |
 *
 * The cache begins small and grows with its entries: a device that sees few flows needs little memory.
 */
import { beyond, endLoan, extendLoan, lend, Loan, NO_LOAN } from "../arena";
import { RECORDED_SIZE } from "../memory";
import { CacheKey, ENTRY_LANES, hashOfEntry, isPresent } from "./flowCacheKey";

/** The number of entries in a bucket. */
export const WAYS: u32 = 4;
export const BUCKET: u32 = WAYS * 4;

/** The least number of bytes after the lanes. */
const MIN_TAIL: usize = 16;
/** The entries of a new cache, and how many times as many a larger one has. */
const FIRST_ENTRIES: u32 = 512;
const GROWTH: u32 = 4;

export namespace Cache {
  /** The largest number of entries; 0 for no cache. */
  export let most: u32 = 0;
  /** The number of entries in the lent memory, and how many of them are filled. */
  export let entries: u32 = 0;
  export let filled: u32 = 0;
  /** The addresses of tags and entries. */
  export let tags: usize = 0;
  export let first: usize = 0;
  /** Counts replacements: chooses where the search for an entry to replace begins. */
  export let turn: u32 = 0;
  /** The size of an entry, and the number of results that it has room for. */
  export let size: u32 = 0;
  export let results: u32 = 0;
}

/**
 * Whether the cache has memory for entries of the present width. Borrows memory if not, and more when
 * `count` new entries would fill half of it.
 */
export function hasRoom(count: u32): bool {
  const size = (<u32>(ENTRY_LANES + CacheKey.stride + MIN_TAIL) + 63) & ~63;
  // Wider keys leave less room for results, even if the size of an entry stays.
  Cache.results = min<u32>((size - <u32>(ENTRY_LANES + CacheKey.stride)) / 4, <u32>(RECORDED_SIZE / 4) - 1);
  if (Loan.start != NO_LOAN && Cache.size == size) {
    if ((Cache.filled + count) * 2 > Cache.entries && Cache.entries < Cache.most) grow(count);
    return true;
  }
  return borrow(size, count);
}

function borrow(size: u32, count: u32): bool {
  endLoan();
  let entries = FIRST_ENTRIES;
  // Unreached: a batch has no more than half of the first entries.
  while (entries < count * 2) entries *= GROWTH;
  entries = min(entries, Cache.most);
  while (entries != 0 && bytesOf(entries, size) > beyond()) entries >>= 1;
  const first: usize = entries == 0 ? 0 : lend(bytesOf(entries, size));
  if (first == 0) return false;
  Cache.first = first;
  Cache.tags = first + <usize>entries * size;
  Cache.entries = entries;
  Cache.filled = 0;
  Cache.size = size;
  memory.fill(Cache.tags, 0, tagBytes(entries));
  return true;
}

/**
 * Removes the entries of other epochs, and takes GROWTH times the memory if that does not help. The
 * cache stays as it is where there is no memory.
 */
function grow(count: u32): void {
  removeStale();
  if ((Cache.filled + count) * 3 <= Cache.entries) return;
  const entries = min(Cache.entries * GROWTH, Cache.most);
  if (!extendLoan(bytesOf(entries, Cache.size))) return;
  const before = Cache.entries;
  const oldTags = Cache.tags;
  const tags = Cache.first + <usize>entries * Cache.size;
  // Entries move over the old tags.
  memory.copy(tags, oldTags, tagBytes(before));
  memory.fill(tags + tagBytes(before), 0, tagBytes(entries) - tagBytes(before));
  Cache.tags = tags;
  Cache.entries = entries;
  for (let bucket: u32 = 0; bucket < max<u32>(before / WAYS, 1); bucket++) spread(bucket);
}

/**
 * Moves the entries of a bucket to their places in the larger cache. Bits of the hash are added on top
 * of those that chose the bucket, so no two entries come to one place.
 */
function spread(bucket: u32): void {
  for (let way: u32 = 0; way < WAYS; way++) {
    const tag = tagAt(bucket, way);
    if (load<u32>(tag) == 0) continue;
    const entry = entryAt(bucket, way);
    const to = bucketOf(hashOfEntry(entry));
    if (to == bucket) continue;
    memory.copy(entryAt(to, way), entry, Cache.size);
    store<u32>(tagAt(to, way), load<u32>(tag));
    store<u32>(tag, 0);
  }
}

function removeStale(): void {
  let filled: u32 = 0;
  for (let n: u32 = 0; n < Cache.entries; n++) {
    const tag = Cache.tags + ((<usize>n) << 2);
    if (load<u32>(tag) == 0) continue;
    if (isPresent(Cache.first + <usize>n * Cache.size)) filled++;
    else store<u32>(tag, 0);
  }
  Cache.filled = filled;
}

// @ts-ignore: decorator
@inline
function tagAt(bucket: u32, way: u32): usize {
  return Cache.tags + <usize>(bucket * BUCKET + (way << 2));
}

// @ts-ignore: decorator
@inline
function entryAt(bucket: u32, way: u32): usize {
  return Cache.first + <usize>(bucket * WAYS + way) * Cache.size;
}

function bytesOf(entries: u32, size: u32): usize {
  return <usize>entries * size + tagBytes(entries);
}

function tagBytes(entries: u32): u32 {
  return max<u32>(entries / WAYS, 1) * BUCKET;
}

// @ts-ignore: decorator
@inline
export function bucketOf(hash: u64): u32 {
  // A cache with fewer entries than a bucket has one bucket.
  return (<u32>(hash >> 32)) & (max<u32>(Cache.entries / WAYS, 1) - 1);
}
