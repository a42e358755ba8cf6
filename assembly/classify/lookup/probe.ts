/**
 * Candidate bitmaps -> rule lists: the third phase of a lookup. For each key that can still find a
 * better rule, it hashes the key under the next tuple and reads the bucket.
 *
 *     ALIVE           key 4 | key 4 | ...          numbers in the batch; out: `Probed.again` keys
 *     BITMAPS         bitmap 16 | bitmap 16 | ...  by key; the probed bit is cleared
 *     PROBED          key 4   | key 4       | ...  out, as many as `probe` returns: for verify.ts
 *     PROBED_TUPLES   tuple 4 | tuple 4     | ...
 *     RULE_LISTS      rule 4  | AMBIGUOUS 4 | ...
 *
 * A rule list is given by its first rule. AMBIGUOUS: more than one list may have the key's hash. A
 * key without a list is not verified and stays alive while it has tuples left. No jump depends on
 * the content of a bucket, which is likely not in the CPU cache.
 */
import { ALIVE, BEST, RULE_LISTS, PROBED, PROBED_TUPLES, BITMAPS } from "../../memory";
import { Lanes } from "../../rows";
import { TUPLE_BEST, TUPLE_LANES, TUPLE_MASK, TUPLE_SEED, tupleAt } from "../tuples/tuple";
import { hashLane, hashMasked } from "../tuples/hash";
import { bestFrom, tupleOfBit, lowestBitOf, lowestBit } from "../bitmaps/candidates";
import { mayFollow, slotsWith, valueAt } from "../tuples/bucket";
import { bucketOf } from "../tuples/hashTable";

export const AMBIGUOUS: u32 = 1;

export namespace Probed {
  /** The number of keys without a rule list that have tuples left: the first ones in ALIVE. */
  export let again: u32 = 0;
}

/** The hash of a key's lanes under a tuple. */
export function hashInTuple(tuple: usize, lanes: usize): u32 {
  return hashMasked(lanes, tuple + TUPLE_MASK, load<u32>(tuple, TUPLE_LANES), load<u32>(tuple, TUPLE_SEED));
}

/** Probes the next tuple of each key in ALIVE. Tuples come in the order of their bits. */
export function probe(hashTable: usize, tuples: usize, bitmaps: usize, alive: u32, stride: usize): u32 {
  return probeKeys(hashTable, tuples, bitmaps, alive, stride, false);
}

/** Probes the first tuple of each of `count` keys: none has a rule yet. It writes BEST. */
export function probeFirst(hashTable: usize, tuples: usize, bitmaps: usize, count: u32, stride: usize): u32 {
  return probeKeys(hashTable, tuples, bitmaps, count, stride, true);
}

// @ts-ignore: decorator
@inline
function probeKeys(hashTable: usize, tuples: usize, bitmaps: usize, alive: u32, stride: usize, isFirst: bool): u32 {
  let probed: usize = 0;
  let again: usize = 0;
  const first = Lanes.start;
  const end = (<usize>alive) << 2;
  for (let n: usize = 0; n < end; n += 4) {
    const key: usize = isFirst ? n >> 2 : load<u32>(n, ALIVE);
    let low = load<u64>(key << 4, BITMAPS);
    let high = load<u64>(key << 4, BITMAPS + 8);
    const bit = lowestBitOf(low, high);
    const best: u64 = isFirst ? u64.MAX_VALUE : load<u64>(key << 3, BEST);
    if (isFirst) store<u64>(key << 3, u64.MAX_VALUE, BEST);
    if (bestFrom(bitmaps, bit) >= best) continue;
    high &= select<u64>(u64.MAX_VALUE, high - 1, low != 0);
    low &= low - 1;
    store<u64>(key << 4, low, BITMAPS);
    store<u64>(key << 4, high, BITMAPS + 8);
    let tuple = tupleAt(tuples, tupleOfBit(bitmaps, bit));
    if (!isFirst && load<u64>(tuple, TUPLE_BEST) >= best) {
      tuple = laterTuple(tuples, bitmaps, key, best);
      if (tuple == 0) continue;
      low = load<u64>(key << 4, BITMAPS);
      high = load<u64>(key << 4, BITMAPS + 8);
    }
    const lanes = first + key * stride;
    const hash =
      stride == 16 ? hashLane(lanes, tuple + TUPLE_MASK, load<u32>(tuple, TUPLE_SEED)) : hashInTuple(tuple, lanes);
    const bucket = bucketOf(hashTable, hash);
    const ruleList = ruleListIn(bucket, hash);
    const vain = <usize>(ruleList == 0);
    store<u32>(probed, <u32>key, PROBED);
    store<u32>(probed, <u32>tuple, PROBED_TUPLES);
    store<u32>(probed, ruleList, RULE_LISTS);
    probed += 4 - (vain << 2);
    // ALIVE is read ahead of where it is written.
    store<u32>(again, <u32>key, ALIVE);
    again += (vain & (<usize>(bestFrom(bitmaps, lowestBitOf(low, high)) < best))) << 2;
  }
  Probed.again = <u32>(again >> 2);
  return <u32>(probed >> 2);
}

/** The next tuple of a key whose best rule can win, 0 for none. */
function laterTuple(tuples: usize, bitmaps: usize, key: usize, best: u64): usize {
  while (true) {
    const bit = lowestBit(key);
    if (bestFrom(bitmaps, bit) >= best) return 0;
    const tuple = tupleAt(tuples, tupleOfBit(bitmaps, bit));
    clearLowestBit(key, bit);
    if (load<u64>(tuple, TUPLE_BEST) < best) return tuple;
  }
}

/** Clears the lowest bit of a key's bitmap: it is also the lowest bit of its byte. */
// @ts-ignore: decorator
@inline
function clearLowestBit(key: usize, bit: usize): void {
  const byte = (key << 4) + (bit >> 3);
  const bits = <u32>load<u8>(byte, BITMAPS);
  store<u8>(byte, <u8>(bits & (bits - 1)), BITMAPS);
}

// @ts-ignore: decorator
@inline
function ruleListIn(bucket: usize, hash: u32): u32 {
  const bits = slotsWith(bucket, hash);
  // Without a slot of this hash the first slot is read, and the value is not used.
  const value = <u32>valueAt(bucket, (<u32>ctz(bits)) & 3);
  const one = select<u32>(value, 0, bits != 0);
  return select<u32>(AMBIGUOUS, one, ((bits & (bits - 1)) | mayFollow(bucket, hash)) != 0);
}
