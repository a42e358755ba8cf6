/**
 * Key -> rule: the lookup of a batch in one table.
 *
 * In: a table and a list of branches at it. Out: in FOUND, for each of the list, the first rule by rank that its key
 * matches and whose rank is not below the branch's lower bound; 0 for a miss.
 *
 *     gather        key -> lanes, once a branch
 *     each group    hash, then probe: skipped where a better rule is already found
 */
import { BEST, BRANCHES, BRANCH_SIZE, FOUND, HASHES, LANES } from "../memory";
import { BRANCH_KEY, BRANCH_LOWER } from "./branch";
import { definerLanes, gather } from "./definer";
import {
  equalLanes,
  GROUP_BEST,
  GROUP_CAPACITY,
  GROUP_LANES,
  GROUP_MASK,
  GROUP_SLOTS,
  hashLanes,
  SLOT_SIZE,
} from "./group";
import { inRanges, RULE_NEXT, RULE_RANK, RULE_VALUE } from "./rule";
import { ENTRY_SIZE, TABLE_DEFINER, TABLE_GROUPS, TABLE_GROUP_COUNT } from "./table";

export function lookup(table: usize, list: usize, count: u32): void {
  const definer = table + TABLE_DEFINER;
  const stride = (<usize>max<u32>(definerLanes(definer), 1)) << 4;
  for (let i: usize = 0; i < count; i++) {
    gather(definer, keyOf(list, i), LANES + i * stride);
    store<u32>(FOUND + (i << 2), 0);
    store<u64>(BEST + (i << 3), u64.MAX_VALUE);
  }
  let entry: usize = load<u32>(table, TABLE_GROUPS);
  const end = entry + <usize>load<u32>(table, TABLE_GROUP_COUNT) * ENTRY_SIZE;
  for (; entry < end; entry += ENTRY_SIZE) probe(load<u32>(entry, 4), list, count, stride);
}

// @ts-ignore: decorator
@inline
function branchOf(list: usize, i: usize): usize {
  return BRANCHES + <usize>load<u32>(list + (i << 2)) * BRANCH_SIZE;
}

// @ts-ignore: decorator
@inline
function keyOf(list: usize, i: usize): usize {
  return load<u32>(branchOf(list, i), BRANCH_KEY);
}

/** Asks one group for every branch. The hashes come first: their misses of the cache then overlap. */
function probe(group: usize, list: usize, count: u32, stride: usize): void {
  const lanes = load<u32>(group, GROUP_LANES);
  const mask = group + GROUP_MASK;
  for (let i: usize = 0; i < count; i++) {
    store<u32>(HASHES + (i << 2), hashLanes(LANES + i * stride, mask, lanes));
  }
  const best = load<u64>(group, GROUP_BEST);
  const slots: usize = load<u32>(group, GROUP_SLOTS);
  const wrap = load<u32>(group, GROUP_CAPACITY) - 1;
  for (let i: usize = 0; i < count; i++) {
    if (best >= load<u64>(BEST + (i << 3))) continue;
    const hash = load<u32>(HASHES + (i << 2));
    let at = hash & wrap;
    for (;;) {
      const slot = slots + <usize>at * SLOT_SIZE;
      const rule: usize = load<u32>(slot, 4);
      if (rule == 0) break;
      if (load<u32>(slot) == hash && equalLanes(LANES + i * stride, mask, rule + RULE_VALUE, lanes)) {
        take(rule, list, i);
        break;
      }
      at = (at + 1) & wrap;
    }
  }
}

/** The first rule of a chain that is not below the lower bound and whose ranges hold, if it beats what was found. */
// @ts-ignore: decorator
@inline
function take(rule: usize, list: usize, i: usize): void {
  const branch = branchOf(list, i);
  const lower = load<u64>(branch, BRANCH_LOWER);
  const best = load<u64>(BEST + (i << 3));
  for (; rule != 0; rule = load<u32>(rule, RULE_NEXT)) {
    const rank = load<u64>(rule, RULE_RANK);
    if (rank >= best) return;
    if (rank < lower || !inRanges(rule, load<u32>(branch, BRANCH_KEY))) continue;
    store<u32>(FOUND + (i << 2), <u32>rule);
    store<u64>(BEST + (i << 3), rank);
    return;
  }
}
