/**
 * A rule in memory: value, ranges, rank, actions. In: value lanes, ranges, actions. Out: the
 * address of the rule, whose head is drawn in src/abi/rule.ts. Ranges other than the bounds, and several actions, are in a
 * block:
 *
 *     | ranges 4 | 0 4 | range 12 ... | to a multiple of 8 | action 8 ... |
 */
import {
  ACTION_OPERAND,
  ACTION_SIZE,
  Op,
  RANGE_DWORD,
  RANGE_HIGH,
  RANGE_LOW,
  RANGE_MASK,
  RANGE_SHIFT,
  RANGE_SIZE,
} from "../../src/abi/engine";
import {
  RULE_ACTION,
  RULE_ACTION_COUNT,
  RULE_BOUNDS,
  RULE_COLUMN,
  RULE_COUNTER,
  RULE_FLAGS,
  RULE_ID,
  RULE_RANK,
  RULE_VALUE,
} from "../../src/abi/rule";
import { allocate, release, shrink } from "../arena";
import { ownColumn } from "./definer";

const MORE_LANES: u32 = 1;
const MORE_RANGES: u32 = 2;
const MORE_ACTIONS: u32 = 4;
/** The flags that a match depends on. */
export const MORE_TO_MATCH: u32 = MORE_LANES | MORE_RANGES;

/**
 * The fast path: the actions are at most a tag (FAST_PATH_TAG), a count (FAST_PATH_COUNT) and a
 * queue, in this order.
 */
export const FAST_PATH: u32 = 8;
export const FAST_PATH_TAG: u32 = 16;
export const FAST_PATH_COUNT: u32 = 32;
const FAST_PATH_BITS: u32 = FAST_PATH | FAST_PATH_TAG | FAST_PATH_COUNT;

/** The rule is a mark of its list (listOrder.ts). */
export const MARK: u32 = 64;
/** The rule is the first mark: RULE_HASH has the address of the marks. */
export const MARK_FIRST: u32 = 128;

const BLOCK_HEAD: u32 = 8;
/**
 * A stored range: | key byte of its dword 2 | shift 1 | leading zeros of its mask 1 | low 4 | high
 * 4 |
 */
const KEPT: u32 = 12;
const KEPT_SHIFT: usize = 2;
const KEPT_UNUSED: usize = 3;
const KEPT_LOW: usize = 4;
const KEPT_HIGH: usize = 8;

const PORT_MASK: u32 = 0xffff;
const NO_COLUMN: u32 = 0xffffffff;

/** Creates a rule; 0 when memory is full. The definer must hold the dwords of the ranges. */
export function createRule(
  definer: usize,
  rank: u64,
  id: u32,
  lanes: u32,
  value: usize,
  ranges: usize,
  rangeCount: u32,
  actions: usize,
  actionCount: u32,
): usize {
  const column = boundsColumn(definer, ranges, rangeCount);
  let others: u32 = 0;
  for (let n: u32 = 0; n < rangeCount; n++) {
    if (!isBound(definer, ranges + <usize>n * RANGE_SIZE, column)) others++;
  }
  const rule = allocate(ruleBytes(lanes));
  if (rule == 0) return 0;
  const hasBlock = others != 0 || actionCount > 1;
  if (hasBlock) {
    const block = allocate(blockBytes(others, actionCount));
    if (block == 0) {
      release(rule, ruleBytes(lanes));
      return 0;
    }
    store<u32>(block, others);
    store<u64>(rule, block, RULE_ACTION);
  }
  store<u64>(rule, rank, RULE_RANK);
  store<u32>(rule, id, RULE_ID);
  store<u8>(rule, <u8>actionCount, RULE_ACTION_COUNT);
  const more = (lanes > 1 ? MORE_LANES : 0) | (others != 0 ? MORE_RANGES : 0) | (hasBlock ? MORE_ACTIONS : 0);
  store<u8>(rule, <u8>more, RULE_FLAGS);
  store<u8>(rule, <u8>(column == NO_COLUMN ? 0 : column), RULE_COLUMN);
  store<u64>(rule, 0, RULE_BOUNDS);
  memory.copy(actionsOf(rule), actions, actionCount * ACTION_SIZE);
  markFastPath(rule);
  let kept = <usize>load<u32>(rule, RULE_ACTION) + BLOCK_HEAD;
  for (let n: u32 = 0; n < rangeCount; n++) {
    const range = ranges + <usize>n * RANGE_SIZE;
    if (isBound(definer, range, column)) {
      bound(rule, range);
    } else {
      keepRange(kept, range);
      kept += KEPT;
    }
  }
  memory.copy(rule + RULE_VALUE, value, (<usize>lanes) << 4);
  return rule;
}

