/**
 * A table in memory: its fields, and the list of all tables. table.ts changes a table, lookup.ts
 * searches it.
 *
 *     0       4       8       12     16        20            24       28        32        36
 *     | flags | rules | needs | next | bitmaps | new bitmaps | cursor | rebuilt | changes | ...
 *     36         40        68       84      108    132    136         140
 *     | rebuilds | definer | tuples | masks | hash | miss | reachable | unread |
 *
 *     needs       required fields of its rules (requiredFields.ts)
 *     masks       hash table of masks (mask.ts)
 *     hash        hash table of rule lists (ruleList.ts)
 *     miss        the table that unmatched frames go to, 0 for none
 *     bitmaps .. rebuilds, unread: see rebuild.ts
 */
import { DEFINER_SIZE } from "./definer";
import { HASH_TABLE_SIZE } from "./tuples/hashTable";
import { TUPLES_SIZE } from "./tuples/tuple";

export const TABLE_FLAGS: usize = 0;
export const TABLE_RULES: usize = 4;
export const TABLE_NEEDS: usize = 8;
export const TABLE_NEXT: usize = 12;
/** The candidate bitmaps that lookups read, and those that a rebuild makes; 0 for none. */
export const TABLE_BITMAPS: usize = 16;
export const TABLE_NEW_BITMAPS: usize = 20;
/** The next bucket of the rebuild. */
export const TABLE_CURSOR: usize = 24;
/** The number of rules after the last rebuild, of changes since then, and of rebuilds. */
export const TABLE_REBUILT: usize = 28;
export const TABLE_CHANGES: usize = 32;
export const TABLE_REBUILDS: usize = 36;
export const TABLE_DEFINER: usize = 40;
export const TABLE_TUPLES: usize = TABLE_DEFINER + DEFINER_SIZE;
export const TABLE_MASKS: usize = TABLE_TUPLES + TUPLES_SIZE;
export const TABLE_HASH: usize = TABLE_MASKS + HASH_TABLE_SIZE;
export const TABLE_MISS: usize = TABLE_HASH + HASH_TABLE_SIZE;
/** Used by walk/reachableActions.ts: links the tables that are reachable; 0 for other tables. */
export const TABLE_REACHABLE: usize = TABLE_MISS + 4;
/** Changes since the last lookup. */
export const TABLE_UNREAD: usize = TABLE_REACHABLE + 4;
export const TABLE_SIZE: u32 = <u32>(TABLE_UNREAD + 4);

export namespace Tables {
  /** All tables, linked by TABLE_NEXT. */
  export let first: usize = 0;
}
