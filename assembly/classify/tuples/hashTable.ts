/**
 * A hash table from 32-bit hashes to values (addresses), in buckets of four entries (bucket.ts). It
 * grows and shrinks one bucket at a time (linear hashing, Litwin 1980), so no insertion or removal
 * moves more than a few buckets. In: a hash and a value. Out: the bucket to search.
 *
 *     0           4      8         12        16          20
 *     | directory | room | buckets | entries | hash mask | floor |
 *
 *     directory: | segment 4 | segment 4 | ...     each of SEGMENT buckets
 *
 * Bucket n < `buckets` has the hashes h with (h & mask) == n, or, if there is no such bucket yet,
 * (h & mask >> 1) == n.
 */
import { HASH_TABLE_SIZE } from "../../../src/abi/table";
import { allocate, arenaRoom, release } from "../../arena";
import {
  addSpare,
  BUCKET_SHIFT,
  BUCKET_SIZE,
  empty,
  HASHED,
  isLink,
  linkOf,
  putEntry,
  recycle,
  releaseOverflow,
  releaseSpare,
  slotsWith,
  takeEntry,
  VALUE,
  valueAt,
  WIDTH,
} from "./bucket";

const DIRECTORY: usize = 0;
const ROOM: usize = 4;
export const BUCKETS: usize = 8;
const ENTRIES: usize = 12;
const HASH_MASK: usize = 16;
/** The number of buckets that are never removed. */
const FLOOR: usize = 20;

const SEGMENT_SHIFT: u32 = 4;
const SEGMENT: u32 = (<u32>1) << SEGMENT_SHIFT;
const SEGMENT_BYTES: u32 = SEGMENT * BUCKET_SIZE;
const FIRST_ROOM: u32 = 4;

/** Buckets split above a mean of GROW/4 entries, and merge below SHRINK/4. */
const GROW: u32 = 9;
const SHRINK: u32 = 4;
const QUARTERS: u32 = 4;
/**
 * Up to so many entries buckets split above a mean of FEW_GROW/4, and merge below FEW_SHRINK/4: there is room, and
 * fewer keys have to look into overflow buckets.
 */
const FEW: u32 = 16384;
const FEW_GROW: u32 = 4;
const FEW_SHRINK: u32 = 2;
/** The largest number of merges of one removal. */
const MERGES: i32 = 2;

/**
 * Frees all memory; values belong to the caller. A hash table of zeros is empty and has no
 * memory.
 */
export function clearHashTable(hashTable: usize): void {
  const buckets = load<u32>(hashTable, BUCKETS);
  for (let n: u32 = 0; n < buckets; n++) releaseOverflow(bucketAt(hashTable, n));
  const directory: usize = load<u32>(hashTable, DIRECTORY);
  for (let n: u32 = 0; n < buckets; n += SEGMENT)
    release(load<u32>(directory + ((n >> SEGMENT_SHIFT) << 2)), SEGMENT_BYTES);
  if (directory != 0) release(directory, load<u32>(hashTable, ROOM) << 2);
  memory.fill(hashTable, 0, HASH_TABLE_SIZE);
}

/**
 * Reserves room for `entries` entries for good; false when memory is full, and then nothing
 * changes.
 */
export function reserveBuckets(hashTable: usize, entries: u32): bool {
  const grow = growOf(entries);
  const floor = <u32>((<u64>entries * QUARTERS + grow - 1) / grow);
  const more = <i64>floor - <i64>load<u32>(hashTable, BUCKETS);
  // Checked first: small blocks that are freed never become large ones.
  if (more * BUCKET_SIZE > <i64>arenaRoom()) return false;
  while (load<u32>(hashTable, BUCKETS) < floor) {
    if (load<u32>(hashTable, BUCKETS) == 0 ? firstBucket(hashTable) : split(hashTable)) continue;
    shrinkHashTable(hashTable);
    return false;
  }
  store<u32>(hashTable, floor, FLOOR);
  return true;
}

/**
 * Frees buckets that are not needed, down to the floor. No walk over the entries may be under
 * way.
 */
export function shrinkHashTable(hashTable: usize): void {
  const floor = load<u32>(hashTable, FLOOR);
  if (load<u32>(hashTable, ENTRIES) == 0 && floor == 0) {
    clearHashTable(hashTable);
    return;
  }
  for (let buckets = load<u32>(hashTable, BUCKETS); isSparse(hashTable, buckets); buckets--) {
    merge(hashTable);
    if (load<u32>(hashTable, BUCKETS) == buckets) return;
  }
}

