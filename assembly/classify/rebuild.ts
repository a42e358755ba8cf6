/**
 * The incremental rebuild: keeps the candidate bitmaps and the tuples of a table efficient while
 * rules come and go. In: changes of a table. Out: new bitmaps, and rules moved to better tuples. A
 * change walks over a few buckets, never over the table.
 *
 * A rebuild starts when the number of changes exceeds twice the rules of the last one. It makes new
 * bitmaps for the present number of rules, with bits in the order of the tuples' best ranks. Each
 * change then enters the rules of STEP more buckets, and moves a rule if its mask has got a better
 * tuple. Changes during the rebuild go to both bitmaps. At the end the new bitmaps replace the old
 * ones. Buckets do not merge during a rebuild, so that no rule moves behind the cursor.
 */
import { MOVES } from "../memory";
import { addToTuple, removeFromTuple } from "./ruleList";
import { sample } from "./chooseChunks";
import { TUPLE_BEST, TUPLE_COUNT, TUPLE_MASKS, tupleAt, tupleFor, MAX_TUPLES } from "./tuple";
import { definerLanes } from "./definer";
import { MASK_TUPLE, MASK_RULES, MASK_REBUILD } from "./mask";
import { addToBitmaps, bestSeen, createBitmaps, releaseBitmaps, finishBitmaps } from "./candidatesBuild";
import { RULE_TUPLE, RULE_MASK, RULE_NEXT } from "./rule";
import { linkOf, valueAt } from "./bucket";
import { bucketAt, BUCKETS } from "./hashTable";
import {
  TABLE_NEW_BITMAPS,
  TABLE_CHANGES,
  TABLE_CURSOR,
  TABLE_DEFINER,
  TABLE_TUPLES,
  TABLE_BITMAPS,
  TABLE_RULES,
  TABLE_HASH,
  TABLE_REBUILDS,
  TABLE_REBUILT,
} from "./tableLayout";

/** Buckets that one change of the table walks over. */
const STEP: u32 = 4;
/** The largest number of rules that move from one bucket at a time. */
const MAX_MOVES: u32 = 64;
/** With fewer tuples a lookup probes all of them. */
const FEW_TUPLES: u32 = 4;
const LEAST_RULES: u32 = 32;

/** Counts a change and does its part of the rebuild. `rule` is 0 for a removal. */
export function noteChange(table: usize, rule: usize): void {
  store<u32>(table, load<u32>(table, TABLE_CHANGES) + 1, TABLE_CHANGES);
  const tables: usize = load<u32>(table, TABLE_BITMAPS);
  const building: usize = load<u32>(table, TABLE_NEW_BITMAPS);
  if (rule != 0) {
    if (tables != 0) {
      addToBitmaps(tables, rule);
      sample(tables, rule);
    }
    if (building != 0) addToBitmaps(building, rule);
  }
  if (building != 0) walkBuckets(table, building);
  else if (isDue(table)) begin(table);
}

function isDue(table: usize): bool {
  const rules = load<u32>(table, TABLE_RULES);
  if (rules < LEAST_RULES || load<u32>(table + TABLE_TUPLES, TUPLE_COUNT) < FEW_TUPLES) return false;
  return load<u32>(table, TABLE_CHANGES) >= max<u32>(load<u32>(table, TABLE_REBUILT) << 1, LEAST_RULES);
}

function begin(table: usize): void {
  store<u32>(table, 0, TABLE_CHANGES);
  const building = createBitmaps(table + TABLE_DEFINER, table + TABLE_TUPLES, load<u32>(table, TABLE_RULES));
  if (building == 0) return;
  store<u32>(table, <u32>building, TABLE_NEW_BITMAPS);
  store<u32>(table, 0, TABLE_CURSOR);
  store<u32>(table, load<u32>(table, TABLE_REBUILDS) + 1, TABLE_REBUILDS);
}

function walkBuckets(table: usize, building: usize): void {
  const hashTable = table + TABLE_HASH;
  let cursor = load<u32>(table, TABLE_CURSOR);
  const end = min(cursor + STEP, load<u32>(hashTable, BUCKETS));
  for (; cursor < end; cursor++) {
    const moves = enterBucket(table, building, bucketAt(hashTable, cursor));
    for (let n: u32 = 0; n < moves; n++) move(table, building, load<u32>(MOVES + ((<usize>n) << 2)));
  }
  store<u32>(table, cursor, TABLE_CURSOR);
  if (cursor >= load<u32>(hashTable, BUCKETS)) finish(table, building);
}

/**
 * Enters the rules of a bucket that stay; lists those that move in MOVES and returns their number.
 */
