/**
 * Many rules of one mask, which the host has laid into the area `bytes` one behind the other (BULK_* in src/abi/engine.ts).
 *
 * The mask is staged whole, and so is the part of all values that no device bytes hold: the presence of what the mask asks.
 */
import {
  BULK_ACTION_COUNT,
  BULK_ACTIONS,
  BULK_HANDLE,
  BULK_ID,
  BULK_VALUE,
  STAGE_MASK,
  STAGE_VALUE,
} from "../../src/abi/engine";
import { DEVICE_KEY_SIZE, GROUP_SIZE } from "../../src/abi/key";
import { BYTES, STAGING } from "../memory";
import { RULE_MASK } from "./rule";
import { insert } from "./table";

/** Inserts `count` rules, whose ranks count up; gives how many: fewer when memory is full. */
export function insertRules(table: usize, count: u32, stride: u32, criteria: u32, rankHigh: u32, rankLow: u32): u32 {
  let rank = ((<u64>rankHigh) << 32) | (<u64>rankLow);
  let mask: usize = 0;
  for (let n: u32 = 0; n < count; n++) {
    const entry = entryAt(n, stride);
    stageValue(entry, stride, criteria);
    const actions = BYTES + <usize>load<u32>(entry, BULK_ACTIONS);
    const rule = insert(table, mask, load<u32>(entry, BULK_ID), rank, 0, actions, load<u32>(entry, BULK_ACTION_COUNT));
    if (rule == 0) return n;
    store<u32>(entry, <u32>rule, BULK_HANDLE);
    mask = load<u32>(rule, RULE_MASK);
    rank++;
  }
  return count;
}

/** The first of `count` rules whose value has a bit that the mask leaves out; -1 for none. */
export function firstOutside(count: u32, stride: u32, criteria: u32): i32 {
  for (let n: u32 = 0; n < count; n++) {
    stageValue(entryAt(n, stride), stride, criteria);
    let outside = i64x2.splat(0);
    for (let at: usize = 0; at < <usize>DEVICE_KEY_SIZE; at += 16) {
      const value = v128.load(STAGING + at, STAGE_VALUE);
      outside = v128.or(outside, v128.andnot(value, v128.load(STAGING + at, STAGE_MASK)));
    }
    if (v128.any_true(outside)) return n;
  }
  return -1;
}

// @ts-ignore: decorator
@inline
function entryAt(n: u32, stride: u32): usize {
  return BYTES + <usize>n * (BULK_VALUE + <usize>stride);
}

/** Stages the value of an entry: its bytes in the groups that the criteria name, zero in the others. */
function stageValue(entry: usize, stride: u32, criteria: u32): void {
  const staged = STAGING + STAGE_VALUE;
  for (let group: u32 = 0; group < <u32>(DEVICE_KEY_SIZE / GROUP_SIZE); group++) {
    const first = group * GROUP_SIZE;
    const to = staged + <usize>first;
    const has = criteria & (1 << group) && stride > first ? min<u32>(stride - first, GROUP_SIZE) : 0;
    if (has != 0) memory.copy(to, entry + BULK_VALUE + first, has);
    if (has < <u32>GROUP_SIZE) memory.fill(to + <usize>has, 0, GROUP_SIZE - has);
  }
}
