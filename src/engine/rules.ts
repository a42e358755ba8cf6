/** Inserts rules into tables of the core and changes their actions. */
import {
  MAX_ACTIONS,
  RANGE_DWORD,
  RANGE_HIGH,
  RANGE_LOW,
  RANGE_MASK,
  RANGE_SHIFT,
  RANGE_SIZE,
  STAGE_ACTIONS,
  STAGE_MASK,
  STAGE_RANGES,
  STAGE_VALUE,
  UNKNOWN_MASK,
} from "../abi/engine.js";
import { KEY_SIZE } from "../abi/key.js";
import { RULE_ID } from "../abi/rule.js";
import type { Core } from "./core.js";
import { RuleMask } from "./ruleMask.js";

/** A range over a field; both ends are included. */
export interface FieldRange {
  /** Key byte of the dword that holds the field. */
  dword: number;
  /** Bits below the field in that dword. */
  shift: number;
  /** The field's width as a mask, shifted down. */
  fieldMask: number;
  low: number;
  high: number;
}

/** A rule in the form that the core takes. */
export interface CoreRule {
  id: number;
  rankHigh: number;
  rankLow: number;
  /** A whole key of 512 bytes. A mask of many rules is a RuleMask. */
  mask: Uint8Array | RuleMask;
  /** A whole key, 0 outside the mask. */
  value: Uint8Array;
  ranges: readonly FieldRange[];
  /** Pairs of operation and operand, in execution order. */
  actions: readonly number[];
}

/** Inserts a rule. @returns its handle, or 0 when memory is full */
export function insertRule(core: Core, table: number, rule: CoreRule): number {
  const { id, rankHigh, rankLow, mask, value, ranges } = rule;
  const { exports, staging, u8 } = core;
  if (ranges.length > 0) stageRanges(core, ranges);
  const actions = stageActions(core, rule.actions);
  // All of a key is copied faster than its masked bytes one by one.
  u8.set(value, staging + STAGE_VALUE);
  if (!(mask instanceof RuleMask)) {
    u8.set(mask, staging + STAGE_MASK);
    return exports.insertRule(table, id, rankHigh, rankLow, ranges.length, actions, 0) >>> 0;
  }
  const { number } = mask;
  const known = exports.insertKnown(table, id, rankHigh, rankLow, ranges.length, actions, number) >>> 0;
  if (known !== UNKNOWN_MASK) return known;
  u8.set(mask.key, staging + STAGE_MASK);
  return exports.insertRule(table, id, rankHigh, rankLow, ranges.length, actions, number) >>> 0;
}

function stageRanges({ staging, u32 }: Core, ranges: readonly FieldRange[]): void {
  let at = (staging + STAGE_RANGES) >> 2;
  for (const range of ranges) {
    u32[at + (RANGE_DWORD >> 2)] = range.dword;
    u32[at + (RANGE_SHIFT >> 2)] = range.shift;
    u32[at + (RANGE_MASK >> 2)] = range.fieldMask;
    u32[at + (RANGE_LOW >> 2)] = range.low;
    u32[at + (RANGE_HIGH >> 2)] = range.high;
    at += RANGE_SIZE >> 2;
  }
}

/** The value of a rule, a whole key; fields with ranges are 0 in it. */
export function valueOf(core: Core, rule: number): Uint8Array {
  core.exports.stageValue(rule);
  return core.u8.slice(core.staging + STAGE_VALUE, core.staging + STAGE_VALUE + KEY_SIZE);
}

/** Replaces the actions of a rule. @returns false when memory is full, which only a longer list can cause */
export function changeActions(core: Core, rule: number, actions: readonly number[]): boolean {
  return core.exports.changeActions(rule, stageActions(core, actions)) !== 0;
}

/** Operation and operand in turn; gives how many operations there are. */
function stageActions({ staging, u32 }: Core, actions: readonly number[]): number {
  const at = (staging + STAGE_ACTIONS) >> 2;
  const words = Math.min(actions.length, 2 * MAX_ACTIONS);
  for (let i = 0; i < words; i++) u32[at + i] = actions[i] ?? 0;
  return words >> 1;
}

/** The id of the first rule of a table, from a rank on, that a key matches; -1 for none. No batch is under way. */
export function firstMatch(core: Core, table: number, key: Uint8Array, rankHigh: number, rankLow: number): number {
  core.u8.set(key, core.keys);
  core.exports.classify(table, 1, rankHigh, rankLow);
  const found = core.u32[core.found >> 2] ?? 0;
  return found === 0 ? -1 : (core.u32[(found + RULE_ID) >> 2] ?? 0);
}
