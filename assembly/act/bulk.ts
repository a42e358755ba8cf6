/**
 * Inserts many rules of one mask. In: values and heads in the area `bytes` (BULK_* in
 * src/abi/engine.ts), and a staged mask. Out: the address of each rule, in its head.
 *
 * The staged value has the presence bits of the mask. Of a value, the groups that `criteria` names
 * are read.
 */
import {
  BULK_ACTION_COUNT,
  BULK_ACTIONS,
  BULK_HANDLE,
  BULK_HEAD,
  BULK_ID,
  STAGE_MASK,
  STAGE_VALUE,
} from "../../src/abi/engine";
import { DEVICE_KEY_SIZE, GROUP_SIZE } from "../../src/abi/key";
import { RULE_MASK } from "../../src/abi/rule";
import { STAGING } from "../memory";
import { Bytes } from "../rows";
import { insert } from "../classify/table";
import { hasForks } from "./install";
import { needsOfActions } from "./requirements";

/**
 * Inserts `count` rules of the area `bytes` (BULK_*) with increasing ranks. Returns the number of
 * inserted rules: fewer when memory is full.
 */
export function insertRules(table: usize, count: u32, stride: u32, criteria: u32, rankHigh: u32, rankLow: u32): u32 {
  let rank = ((<u64>rankHigh) << 32) | (<u64>rankLow);
  let mask: usize = 0;
  openValue();
  let head = Bytes.start + <usize>count * <usize>stride;
  for (let n: u32 = 0; n < count; n++, head += BULK_HEAD) {
    stageValue(n, stride, criteria);
    const actions = Bytes.start + <usize>load<u32>(head, BULK_ACTIONS);
    const actionCount = load<u32>(head, BULK_ACTION_COUNT);
    const needs = needsOfActions(actions, actionCount);
    if (!hasForks(needs)) return n;
    const rule = insert(table, mask, load<u32>(head, BULK_ID), rank, 0, actions, actionCount, needs);
    if (rule == 0) return n;
    store<u32>(head, <u32>rule, BULK_HANDLE);
    mask = load<u32>(rule, RULE_MASK);
    rank++;
  }
  return count;
}

/**
 * The index of the first staged rule (BULK_*) whose value has a bit outside the staged mask; -1 for
 * none.
 */
export function firstOutside(count: u32, stride: u32, criteria: u32): i32 {
  openValue();
  for (let n: u32 = 0; n < count; n++) {
    stageValue(n, stride, criteria);
    let outside = i64x2.splat(0);
    for (let groups = criteria; groups != 0; groups &= groups - 1) {
      const at = STAGING + <usize>ctz(groups) * GROUP_SIZE;
      outside = v128.or(outside, v128.or(outsideOf(at), outsideOf(at + 16)));
      outside = v128.or(outside, v128.or(outsideOf(at + 32), outsideOf(at + 48)));
    }
    if (v128.any_true(outside)) return n;
  }
  return -1;
}

// @ts-ignore: decorator
@inline
function outsideOf(at: usize): v128 {
  return v128.andnot(v128.load(at, STAGE_VALUE), v128.load(at, STAGE_MASK));
}

/** Zeroes the groups of the staged value that device bytes can fill. */
function openValue(): void {
  memory.fill(STAGING + STAGE_VALUE, 0, DEVICE_KEY_SIZE);
}

/**
 * Stages value `n` in the groups that `criteria` names. The stride is a multiple of 4.
 */
function stageValue(n: u32, stride: u32, criteria: u32): void {
  const value = Bytes.start + <usize>n * <usize>stride;
  for (let groups = criteria; groups != 0; groups &= groups - 1) {
    const first: u32 = ctz(groups) * GROUP_SIZE;
    let from = value + <usize>first;
    let to: usize = STAGING + STAGE_VALUE + <usize>first;
    const present: u32 = stride > first ? min<u32>(stride - first, GROUP_SIZE) : 0;
    const end = to + <usize>present;
    for (; to + 16 <= end; to += 16, from += 16) v128.store(to, v128.load(from));
    for (; to < end; to += 4, from += 4) store<u32>(to, load<u32>(from));
  }
}