function enterBucket(table: usize, building: usize, bucket: usize): u32 {
  let moves: u32 = 0;
  for (; bucket != 0; bucket = linkOf(bucket)) {
    for (let slot: u32 = 0; slot < 4; slot++) {
      const first = valueAt(bucket, slot);
      if (first == 0 || first & 1) continue;
      for (let rule = first; rule != 0; rule = load<u32>(rule, RULE_NEXT)) {
        const mask: usize = load<u32>(rule, RULE_MASK);
        if (load<u32>(mask, MASK_REBUILD) != load<u32>(table, TABLE_REBUILDS)) chooseTuple(table, mask);
        sample(building, rule);
        if (load<u32>(mask, MASK_TUPLE) == <u32>load<u8>(rule, RULE_TUPLE) || moves == MAX_MOVES) {
          addToBitmaps(building, rule);
        } else {
          store<u32>(MOVES + ((<usize>moves) << 2), <u32>rule);
          moves++;
        }
      }
    }
  }
  return moves;
}

/**
 * Looks for a better tuple for a mask, once a rebuild: one of its own if many rules of the table
 * have the mask.
 */
function chooseTuple(table: usize, mask: usize): void {
  store<u32>(mask, load<u32>(table, TABLE_REBUILDS), MASK_REBUILD);
  const tuples = table + TABLE_TUPLES;
  const many = load<u32>(mask, MASK_RULES) * 64 >= load<u32>(table, TABLE_RULES);
  const tuple = tupleFor(tuples, mask, definerLanes(table + TABLE_DEFINER), many);
  if (tuple < MAX_TUPLES) assign(tuples, mask, tuple);
}

/** Sets the tuple for the next rules of a mask. */
export function assign(tuples: usize, mask: usize, index: u32): void {
  const old = tupleAt(tuples, load<u32>(mask, MASK_TUPLE));
  store<u32>(old, load<u32>(old, TUPLE_MASKS) - 1, TUPLE_MASKS);
  const tuple = tupleAt(tuples, index);
  store<u32>(tuple, load<u32>(tuple, TUPLE_MASKS) + 1, TUPLE_MASKS);
  store<u32>(mask, index, MASK_TUPLE);
}

/** Moves a rule to the tuple of its mask; without memory it stays. */
function move(table: usize, building: usize, rule: usize): void {
  const hashTable = table + TABLE_HASH;
  const tuples = table + TABLE_TUPLES;
  const old: u32 = load<u8>(rule, RULE_TUPLE);
  removeFromTuple(hashTable, tuples, rule, true);
  // Removal has freed enough memory to add the rule again.
  if (!addToTuple(hashTable, tuples, load<u32>(load<u32>(rule, RULE_MASK), MASK_TUPLE), rule))
    addToTuple(hashTable, tuples, old, rule);
  addToBitmaps(building, rule);
  const tables: usize = load<u32>(table, TABLE_BITMAPS);
  if (tables != 0) addToBitmaps(tables, rule);
}

function finish(table: usize, building: usize): void {
  finishBitmaps(building);
  const old: usize = load<u32>(table, TABLE_BITMAPS);
  if (old != 0) releaseBitmaps(old);
  store<u32>(table, <u32>building, TABLE_BITMAPS);
  store<u32>(table, 0, TABLE_NEW_BITMAPS);
  store<u32>(table, load<u32>(table, TABLE_RULES), TABLE_REBUILT);
  store<u32>(table, 0, TABLE_CHANGES);
  const tuples = table + TABLE_TUPLES;
  for (let index: u32 = 0; index < load<u32>(tuples, TUPLE_COUNT); index++) {
    store<u64>(tupleAt(tuples, index), bestSeen(building, index), TUPLE_BEST);
  }
}

/**
 * Gives back bitmaps, unfinished ones first, and postpones the next rebuild; false if there are
 * none.
 */
export function yieldMemory(table: usize): bool {
  const which = load<u32>(table, TABLE_NEW_BITMAPS) != 0 ? TABLE_NEW_BITMAPS : TABLE_BITMAPS;
  const tables: usize = load<u32>(table + which);
  if (tables == 0) return false;
  releaseBitmaps(tables);
  store<u32>(table + which, 0);
  store<u32>(table, load<u32>(table, TABLE_RULES), TABLE_REBUILT);
  store<u32>(table, 0, TABLE_CHANGES);
  return true;
}

/** Ends the rebuild of a table without rules. */
export function cancelRebuild(table: usize): void {
  for (let more = true; more;) more = yieldMemory(table);
  store<u32>(table, 0, TABLE_REBUILT);
  store<u32>(table, 0, TABLE_CHANGES);
}
