/**
 * The incremental rebuild: keeps the candidate bitmaps and the tuples of a table efficient while
 * rules come and go. In: changes and lookups of a table. Out: new bitmaps, and rules moved to better
 * tuples. Neither a change nor a lookup walks over the whole table.
 *
 * Lookups do the work, because only they gain by it: rules that are loaded before the first frame
 * never enter bitmaps one by one. A rebuild starts with the first lookup after as many changes as
 * there were rules at the last one. Each lookup does a part:
 *
 *     arrange   moves rules whose mask has got a better tuple, and learns the best rank of each
 *               tuple: bits will be in the order of these ranks
 *     tables    makes empty tables for all chunks
 *     enter     enters the rules
 *     choose    chooses the chunks that lookups read, four at a time
 *
 * Changes meanwhile go to both bitmaps. At the end the new ones replace the old ones. Buckets do not
 * merge during a rebuild, so that no rule moves behind the cursor. Bitmaps that no lookup reads while
 * half of the rules change are freed.
 */
import { RULE_TUPLE, RULE_MASK, RULE_NEXT } from "../../src/abi/rule";
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
  TABLE_UNREAD,
} from "../../src/abi/table";
import { MOVES } from "../memory";
import { addToTuple, removeFromTuple } from "./tuples/ruleList";
import { chooseQuad } from "./bitmaps/chooseChunks";
import { TUPLE_COUNT, TUPLE_LANES, TUPLE_MASK, TUPLE_MASKS, tupleAt, tupleFor, MAX_TUPLES } from "./tuples/tuple";
import { definerLanes } from "./definer";
import { chunksOf, nearlyCovered } from "./bitmaps/fieldChunk";
import { MASK_BYTES, MASK_CHUNKS, MASK_LANES_COUNT, MASK_NEARLY, MASK_TUPLE, MASK_RULES, MASK_REBUILD } from "./mask";
import {
  addCovering,
  addToBitmaps,
  buildTables,
  createBitmaps,
  finishBitmaps,
  ENTERED,
  HAS_TABLES,
  Uncovered,
  ORDERED,
  orderTuples,
  releaseBitmaps,
  seeBest,
  setState,
  stateOf,
} from "./bitmaps/candidatesBuild";
import { isLink, linkOf, valueAt, WIDTH } from "./tuples/bucket";
import { isLongList } from "./tuples/listOrder";
import { bucketAt, BUCKETS } from "./tuples/hashTable";

/** Buckets that a lookup walks over: for the call, and for each of its keys. */
const STEP: u32 = 32;
const KEY_STEP: u32 = 2;
/** The largest number of rules that move from one bucket at a time. */
const MAX_MOVES: u32 = 64;
/** The largest number of rules of one list that it looks at one by one. */
const MAX_SEEN: u32 = 64;
/** Values that a lookup enters for uncovered bits, for each of the buckets. */
const STEP_VALUES: u32 = 32;
/** The most bits that a chunk may have uncovered, and the most values that the rules of a mask enter for them. */
const MAX_UNCOVERED: u32 = 5;
const MAX_VALUES: u32 = 4096;
/** With fewer tuples a lookup probes all of them. */
const FEW_TUPLES: u32 = 4;
const MIN_RULES: u32 = 32;
/** Bitmaps last for so many changes without a lookup, and half as many as there are rules. */
const MIN_UNREAD: u32 = 256;

/** Counts a change, and enters a rule into the bitmaps. `rule` is 0 for a removal. */
export function noteChange(table: usize, rule: usize): void {
  store<u32>(table, load<u32>(table, TABLE_CHANGES) + 1, TABLE_CHANGES);
  const tables: usize = load<u32>(table, TABLE_BITMAPS);
  const building: usize = load<u32>(table, TABLE_NEW_BITMAPS);
  if ((tables | building) == 0) return;
  const unread = load<u32>(table, TABLE_UNREAD) + 1;
  store<u32>(table, unread, TABLE_UNREAD);
  if (unread > max<u32>(load<u32>(table, TABLE_RULES) >> 1, MIN_UNREAD)) {
    forgetBitmaps(table);
  } else if (rule != 0) {
    if (tables != 0 && addToBitmaps(tables, rule)) hurry(table);
    if (building != 0) enter(building, rule);
  }
}

