/**
 * Inserts rules with their actions, and replaces the actions of a rule. In: a staged rule or staged
 * actions. Out: the address of the rule. Both report to the table which fields the actions require
 * (requirements.ts).
 */
import { STAGE_ACTIONS, UNKNOWN_MASK } from "../../src/abi/engine";
import { NEEDS_BRANCHES } from "../../src/abi/key";
import { RULE_MASK } from "../../src/abi/rule";
import { openForks } from "../branch/fork";
import { STAGING } from "../memory";
import { invalidate } from "../epoch";
import { knownMask, rememberMask } from "../classify/knownMasks";
import { replaceActions } from "../classify/rule";
import { insert, requireFor } from "../classify/table";
import { needsOfActions } from "./requirements";

/**
 * Inserts the staged rule: mask, value, ranges, actions. Returns its address, 0 when memory is full.
 * `number` is the number of the mask for `insertKnown`, 0 for none.
 */
export function insertRule(
  table: usize,
  id: u32,
  rankHigh: u32,
  rankLow: u32,
  rangeCount: u32,
  actionCount: u32,
  number: u32,
): usize {
  const rule = insertUnder(table, 0, id, rankHigh, rankLow, rangeCount, actionCount);
  if (rule != 0 && number != 0) rememberMask(load<u32>(rule, RULE_MASK), number);
  return rule;
}

/**
 * Inserts the staged rule under the mask of a number; of its value only the masked bytes count.
 * Returns UNKNOWN_MASK and inserts nothing if the table has no mask of this number: `insertRule`
 * does it then.
 */
export function insertKnown(
  table: usize,
  id: u32,
  rankHigh: u32,
  rankLow: u32,
  rangeCount: u32,
  actionCount: u32,
  number: u32,
): usize {
  const mask = knownMask(table, number);
  if (mask == 0) return UNKNOWN_MASK;
  return insertUnder(table, mask, id, rankHigh, rankLow, rangeCount, actionCount);
}

function insertUnder(
  table: usize,
  mask: usize,
  id: u32,
  rankHigh: u32,
  rankLow: u32,
  rangeCount: u32,
  actionCount: u32,
): usize {
  const rank = ((<u64>rankHigh) << 32) | (<u64>rankLow);
  const actions = STAGING + STAGE_ACTIONS;
  const needs = needsOfActions(actions, actionCount);
  if (!hasForks(needs)) return 0;
  return insert(table, mask, id, rank, rangeCount, actions, actionCount, needs);
}

/** Whether there is memory for the forks of a frame, if actions with these requirements make some. */
export function hasForks(needs: u32): bool {
  return (needs & NEEDS_BRANCHES) == 0 || openForks(1);
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
