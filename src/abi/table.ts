/**
 * A table in memory. assembly/classify/table.ts changes a table, lookup.ts searches it.
 *
 * Both compilers read this file: numeric constants only, no imports.
 *
 *     0       4       8       12     16        20            24       28        32        36
 *     | flags | rules | needs | next | bitmaps | new bitmaps | cursor | rebuilt | changes | ...
 *     36         40        68       84      108    132    136         140      144
 *     | rebuilds | definer | tuples | masks | hash | miss | reachable | unread |
 *
 *     flags       TABLE_* of engine.ts
 *     needs       required fields of its rules (requiredFields.ts)
 *     masks       hash table of masks (mask.ts)
 *     hash        hash table of rule lists (ruleList.ts)
 *     miss        the table that unmatched frames go to, 0 for none
 *     bitmaps .. rebuilds, unread: see rebuild.ts
 */

/** Parts of a table: a definer (definer.ts), its tuples (tuple.ts), a hash table (hashTable.ts). */
export const DEFINER_SIZE = 28;
export const TUPLES_SIZE = 16;
export const HASH_TABLE_SIZE = 24;

export const TABLE_FLAGS = 0;
export const TABLE_RULES = 4;
export const TABLE_NEEDS = 8;
export const TABLE_NEXT = 12;
/** The candidate bitmaps that lookups read, and those that a rebuild makes; 0 for none. */
export const TABLE_BITMAPS = 16;
export const TABLE_NEW_BITMAPS = 20;
/** The next bucket of the rebuild. */
export const TABLE_CURSOR = 24;
/** Rules at the last rebuild, changes since then, rebuild count. */
export const TABLE_REBUILT = 28;
export const TABLE_CHANGES = 32;
export const TABLE_REBUILDS = 36;
export const TABLE_DEFINER = 40;
export const TABLE_TUPLES = TABLE_DEFINER + DEFINER_SIZE;
export const TABLE_MASKS = TABLE_TUPLES + TUPLES_SIZE;
export const TABLE_HASH = TABLE_MASKS + HASH_TABLE_SIZE;
export const TABLE_MISS = TABLE_HASH + HASH_TABLE_SIZE;
/** Used by walk/reachableActions.ts: links the tables that are reachable; 0 for other tables. */
export const TABLE_REACHABLE = TABLE_MISS + 4;
/** Changes since the last lookup. */
export const TABLE_UNREAD = TABLE_REACHABLE + 4;
export const TABLE_SIZE = TABLE_UNREAD + 4;
