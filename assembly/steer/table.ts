/**
 * A table: one classifier, whatever matchers its rules belong to. This file changes it; match.ts asks it.
 *
 *     0       4       8        12      16     20     24     28        48
 *     | flags | rules | groups | count | room | wants| next | definer | 0
 *
 * `groups` is an array of | mask hash 4 | group 4 |, one entry a mask, in no order: a lookup takes the lowest rank,
 * and ranks differ.
 */
import { STAGE_ACTIONS, STAGE_MASK, STAGE_RANGES, STAGE_VALUE, RANGE_DWORD, RANGE_SIZE } from "../../src/abi/engine";
import { createActions, releaseActions } from "../act/record";
import { allocate, release } from "../arena";
import { MASK_LANES, STAGING, VALUE_LANES } from "../memory";
import { clearDefiner, definerLanes, DEFINER_SIZE, gather, widen } from "./definer";
import {
  addToGroup,
  createGroup,
  equalLanes,
  GROUP_LANES,
  GROUP_MASK,
  GROUP_RULES,
  GROUP_TABLE,
  hashLanes,
  moveInGroup,
  releaseGroup,
  removeFromGroup,
} from "./group";
import { createRule, releaseRule, RULE_ACTIONS, RULE_GROUP } from "./rule";
import { groupOf, WANTS_NOTHING, wantsOf } from "./wants";

export const TABLE_FLAGS: usize = 0;
const TABLE_RULES: usize = 4;
export const TABLE_GROUPS: usize = 8;
export const TABLE_GROUP_COUNT: usize = 12;
const TABLE_GROUP_ROOM: usize = 16;
const TABLE_WANTS: usize = 20;
const TABLE_NEXT: usize = 24;
export const TABLE_DEFINER: usize = 28;
const TABLE_SIZE: u32 = <u32>(TABLE_DEFINER + DEFINER_SIZE);

export const ENTRY_SIZE: u32 = 8;
const FIRST_ROOM: u32 = 4;

export namespace Tables {
  /** All tables, linked. */
  export let first: usize = 0;
  /** What the rules of all tables read (wants.ts). */
  export let wanted: u32 = WANTS_NOTHING;
}

/** An empty table, which holds nothing but itself; 0 when memory is full. */
export function createTable(flags: u32): usize {
  const table = allocate(TABLE_SIZE);
  if (table == 0) return 0;
  memory.fill(table, 0, TABLE_SIZE);
  store<u32>(table, flags, TABLE_FLAGS);
  store<u32>(table, WANTS_NOTHING, TABLE_WANTS);
  store<u32>(table, <u32>Tables.first, TABLE_NEXT);
  Tables.first = table;
  return table;
}

