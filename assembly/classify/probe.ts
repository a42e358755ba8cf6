/**
 * Sets of groups -> chains: for each key that still can win, its next group, hashed and looked up.
 *
 *     ALIVE       key 4 | key 4 | ...                      in, by number in the batch; out: the first `Probed.again`
 *     SETS        set of key 0, 16 | set of key 1, 16 | ...      the place that is looked at is taken out
 *     PROBED      key 4       | key 4       | ...          out, as many as `probe` gives: what verify.ts looks at
 *     PROBES      group 4     | group 4     | ...
 *     CANDIDATES  rule 4      | AMBIGUOUS 4 | ...
 *
 * A candidate is the first rule of the chain with the key's hash in that group, or AMBIGUOUS where one bucket does not
 * tell. A key whose bucket holds nothing for it is not verified: it stays alive while it has groups left. No branch
 * depends on what the bucket holds, which is likely not in the cache.
 */
import { ALIVE, BEST, CANDIDATES, LANES, PROBED, PROBES, SETS } from "../memory";
import { GROUP_BEST, GROUP_LANES, GROUP_MASK, GROUP_SEED, groupAt } from "./tuple";
import { hashLane, hashMasked } from "./mask";
import { bestFrom, groupOfPlace, lowestOf, lowestPlace } from "./candidates";
import { bucketOf, mayFollow, slotsWith, thingAt } from "./hashTable";

export const AMBIGUOUS: u32 = 1;

export namespace Probed {
  /** Keys whose probe found nothing, and that have groups left: the first ones in ALIVE. */
  export let again: u32 = 0;
}

/** The hash of a key's lanes in a group. */
export function hashIn(group: usize, lanes: usize): u32 {
  return hashMasked(lanes, group + GROUP_MASK, load<u32>(group, GROUP_LANES), load<u32>(group, GROUP_SEED));
}

/** Groups come in the order of the sets' places. */
export function probe(slots: usize, groups: usize, sets: usize, alive: u32, stride: usize): u32 {
  let probed: usize = 0;
  let again: usize = 0;
  const end = (<usize>alive) << 2;
  for (let n: usize = 0; n < end; n += 4) {
    const key: usize = load<u32>(n, ALIVE);
    let low = load<u64>(key << 4, SETS);
    let high = load<u64>(key << 4, SETS + 8);
    const place = lowestOf(low, high);
    const best = load<u64>(key << 3, BEST);
    if (bestFrom(sets, place) >= best) continue;
    high &= select<u64>(u64.MAX_VALUE, high - 1, low != 0);
    low &= low - 1;
    store<u64>(key << 4, low, SETS);
    store<u64>(key << 4, high, SETS + 8);
    let group = groupAt(groups, groupOfPlace(sets, place));
    if (load<u64>(group, GROUP_BEST) >= best) {
      group = laterGroup(groups, sets, key, best);
      if (group == 0) continue;
      low = load<u64>(key << 4, SETS);
      high = load<u64>(key << 4, SETS + 8);
    }
    const lanes = LANES + key * stride;
    const hash =
      stride == 16 ? hashLane(lanes, group + GROUP_MASK, load<u32>(group, GROUP_SEED)) : hashIn(group, lanes);
    const bucket = bucketOf(slots, hash);
    const candidate = candidateIn(bucket, hash);
    const vain = <usize>(candidate == 0);
    store<u32>(probed, <u32>key, PROBED);
    store<u32>(probed, <u32>group, PROBES);
    store<u32>(probed, candidate, CANDIDATES);
    probed += 4 - (vain << 2);
    // ALIVE is read ahead of where it is written.
    store<u32>(again, <u32>key, ALIVE);
    again += (vain & (<usize>(bestFrom(sets, lowestOf(low, high)) < best))) << 2;
  }
  Probed.again = <u32>(again >> 2);
  return <u32>(probed >> 2);
}

/** The next group of a key whose best rule may win, 0 where there is none. */
function laterGroup(groups: usize, sets: usize, key: usize, best: u64): usize {
  while (true) {
    const place = lowestPlace(key);
    if (bestFrom(sets, place) >= best) return 0;
    const group = groupAt(groups, groupOfPlace(sets, place));
    takePlace(key, place);
    if (load<u64>(group, GROUP_BEST) < best) return group;
  }
}

/** Takes the lowest place out of a set: its bit is the lowest of its byte. */
// @ts-ignore: decorator
@inline
function takePlace(key: usize, place: usize): void {
  const byte = (key << 4) + (place >> 3);
  const bits = <u32>load<u8>(byte, SETS);
  store<u8>(byte, <u8>(bits & (bits - 1)), SETS);
}

// @ts-ignore: decorator
@inline
function candidateIn(bucket: usize, hash: u32): u32 {
  const bits = slotsWith(bucket, hash);
  // Where no slot has the hash this reads the first one, and what it reads is not used.
  const thing = <u32>thingAt(bucket, (<u32>ctz(bits)) & 3);
  const one = select<u32>(thing, 0, bits != 0);
  return select<u32>(AMBIGUOUS, one, ((bits & (bits - 1)) | mayFollow(bucket, hash)) != 0);
}
