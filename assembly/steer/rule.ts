/**
 * A rule as the classifier keeps it: value, up to two ranges, rank, actions. Its mask is its group's.
 *
 *     0      8         12      16     20     24         28   32       36   40 (unused) 48
 *     | rank | actions | group | hash | next | previous | id | ranges | n  |           | value lanes ... |
 *
 * Rules of one group with equal values stand in a chain by rank; the first of them stands in the hash table. `previous`
 * of the first is the last, so that appending is cheap; `next` of the last is 0.
 */
import {
  MAX_RANGES,
  RANGE_DWORD,
  RANGE_HIGH,
  RANGE_LOW,
  RANGE_MASK,
  RANGE_SHIFT,
  RANGE_SIZE,
} from "../../src/abi/engine";
import { allocate, release } from "../arena";

export const RULE_RANK: usize = 0;
export const RULE_ACTIONS: usize = 8;
export const RULE_GROUP: usize = 12;
export const RULE_HASH: usize = 16;
export const RULE_NEXT: usize = 20;
export const RULE_PREVIOUS: usize = 24;
export const RULE_ID: usize = 28;
export const RULE_RANGES: usize = 32;
export const RULE_RANGE_COUNT: usize = 36;
export const RULE_VALUE: usize = 48;

const RANGES_BYTES: u32 = MAX_RANGES * RANGE_SIZE;

/** A rule with its value and ranges copied; 0 when memory is full. */
export function createRule(rank: u64, id: u32, lanes: u32, value: usize, ranges: usize, rangeCount: u32): usize {
  const rule = allocate(ruleBytes(lanes));
  if (rule == 0) return 0;
  let kept: usize = 0;
  if (rangeCount != 0) {
    kept = allocate(RANGES_BYTES);
    if (kept == 0) {
      release(rule, ruleBytes(lanes));
      return 0;
    }
    memory.copy(kept, ranges, rangeCount * RANGE_SIZE);
  }
  store<u64>(rule, rank, RULE_RANK);
  store<u32>(rule, id, RULE_ID);
  store<u32>(rule, <u32>kept, RULE_RANGES);
  store<u32>(rule, rangeCount, RULE_RANGE_COUNT);
  memory.copy(rule + RULE_VALUE, value, (<usize>lanes) << 4);
  return rule;
}

export function releaseRule(rule: usize, lanes: u32): void {
  const ranges: usize = load<u32>(rule, RULE_RANGES);
  if (ranges != 0) release(ranges, RANGES_BYTES);
  release(rule, ruleBytes(lanes));
}

// @ts-ignore: decorator
@inline
function ruleBytes(lanes: u32): u32 {
  return <u32>RULE_VALUE + (lanes << 4);
}

/** Whether every range of the rule holds the key's field, both ends included. */
// @ts-ignore: decorator
@inline
export function inRanges(rule: usize, key: usize): bool {
  const count = load<u32>(rule, RULE_RANGE_COUNT);
  if (count == 0) return true;
  let range: usize = load<u32>(rule, RULE_RANGES);
  const end = range + <usize>count * RANGE_SIZE;
  while (range < end) {
    const dword = bswap(load<u32>(key + <usize>load<u32>(range, RANGE_DWORD)));
    const field = (dword >> load<u32>(range, RANGE_SHIFT)) & load<u32>(range, RANGE_MASK);
    if (field < load<u32>(range, RANGE_LOW) || field > load<u32>(range, RANGE_HIGH)) return false;
    range += RANGE_SIZE;
  }
  return true;
}

/** Puts `rule` into the chain of `first` by rank; gives the new first. Equal ranks: the older one first. */
export function link(first: usize, rule: usize): usize {
  const rank = load<u64>(rule, RULE_RANK);
  const last: usize = load<u32>(first, RULE_PREVIOUS);
  if (load<u64>(last, RULE_RANK) <= rank) {
    store<u32>(last, <u32>rule, RULE_NEXT);
    store<u32>(rule, <u32>last, RULE_PREVIOUS);
    store<u32>(rule, 0, RULE_NEXT);
    store<u32>(first, <u32>rule, RULE_PREVIOUS);
    return first;
  }
  let behind = first;
  while (load<u64>(behind, RULE_RANK) <= rank) behind = load<u32>(behind, RULE_NEXT);
  const before: usize = load<u32>(behind, RULE_PREVIOUS);
  store<u32>(rule, <u32>behind, RULE_NEXT);
  store<u32>(rule, <u32>before, RULE_PREVIOUS);
  store<u32>(behind, <u32>rule, RULE_PREVIOUS);
  if (behind == first) return rule;
  store<u32>(before, <u32>rule, RULE_NEXT);
  return first;
}

/** Takes `rule` out of the chain of `first`; gives the new first, 0 when the chain is empty. */
export function unlink(first: usize, rule: usize): usize {
  const next: usize = load<u32>(rule, RULE_NEXT);
  const previous: usize = load<u32>(rule, RULE_PREVIOUS);
  if (rule == first) {
    if (next != 0) store<u32>(next, <u32>previous, RULE_PREVIOUS);
    return next;
  }
  store<u32>(previous, <u32>next, RULE_NEXT);
  store<u32>(next != 0 ? next : first, <u32>previous, RULE_PREVIOUS);
  return first;
}