/** Counts a change as many: a sixteenth of what a rebuild waits for. */
function hurry(table: usize): void {
  store<u32>(table, load<u32>(table, TABLE_CHANGES) + (load<u32>(table, TABLE_REBUILT) >> 4), TABLE_CHANGES);
}

/** Enters a rule that comes during a rebuild. */
function enter(building: usize, rule: usize): void {
  if (stateOf(building) < HAS_TABLES) seeBest(building, rule);
  else addToBitmaps(building, rule);
}

/** Does the part of the rebuild that comes with a lookup of `keys` keys. */
// @ts-ignore: decorator
@inline
export function noteLookup(table: usize, keys: u32): void {
  store<u32>(table, 0, TABLE_UNREAD);
  if (load<u32>(table, TABLE_NEW_BITMAPS) != 0 || (isDue(table) && begin(table)))
    advance(table, STEP + keys * KEY_STEP);
}

// @ts-ignore: decorator
@inline
function isDue(table: usize): bool {
  return (
    load<u32>(table, TABLE_CHANGES) >= max<u32>(load<u32>(table, TABLE_REBUILT), MIN_RULES) &&
    load<u32>(table, TABLE_RULES) >= MIN_RULES &&
    load<u32>(table + TABLE_TUPLES, TUPLE_COUNT) >= FEW_TUPLES
  );
}

/** Makes new bitmaps; false when memory is full. */
function begin(table: usize): bool {
  store<u32>(table, 0, TABLE_CHANGES);
  const building = createBitmaps(table + TABLE_DEFINER, load<u32>(table, TABLE_RULES));
  if (building == 0) return false;
  store<u32>(table, <u32>building, TABLE_NEW_BITMAPS);
  store<u32>(table, 0, TABLE_CURSOR);
  store<u32>(table, load<u32>(table, TABLE_REBUILDS) + 1, TABLE_REBUILDS);
  return true;
}

/** Does a part of the rebuild, which walks over so many buckets at most. */
function advance(table: usize, buckets: u32): void {
  const building: usize = load<u32>(table, TABLE_NEW_BITMAPS);
  const hashTable = table + TABLE_HASH;
  const state = stateOf(building);
  if (state == ORDERED) {
    if (buildTables(building)) setState(building, HAS_TABLES);
    return;
  }
  if (state == ENTERED) {
    if (!chooseQuad(building, hashTable)) finish(table, building);
    return;
  }
  let cursor = load<u32>(table, TABLE_CURSOR);
  const end = min(cursor + buckets, load<u32>(hashTable, BUCKETS));
  Uncovered.values = 0;
  for (; cursor < end && Uncovered.values < buckets * STEP_VALUES; cursor++) {
    const bucket = bucketAt(hashTable, cursor);
    if (state == HAS_TABLES) enterBucket(table, building, bucket);
    else arrangeBucket(table, building, bucket);
  }
  if (cursor >= load<u32>(hashTable, BUCKETS)) {
    if (state == HAS_TABLES) setState(building, ENTERED);
    else orderTuples(building, table + TABLE_TUPLES);
    cursor = 0;
  }
  store<u32>(table, cursor, TABLE_CURSOR);
}

/**
 * Moves the rules of a bucket to the tuples of their masks, and notes the ranks of those that stay. Of
 * a list it looks at MAX_SEEN rules, and at the best of the others.
 */
