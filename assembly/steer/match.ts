/**
 * Key -> rule: the lookup of a batch in one table.
 *
 * In: a table and a list of branches at it. Out: in FOUND, for each of the list, the first rule by rank that its key
 * matches and whose rank is not below the branch's lower bound; 0 for a miss.
 *
 *     gather        key -> lanes, once a branch; gatherFew and probeOne serve what a 5-tuple needs: one lane
 *     each group    hash, then probe: skipped where a better rule is already found
 */
import { BEST, BRANCHES, BRANCH_SIZE, FOUND, HASHES, LANES } from "../memory";
import { BRANCH_KEY, BRANCH_LOWER } from "./branch";
import { definerLanes, definerSteps, gather, stepBlock, stepPattern } from "./definer";
import {
  equalLanes,
  GROUP_BEST,
  GROUP_CAPACITY,
  GROUP_LANES,
  GROUP_MASK,
  GROUP_SLOTS,
  hashAt,
  hashLane,
  hashLanes,
  ruleAt,
} from "./group";
import { inRanges, RULE_NEXT, RULE_RANK, RULE_VALUE } from "./rule";
import { ENTRY_SIZE, TABLE_DEFINER, TABLE_GROUPS, TABLE_GROUP_COUNT } from "./table";

/** Steps that gatherFew holds. */
const FEW_STEPS: u32 = 4;

export function lookup(table: usize, list: usize, count: u32): void {
  const definer = table + TABLE_DEFINER;
  const lanes = definerLanes(definer);
  if (lanes == 1 && definerSteps(definer) <= FEW_STEPS) gatherFew(definer, list, count);
  else gatherAll(definer, list, count, (<usize>lanes) << 4);
  for (let i: usize = 0; i < count; i++) {
    store<u32>(FOUND + (i << 2), 0);
    store<u64>(BEST + (i << 3), u64.MAX_VALUE);
  }
  let entry: usize = load<u32>(table, TABLE_GROUPS);
  const end = entry + <usize>load<u32>(table, TABLE_GROUP_COUNT) * ENTRY_SIZE;
  for (; entry < end; entry += ENTRY_SIZE) {
    const group: usize = load<u32>(entry, 4);
    if (lanes == 1) probeOne(group, list, count);
    else probe(group, list, count, (<usize>lanes) << 4);
  }
}

function gatherAll(definer: usize, list: usize, count: u32, stride: usize): void {
  for (let i: usize = 0; i < count; i++) gather(definer, keyOf(list, i), LANES + i * stride);
}

/** One lane from at most FEW_STEPS blocks, as a 5-tuple has: offsets and patterns stay in registers. */
function gatherFew(definer: usize, list: usize, count: u32): void {
  const block0 = stepBlock(definer, 0);
  const block1 = stepBlock(definer, 1);
  const block2 = stepBlock(definer, 2);
  const block3 = stepBlock(definer, 3);
  const pattern0 = stepPattern(definer, 0);
  const pattern1 = stepPattern(definer, 1);
  const pattern2 = stepPattern(definer, 2);
  const pattern3 = stepPattern(definer, 3);
  for (let i: usize = 0; i < count; i++) {
    const key = keyOf(list, i);
    const low = v128.or(
      i8x16.swizzle(v128.load(key + block0), pattern0),
      i8x16.swizzle(v128.load(key + block1), pattern1),
    );
    const high = v128.or(
      i8x16.swizzle(v128.load(key + block2), pattern2),
      i8x16.swizzle(v128.load(key + block3), pattern3),
    );
    v128.store(LANES + (i << 4), v128.or(low, high));
  }
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
    for (let at = hash & wrap, rule = ruleAt(slots, at); rule != 0; at = (at + 1) & wrap, rule = ruleAt(slots, at)) {
      if (hashAt(slots, at) != hash || !equalLanes(LANES + i * stride, mask, rule + RULE_VALUE, lanes)) continue;
      take(rule, list, i);
      break;
    }
  }
}

/** The same where the table has one lane: the masked lane stays in a register. */
function probeOne(group: usize, list: usize, count: u32): void {
  const mask = v128.load(group, GROUP_MASK);
  for (let i: usize = 0; i < count; i++) {
    store<u32>(HASHES + (i << 2), hashLane(v128.and(v128.load(LANES + (i << 4)), mask)));
  }
  const best = load<u64>(group, GROUP_BEST);
  const slots: usize = load<u32>(group, GROUP_SLOTS);
  const wrap = load<u32>(group, GROUP_CAPACITY) - 1;
  for (let i: usize = 0; i < count; i++) {
    if (best >= load<u64>(BEST + (i << 3))) continue;
    const hash = load<u32>(HASHES + (i << 2));
    const bytes = v128.and(v128.load(LANES + (i << 4)), mask);
    for (let at = hash & wrap, rule = ruleAt(slots, at); rule != 0; at = (at + 1) & wrap, rule = ruleAt(slots, at)) {
      if (hashAt(slots, at) != hash || v128.any_true(v128.xor(bytes, v128.load(rule, RULE_VALUE)))) continue;
      take(rule, list, i);
      break;
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
