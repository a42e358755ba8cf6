/**
 * Rule lists -> rules: the last phase of a lookup. In: `probed` keys in PROBED with RULE_LISTS.
 * Out: in FOUND and BEST the rule of each key if it beats the one found before, and in ALIVE the
 * keys with tuples left, whose number it returns. `bounded`: some branch has a lower bound of rank.
 */
import { RULE_MASK, RULE_FLAGS, RULE_NEXT, RULE_RANK, RULE_VALUE } from "../../../src/abi/rule";
import { ALIVE, BEST, RULE_LISTS, FOUND, PROBED, PROBED_TUPLES } from "../../memory";
import { Lanes } from "../../rows";
import { BRANCH_KEY, BRANCH_LOWER } from "../../branch/branch";
import { branchOf } from "./gather";
import { MASK_BYTES, MASK_LANES_COUNT } from "../mask";
import { AMBIGUOUS, hashInTuple, Probed } from "./probe";
import { bestFrom, lowestBit } from "../bitmaps/candidates";
import { inRanges, MORE_TO_MATCH, outOfBounds } from "../rule";
import { linkOf, slotsWith, valueAt } from "../tuples/bucket";
import { bucketOf } from "../tuples/hashTable";

export function verify(list: usize, hashTable: usize, bitmaps: usize, probed: u32, stride: usize, bounded: u32): u32 {
  let alive = (<usize>Probed.again) << 2;
  const first = Lanes.start;
  const end = (<usize>probed) << 2;
  for (let n: usize = 0; n < end; n += 4) {
    const key: usize = load<u32>(n, PROBED);
    const ruleList = load<u32>(n, RULE_LISTS);
    if (ruleList == AMBIGUOUS) checkAllLists(list, hashTable, load<u32>(n, PROBED_TUPLES), key, stride, bounded);
    else checkList(list, key, first + key * stride, ruleList, bounded);
    // Every key is written; one that cannot win any more is overwritten by the next.
    store<u32>(alive, <u32>key, ALIVE);
    alive += (<usize>(bestFrom(bitmaps, lowestBit(key)) < load<u64>(key << 3, BEST))) << 2;
  }
  return <u32>(alive >> 2);
}

/** Checks all lists with the hash: two in one bucket, or some in overflow buckets. */
function checkAllLists(list: usize, hashTable: usize, tuple: usize, key: usize, stride: usize, bounded: u32): void {
  const lanes = Lanes.start + key * stride;
  const hash = hashInTuple(tuple, lanes);
  for (let bucket = bucketOf(hashTable, hash); bucket != 0; bucket = linkOf(bucket)) {
    for (let bits = slotsWith(bucket, hash); bits != 0; bits &= bits - 1) {
      checkList(list, key, lanes, valueAt(bucket, <u32>ctz(bits)), bounded);
    }
  }
}

/**
 * Finds the first rule of a list that matches, beats the rule found before and is not below the
 * lower bound. Most lists are one rule of one lane: for those no jump depends on whether the rule
 * matches.
 */
// @ts-ignore: decorator
@inline
function checkList(list: usize, key: usize, lanes: usize, rule: usize, bounded: u32): void {
  const rank = load<u64>(rule, RULE_RANK);
  const best = load<u64>(key << 3, BEST);
  let loses = (<u32>v128.any_true(differs(rule, lanes))) | (<u32>(rank >= best));
  const more = ((<u32>load<u8>(rule, RULE_FLAGS)) & MORE_TO_MATCH) | bounded;
  if ((more & (loses - 1)) != 0) loses = <u32>!matchesRest(list, key, lanes, rule, bounded);
  store<u32>(key << 2, select<u32>(load<u32>(key << 2, FOUND), <u32>rule, loses != 0), FOUND);
  store<u64>(key << 3, select<u64>(best, rank, loses != 0), BEST);
  if ((load<u32>(rule, RULE_NEXT) & (0 - loses)) != 0) {
    checkRestOfList(list, key, lanes, load<u32>(rule, RULE_NEXT), bounded);
  }
}

/** Nonzero if the first lane differs from the rule's, or a field is outside the rule's bounds. */
// @ts-ignore: decorator
@inline
function differs(rule: usize, lanes: usize): v128 {
  const masked = v128.and(v128.load(lanes), v128.load(load<u32>(rule, RULE_MASK), MASK_BYTES));
  return v128.or(v128.xor(masked, v128.load(rule, RULE_VALUE)), outOfBounds(rule, lanes));
}

function checkRestOfList(list: usize, key: usize, lanes: usize, rule: usize, bounded: u32): void {
  const best = load<u64>(key << 3, BEST);
  for (; rule != 0; rule = load<u32>(rule, RULE_NEXT)) {
    const rank = load<u64>(rule, RULE_RANK);
    if (rank >= best) return;
    if (v128.any_true(differs(rule, lanes)) || !matchesRest(list, key, lanes, rule, bounded)) continue;
    store<u32>(key << 2, <u32>rule, FOUND);
    store<u64>(key << 3, rank, BEST);
    return;
  }
}

/**
 * Whether the lanes after the first match, the key is in all ranges, and the rank is not below the
 * branch's lower bound.
 */
function matchesRest(list: usize, key: usize, lanes: usize, rule: usize, bounded: u32): bool {
  const branch = branchOf(list, key);
  if (bounded && load<u64>(rule, RULE_RANK) < load<u64>(branch, BRANCH_LOWER)) return false;
  const mask: usize = load<u32>(rule, RULE_MASK);
  const end = (<usize>load<u32>(mask, MASK_LANES_COUNT)) << 4;
  for (let at: usize = 16; at < end; at += 16) {
    const masked = v128.and(v128.load(lanes + at), v128.load(mask + at, MASK_BYTES));
    if (v128.any_true(v128.xor(masked, v128.load(rule + at, RULE_VALUE)))) return false;
  }
  return inRanges(rule, load<u32>(branch, BRANCH_KEY));
}
