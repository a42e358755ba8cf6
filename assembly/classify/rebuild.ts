/**
 * The sweep: keeps a table's pruning and grouping good while rules come and go, a few buckets at a time.
 *
 * When enough has changed, new pruning tables are begun, sized for the rules that are there, with the groups in the order
 * of their best ranks. Each change of the table then walks over STEP buckets more and enters their rules; rules whose mask
 * has found a better group move to it on the way. Changes made meanwhile go to both. At the end the new tables take the
 * place of the old ones. Buckets are never merged while a sweep is on, so that no rule slips back behind the cursor.
 */
import { MOVES } from "../memory";
import { enter, leave } from "./ruleList";
import { sample } from "./chooseChunks";
import { GROUP_BEST, GROUP_COUNT, GROUP_MASKS, groupAt, groupFor, GROUPS } from "./tuple";
import { definerLanes } from "./definer";
import { MASK_GROUP, MASK_RULES, MASK_SWEEP } from "./mask";
import { addToSets, bestSeen, createSets, releaseSets, settle } from "./candidates";
import { RULE_GROUP, RULE_MASK, RULE_NEXT } from "./rule";
import { bucketAt, BUCKETS, linkOf, thingAt } from "./hashTable";
import {
  TABLE_BUILDING,
  TABLE_CHANGES,
  TABLE_CURSOR,
  TABLE_DEFINER,
  TABLE_GROUPS,
  TABLE_PRUNE,
  TABLE_RULES,
  TABLE_SLOTS,
  TABLE_SWEEPS,
  TABLE_SWEPT,
} from "./tableLayout";

/** Buckets that one change of the table sweeps. */
const STEP: u32 = 4;
/** Rules that one bucket may send to other groups at a time. */
const MAX_MOVES: u32 = 64;
/** Fewer groups than this are asked one after the other. */
const FEW_GROUPS: u32 = 4;
const LEAST_RULES: u32 = 32;

/** Tells of a change, and does a part of what it takes. `rule` is 0 where one has gone. */
export function changed(table: usize, rule: usize): void {
  store<u32>(table, load<u32>(table, TABLE_CHANGES) + 1, TABLE_CHANGES);
  const tables: usize = load<u32>(table, TABLE_PRUNE);
  const building: usize = load<u32>(table, TABLE_BUILDING);
  if (rule != 0) {
    if (tables != 0) {
      addToSets(tables, rule);
      sample(tables, rule);
    }
    if (building != 0) addToSets(building, rule);
  }
  if (building != 0) step(table, building);
  else if (isDue(table)) begin(table);
}

function isDue(table: usize): bool {
  const rules = load<u32>(table, TABLE_RULES);
  if (rules < LEAST_RULES || load<u32>(table + TABLE_GROUPS, GROUP_COUNT) < FEW_GROUPS) return false;
  return load<u32>(table, TABLE_CHANGES) >= max<u32>(load<u32>(table, TABLE_SWEPT) << 1, LEAST_RULES);
}

function begin(table: usize): void {
  store<u32>(table, 0, TABLE_CHANGES);
  const building = createSets(table + TABLE_DEFINER, table + TABLE_GROUPS, load<u32>(table, TABLE_RULES));
  if (building == 0) return;
  store<u32>(table, <u32>building, TABLE_BUILDING);
  store<u32>(table, 0, TABLE_CURSOR);
  store<u32>(table, load<u32>(table, TABLE_SWEEPS) + 1, TABLE_SWEEPS);
}

function step(table: usize, building: usize): void {
  const slots = table + TABLE_SLOTS;
  let cursor = load<u32>(table, TABLE_CURSOR);
  const end = min(cursor + STEP, load<u32>(slots, BUCKETS));
  for (; cursor < end; cursor++) {
    const moves = enterBucket(table, building, bucketAt(slots, cursor));
    for (let n: u32 = 0; n < moves; n++) move(table, building, load<u32>(MOVES + ((<usize>n) << 2)));
  }
  store<u32>(table, cursor, TABLE_CURSOR);
  if (cursor >= load<u32>(slots, BUCKETS)) finish(table, building);
}

