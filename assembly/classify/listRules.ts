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
import { STAGING } from "../memory";
import { linkOf, valueAt } from "./bucket";
import { columnDword, scatter } from "./definer";
import { bucketAt, BUCKETS } from "./hashTable";
import { MASK_BYTES, MASK_LANES_COUNT, MASK_TABLE } from "./mask";
import { blockRanges, copyBlockRange, RULE_BOUNDS, RULE_COLUMN, RULE_MASK, RULE_NEXT } from "./rule";
import { stageValue } from "./table";
import { TABLE_DEFINER, TABLE_HASH, TABLE_RULES } from "./tableLayout";

/** The number of rules in a table. */
export function ruleCount(table: usize): u32 {
  return load<u32>(table, TABLE_RULES);
}

/** Writes the addresses of at most `most` rules of a table to `list`, in no order; returns their number. */
export function listRules(table: usize, list: usize, most: u32): u32 {
  const hashTable = table + TABLE_HASH;
  const buckets = load<u32>(hashTable, BUCKETS);
  let listed: u32 = 0;
  for (let n: u32 = 0; n < buckets; n++) {
    for (let bucket = bucketAt(hashTable, n); bucket != 0; bucket = linkOf(bucket)) {
      for (let slot: u32 = 0; slot < 4; slot++) {
        const first = valueAt(bucket, slot);
        if (first == 0 || first & 1) continue;
        for (let rule = first; rule != 0; rule = load<u32>(rule, RULE_NEXT)) {
          if (listed == most) return listed;
          store<u32>(list + ((<usize>listed) << 2), <u32>rule);
          listed++;
        }
      }
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