function arrangeBucket(table: usize, building: usize, bucket: usize): void {
  let moves: u32 = 0;
  for (; bucket != 0; bucket = linkOf(bucket)) {
    for (let slot: u32 = 0; slot < WIDTH; slot++) {
      let rule = valueAt(bucket, slot);
      if (rule == 0 || isLink(rule)) continue;
      for (let left = MAX_SEEN; rule != 0 && left != 0; left--, rule = load<u32>(rule, RULE_NEXT)) {
        const mask: usize = load<u32>(rule, RULE_MASK);
        if (load<u32>(mask, MASK_REBUILD) != load<u32>(table, TABLE_REBUILDS)) chooseTuple(table, mask);
        if (load<u32>(mask, MASK_TUPLE) == <u32>load<u8>(rule, RULE_TUPLE) || moves == MAX_MOVES) {
          seeBest(building, rule);
        } else {
          store<u32>(MOVES + ((<usize>moves) << 2), <u32>rule);
          moves++;
        }
      }
      if (rule != 0) seeBest(building, rule);
    }
  }
  for (let n: u32 = 0; n < moves; n++) move(table, building, load<u32>(MOVES + ((<usize>n) << 2)));
}

/** Enters the rules of a bucket; a long list as one rule that covers only what its tuple does. */
function enterBucket(table: usize, building: usize, bucket: usize): void {
  for (; bucket != 0; bucket = linkOf(bucket)) {
    for (let slot: u32 = 0; slot < WIDTH; slot++) {
      let rule = valueAt(bucket, slot);
      if (rule == 0 || isLink(rule)) continue;
      if (isLongList(rule)) {
        const tuple = tupleAt(table + TABLE_TUPLES, load<u8>(rule, RULE_TUPLE));
        const whole = chunksOf(table + TABLE_DEFINER, tuple + TUPLE_MASK, load<u32>(tuple, TUPLE_LANES));
        addCovering(building, rule, whole, 0);
        continue;
      }
      for (; rule != 0; rule = load<u32>(rule, RULE_NEXT)) addToBitmaps(building, rule);
    }
  }
}

/** Computes the chunks that a mask covers, if the table has bitmaps. */
export function readyMask(table: usize, mask: usize): void {
  store<u32>(mask, load<u32>(table, TABLE_REBUILDS), MASK_REBUILD);
  if ((load<u32>(table, TABLE_BITMAPS) | load<u32>(table, TABLE_NEW_BITMAPS)) == 0) return;
  const definer = table + TABLE_DEFINER;
  const lanes = load<u32>(mask, MASK_LANES_COUNT);
  store<u64>(mask, chunksOf(definer, mask + MASK_BYTES, lanes), MASK_CHUNKS);
  store<u64>(mask, nearlyCovered(definer, mask + MASK_BYTES, lanes, uncoveredBits(mask)), MASK_NEARLY);
}

/** How many bits of a chunk the rules of a mask may leave uncovered, so that all of them enter few values. */
function uncoveredBits(mask: usize): u32 {
  let bits: u32 = 0;
  while (bits < MAX_UNCOVERED && load<u32>(mask, MASK_RULES) << (bits + 1) <= MAX_VALUES) bits++;
  return bits;
}

/** Looks for a better tuple for a mask: one of its own if many rules of the table have the mask. */
function chooseTuple(table: usize, mask: usize): void {
  readyMask(table, mask);
  const tuples = table + TABLE_TUPLES;
  const many = load<u32>(mask, MASK_RULES) * 128 >= load<u32>(table, TABLE_RULES);
  const tuple = tupleFor(tuples, mask, definerLanes(table + TABLE_DEFINER), many);
  // Unreached: the mask has a tuple that fits, so there is one also without memory.
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
    // Unreached: the removal has freed the memory that the rule takes.
    addToTuple(hashTable, tuples, old, rule);
  seeBest(building, rule);
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
}

/**
 * Frees bitmaps, unfinished ones first, and postpones the next rebuild; false if there are
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

/** Frees all bitmaps. The next rebuild is due with a lookup. */
function forgetBitmaps(table: usize): void {
  for (let more = true; more;) more = yieldMemory(table);
  store<u32>(table, 0, TABLE_REBUILT);
  store<u32>(table, MIN_RULES, TABLE_CHANGES);
}

/** Ends the rebuild of a table without rules. */
export function cancelRebuild(table: usize): void {
  forgetBitmaps(table);
  store<u32>(table, 0, TABLE_CHANGES);
}