/** Enters the rules of a bucket that stay; lists those in MOVES that have a better group, and gives how many. */
function enterBucket(table: usize, building: usize, bucket: usize): u32 {
  let moves: u32 = 0;
  for (; bucket != 0; bucket = linkOf(bucket)) {
    for (let slot: u32 = 0; slot < 4; slot++) {
      const first = thingAt(bucket, slot);
      if (first == 0 || first & 1) continue;
      for (let rule = first; rule != 0; rule = load<u32>(rule, RULE_NEXT)) {
        const mask: usize = load<u32>(rule, RULE_MASK);
        if (load<u32>(mask, MASK_SWEEP) != load<u32>(table, TABLE_SWEEPS)) regroup(table, mask);
        sample(building, rule);
        if (load<u32>(mask, MASK_GROUP) == <u32>load<u8>(rule, RULE_GROUP) || moves == MAX_MOVES) {
          addToSets(building, rule);
        } else {
          store<u32>(MOVES + ((<usize>moves) << 2), <u32>rule);
          moves++;
        }
      }
    }
  }
  return moves;
}

/** Looks for a better group for a mask, once a sweep: its own where many of the table's rules have it. */
function regroup(table: usize, mask: usize): void {
  store<u32>(mask, load<u32>(table, TABLE_SWEEPS), MASK_SWEEP);
  const groups = table + TABLE_GROUPS;
  const many = load<u32>(mask, MASK_RULES) * 64 >= load<u32>(table, TABLE_RULES);
  const group = groupFor(groups, mask, definerLanes(table + TABLE_DEFINER), many);
  if (group < GROUPS) assign(groups, mask, group);
}

/** Gives a mask a group for its next rules. */
export function assign(groups: usize, mask: usize, index: u32): void {
  const old = groupAt(groups, load<u32>(mask, MASK_GROUP));
  store<u32>(old, load<u32>(old, GROUP_MASKS) - 1, GROUP_MASKS);
  const group = groupAt(groups, index);
  store<u32>(group, load<u32>(group, GROUP_MASKS) + 1, GROUP_MASKS);
  store<u32>(mask, index, MASK_GROUP);
}

/** To the group of its mask; without memory for that, it stays where it is. */
function move(table: usize, building: usize, rule: usize): void {
  const slots = table + TABLE_SLOTS;
  const groups = table + TABLE_GROUPS;
  const old: u32 = load<u8>(rule, RULE_GROUP);
  leave(slots, groups, rule, true);
  // What leaving gave back is enough to come back.
  if (!enter(slots, groups, load<u32>(load<u32>(rule, RULE_MASK), MASK_GROUP), rule)) enter(slots, groups, old, rule);
  addToSets(building, rule);
  const tables: usize = load<u32>(table, TABLE_PRUNE);
  if (tables != 0) addToSets(tables, rule);
}

function finish(table: usize, building: usize): void {
  settle(building);
  const old: usize = load<u32>(table, TABLE_PRUNE);
  if (old != 0) releaseSets(old);
  store<u32>(table, <u32>building, TABLE_PRUNE);
  store<u32>(table, 0, TABLE_BUILDING);
  store<u32>(table, load<u32>(table, TABLE_RULES), TABLE_SWEPT);
  store<u32>(table, 0, TABLE_CHANGES);
  const groups = table + TABLE_GROUPS;
  for (let index: u32 = 0; index < load<u32>(groups, GROUP_COUNT); index++) {
    store<u64>(groupAt(groups, index), bestSeen(building, index), GROUP_BEST);
  }
}

/** Gives back pruning tables, those that are being made first; the next ones are due later. False where there are none. */
export function yieldMemory(table: usize): bool {
  const which = load<u32>(table, TABLE_BUILDING) != 0 ? TABLE_BUILDING : TABLE_PRUNE;
  const tables: usize = load<u32>(table + which);
  if (tables == 0) return false;
  releaseSets(tables);
  store<u32>(table + which, 0);
  store<u32>(table, load<u32>(table, TABLE_RULES), TABLE_SWEPT);
  store<u32>(table, 0, TABLE_CHANGES);
  return true;
}

/** A table without rules has nothing to sweep. */
export function forgetSweep(table: usize): void {
  for (let more = true; more;) more = yieldMemory(table);
  store<u32>(table, 0, TABLE_SWEPT);
  store<u32>(table, 0, TABLE_CHANGES);
}
