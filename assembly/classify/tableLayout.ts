/** A table in memory: its fields, and the list of all tables. */
import { DEFINER_SIZE } from "./definer";
import { HASH_TABLE_SIZE } from "./hashTable";
import { TUPLES_SIZE } from "./tuple";

export const TABLE_FLAGS: usize = 0;
export const TABLE_RULES: usize = 4;
export const TABLE_NEEDS: usize = 8;
export const TABLE_NEXT: usize = 12;
/** Pruning tables in use, and those that a sweep makes; 0 where there are none. */
export const TABLE_BITMAPS: usize = 16;
export const TABLE_NEW_BITMAPS: usize = 20;
/** The next bucket of the sweep. */
export const TABLE_CURSOR: usize = 24;
/** Rules when the last sweep ended, changes since, sweeps so far. */
export const TABLE_REBUILT: usize = 28;
export const TABLE_CHANGES: usize = 32;
export const TABLE_REBUILDS: usize = 36;
export const TABLE_DEFINER: usize = 40;
export const TABLE_TUPLES: usize = TABLE_DEFINER + DEFINER_SIZE;
export const TABLE_MASKS: usize = TABLE_TUPLES + TUPLES_SIZE;
export const TABLE_HASH: usize = TABLE_MASKS + HASH_TABLE_SIZE;
export const TABLE_MISS: usize = TABLE_HASH + HASH_TABLE_SIZE;
/** Of walk/reachable.ts: the next table of those that are reached, or NO_MORE; 0 where the table is not. */
export const TABLE_REACHABLE: usize = TABLE_MISS + 4;
export const TABLE_SIZE: u32 = <u32>(TABLE_REACHABLE + 4);

export namespace Tables {
  /** All tables, linked by TABLE_NEXT. */
  export let first: usize = 0;
}
