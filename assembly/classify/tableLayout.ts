/** A table in memory: its fields, and the list of all tables. */
import { DEFINER_SIZE } from "./definer";
import { SLOTS_SIZE } from "./hashTable";
import { GROUPS_SIZE } from "./tuple";

export const TABLE_FLAGS: usize = 0;
export const TABLE_RULES: usize = 4;
export const TABLE_WANTS: usize = 8;
export const TABLE_NEXT: usize = 12;
/** Pruning tables in use, and those that a sweep makes; 0 where there are none. */
export const TABLE_PRUNE: usize = 16;
export const TABLE_BUILDING: usize = 20;
/** The next bucket of the sweep. */
export const TABLE_CURSOR: usize = 24;
/** Rules when the last sweep ended, changes since, sweeps so far. */
export const TABLE_SWEPT: usize = 28;
export const TABLE_CHANGES: usize = 32;
export const TABLE_SWEEPS: usize = 36;
export const TABLE_DEFINER: usize = 40;
export const TABLE_GROUPS: usize = TABLE_DEFINER + DEFINER_SIZE;
export const TABLE_MASKS: usize = TABLE_GROUPS + GROUPS_SIZE;
export const TABLE_SLOTS: usize = TABLE_MASKS + SLOTS_SIZE;
export const TABLE_MISS: usize = TABLE_SLOTS + SLOTS_SIZE;
/** Of walk/reachableActions.ts: the next table of those that are reached, or NO_MORE; 0 where the table is not. */
export const TABLE_REACHED: usize = TABLE_MISS + 4;
export const TABLE_SIZE: u32 = <u32>(TABLE_REACHED + 4);

export namespace Tables {
  /** All tables, linked by TABLE_NEXT. */
  export let first: usize = 0;
}
