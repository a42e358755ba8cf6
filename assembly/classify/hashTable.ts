/**
 * Slots: hash -> thing, in buckets of four that grow and shrink one bucket at a time (linear hashing, Litwin 1980), so that
 * no single insert or remove ever moves more than one bucket.
 *
 *     0           4      8         12       16     20
 *     | directory | room | buckets | things | wide | floor |     chunks of SEGMENT buckets, found through the directory
 *
 *     a bucket: | hash 4 | hash | hash | hash | thing 4 | thing | thing | thing or link |
 *
 * Invariants: entries fill a bucket from its first slot on, and hashes of empty slots are 0 (no entry's hash is: HASHED).
 * A link (thing | 1) in the fourth slot leads to an overflow bucket; a bucket with a link is full. Where an entry has its
 * hash, a link has hints: a bit, one of the lowest sixteen, for each hash that may stand behind it.
 * Bucket n < `buckets` holds the hashes h with (h & wide) == n, or, where that is no bucket yet, (h & wide >> 1) == n.
 */
import { allocate, arenaRoom, release } from "../arena";

export const HASH_TABLE_SIZE: usize = 24;
const DIRECTORY: usize = 0;
const ROOM: usize = 4;
export const BUCKETS: usize = 8;
const ENTRIES: usize = 12;
const HASH_MASK: usize = 16;
/** Buckets that stay, whether they are needed or not. */
const FLOOR: usize = 20;

const SEGMENT_SHIFT: u32 = 4;
const SEGMENT: u32 = (<u32>1) << SEGMENT_SHIFT;
const BUCKET_SHIFT: u32 = 5;
const BUCKET_SIZE: u32 = (<u32>1) << BUCKET_SHIFT;
const SEGMENT_BYTES: u32 = SEGMENT * BUCKET_SIZE;
const FIRST_ROOM: u32 = 4;
const WIDTH: u32 = 4;
const VALUE: usize = 16;
const LINK: usize = 28;
const HINTS: usize = 12;
const LINKED: u32 = 1;

/** Every hash of an entry has this bit. Buckets are chosen by the bits below it. */
export const HASHED: u32 = 0x80000000;

/** Buckets split above GROW/4 entries each in the mean, and merge below SHRINK/4. */
const GROW: u32 = 9;
const SHRINK: u32 = 4;
const QUARTERS: u32 = 4;
/** Merges that a remove makes, at the most. */
const MERGES: i32 = 2;

/** Buckets that a split or a merge has emptied and may use again. */
let spare: usize = 0;

/** Gives back everything; the entries are the caller's. Slots that are all zero hold no memory until the first entry. */
export function clearHashTable(hashTable: usize): void {
  const buckets = load<u32>(hashTable, BUCKETS);
  for (let n: u32 = 0; n < buckets; n++) releaseOverflow(bucketAt(hashTable, n));
  const directory: usize = load<u32>(hashTable, DIRECTORY);
  for (let n: u32 = 0; n < buckets; n += SEGMENT)
    release(load<u32>(directory + ((n >> SEGMENT_SHIFT) << 2)), SEGMENT_BYTES);
  if (directory != 0) release(directory, load<u32>(hashTable, ROOM) << 2);
  memory.fill(hashTable, 0, HASH_TABLE_SIZE);
}

/** Makes room for so many things, which stays from now on; false when memory is full, and then as much stays as there was. */
export function reserveBuckets(hashTable: usize, entries: u32): bool {
  const floor = <u32>((<u64>entries * QUARTERS + GROW - 1) / GROW);
  const more = <i64>floor - <i64>load<u32>(hashTable, BUCKETS);
  // What cannot be there is not begun: small blocks that are given back never become others.
  if (more * BUCKET_SIZE > <i64>arenaRoom()) return false;
  while (load<u32>(hashTable, BUCKETS) < floor) {
    if (load<u32>(hashTable, BUCKETS) == 0 ? firstBucket(hashTable) : split(hashTable)) continue;
    shrinkHashTable(hashTable);
    return false;
  }
  store<u32>(hashTable, floor, FLOOR);
  return true;
}