export function releaseRule(rule: usize, lanes: u32): void {
  if (load<u8>(rule, RULE_FLAGS) & MORE_ACTIONS) {
    const block: usize = load<u32>(rule, RULE_ACTION);
    release(block, blockBytes(load<u32>(block), load<u8>(rule, RULE_ACTION_COUNT)));
  }
  release(rule, ruleBytes(lanes));
}

/** The address of the first action. Actions are | operation 4 | operand 4 |, in execution order. */
// @ts-ignore: decorator
@inline
export function actionsOf(rule: usize): usize {
  if (!(load<u8>(rule, RULE_FLAGS) & MORE_ACTIONS)) return rule + RULE_ACTION;
  const block: usize = load<u32>(rule, RULE_ACTION);
  return block + <usize>rangeBytes(load<u32>(block));
}

/**
 * Gives a rule other actions. When memory is full it returns false and keeps the old actions; that
 * never happens for as many actions or fewer.
 */
export function replaceActions(rule: usize, actions: usize, count: u32): bool {
  const had: u32 = load<u8>(rule, RULE_ACTION_COUNT);
  if (count != had && !makeRoom(rule, had, count)) {
    if (count > had) return false;
    leaveRoom(rule, had, count);
  }
  memory.copy(actionsOf(rule), actions, count * ACTION_SIZE);
  markFastPath(rule);
  return true;
}

/**
 * Frees what fewer actions leave of their block. Of a large block nothing is freed: the
 * actions that are left over become Op.none.
 */
function leaveRoom(rule: usize, had: u32, count: u32): void {
  const block: usize = load<u32>(rule, RULE_ACTION);
  const ranges = load<u32>(block);
  if (shrink(block, blockBytes(ranges, had), blockBytes(ranges, count))) store<u8>(rule, <u8>count, RULE_ACTION_COUNT);
  else memory.fill(actionsOf(rule), 0, had * ACTION_SIZE);
}

/** Sets the fast-path flags of a rule. The host puts tags before counters. */
function markFastPath(rule: usize): void {
  let action = actionsOf(rule);
  const last = action + (<usize>load<u8>(rule, RULE_ACTION_COUNT) - 1) * ACTION_SIZE;
  let plain = FAST_PATH;
  if (action < last && load<u32>(action) == Op.tag) {
    plain |= FAST_PATH_TAG;
    action += ACTION_SIZE;
  }
  if (action < last && load<u32>(action) == Op.count) {
    plain |= FAST_PATH_COUNT;
    store<u32>(rule, load<u32>(action, ACTION_OPERAND), RULE_COUNTER);
    action += ACTION_SIZE;
  }
  if (action != last || (load<u32>(last) != Op.queue && load<u32>(last) != Op.queue_from_others)) plain = 0;
  store<u8>(rule, <u8>(((<u32>load<u8>(rule, RULE_FLAGS)) & ~FAST_PATH_BITS) | plain), RULE_FLAGS);
}

/** Makes room for `count` actions; false when memory is full, and then nothing changes. */
function makeRoom(rule: usize, had: u32, count: u32): bool {
  const more: u32 = load<u8>(rule, RULE_FLAGS);
  const old: usize = more & MORE_ACTIONS ? <usize>load<u32>(rule, RULE_ACTION) : 0;
  const ranges = old == 0 ? 0 : load<u32>(old);
  if (ranges != 0 || count > 1) {
    const block = allocate(blockBytes(ranges, count));
    if (block == 0) return false;
    store<u32>(block, 0);
    if (old != 0) memory.copy(block, old, rangeBytes(ranges));
    store<u64>(rule, block, RULE_ACTION);
    store<u8>(rule, <u8>(more | MORE_ACTIONS), RULE_FLAGS);
  } else {
    store<u8>(rule, <u8>(more & ~MORE_ACTIONS), RULE_FLAGS);
  }
  if (old != 0) release(old, blockBytes(ranges, had));
  store<u8>(rule, <u8>count, RULE_ACTION_COUNT);
  return true;
}

// @ts-ignore: decorator
@inline
function ruleBytes(lanes: u32): u32 {
  return <u32>RULE_VALUE + (lanes << 4);
}

function rangeBytes(ranges: u32): u32 {
  return (BLOCK_HEAD + ranges * KEPT + 7) & ~7;
}

function blockBytes(ranges: u32, actions: u32): u32 {
  return rangeBytes(ranges) + actions * ACTION_SIZE;
}

