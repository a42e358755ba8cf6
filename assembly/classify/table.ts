/**
 * Creates and changes tables: inserts, removes and re-ranks rules. A table is one classifier for
 * the rules of all its matchers. In: a staged rule (mask, value, ranges). Out: the address of the
 * rule. lookup.ts searches tables, src/abi/table.ts has their fields.
 *
 * Every change is bounded in cost. When memory is full, a change fails and every rule that was
 * there still works.
 */
import {
  STAGE_MASK,
  STAGE_RANGES,
  STAGE_VALUE,
  RANGE_DWORD,
  RANGE_SIZE,
  TABLE_KEEPS,
  TABLE_ROOT,
  TABLE_SEND,
} from "../../src/abi/engine";
import { KEY_SIZE } from "../../src/abi/key";
import { RULE_MASK, RULE_VALUE } from "../../src/abi/rule";
import {
  TABLE_NEW_BITMAPS,
  TABLE_DEFINER,
  TABLE_FLAGS,
  TABLE_TUPLES,
  TABLE_MASKS,
  TABLE_MISS,
  TABLE_NEXT,
  TABLE_RULES,
  TABLE_SIZE,
  TABLE_HASH,
  TABLE_NEEDS,
} from "../../src/abi/table";
import { allocate, arenaUsed, release } from "../arena";
import { MASK_LANES, STAGING, VALUE_LANES } from "../memory";
import { addToTuple, removeFromTuple, changeRank } from "./tuples/ruleList";
import { forgetMask } from "./knownMasks";
import { clearDefiner, definerLanes, gather, scatter, addMask, addRange } from "./definer";
import { invalidate } from "../epoch";
import { NEEDS_NOTHING, Required } from "../wire/required";
import { clearTuples, TUPLE_MASKS, tupleAt, tupleFor, MAX_TUPLES } from "./tuples/tuple";
import {
  dropMask,
  lanesOf,
  MASK_TUPLE,
  MASK_LANES_COUNT,
  MASK_RULES,
  MASK_BYTES,
  MASK_TABLE,
  MASK_NEEDS,
  maskFor,
} from "./mask";
import { createRule, releaseRule } from "./rule";
import { clearHashTable, reserveBuckets, shrinkHashTable } from "./tuples/hashTable";
import { noteChange, cancelRebuild, readyMask, yieldMemory } from "./rebuild";
import { groupOf, needsOf } from "./requiredFields";
import { Tables } from "./tables";

// Tables without rules in static memory: one of the receive path, one of the send path.
export const EMPTY_TABLE: usize = memory.data(<i32>TABLE_SIZE, 16);
const EMPTY_SEND_TABLE: usize = memory.data(<i32>TABLE_SIZE, 16);

/** An empty table; 0 when memory is full. `flags` are TABLE_*. */
export function createTable(flags: u32): usize {
  const table = allocate(TABLE_SIZE);
  if (table == 0) return 0;
  memory.fill(table, 0, TABLE_SIZE);
  store<u32>(table, flags, TABLE_FLAGS);
  store<u32>(table, NEEDS_NOTHING, TABLE_NEEDS);
  store<u32>(table, <u32>Tables.first, TABLE_NEXT);
  Tables.first = table;
  return table;
}

/** A root table of the receive path that never has rules and takes no memory. */
export function emptyTable(): usize {
  store<u32>(EMPTY_TABLE, TABLE_ROOT, TABLE_FLAGS);
  return EMPTY_TABLE;
}

/** A root table of the send path that never has rules and takes no memory. */
export function emptySendTable(): usize {
  store<u32>(EMPTY_SEND_TABLE, TABLE_ROOT | TABLE_SEND, TABLE_FLAGS);
  return EMPTY_SEND_TABLE;
}

/** Sets the table that unmatched frames of `table` go to; 0 for none. */
export function setMiss(table: usize, next: usize): void {
  invalidate();
  store<u32>(table, <u32>next, TABLE_MISS);
}

/** Sets whether the table keeps its memory when rules are removed. */
export function keepTable(table: usize, keeps: bool): void {
  const flags = load<u32>(table, TABLE_FLAGS) & ~TABLE_KEEPS;
  store<u32>(table, keeps ? flags | TABLE_KEEPS : flags, TABLE_FLAGS);
  if (!keeps) trimTable(table);
}

/** Frees the memory that the table does not need, except for what is reserved. */
export function trimTable(table: usize): void {
  // Buckets do not merge during a rebuild.
  if (load<u32>(table, TABLE_NEW_BITMAPS) != 0) yieldMemory(table);
  shrinkHashTable(table + TABLE_HASH);
}

/** Takes and keeps memory for `rules` rules in all; false when memory is full. */
export function reserveRules(table: usize, rules: u32): bool {
  if (load<u32>(table, TABLE_NEW_BITMAPS) != 0) yieldMemory(table);
  return reserveBuckets(table + TABLE_HASH, rules);
}

