/**
 * A rule as the classifier keeps it: value, up to two ranges, rank, actions. A 5-tuple rule is one cache line.
 *
 *     0      8         12     16     20     24         28   32       36
 *     | rank | actions | mask | hash | next | previous | id | ranges |
 *     36      37        38       39     40              48
 *     | group | actions | ranges | wide | inline action | value lanes ... |
 *
 * Rules of one group whose values are equal under the group's mask have one hash and stand in a chain by rank; the first
 * of them stands in the slots. `previous` of the first is the last, so that appending is cheap; `next` of the last is 0.
 * One action is kept in the rule itself; `actions` points to the first, wherever it is.
 */
import {
  ACTION_SIZE,
  RANGE_DWORD,
  RANGE_HIGH,
  RANGE_LOW,
  RANGE_MASK,
  RANGE_SHIFT,
  RANGE_SIZE,
} from "../../src/abi/engine";
import { allocate, release } from "../arena";

export const RULE_RANK: usize = 0;
/** Address of the first action: | operation 4 | operand 4 | each, in order of execution. */
export const RULE_ACTIONS: usize = 8;
export const RULE_MASK: usize = 12;
export const RULE_HASH: usize = 16;
export const RULE_NEXT: usize = 20;
export const RULE_PREVIOUS: usize = 24;
export const RULE_ID: usize = 28;
const RULE_RANGES: usize = 32;
export const RULE_GROUP: usize = 36;
export const RULE_ACTION_COUNT: usize = 37;
export const RULE_RANGE_COUNT: usize = 38;
/** 1 where the value has more than one lane. */
export const RULE_WIDE: usize = 39;
const RULE_INLINE: usize = 40;
export const RULE_VALUE: usize = 48;

/** A rule with its value, ranges and actions copied; 0 when memory is full. */
export function createRule(
  rank: u64,
  id: u32,
  lanes: u32,
  value: usize,
  ranges: usize,
  rangeCount: u32,
  actions: usize,
  actionCount: u32,
): usize {
  const rule = allocate(ruleBytes(lanes));
  if (rule == 0) return 0;
  let keptRanges: usize = 0;
  const keptActions = roomForActions(rule, actionCount);
  if (rangeCount != 0) keptRanges = allocate(rangeCount * KEPT);
  if (keptActions == 0 || (rangeCount != 0 && keptRanges == 0)) {
    if (keptRanges != 0) release(keptRanges, rangeCount * KEPT);
    if (actionCount > 1 && keptActions != 0) release(keptActions, actionCount * ACTION_SIZE);
    release(rule, ruleBytes(lanes));
    return 0;
  }
  for (let n: u32 = 0; n < rangeCount; n++) keepRange(keptRanges + <usize>n * KEPT, ranges + <usize>n * RANGE_SIZE);
  memory.copy(keptActions, actions, actionCount * ACTION_SIZE);
  store<u64>(rule, rank, RULE_RANK);
  store<u32>(rule, id, RULE_ID);
  store<u32>(rule, <u32>keptRanges, RULE_RANGES);
  store<u8>(rule, <u8>rangeCount, RULE_RANGE_COUNT);
  store<u8>(rule, <u8>(lanes > 1), RULE_WIDE);
  store<u32>(rule, <u32>keptActions, RULE_ACTIONS);
  store<u8>(rule, <u8>actionCount, RULE_ACTION_COUNT);
  memory.copy(rule + RULE_VALUE, value, (<usize>lanes) << 4);
  return rule;
}

export function releaseRule(rule: usize, lanes: u32): void {
  const ranges: u32 = load<u8>(rule, RULE_RANGE_COUNT);
  if (ranges != 0) release(load<u32>(rule, RULE_RANGES), ranges * KEPT);
  releaseActions(rule);
  release(rule, ruleBytes(lanes));
}

/** Where `count` actions of a rule lie: one in the rule, more in a block of their own. 0 when memory is full. */
// @ts-ignore: decorator
@inline
function roomForActions(rule: usize, count: u32): usize {
  return count > 1 ? allocate(count * ACTION_SIZE) : rule + RULE_INLINE;
}

function releaseActions(rule: usize): void {
  const count: u32 = load<u8>(rule, RULE_ACTION_COUNT);
  if (count > 1) release(load<u32>(rule, RULE_ACTIONS), count * ACTION_SIZE);
}

/**
 * Gives a rule other actions. False when memory is full, and then it keeps those that it has; never for as many as it has
 * or fewer.
 */
export function replaceActions(rule: usize, actions: usize, count: u32): bool {
  const had: u32 = load<u8>(rule, RULE_ACTION_COUNT);
  let kept: usize = load<u32>(rule, RULE_ACTIONS);
  if (count != had) {
    const room = roomForActions(rule, count);
    if (room != 0) {
      releaseActions(rule);
      kept = room;
      store<u32>(rule, <u32>kept, RULE_ACTIONS);
      store<u8>(rule, <u8>count, RULE_ACTION_COUNT);
    } else if (count < had) {
      // The old block stays, and what is too much of it does nothing.
      memory.fill(kept, 0, had * ACTION_SIZE);
    } else {
      return false;
    }
  }
  memory.copy(kept, actions, count * ACTION_SIZE);
  return true;
}

// @ts-ignore: decorator
@inline
function ruleBytes(lanes: u32): u32 {
  return <u32>RULE_VALUE + (lanes << 4);
}

/** Whether every range of the rule holds the key's field, both ends included. */
export function inRanges(rule: usize, key: usize): bool {
  let range: usize = load<u32>(rule, RULE_RANGES);
  const end = range + <usize>load<u8>(rule, RULE_RANGE_COUNT) * KEPT;
  while (range < end) {
    const dword = bswap(load<u32>(key + <usize>load<u16>(range)));
    const field = (dword >> load<u8>(range, KEPT_SHIFT)) & (u32.MAX_VALUE >> load<u8>(range, KEPT_UNUSED));
    if (field < load<u32>(range, KEPT_LOW) || field > load<u32>(range, KEPT_HIGH)) return false;
    range += KEPT;
  }
  return true;
}

/** A range as kept: | key byte of its dword 2 | shift 1 | bits of a word that the field lacks 1 | low 4 | high 4 | */
const KEPT: u32 = 12;
const KEPT_SHIFT: usize = 2;
const KEPT_UNUSED: usize = 3;
const KEPT_LOW: usize = 4;
const KEPT_HIGH: usize = 8;

function keepRange(kept: usize, range: usize): void {
  store<u16>(kept, <u16>load<u32>(range, RANGE_DWORD));
  store<u8>(kept, <u8>load<u32>(range, RANGE_SHIFT), KEPT_SHIFT);
  store<u8>(kept, <u8>clz(load<u32>(range, RANGE_MASK)), KEPT_UNUSED);
  store<u32>(kept, load<u32>(range, RANGE_LOW), KEPT_LOW);
  store<u32>(kept, load<u32>(range, RANGE_HIGH), KEPT_HIGH);
}

/** A chain of one rule. */
// @ts-ignore: decorator
@inline
export function alone(rule: usize): usize {
  store<u32>(rule, 0, RULE_NEXT);
  store<u32>(rule, <u32>rule, RULE_PREVIOUS);
  return rule;
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