/** The column of the first range over a 16-bit half of a column; NO_COLUMN for none. */
function boundsColumn(definer: usize, ranges: usize, count: u32): u32 {
  for (let n: u32 = 0; n < count; n++) {
    const range = ranges + <usize>n * RANGE_SIZE;
    const column = halfColumn(definer, range);
    if (column != NO_COLUMN) return column;
  }
  return NO_COLUMN;
}

function isBound(definer: usize, range: usize, column: u32): bool {
  return column != NO_COLUMN && halfColumn(definer, range) == column;
}

/** The column whose 16-bit half a range covers; NO_COLUMN for other ranges. */
function halfColumn(definer: usize, range: usize): u32 {
  if (load<u32>(range, RANGE_MASK) != PORT_MASK || (load<u32>(range, RANGE_SHIFT) & 15) != 0) return NO_COLUMN;
  return ownColumn(definer, load<u32>(range, RANGE_DWORD));
}

/** Narrows the bounds of a rule to a range over a half. Shift 16 is the first half on the wire. */
function bound(rule: usize, range: usize): void {
  const half = rule + (load<u32>(range, RANGE_SHIFT) == 0 ? 2 : 0);
  const low = <u16>load<u32>(range, RANGE_LOW);
  const high = ~(<u16>load<u32>(range, RANGE_HIGH));
  store<u16>(half, max(load<u16>(half, RULE_BOUNDS), low), RULE_BOUNDS);
  store<u16>(half, max(load<u16>(half, RULE_BOUNDS + 4), high), RULE_BOUNDS + 4);
}

/** Nonzero if the lanes are outside the bounds of the rule. */
// @ts-ignore: decorator
@inline
export function outOfBounds(rule: usize, lanes: usize): v128 {
  const column = v128.load32_splat(lanes + ((<usize>load<u8>(rule, RULE_COLUMN)) << 2));
  // The two numbers and their complements: a saturating subtraction leaves what is below a bound.
  const pair = v128.shuffle<u8>(column, column, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2);
  const numbers = v128.xor(pair, i64x2.splat(0xffffffff00000000));
  return i16x8.sub_sat_u(v128.load64_splat(rule, RULE_BOUNDS), numbers);
}

/** Whether every range in the block of the rule contains the key's field, both ends included. */
export function inRanges(rule: usize, key: usize): bool {
  if (!(load<u8>(rule, RULE_FLAGS) & MORE_RANGES)) return true;
  const block: usize = load<u32>(rule, RULE_ACTION);
  let range = block + BLOCK_HEAD;
  const end = range + <usize>(load<u32>(block) * KEPT);
  while (range < end) {
    const dword = bswap(load<u32>(key + <usize>load<u16>(range)));
    const field = (dword >> load<u8>(range, KEPT_SHIFT)) & (u32.MAX_VALUE >> load<u8>(range, KEPT_UNUSED));
    if (field < load<u32>(range, KEPT_LOW) || field > load<u32>(range, KEPT_HIGH)) return false;
    range += KEPT;
  }
  return true;
}

/** The number of ranges in the block of a rule. */
export function blockRanges(rule: usize): u32 {
  return load<u8>(rule, RULE_FLAGS) & MORE_RANGES ? load<u32>(<usize>load<u32>(rule, RULE_ACTION)) : 0;
}

/** Writes a range of the block as it was staged. */
export function copyBlockRange(rule: usize, n: u32, range: usize): void {
  const kept = <usize>load<u32>(rule, RULE_ACTION) + BLOCK_HEAD + <usize>(n * KEPT);
  store<u32>(range, load<u16>(kept), RANGE_DWORD);
  store<u32>(range, load<u8>(kept, KEPT_SHIFT), RANGE_SHIFT);
  store<u32>(range, u32.MAX_VALUE >> load<u8>(kept, KEPT_UNUSED), RANGE_MASK);
  store<u32>(range, load<u32>(kept, KEPT_LOW), RANGE_LOW);
  store<u32>(range, load<u32>(kept, KEPT_HIGH), RANGE_HIGH);
}

function keepRange(kept: usize, range: usize): void {
  store<u16>(kept, <u16>load<u32>(range, RANGE_DWORD));
  store<u8>(kept, <u8>load<u32>(range, RANGE_SHIFT), KEPT_SHIFT);
  store<u8>(kept, <u8>clz(load<u32>(range, RANGE_MASK)), KEPT_UNUSED);
  store<u32>(kept, load<u32>(range, RANGE_LOW), KEPT_LOW);
  store<u32>(kept, load<u32>(range, RANGE_HIGH), KEPT_HIGH);
}
