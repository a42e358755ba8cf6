/**
 * Adds rules to a tuple and removes them: each rule is in a rule list of rules with equal values
 * under the tuple's mask, sorted by rank. The hash table of the table finds the list. This file
 * changes lists, verify.ts reads them.
 */
import { RULE_TUPLE, RULE_HASH, RULE_PREVIOUS, RULE_RANK, RULE_VALUE } from "../../../src/abi/rule";
import { TUPLE_BEST, TUPLE_LANES, TUPLE_MASK, TUPLE_RULES, TUPLE_SEED, tupleAt } from "./tuple";
import { hashMasked } from "./hash";
import { hashOf, linkRule, listOfOne, unlinkRule } from "./listOrder";
import { linkOf, slotsWith, VALUE } from "./bucket";
import { addEntry, bucketOf, BUCKETS, removeEntry } from "./hashTable";

/** Adds a rule to a tuple; false when memory is full, and then the rule is in no list. */
export function addToTuple(hashTable: usize, tuples: usize, index: u32, rule: usize): bool {
  const tuple = tupleAt(tuples, index);
  const lanes = load<u32>(tuple, TUPLE_LANES);
  const hash = hashMasked(rule + RULE_VALUE, tuple + TUPLE_MASK, lanes, load<u32>(tuple, TUPLE_SEED));
  store<u32>(rule, hash, RULE_HASH);
  store<u8>(rule, <u8>index, RULE_TUPLE);
  const place = listOf(hashTable, hash, rule, tuple, lanes);
  if (place != 0) store<u32>(place, <u32>linkRule(load<u32>(place), rule));
  else if (!addEntry(hashTable, hash, listOfOne(rule))) return false;
  store<u32>(tuple, load<u32>(tuple, TUPLE_RULES) + 1, TUPLE_RULES);
  const rank = load<u64>(rule, RULE_RANK);
  if (rank < load<u64>(tuple, TUPLE_BEST)) store<u64>(tuple, rank, TUPLE_BEST);
  return true;
}

/** Removes a rule from its tuple. `still` forbids buckets to merge. */
export function removeFromTuple(hashTable: usize, tuples: usize, rule: usize, still: bool): void {
  const hash = hashOf(rule);
  const tuple = tupleAt(tuples, load<u8>(rule, RULE_TUPLE));
  const rules = load<u32>(tuple, TUPLE_RULES) - 1;
  store<u32>(tuple, rules, TUPLE_RULES);
  if (rules == 0) store<u64>(tuple, u64.MAX_VALUE, TUPLE_BEST);
  // A rule that is alone in its list is the value in the hash table.
  if (<usize>load<u32>(rule, RULE_PREVIOUS) == rule) {
    removeEntry(hashTable, hash, rule, still);
    return;
  }
  const place = listOf(hashTable, hash, rule, tuple, load<u32>(tuple, TUPLE_LANES));
  store<u32>(place, <u32>unlinkRule(load<u32>(place), rule));
}

/** Moves a rule to the position of its new rank in its list. Takes no memory. */
export function changeRank(hashTable: usize, tuples: usize, rule: usize, rank: u64): void {
  const tuple = tupleAt(tuples, load<u8>(rule, RULE_TUPLE));
  if (<usize>load<u32>(rule, RULE_PREVIOUS) == rule) {
    store<u64>(rule, rank, RULE_RANK);
  } else {
    const place = listOf(hashTable, hashOf(rule), rule, tuple, load<u32>(tuple, TUPLE_LANES));
    const rest = unlinkRule(load<u32>(place), rule);
    store<u64>(rule, rank, RULE_RANK);
    store<u32>(place, <u32>linkRule(rest, rule));
  }
  if (rank < load<u64>(tuple, TUPLE_BEST)) store<u64>(tuple, rank, TUPLE_BEST);
}

/**
 * The address of the hash table's word with the rule list of a rule's value in a tuple; 0 for none.
 */
function listOf(hashTable: usize, hash: u32, rule: usize, tuple: usize, lanes: u32): usize {
  if (load<u32>(hashTable, BUCKETS) == 0) return 0;
  const index = load<u8>(rule, RULE_TUPLE);
  for (let bucket = bucketOf(hashTable, hash); bucket != 0; bucket = linkOf(bucket)) {
    for (let bits = slotsWith(bucket, hash); bits != 0; bits &= bits - 1) {
      const at = bucket + VALUE + ((<usize>ctz(bits)) << 2);
      const first: usize = load<u32>(at);
      if (load<u8>(first, RULE_TUPLE) != index) continue;
      if (equalUnder(tuple + TUPLE_MASK, first + RULE_VALUE, rule + RULE_VALUE, lanes)) return at;
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