function isSparse(hashTable: usize, buckets: u32): bool {
  const entries = load<u32>(hashTable, ENTRIES);
  return (
    buckets > max<u32>(load<u32>(hashTable, FLOOR), 1) &&
    entries * QUARTERS < buckets * (entries <= FEW ? FEW_SHRINK : SHRINK)
  );
}

/** Quarters of the mean number of entries above which a bucket splits. */
// @ts-ignore: decorator
@inline
function growOf(entries: u32): u32 {
  return entries <= FEW ? FEW_GROW : GROW;
}

/** The address of bucket n, which exists. */
// @ts-ignore: decorator
@inline
export function bucketAt(hashTable: usize, n: u32): usize {
  const segment: usize = load<u32>(<usize>load<u32>(hashTable, DIRECTORY) + ((<usize>(n >> SEGMENT_SHIFT)) << 2));
  return segment + ((<usize>(n & (SEGMENT - 1))) << BUCKET_SHIFT);
}

/** Where a walk over all values is. */
namespace Walk {
  export let hashTable: usize = 0;
  /** The next bucket that is no overflow bucket. */
  export let next: u32 = 0;
  export let bucket: usize = 0;
  export let slot: u32 = 0;
}

/**
 * Begins a walk over all values, in no order, and returns the first; 0 for none. The hash table must
 * not change before the walk ends, and no other walk may begin.
 */
export function firstValue(hashTable: usize): usize {
  Walk.hashTable = hashTable;
  Walk.next = 0;
  Walk.bucket = 0;
  return nextValue();
}

/** The next value of the walk; 0 at its end. */
export function nextValue(): usize {
  while (true) {
    for (; Walk.bucket != 0; Walk.bucket = linkOf(Walk.bucket), Walk.slot = 0) {
      while (Walk.slot < WIDTH) {
        const value = valueAt(Walk.bucket, Walk.slot++);
        if (value != 0 && !isLink(value)) return value;
      }
    }
    if (Walk.next == load<u32>(Walk.hashTable, BUCKETS)) return 0;
    Walk.bucket = bucketAt(Walk.hashTable, Walk.next++);
    Walk.slot = 0;
  }
}

/** The bucket of a hash. At least one bucket exists. */
// @ts-ignore: decorator
@inline
export function bucketOf(hashTable: usize, hash: u32): usize {
  const hashMask = load<u32>(hashTable, HASH_MASK);
  const n = hash & hashMask;
  return bucketAt(hashTable, select<u32>(n, hash & (hashMask >> 1), n < load<u32>(hashTable, BUCKETS)));
}

/** The address of the word that holds `value` under `hash`. The entry exists. */
export function addressOf(hashTable: usize, hash: u32, value: usize): usize {
  let bucket = bucketOf(hashTable, hash);
  while (true) {
    for (let bits = slotsWith(bucket, hash); bits != 0; bits &= bits - 1) {
      const at = bucket + VALUE + ((<usize>ctz(bits)) << 2);
      if (<usize>load<u32>(at) == value) return at;
    }
    bucket = linkOf(bucket);
  }
}

/**
 * Adds a value (an even number) under a hash; false when memory is full, and then nothing changes.
 */
export function addEntry(hashTable: usize, hash: u32, value: usize): bool {
  if (load<u32>(hashTable, BUCKETS) == 0 && !firstBucket(hashTable)) return false;
  // A merge may have taken the room of an overflow bucket. Splitting again takes no memory.
  for (let splits = 0; !putEntry(bucketOf(hashTable, hash), hash, value); splits++) {
    // Unreached: after two splits there is room, and without memory for a split it ends before.
    if (splits == MERGES || !split(hashTable)) return false;
  }
  const entries = load<u32>(hashTable, ENTRIES) + 1;
  store<u32>(hashTable, entries, ENTRIES);
  // At most two splits an insertion: the number of buckets catches up after memory was full.
  const most = growOf(entries);
  if (entries * QUARTERS > load<u32>(hashTable, BUCKETS) * most && split(hashTable)) {
    if (entries * QUARTERS > load<u32>(hashTable, BUCKETS) * most) split(hashTable);
  }
  return true;
}

/** Removes an entry that exists. `still` forbids buckets to merge. */
export function removeEntry(hashTable: usize, hash: u32, value: usize, still: bool): void {
  takeEntry(bucketOf(hashTable, hash), addressOf(hashTable, hash, value));
  const entries = load<u32>(hashTable, ENTRIES) - 1;
  store<u32>(hashTable, entries, ENTRIES);
  if (still) return;
  if (entries == 0 && load<u32>(hashTable, FLOOR) == 0) {
    clearHashTable(hashTable);
    return;
  }
  for (let n = 0; n < MERGES; n++) {
    if (isSparse(hashTable, load<u32>(hashTable, BUCKETS))) merge(hashTable);
  }
}