/** Gives back what is not needed now, down to the floor; entries are not to be walked over meanwhile. */
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
  return (
    buckets > max<u32>(load<u32>(hashTable, FLOOR), 1) && load<u32>(hashTable, ENTRIES) * QUARTERS < buckets * SHRINK
  );
}

function releaseOverflow(bucket: usize): void {
  let next = linkOf(bucket);
  while (next != 0) {
    bucket = next;
    next = linkOf(bucket);
    release(bucket, BUCKET_SIZE);
  }
}

/** Where bucket n stands, of those that there are. */
// @ts-ignore: decorator
@inline
export function bucketAt(hashTable: usize, n: u32): usize {
  const segment: usize = load<u32>(<usize>load<u32>(hashTable, DIRECTORY) + ((<usize>(n >> SEGMENT_SHIFT)) << 2));
  return segment + ((<usize>(n & (SEGMENT - 1))) << BUCKET_SHIFT);
}

/** The bucket that a hash belongs to. There is at least one. */
// @ts-ignore: decorator
@inline
export function bucketOf(hashTable: usize, hash: u32): usize {
  const hashMask = load<u32>(hashTable, HASH_MASK);
  const n = hash & hashMask;
  return bucketAt(hashTable, select<u32>(n, hash & (hashMask >> 1), n < load<u32>(hashTable, BUCKETS)));
}

/** The overflow bucket behind a bucket, 0 where there is none. */
// @ts-ignore: decorator
@inline
export function linkOf(bucket: usize): usize {
  const link = load<u32>(bucket, LINK);
  return link & LINKED ? <usize>(link - LINKED) : 0;
}

/** 1 where a hash may stand in an overflow bucket behind this one, else 0. */
// @ts-ignore: decorator
@inline
export function mayFollow(bucket: usize, hash: u32): u32 {
  return load<u32>(bucket, LINK) & (load<u32>(bucket, HINTS) >> hintShift(hash)) & LINKED;
}

// @ts-ignore: decorator
@inline
function hintShift(hash: u32): u32 {
  return (hash >> 24) & 15;
}

function hintOf(hash: u32): u32 {
  return (<u32>1) << hintShift(hash);
}

/** Which of the four slots of a bucket have this hash, as bits. */
// @ts-ignore: decorator
@inline
export function slotsWith(bucket: usize, hash: u32): u32 {
  return <u32>i32x4.bitmask(i32x4.eq(v128.load(bucket), i32x4.splat(hash)));
}

// @ts-ignore: decorator
@inline
export function valueAt(bucket: usize, slot: u32): usize {
  return load<u32>(bucket + ((<usize>slot) << 2), VALUE);
}

/** The address of the word that holds `value` under `hash`; it is there. */
export function addressOf(hashTable: usize, hash: u32, value: usize): usize {
  let bucket = bucketOf(hashTable, hash);
  while (true) {
    for (let bits = slotsWith(bucket, hash); bits != 0; bits &= bits - 1) {
      const putEntry = bucket + VALUE + ((<usize>ctz(bits)) << 2);
      if (<usize>load<u32>(putEntry) == value) return putEntry;
    }
    bucket = linkOf(bucket);
  }
}

/** Takes in a thing (a multiple of 2) under a hash; false when memory is full, and then nothing has changed. */
export function addEntry(hashTable: usize, hash: u32, value: usize): bool {
  if (load<u32>(hashTable, BUCKETS) == 0 && !firstBucket(hashTable)) return false;
  // A merge may have taken the room of an overflow bucket; what it joined is parted again, which takes none.
  for (let splits = 0; !putEntry(bucketOf(hashTable, hash), hash, value); splits++) {
    if (splits == MERGES || !split(hashTable)) return false;
  }
  const entries = load<u32>(hashTable, ENTRIES) + 1;
  store<u32>(hashTable, entries, ENTRIES);
  // Two splits an insert at most: where memory was full for a while, the buckets catch up.
  if (entries * QUARTERS > load<u32>(hashTable, BUCKETS) * GROW && split(hashTable)) {
    if (entries * QUARTERS > load<u32>(hashTable, BUCKETS) * GROW) split(hashTable);
  }
  return true;
}