/** Frees a table without rules that no other table names as next. */
export function destroyTable(table: usize): void {
  invalidate();
  clearHashTable(table + TABLE_HASH);
  let link = Tables.first;
  if (link == table) {
    Tables.first = load<u32>(table, TABLE_NEXT);
  } else {
    while (<usize>load<u32>(link, TABLE_NEXT) != table) link = load<u32>(link, TABLE_NEXT);
    store<u32>(link, load<u32>(table, TABLE_NEXT), TABLE_NEXT);
  }
  release(table, TABLE_SIZE);
}

/**
 * Inserts a rule of the staged value and ranges with the actions at `actions`, which require the
 * fields `needs`. Its mask is `mask`, a mask of the table with rules; then only the masked bytes of
 * the staged value are read. If `mask` is 0, mask and value are staged whole. Returns the address of
 * the rule, 0 when memory is full.
 */
export function insert(
  table: usize,
  mask: usize,
  id: u32,
  rank: u64,
  rangeCount: u32,
  actions: usize,
  actionCount: u32,
  needs: u32,
): usize {
  let rule = insertStaged(table, mask, id, rank, rangeCount, actions, actionCount, needs);
  // When memory is full, rules take the memory of candidate bitmaps first, then memory that tables
  // keep.
  while (rule == 0 && yieldMemory(table))
    rule = insertStaged(table, mask, id, rank, rangeCount, actions, actionCount, needs);
  if (rule == 0 && trimTables()) rule = insertStaged(table, mask, id, rank, rangeCount, actions, actionCount, needs);
  return rule;
}

/** Frees the memory that tables keep without needing it; whether there was any. */
function trimTables(): bool {
  const used = arenaUsed();
  for (let table = Tables.first; table != 0; table = load<u32>(table, TABLE_NEXT)) {
    if (load<u32>(table, TABLE_FLAGS) & TABLE_KEEPS) trimTable(table);
  }
  return arenaUsed() < used;
}

function insertStaged(
  table: usize,
  known: usize,
  id: u32,
  rank: u64,
  rangeCount: u32,
  actions: usize,
  actionCount: u32,
  needs: u32,
): usize {
  const ranges = STAGING + STAGE_RANGES;
  const mask = known != 0 ? known : stagedMask(table, STAGING + STAGE_MASK, ranges, rangeCount);
  if (mask == 0 || (known != 0 && !gatherUnder(table, mask, ranges, rangeCount))) return giveUp(table, mask);

  const lanes = load<u32>(mask, MASK_LANES_COUNT);
  const definer = table + TABLE_DEFINER;
  const rule = createRule(definer, rank, id, lanes, VALUE_LANES, ranges, rangeCount, actions, actionCount);
  if (rule == 0) return giveUp(table, mask);
  store<u32>(rule, <u32>mask, RULE_MASK);
  if (!addToTuple(table + TABLE_HASH, table + TABLE_TUPLES, load<u32>(mask, MASK_TUPLE), rule)) {
    releaseRule(rule, lanes);
    return giveUp(table, mask);
  }
  store<u32>(mask, load<u32>(mask, MASK_RULES) + 1, MASK_RULES);
  store<u32>(table, load<u32>(table, TABLE_RULES) + 1, TABLE_RULES);
  let required = load<u32>(table, TABLE_NEEDS) | load<u32>(mask, MASK_NEEDS);
  for (let i: u32 = 0; i < rangeCount; i++) required |= groupOf(load<u32>(ranges + <usize>i * RANGE_SIZE, RANGE_DWORD));
  require(table, required | needs);
  noteChange(table, rule);
  invalidate();
  return rule;
}

/** Adds fields that the actions of a rule require. */
export function requireFor(rule: usize, required: u32): void {
  const table: usize = load<u32>(load<u32>(rule, RULE_MASK), MASK_TABLE);
  require(table, required | load<u32>(table, TABLE_NEEDS));
}

function require(table: usize, required: u32): void {
  store<u32>(table, required, TABLE_NEEDS);
  Required.fields |= required;
}

/**
 * Stores the staged mask in the table with a tuple, and writes the staged value to VALUE_LANES.
 * Returns the mask, 0 when memory is full.
 */
function stagedMask(table: usize, staged: usize, ranges: usize, rangeCount: u32): usize {
  const definer = table + TABLE_DEFINER;
  if (!addMask(definer, staged) || !addRanges(definer, ranges, rangeCount)) return 0;
  gather(definer, staged, MASK_LANES);
  gather(definer, STAGING + STAGE_VALUE, VALUE_LANES);
  const mask = maskFor(table, table + TABLE_MASKS, MASK_LANES, lanesOf(MASK_LANES, definerLanes(definer)));
  if (mask == 0 || load<u32>(mask, MASK_RULES) != 0) return mask;
  const tuples = table + TABLE_TUPLES;
  const index = tupleFor(tuples, mask, definerLanes(definer), false);
  if (index >= MAX_TUPLES) {
    dropMask(table + TABLE_MASKS, mask);
    return 0;
  }
  const tuple = tupleAt(tuples, index);
  store<u32>(tuple, load<u32>(tuple, TUPLE_MASKS) + 1, TUPLE_MASKS);
  store<u32>(mask, index, MASK_TUPLE);
  store<u32>(mask, needsOf(staged), MASK_NEEDS);
  readyMask(table, mask);
  return mask;
}

