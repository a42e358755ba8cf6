/**
 * Inserts rules with their actions, and replaces the actions of a rule. In: a staged rule or staged
 * actions. Out: the address of the rule. Both report to the table which fields the actions require
 * (requirements.ts).
 */
import { STAGE_ACTIONS } from "../../src/abi/engine";
import { STAGING } from "../memory";
import { invalidate } from "../epoch";
import { replaceActions } from "../classify/rule";
import { insert, requireFor } from "../classify/table";
import { needsOfActions } from "./requirements";

/**
 * Inserts the staged rule: mask, value, ranges, actions. Returns its address, 0 when memory is
 * full.
 */
export function insertRule(
  table: usize,
  id: u32,
  rankHigh: u32,
  rankLow: u32,
  rangeCount: u32,
  actionCount: u32,
): usize {
  const rank = ((<u64>rankHigh) << 32) | (<u64>rankLow);
  const actions = STAGING + STAGE_ACTIONS;
  return insert(table, 0, id, rank, rangeCount, actions, actionCount, needsOfActions(actions, actionCount));
}

/**
 * Replaces the actions of a rule by the staged ones; false when memory is full, never for as many
 * actions as it has or fewer.
 */
export function changeActions(rule: usize, count: u32): bool {
  const actions = STAGING + STAGE_ACTIONS;
  if (!replaceActions(rule, actions, count)) return false;
  requireFor(rule, needsOfActions(actions, count));
  invalidate();
  return true;
}