/** Gives back a table that holds no rules. */
export function destroyTable(table: usize): void {
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
 * Inserts the staged rule: mask, value, ranges, actions. Gives its address, 0 when memory is full; then every rule that
 * was there still works, and the rule is nowhere.
 */
export function insertRule(
  table: usize,
  id: u32,
  rankHigh: u32,
  rankLow: u32,
  rangeCount: u32,
  actionCount: u32,
): usize {
  const definer = table + TABLE_DEFINER;
  const mask = STAGING + STAGE_MASK;
  const ranges = STAGING + STAGE_RANGES;
  if (!widen(definer, mask)) return giveUp(table);
  gather(definer, mask, MASK_LANES);
  gather(definer, STAGING + STAGE_VALUE, VALUE_LANES);
  const group = groupFor(table, lanesOf(MASK_LANES, definerLanes(definer)));
  if (group == 0) return giveUp(table);

  const lanes = load<u32>(group, GROUP_LANES);
  const rank = ((<u64>rankHigh) << 32) | (<u64>rankLow);
  const rule = createRule(rank, id, lanes, VALUE_LANES, ranges, rangeCount);
  const actions = rule == 0 ? <usize>0 : createActions(STAGING + STAGE_ACTIONS, actionCount);
  if (actions == 0 || !addToGroup(group, rule)) {
    if (actions != 0) releaseActions(actions);
    if (rule != 0) releaseRule(rule, lanes);
    dropIfEmpty(table, group);
    return giveUp(table);
  }
  store<u32>(rule, <u32>actions, RULE_ACTIONS);
  store<u32>(table, load<u32>(table, TABLE_RULES) + 1, TABLE_RULES);
  let wants = load<u32>(table, TABLE_WANTS) | wantsOf(mask);
  for (let i: u32 = 0; i < rangeCount; i++) wants |= groupOf(load<u32>(ranges + <usize>i * RANGE_SIZE, RANGE_DWORD));
  store<u32>(table, wants, TABLE_WANTS);
  Tables.wanted |= wants;
  return rule;
}

/** Memory is full: a table that has no rules yet gives back what the first one would have used. */
function giveUp(table: usize): usize {
  if (load<u32>(table, TABLE_RULES) == 0) startAnew(table);
  return 0;
}

export function removeRule(rule: usize): void {
  const group: usize = load<u32>(rule, RULE_GROUP);
  const table: usize = load<u32>(group, GROUP_TABLE);
  removeFromGroup(group, rule);
  releaseActions(load<u32>(rule, RULE_ACTIONS));
  releaseRule(rule, load<u32>(group, GROUP_LANES));
  dropIfEmpty(table, group);
  const rules = load<u32>(table, TABLE_RULES) - 1;
  store<u32>(table, rules, TABLE_RULES);
  if (rules == 0) startAnew(table);
}

/** A table without rules holds no memory for them, and asks nothing of the parser. */
function startAnew(table: usize): void {
  clearDefiner(table + TABLE_DEFINER);
  const groups: usize = load<u32>(table, TABLE_GROUPS);
  if (groups != 0) release(groups, load<u32>(table, TABLE_GROUP_ROOM) * ENTRY_SIZE);
  store<u32>(table, 0, TABLE_GROUPS);
  store<u32>(table, 0, TABLE_GROUP_ROOM);
  store<u32>(table, WANTS_NOTHING, TABLE_WANTS);
  Tables.wanted = unionOfWants();
}

/** Gives a rule another rank; memory is neither taken nor given back. */
export function rerankRule(rule: usize, rankHigh: u32, rankLow: u32): void {
  moveInGroup(load<u32>(rule, RULE_GROUP), rule, ((<u64>rankHigh) << 32) | (<u64>rankLow));
}

function unionOfWants(): u32 {
  let wants: u32 = WANTS_NOTHING;
  for (let table = Tables.first; table != 0; table = load<u32>(table, TABLE_NEXT)) {
    wants |= load<u32>(table, TABLE_WANTS);
  }
  return wants;
}

/** Lanes up to the last one that is not all zero; one at least. */
function lanesOf(mask: usize, lanes: u32): u32 {
  while (lanes > 1 && !v128.any_true(v128.load(mask + ((<usize>(lanes - 1)) << 4)))) lanes--;
  return lanes;
}

/** The group of the mask at MASK_LANES, made when it is not there; 0 when memory is full. */
function groupFor(table: usize, lanes: u32): usize {
  const hash = hashLanes(MASK_LANES, MASK_LANES, lanes);
  const count = load<u32>(table, TABLE_GROUP_COUNT);
  let entry: usize = load<u32>(table, TABLE_GROUPS);
  const end = entry + <usize>count * ENTRY_SIZE;
  for (; entry < end; entry += ENTRY_SIZE) {
    const group: usize = load<u32>(entry, 4);
    if (load<u32>(entry) == hash && load<u32>(group, GROUP_LANES) == lanes && sameMask(group, lanes)) return group;
  }
  if (!roomForGroup(table, count)) return 0;
  const group = createGroup(table, lanes, MASK_LANES, hash);
  if (group == 0) return 0;
  entry = <usize>load<u32>(table, TABLE_GROUPS) + <usize>count * ENTRY_SIZE;
  store<u32>(entry, hash);
  store<u32>(entry, <u32>group, 4);
  store<u32>(table, count + 1, TABLE_GROUP_COUNT);
  return group;
}

function sameMask(group: usize, lanes: u32): bool {
  return equalLanes(MASK_LANES, MASK_LANES, group + GROUP_MASK, lanes);
}

function roomForGroup(table: usize, count: u32): bool {
  const room = load<u32>(table, TABLE_GROUP_ROOM);
  if (count < room) return true;
  const groups: usize = load<u32>(table, TABLE_GROUPS);
  const wider = max(room * 2, FIRST_ROOM);
  const larger = allocate(wider * ENTRY_SIZE);
  if (larger == 0) return false;
  memory.copy(larger, groups, <usize>count * ENTRY_SIZE);
  if (groups != 0) release(groups, room * ENTRY_SIZE);
  store<u32>(table, <u32>larger, TABLE_GROUPS);
  store<u32>(table, wider, TABLE_GROUP_ROOM);
  return true;
}

function dropIfEmpty(table: usize, group: usize): void {
  if (load<u32>(group, GROUP_RULES) != 0) return;
  const count = load<u32>(table, TABLE_GROUP_COUNT) - 1;
  let entry: usize = load<u32>(table, TABLE_GROUPS);
  const last = entry + <usize>count * ENTRY_SIZE;
  while (<usize>load<u32>(entry, 4) != group) entry += ENTRY_SIZE;
  store<u64>(entry, load<u64>(last));
  store<u32>(table, count, TABLE_GROUP_COUNT);
  releaseGroup(group);
}
