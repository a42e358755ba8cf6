/**
 * Where a rule stands: in a chain of rules whose values are equal under their group's mask, found through the slots.
 *
 * This file changes chains; verify.ts walks them.
 */
import { GROUP_BEST, GROUP_LANES, GROUP_MASK, GROUP_RULES, GROUP_SEED, groupAt } from "./tuple";
import { hashMasked } from "./mask";
import { alone, link, RULE_GROUP, RULE_HASH, RULE_PREVIOUS, RULE_RANK, RULE_VALUE, unlink } from "./rule";
import { addThing, bucketOf, BUCKETS, linkOf, placeOf, removeThing, slotsWith, thingAt } from "./hashTable";

/** Puts a rule into a group; false when memory is full, and then it is nowhere. */
export function enter(slots: usize, groups: usize, index: u32, rule: usize): bool {
  const group = groupAt(groups, index);
  const lanes = load<u32>(group, GROUP_LANES);
  const hash = hashMasked(rule + RULE_VALUE, group + GROUP_MASK, lanes, load<u32>(group, GROUP_SEED));
  store<u32>(rule, hash, RULE_HASH);
  store<u8>(rule, <u8>index, RULE_GROUP);
  const place = chainOf(slots, hash, rule, group, lanes);
  if (place != 0) store<u32>(place, <u32>link(load<u32>(place), rule));
  else if (!addThing(slots, hash, alone(rule))) return false;
  store<u32>(group, load<u32>(group, GROUP_RULES) + 1, GROUP_RULES);
  const rank = load<u64>(rule, RULE_RANK);
  if (rank < load<u64>(group, GROUP_BEST)) store<u64>(group, rank, GROUP_BEST);
  return true;
}

/** Takes a rule out of its group. `still` keeps the buckets where they are. */
export function leave(slots: usize, groups: usize, rule: usize, still: bool): void {
  const hash = load<u32>(rule, RULE_HASH);
  const group = groupAt(groups, load<u8>(rule, RULE_GROUP));
  const rules = load<u32>(group, GROUP_RULES) - 1;
  store<u32>(group, rules, GROUP_RULES);
  if (rules == 0) store<u64>(group, u64.MAX_VALUE, GROUP_BEST);
  // A rule that is first and last of its chain is the thing in the slots.
  if (<usize>load<u32>(rule, RULE_PREVIOUS) == rule) {
    removeThing(slots, hash, rule, still);
    return;
  }
  const place = chainOf(slots, hash, rule, group, load<u32>(group, GROUP_LANES));
  store<u32>(place, <u32>unlink(load<u32>(place), rule));
}

/** Moves a rule to where its new rank belongs in its chain; takes no memory. */
export function moveTo(slots: usize, groups: usize, rule: usize, rank: u64): void {
  const group = groupAt(groups, load<u8>(rule, RULE_GROUP));
  if (<usize>load<u32>(rule, RULE_PREVIOUS) == rule) {
    store<u64>(rule, rank, RULE_RANK);
  } else {
    const place = chainOf(slots, load<u32>(rule, RULE_HASH), rule, group, load<u32>(group, GROUP_LANES));
    const rest = unlink(load<u32>(place), rule);
    store<u64>(rule, rank, RULE_RANK);
    store<u32>(place, <u32>link(rest, rule));
  }
  if (rank < load<u64>(group, GROUP_BEST)) store<u64>(group, rank, GROUP_BEST);
}

/** The word of the slots that holds the chain of a rule's value in a group, 0 where there is none. */
function chainOf(slots: usize, hash: u32, rule: usize, group: usize, lanes: u32): usize {
  if (load<u32>(slots, BUCKETS) == 0) return 0;
  const index = load<u8>(rule, RULE_GROUP);
  for (let bucket = bucketOf(slots, hash); bucket != 0; bucket = linkOf(bucket)) {
    for (let bits = slotsWith(bucket, hash); bits != 0; bits &= bits - 1) {
      const first = thingAt(bucket, <u32>ctz(bits));
      if (load<u8>(first, RULE_GROUP) != index) continue;
      if (equalUnder(group + GROUP_MASK, first + RULE_VALUE, rule + RULE_VALUE, lanes)) {
        return placeOf(slots, hash, first);
      }
    }
  }
  return 0;
}

function equalUnder(mask: usize, a: usize, b: usize, lanes: u32): bool {
  for (let lane: u32 = 0; lane < lanes; lane++, mask += 16, a += 16, b += 16) {
    if (v128.any_true(v128.and(v128.xor(v128.load(a), v128.load(b)), v128.load(mask)))) return false;
  }
  return true;
}
