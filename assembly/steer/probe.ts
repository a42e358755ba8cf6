/**
 * Sets of groups -> chains: for each key that still can win, its next group, hashed and looked up.
 *
 * In: ALIVE (`alive` keys), SETS, BEST. Out: for n below what it gives, PROBED[n] is a key, and CANDIDATES[n] the first
 * rule of the chain with its hash in that group, NOTHING where there is none, or AMBIGUOUS where one bucket does not tell
 * (verify.ts looks itself, by HASHES and PROBES). No branch depends on what the bucket holds, which is likely not in the
 * cache.
 */
import { ALIVE, BEST, CANDIDATES, NOTHING, HASHES, LANES, PROBED, PROBES, SETS } from "../memory";
import { GROUP_BEST, GROUP_LANES, GROUP_MASK, GROUP_SEED, groupAt } from "./group";
import { hashMasked } from "./mask";
import { bestFrom, groupOfPlace } from "./prune";
import { bucketOf, mayFollow, slotsWith, thingAt } from "./slots";

export const AMBIGUOUS: u32 = 1;

/** Groups come in the order of the pruning tables; of their own numbers where there are none. */
export function probe(slots: usize, groups: usize, tables: usize, alive: u32, stride: usize): u32 {
  let probed: u32 = 0;
  for (let n: usize = 0; n < alive; n++) {
    const key: usize = load<u32>(ALIVE + (n << 2));
    const best = load<u64>(BEST + (key << 3));
    let low = load<u64>(SETS + (key << 4));
    let high = load<u64>(SETS + (key << 4), 8);
    while ((low | high) != 0) {
      let place: usize;
      if (low != 0) {
        place = <usize>ctz(low);
        low &= low - 1;
      } else {
        place = 64 + <usize>ctz(high);
        high &= high - 1;
      }
      let index = <u32>place;
      if (tables != 0) {
        // No group from this place on has a rule that wins.
        if (bestFrom(tables, place) >= best) {
          low = 0;
          high = 0;
          break;
        }
        index = groupOfPlace(tables, place);
      }
      const group = groupAt(groups, index);
      if (load<u64>(group, GROUP_BEST) >= best) continue;
      const lanes = LANES + key * stride;
      const hash = hashMasked(lanes, group + GROUP_MASK, load<u32>(group, GROUP_LANES), load<u32>(group, GROUP_SEED));
      const at = (<usize>probed) << 2;
      store<u32>(PROBED + at, <u32>key);
      store<u32>(HASHES + at, hash);
      const bucket = bucketOf(slots, hash);
      store<u32>(PROBES + at, <u32>bucket);
      store<u32>(CANDIDATES + at, candidateIn(bucket, hash));
      probed++;
      break;
    }
    store<u64>(SETS + (key << 4), low);
    store<u64>(SETS + (key << 4), high, 8);
  }
  return probed;
}

// @ts-ignore: decorator
@inline
function candidateIn(bucket: usize, hash: u32): u32 {
  const bits = slotsWith(bucket, hash);
  // Where no slot has the hash this reads the first one, and what it reads is not used.
  const thing = <u32>thingAt(bucket, (<u32>ctz(bits)) & 3);
  const one = select<u32>(thing, <u32>NOTHING, bits != 0);
  return select<u32>(AMBIGUOUS, one, ((bits & (bits - 1)) | mayFollow(bucket, hash)) != 0);
}