/** Removes a thing that is there. `still` keeps the buckets where they are, for a walk over them. */
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

/** Makes room for bucket n, the first one that is not there, and empties it. */
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

// @ts-ignore: decorator
@inline
function empty(bucket: usize): void {
  v128.store(bucket, i64x2.splat(0));
  v128.store(bucket, i64x2.splat(0), 16);
}

/** Puts an entry into the first empty slot of a bucket or of those behind it; false when memory is full. */
function putEntry(bucket: usize, hash: u32, value: usize): bool {
  while (true) {
    const free = slotsWith(bucket, 0);
    const next = linkOf(bucket);
    if (next == 0 && free != 0) {
      const slot = (<usize>ctz(free)) << 2;
      store<u32>(bucket + slot, hash);
      store<u32>(bucket + slot, <u32>value, VALUE);
      return true;
    }
    // The hints of a link that is there hold for all behind it.
    if (next != 0) {
      store<u32>(bucket, load<u32>(bucket, HINTS) | hintOf(hash), HINTS);
      bucket = next;
      continue;
    }
    let overflow = spare;
    if (overflow != 0) spare = load<u32>(overflow);
    else overflow = allocate(BUCKET_SIZE);
    if (overflow == 0) return false;
    empty(overflow);
    const last = load<u32>(bucket, HINTS);
    store<u32>(overflow, last);
    store<u32>(overflow, load<u32>(bucket, LINK), VALUE);
    store<u32>(bucket, hintOf(last) | hintOf(hash), HINTS);
    store<u32>(bucket, (<u32>overflow) | LINKED, LINK);
    bucket = overflow;
  }
}

/** Takes out the entry whose thing is at `putEntry`, in a bucket or behind it; the last entry of the last bucket fills its slot. */
function takeEntry(bucket: usize, putEntry: usize): void {
  let before: usize = 0;
  let last = bucket;
  for (let next = linkOf(last); next != 0; next = linkOf(last)) {
    before = last;
    last = next;
  }
  const free = slotsWith(last, 0);
  const end: usize = ((free == 0 ? WIDTH : <u32>ctz(free)) - 1) << 2;
  store<u32>(putEntry - VALUE, load<u32>(last + end));
  store<u32>(putEntry, load<u32>(last + end, VALUE));
  store<u32>(last + end, 0);
  store<u32>(last + end, 0, VALUE);
  if (end != 0 || before == 0) return;
  // An overflow bucket is empty.
  store<u32>(before, 0, HINTS);
  store<u32>(before, 0, LINK);
  release(last, BUCKET_SIZE);
}

/** Adds a bucket, and moves to it what of its elder is its own; false when memory is full. */
function split(hashTable: usize): bool {
  const n = load<u32>(hashTable, BUCKETS);
  if (!openBucket(hashTable, n)) return false;
  setBuckets(hashTable, n + 1);
  redistribute(hashTable, bucketAt(hashTable, parentOf(n)));
  return true;
}

/** Takes the last bucket away, its entries back to its elder; or leaves it, where that takes memory and there is none. */
function merge(hashTable: usize): void {
  const n = load<u32>(hashTable, BUCKETS) - 1;
  // Two chains made one need two overflow buckets more at most.
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

/** Gives the directory another room, keeping its first `segments` entries; false when memory is full, and it stays. */
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

function addSpare(): bool {
  const bucket = allocate(BUCKET_SIZE);
  if (bucket == 0) return false;
  store<u32>(bucket, <u32>spare);
  spare = bucket;
  return true;
}

function releaseSpare(): void {
  while (spare != 0) {
    const unused = spare;
    spare = load<u32>(unused);
    release(unused, BUCKET_SIZE);
  }
}

/**
 * Deals the entries of a bucket, and of those behind it, anew. It takes no memory: of n entries in one chain of buckets
 * and the same n in two, the two need no more overflow buckets, and each is spare before its own entries are dealt.
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
    store<u32>(overflow, <u32>spare);
    spare = overflow;
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
