/**
 * A bucket of a hash table: four entries of a hash and a value, and a list of overflow buckets. In: a
 * bucket and a hash. Out: the slots with that hash; entries added and removed.
 *
 *     | hash 4 | hash | hash | hash or hints | value 4 | value | value | value or link |
 *
 * Invariants: entries fill a bucket from its first slot; the hash of an empty slot is 0, that of an
 * entry never is (HASHED). A link (address | 1) in the fourth slot leads to an overflow bucket, and a
 * bucket with a link is full. The hash slot of a link has hints: for each hash in the overflow
 * buckets one of the low 16 bits is set.
 */
import { allocate, release } from "../../arena";

export const BUCKET_SHIFT: u32 = 5;
export const BUCKET_SIZE: u32 = (<u32>1) << BUCKET_SHIFT;
/** The number of entries of a bucket. */
export const WIDTH: u32 = 4;
export const VALUE: usize = 16;
const LINK: usize = 28;
const HINTS: usize = 12;
const LINKED: u32 = 1;

/** Every hash of an entry has this bit. Lower bits choose the bucket. */
export const HASHED: u32 = 0x80000000;

/** Overflow buckets that a split or a merge has emptied and may reuse. */
namespace Spare {
  /** The first one; each has the address of the next in its first word. */
  export let first: usize = 0;
}

/** Frees the overflow buckets of a bucket. */
export function releaseOverflow(bucket: usize): void {
  let next = linkOf(bucket);
  while (next != 0) {
    // Unreached: a hash table that is cleared has no entries, and an empty overflow bucket is freed
    // at once.
    bucket = next;
    next = linkOf(bucket);
    release(bucket, BUCKET_SIZE);
  }
}

/** The overflow bucket after a bucket, 0 for none. */
// @ts-ignore: decorator
@inline
export function linkOf(bucket: usize): usize {
  const link = load<u32>(bucket, LINK);
  return link & LINKED ? <usize>(link - LINKED) : 0;
}

/** 1 if a hash may be in an overflow bucket after this one, else 0. */
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

/** The slots of a bucket with this hash, a bit each. */
// @ts-ignore: decorator
@inline
export function slotsWith(bucket: usize, hash: u32): u32 {
  return <u32>i32x4.bitmask(i32x4.eq(v128.load(bucket), i32x4.splat(hash)));
}

/** Whether a value is a link. */
// @ts-ignore: decorator
@inline
export function isLink(value: usize): bool {
  return (value & LINKED) != 0;
}

/** The value in a slot. */
// @ts-ignore: decorator
@inline
export function valueAt(bucket: usize, slot: u32): usize {
  return load<u32>(bucket + ((<usize>slot) << 2), VALUE);
}

/** Removes all entries of a bucket and its link. */
// @ts-ignore: decorator
@inline
export function empty(bucket: usize): void {
  v128.store(bucket, i64x2.splat(0));
  v128.store(bucket, i64x2.splat(0), 16);
}

/**
 * Puts an entry into the first empty slot of a bucket or its overflow buckets; false when memory is
 * full.
 */
export function putEntry(bucket: usize, hash: u32, value: usize): bool {
  while (true) {
    const free = slotsWith(bucket, 0);
    const next = linkOf(bucket);
    if (next == 0 && free != 0) {
      const slot = (<usize>ctz(free)) << 2;
      store<u32>(bucket + slot, hash);
      store<u32>(bucket + slot, <u32>value, VALUE);
      return true;
    }
    // The hints of a link cover all overflow buckets after it.
    if (next != 0) {
      store<u32>(bucket, load<u32>(bucket, HINTS) | hintOf(hash), HINTS);
      bucket = next;
      continue;
    }
    let overflow = Spare.first;
    if (overflow != 0) Spare.first = load<u32>(overflow);
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

/**
 * Removes the entry whose value is at `at`, in a bucket or its overflow buckets. The last entry of
 * the last bucket takes its slot.
 */
export function takeEntry(bucket: usize, at: usize): void {
  let before: usize = 0;
  let last = bucket;
  for (let next = linkOf(last); next != 0; next = linkOf(last)) {
    before = last;
    last = next;
  }
  const free = slotsWith(last, 0);
  const end: usize = ((free == 0 ? WIDTH : <u32>ctz(free)) - 1) << 2;
  store<u32>(at - VALUE, load<u32>(last + end));
  store<u32>(at, load<u32>(last + end, VALUE));
  store<u32>(last + end, 0);
  store<u32>(last + end, 0, VALUE);
  if (end != 0 || before == 0) return;
  // The overflow bucket is empty.
  store<u32>(before, 0, HINTS);
  store<u32>(before, 0, LINK);
  release(last, BUCKET_SIZE);
}

/** Allocates a spare overflow bucket; false when memory is full. */
export function addSpare(): bool {
  const bucket = allocate(BUCKET_SIZE);
  if (bucket == 0) return false;
  recycle(bucket);
  return true;
}

/** Makes an overflow bucket a spare one. */
// @ts-ignore: decorator
@inline
export function recycle(bucket: usize): void {
  store<u32>(bucket, <u32>Spare.first);
  Spare.first = bucket;
}

/** Frees the spare overflow buckets. */
export function releaseSpare(): void {
  while (Spare.first != 0) {
    const unused = Spare.first;
    Spare.first = load<u32>(unused);
    release(unused, BUCKET_SIZE);
  }
}