/** Adds the dwords of ranges to a definer; false when memory is full. */
function addRanges(definer: usize, ranges: usize, rangeCount: u32): bool {
  for (let n: u32 = 0; n < rangeCount; n++) {
    if (!addRange(definer, load<u32>(ranges + <usize>n * RANGE_SIZE, RANGE_DWORD))) return false;
  }
  return true;
}

/**
 * Writes the masked bytes of the staged value to VALUE_LANES; false when memory is full. The other
 * bytes of the area are those of earlier rules.
 */
function gatherUnder(table: usize, mask: usize, ranges: usize, rangeCount: u32): bool {
  const definer = table + TABLE_DEFINER;
  if (!addRanges(definer, ranges, rangeCount)) return false;
  gather(definer, STAGING + STAGE_VALUE, VALUE_LANES);
  const end = (<usize>load<u32>(mask, MASK_LANES_COUNT)) << 4;
  for (let at: usize = 0; at < end; at += 16) {
    v128.store(VALUE_LANES + at, v128.and(v128.load(VALUE_LANES + at), v128.load(mask + at, MASK_BYTES)));
  }
  return true;
}

/** Undoes a failed insertion: drops a mask without rules, and clears a table without rules. */
function giveUp(table: usize, mask: usize): usize {
  if (mask != 0) dropIfUnused(table, mask);
  if (load<u32>(table, TABLE_RULES) == 0) startAnew(table);
  return 0;
}

function dropIfUnused(table: usize, mask: usize): void {
  if (load<u32>(mask, MASK_RULES) != 0) return;
  const tuple = tupleAt(table + TABLE_TUPLES, load<u32>(mask, MASK_TUPLE));
  store<u32>(tuple, load<u32>(tuple, TUPLE_MASKS) - 1, TUPLE_MASKS);
  forgetMask(mask);
  dropMask(table + TABLE_MASKS, mask);
}

/** Writes the value of a rule to the staging area. Fields with ranges are 0. */
export function stageValue(rule: usize): void {
  const mask: usize = load<u32>(rule, RULE_MASK);
  const table: usize = load<u32>(mask, MASK_TABLE);
  memory.fill(STAGING + STAGE_VALUE, 0, KEY_SIZE);
  scatter(table + TABLE_DEFINER, rule + RULE_VALUE, load<u32>(mask, MASK_LANES_COUNT), STAGING + STAGE_VALUE);
}

/** Removes a rule and gives its memory back. Never fails. */
export function removeRule(rule: usize): void {
  invalidate();
  const mask: usize = load<u32>(rule, RULE_MASK);
  const table: usize = load<u32>(mask, MASK_TABLE);
  const keeps = load<u32>(table, TABLE_FLAGS) & TABLE_KEEPS;
  removeFromTuple(
    table + TABLE_HASH,
    table + TABLE_TUPLES,
    rule,
    keeps != 0 || load<u32>(table, TABLE_NEW_BITMAPS) != 0,
  );
  releaseRule(rule, load<u32>(mask, MASK_LANES_COUNT));
  store<u32>(mask, load<u32>(mask, MASK_RULES) - 1, MASK_RULES);
  dropIfUnused(table, mask);
  const rules = load<u32>(table, TABLE_RULES) - 1;
  store<u32>(table, rules, TABLE_RULES);
  if (rules == 0) startAnew(table);
  else noteChange(table, 0);
}

/**
 * Clears a table without rules: it frees all memory but what it keeps, and requires no fields.
 */
function startAnew(table: usize): void {
  cancelRebuild(table);
  if (!(load<u32>(table, TABLE_FLAGS) & TABLE_KEEPS)) shrinkHashTable(table + TABLE_HASH);
  clearHashTable(table + TABLE_MASKS);
  clearTuples(table + TABLE_TUPLES);
  clearDefiner(table + TABLE_DEFINER);
  store<u32>(table, NEEDS_NOTHING, TABLE_NEEDS);
  Required.fields = unionOfNeeds();
}

/** Gives a rule another rank. Never fails. */
export function rerankRule(rule: usize, rankHigh: u32, rankLow: u32): void {
  invalidate();
  const table: usize = load<u32>(load<u32>(rule, RULE_MASK), MASK_TABLE);
  changeRank(table + TABLE_HASH, table + TABLE_TUPLES, rule, ((<u64>rankHigh) << 32) | (<u64>rankLow));
  noteChange(table, rule);
}

function unionOfNeeds(): u32 {
  let required: u32 = NEEDS_NOTHING;
  for (let table = Tables.first; table != 0; table = load<u32>(table, TABLE_NEXT)) {
    required |= load<u32>(table, TABLE_NEEDS);
  }
  return required;
}
