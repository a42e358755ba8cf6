/**
 * Key -> rule: the lookup of a batch in one table.
 *
 * In: a table and a list of branches at it. Out: in FOUND, for each of the list, the first rule by rank that its key
 * matches and whose rank is not below the branch's lower bound; 0 for a miss.
 *
 *     gather     keys -> lanes                                 gather.ts, definer.ts
 *     prune      lanes -> sets of groups that can match        prune.ts
 *     probe      the next group of each key -> chain       \   probe.ts, slots.ts     again while a group is left that
 *     verify     chain -> rule                             /   verify.ts              could win: once, mostly
 *
 * Each phase runs over the whole batch: its loads are independent of one another, so that their misses overlap.
 */
import { ALIVE, BEST, FOUND, NOTHING, SETS } from "../memory";
import { definerLanes } from "./definer";
import { gatherAll } from "./gather";
import { GROUP_COUNT } from "./group";
import { probe } from "./probe";
import { pruneAll } from "./prune";
import { RULE_RANK } from "./rule";
import { TABLE_DEFINER, TABLE_GROUPS, TABLE_PRUNE, TABLE_RULES, TABLE_SLOTS } from "./table";
import { verify } from "./verify";

export function lookup(table: usize, list: usize, count: u32): void {
  memory.fill(FOUND, 0, (<usize>count) << 2);
  if (load<u32>(table, TABLE_RULES) == 0) return;
  const definer = table + TABLE_DEFINER;
  const groups = table + TABLE_GROUPS;
  const stride = (<usize>definerLanes(definer)) << 4;
  gatherAll(definer, list, count, stride);

  const all = placesBelow(load<u32>(groups, GROUP_COUNT));
  for (let i: usize = 0; i < count; i++) {
    store<u64>(BEST + (i << 3), u64.MAX_VALUE);
    v128.store(SETS + (i << 4), all);
    store<u32>(ALIVE + (i << 2), <u32>i);
  }
  const tables: usize = load<u32>(table, TABLE_PRUNE);
  if (tables != 0) pruneAll(tables, count, stride);
  store<u64>(NOTHING, u64.MAX_VALUE, RULE_RANK);
  while (count > 0) {
    const probed = probe(table + TABLE_SLOTS, groups, tables, count, stride);
    count = verify(list, tables, probed, stride);
  }
}

function placesBelow(count: u32): v128 {
  const low: u64 = count >= 64 ? u64.MAX_VALUE : ((<u64>1) << count) - 1;
  const high: u64 = count <= 64 ? 0 : count == 128 ? u64.MAX_VALUE : ((<u64>1) << (count - 64)) - 1;
  return i64x2.replace_lane(i64x2.splat(low), 1, high);
}
