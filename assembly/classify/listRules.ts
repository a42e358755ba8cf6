/**
 * The rules of a table as the engine holds them, for explanations. Only the traced core exports
 * these functions.
 */
import {
  RANGE_DWORD,
  RANGE_HIGH,
  RANGE_LOW,
  RANGE_MASK,
  RANGE_SHIFT,
  RANGE_SIZE,
  STAGE_MASK,
  STAGE_RANGES,
} from "../../src/abi/engine";
import { KEY_SIZE } from "../../src/abi/key";
import { RULE_BOUNDS, RULE_COLUMN, RULE_MASK, RULE_NEXT, RULE_RANK, RULE_VALUE } from "../../src/abi/rule";
import { TABLE_DEFINER, TABLE_HASH, TABLE_RULES } from "../../src/abi/table";
import { STAGING } from "../memory";
import { Lanes } from "../rows";
import { columnDword, gather, scatter } from "./definer";
import { firstValue, nextValue } from "./tuples/hashTable";
import { MASK_BYTES, MASK_LANES_COUNT, MASK_TABLE } from "./mask";
import { blockRanges, copyBlockRange, inRanges, outOfBounds } from "./rule";
import { stageValue } from "./table";

/** The number of rules in a table. */
export function ruleCount(table: usize): u32 {
  return load<u32>(table, TABLE_RULES);
}

/** An entry of the list of near rules: | rule 4 | distance 4 |. */
const NEAR_SIZE: usize = 8;

/**
 * Writes the rules of a table that are nearest to a key to `list`, nearest first and then by rank:
 * entries of NEAR_SIZE, at most `most`. The distance of a rule is the number of 4-byte columns that
 * differ under its mask, then how few agree, then the number of bits; a range that excludes the key
 * counts as a column. Returns the number of entries.
 */
export function listNearest(table: usize, key: usize, list: usize, most: u32): u32 {
  if (load<u32>(table, TABLE_RULES) == 0 || most == 0) return 0;
  gather(table + TABLE_DEFINER, key, Lanes.start);
  let listed: u32 = 0;
  for (let first = firstValue(table + TABLE_HASH); first != 0; first = nextValue()) {
    for (let rule = first; rule != 0; rule = load<u32>(rule, RULE_NEXT))
      listed = enterNear(list, listed, most, rule, distanceOf(rule, key));
  }
  return listed;
}

/** | columns that differ 8 | 255 - columns that agree 8 | bits 16 |; 0 where the rule matches. */
function distanceOf(rule: usize, key: usize): u32 {
  const mask: usize = load<u32>(rule, RULE_MASK);
  const end = (<usize>load<u32>(mask, MASK_LANES_COUNT)) << 4;
  let columns: u32 = 0;
  let masked: u32 = 0;
  let bits: u32 = 0;
  for (let at: usize = 0; at < end; at += 16) {
    const unlike = v128.xor(v128.load(Lanes.start + at), v128.load(rule + RULE_VALUE + at));
    const bytes = v128.load(mask + MASK_BYTES + at);
    const differs = v128.and(unlike, bytes);
    masked += <u32>popcnt(i32x4.bitmask(i32x4.ne(bytes, i32x4.splat(0))));
    columns += <u32>popcnt(i32x4.bitmask(i32x4.ne(differs, i32x4.splat(0))));
    bits += <u32>popcnt(i64x2.extract_lane(differs, 0)) + <u32>popcnt(i64x2.extract_lane(differs, 1));
  }
  const agreeing = masked - columns;
  if (v128.any_true(outOfBounds(rule, Lanes.start))) columns++;
  if (!inRanges(rule, key)) columns++;
  return columns == 0 ? 0 : (columns << 24) | ((255 - agreeing) << 16) | bits;
}

/** Enters a rule into the sorted list; returns the new length. */
function enterNear(list: usize, listed: u32, most: u32, rule: usize, distance: u32): u32 {
  let at = listed;
  if (listed == most) {
    at = listed - 1;
    if (!isNearer(rule, distance, list + <usize>at * NEAR_SIZE)) return listed;
  }
  const length = listed == most ? listed : listed + 1;
  for (; at > 0; at--) {
    const before = list + <usize>(at - 1) * NEAR_SIZE;
    if (!isNearer(rule, distance, before)) break;
    store<u64>(before + NEAR_SIZE, load<u64>(before));
  }
  const entry = list + <usize>at * NEAR_SIZE;
  store<u32>(entry, <u32>rule);
  store<u32>(entry, distance, 4);
  return length;
}

/** Whether a rule comes before an entry: it is nearer, or as near and first by rank. */
function isNearer(rule: usize, distance: u32, entry: usize): bool {
  const other = load<u32>(entry, 4);
  return distance < other || (distance == other && load<u64>(rule, RULE_RANK) < load<u64>(load<u32>(entry), RULE_RANK));
}

/** Writes the addresses of at most `most` rules of a table to `list`, in no order; returns their number. */
export function listRules(table: usize, list: usize, most: u32): u32 {
  let listed: u32 = 0;
  for (let first = firstValue(table + TABLE_HASH); first != 0; first = nextValue()) {
    for (let rule = first; rule != 0; rule = load<u32>(rule, RULE_NEXT)) {
      if (listed == most) return listed;
      store<u32>(list + ((<usize>listed) << 2), <u32>rule);
      listed++;
    }
  }
  return listed;
}

/** Stages mask, value and ranges of a rule; returns the number of ranges. */
export function stageRule(rule: usize): u32 {
  const mask: usize = load<u32>(rule, RULE_MASK);
  const definer = <usize>load<u32>(mask, MASK_TABLE) + TABLE_DEFINER;
  memory.fill(STAGING + STAGE_MASK, 0, KEY_SIZE);
  scatter(definer, mask + MASK_BYTES, load<u32>(mask, MASK_LANES_COUNT), STAGING + STAGE_MASK);
  stageValue(rule);
  let ranges = blockRanges(rule);
  for (let n: u32 = 0; n < ranges; n++) copyBlockRange(rule, n, rangeAt(n));
  if (load<u64>(rule, RULE_BOUNDS) == 0) return ranges;
  const dword = columnDword(definer, load<u8>(rule, RULE_COLUMN));
  for (let half: u32 = 0; half < 2; half++) {
    const low: u32 = load<u16>(rule + ((<usize>half) << 1), RULE_BOUNDS);
    const high = ~(<u32>load<u16>(rule + ((<usize>half) << 1), RULE_BOUNDS + 4)) & 0xffff;
    if (low == 0 && high == 0xffff) continue;
    stageRange(rangeAt(ranges++), dword, half == 0 ? 16 : 0, 0xffff, low, high);
  }
  return ranges;
}

function rangeAt(n: u32): usize {
  return STAGING + STAGE_RANGES + <usize>n * RANGE_SIZE;
}

function stageRange(at: usize, dword: u32, shift: u32, mask: u32, low: u32, high: u32): void {
  store<u32>(at, dword, RANGE_DWORD);
  store<u32>(at, shift, RANGE_SHIFT);
  store<u32>(at, mask, RANGE_MASK);
  store<u32>(at, low, RANGE_LOW);
  store<u32>(at, high, RANGE_HIGH);
}
