/**
 * Sets of groups -> chains: for each key that still can win, its next group, hashed and looked up.
 *
 *     ALIVE       key 4 | key 4 | ...                      in, by number in the batch; out: the first `Probed.again`
 *     BITMAPS        set of key 0, 16 | set of key 1, 16 | ...      the place that is looked at is taken out
 *     PROBED      key 4       | key 4       | ...          out, as many as `probe` gives: what verify.ts looks at
 *     PROBED_TUPLES      group 4     | group 4     | ...
 *     RULE_LISTS  rule 4      | AMBIGUOUS 4 | ...
 *
 * A candidate is the first rule of the chain with the key's hash in that group, or AMBIGUOUS where one bucket does not
 * tell. A key whose bucket holds nothing for it is not verified: it stays alive while it has groups left. No branch
 * depends on what the bucket holds, which is likely not in the cache.
 */
import { ALIVE, BEST, RULE_LISTS, LANES, PROBED, PROBED_TUPLES, BITMAPS } from "../memory";
import { TUPLE_BEST, TUPLE_LANES, TUPLE_MASK, TUPLE_SEED, tupleAt } from "./tuple";
import { hashLane, hashMasked } from "./mask";
import { bestFrom, tupleOfBit, lowestBitOf, lowestBit } from "./candidates";
import { bucketOf, mayFollow, slotsWith, valueAt } from "./hashTable";

export const AMBIGUOUS: u32 = 1;

export namespace Probed {
  /** Keys whose probe found nothing, and that have groups left: the first ones in ALIVE. */
  export let again: u32 = 0;
}

/** The hash of a key's lanes in a group. */
export function hashInTuple(tuple: usize, lanes: usize): u32 {
  return hashMasked(lanes, tuple + TUPLE_MASK, load<u32>(tuple, TUPLE_LANES), load<u32>(tuple, TUPLE_SEED));
}

/** Groups come in the order of the sets' places. */
export function probe(hashTable: usize, tuples: usize, bitmaps: usize, alive: u32, stride: usize): u32 {
  let probed: usize = 0;
  let again: usize = 0;
  const end = (<usize>alive) << 2;
  for (let n: usize = 0; n < end; n += 4) {
    const key: usize = load<u32>(n, ALIVE);
    let low = load<u64>(key << 4, BITMAPS);
    let high = load<u64>(key << 4, BITMAPS + 8);
    const place = lowestBitOf(low, high);
    const best = load<u64>(key << 3, BEST);
    if (bestFrom(bitmaps, place) >= best) continue;
    high &= select<u64>(u64.MAX_VALUE, high - 1, low != 0);
    low &= low - 1;
    store<u64>(key << 4, low, BITMAPS);
    store<u64>(key << 4, high, BITMAPS + 8);
    let tuple = tupleAt(tuples, tupleOfBit(bitmaps, place));
    if (load<u64>(tuple, TUPLE_BEST) >= best) {
      tuple = laterTuple(tuples, bitmaps, key, best);
      if (tuple == 0) continue;
      low = load<u64>(key << 4, BITMAPS);
      high = load<u64>(key << 4, BITMAPS + 8);
    }
    const lanes = LANES + key * stride;
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

/** The next group of a key whose best rule may win, 0 where there is none. */
function laterTuple(tuples: usize, bitmaps: usize, key: usize, best: u64): usize {
  while (true) {
    const place = lowestBit(key);
    if (bestFrom(bitmaps, place) >= best) return 0;
    const tuple = tupleAt(tuples, tupleOfBit(bitmaps, place));
    clearLowestBit(key, place);
    if (load<u64>(tuple, TUPLE_BEST) < best) return tuple;
  }
}

/** Takes the lowest place out of a set: its bit is the lowest of its byte. */
// @ts-ignore: decorator
@inline
function clearLowestBit(key: usize, place: usize): void {
  const byte = (key << 4) + (place >> 3);
  const bits = <u32>load<u8>(byte, BITMAPS);
  store<u8>(byte, <u8>(bits & (bits - 1)), BITMAPS);
}

// @ts-ignore: decorator
@inline
function ruleListIn(bucket: usize, hash: u32): u32 {
  const bits = slotsWith(bucket, hash);
  // Where no slot has the hash this reads the first one, and what it reads is not used.
  const thing = <u32>valueAt(bucket, (<u32>ctz(bits)) & 3);
  const one = select<u32>(thing, 0, bits != 0);
  return select<u32>(AMBIGUOUS, one, ((bits & (bits - 1)) | mayFollow(bucket, hash)) != 0);
}