function firstBucket(hashTable: usize): bool {
  if (!openBucket(hashTable, 0)) return false;
  setBuckets(hashTable, 1);
  return true;
}

/** Makes room for bucket n, which is the next one, and empties it. */
function openBucket(hashTable: usize, n: u32): bool {
  const segment = n >> SEGMENT_SHIFT;
  if ((n & (SEGMENT - 1)) == 0) {
    const room = load<u32>(hashTable, ROOM);
    if (segment == room && !roomFor(hashTable, max(room * 2, FIRST_ROOM), segment)) return false;
    const fresh = allocate(SEGMENT_BYTES);
    if (fresh == 0) return false;
    store<u32>(<usize>load<u32>(hashTable, DIRECTORY) + ((<usize>segment) << 2), <u32>fresh);
  }
  empty(bucketAt(hashTable, n));
  return true;
}

/** Adds a bucket and moves its entries there from its parent; false when memory is full. */
function split(hashTable: usize): bool {
  const n = load<u32>(hashTable, BUCKETS);
  if (!openBucket(hashTable, n)) return false;
  setBuckets(hashTable, n + 1);
  redistribute(hashTable, bucketAt(hashTable, parentOf(n)));
  return true;
}

/**
 * Removes the last bucket and moves its entries to its parent. Does nothing if that takes memory
 * that there is not.
 */
function merge(hashTable: usize): void {
  const n = load<u32>(hashTable, BUCKETS) - 1;
  // The joined bucket needs at most two more overflow buckets.
  if (!addSpare() || !addSpare()) {
    releaseSpare();
    return;
  }
  const last = bucketAt(hashTable, n);
  setBuckets(hashTable, n);
  redistribute(hashTable, last);
  if ((n & (SEGMENT - 1)) != 0) return;
  const segment = n >> SEGMENT_SHIFT;
  release(load<u32>(<usize>load<u32>(hashTable, DIRECTORY) + ((<usize>segment) << 2)), SEGMENT_BYTES);
  const room = load<u32>(hashTable, ROOM);
  if (room > FIRST_ROOM && segment * 4 <= room) roomFor(hashTable, room / 2, segment);
}

/**
 * Resizes the directory and keeps its first `segments` entries; false when memory is full, and then
 * it stays.
 */
function roomFor(hashTable: usize, room: u32, segments: u32): bool {
  const directory = allocate(room << 2);
  if (directory == 0) return false;
  const old: usize = load<u32>(hashTable, DIRECTORY);
  memory.copy(directory, old, (<usize>segments) << 2);
  if (old != 0) release(old, load<u32>(hashTable, ROOM) << 2);
  store<u32>(hashTable, <u32>directory, DIRECTORY);
  store<u32>(hashTable, room, ROOM);
  return true;
}

function setBuckets(hashTable: usize, buckets: u32): void {
  store<u32>(hashTable, buckets, BUCKETS);
  store<u32>(hashTable, ((<u32>1) << (32 - clz(buckets))) - 1, HASH_MASK);
}

/** The bucket that bucket n was split from: n without its highest bit. */
function parentOf(n: u32): u32 {
  return n ^ ((<u32>1) << (31 - clz(n)));
}

/**
 * Distributes the entries of a bucket and its overflow buckets again. It takes no memory: entries in
 * two buckets need no more overflow buckets than in one, and an overflow bucket is spare before its
 * entries are distributed.
 */
function redistribute(hashTable: usize, bucket: usize): void {
  const hashes = v128.load(bucket);
  const entries = v128.load(bucket, VALUE);
  let next = linkOf(bucket);
  empty(bucket);
  redistributeFour(hashTable, hashes, entries);
  while (next != 0) {
    const overflow = next;
    const itsHashes = v128.load(overflow);
    const itsThings = v128.load(overflow, VALUE);
    next = linkOf(overflow);
    recycle(overflow);
    redistributeFour(hashTable, itsHashes, itsThings);
  }
  releaseSpare();
}

function redistributeFour(hashTable: usize, hashes: v128, entries: v128): void {
  redistributeOne(hashTable, i32x4.extract_lane(hashes, 0), i32x4.extract_lane(entries, 0));
  redistributeOne(hashTable, i32x4.extract_lane(hashes, 1), i32x4.extract_lane(entries, 1));
  redistributeOne(hashTable, i32x4.extract_lane(hashes, 2), i32x4.extract_lane(entries, 2));
  redistributeOne(hashTable, i32x4.extract_lane(hashes, 3), i32x4.extract_lane(entries, 3));
}

function redistributeOne(hashTable: usize, hash: u32, value: u32): void {
  if (hash & HASHED) putEntry(bucketOf(hashTable, hash), hash, value);
}
