/**
 * Key -> rule: looks a batch up in one table. In: a table and a list of branches at it. Out: in
 * FOUND, for each of the list, the first rule by rank that its key matches and whose rank is not
 * below the branch's lower bound; 0 for a miss.
 *
 *     gather   keys -> lanes                                gather.ts, definer.ts
 *     filter   lanes -> candidate bitmaps                   filter.ts, candidates.ts
 *     probe    the next tuple of each key -> rule list  \   probe.ts, hashTable.ts
 *     verify   rule list -> rule                        /   verify.ts
 *
 * Probe and verify repeat while a key has a tuple left that can win: mostly once.
 *
 * Each phase is a loop over the batch. Its loads do not depend on one another, so cache misses
 * overlap.
 */
import { TABLE_DEFINER, TABLE_TUPLES, TABLE_BITMAPS, TABLE_RULES, TABLE_HASH } from "../../../src/abi/table";
import { FOUND } from "../../memory";
import { BRANCH_LOWER } from "../../branch/branch";
import { definerLanes } from "../definer";
import { branchOf, gatherAll } from "./gather";
import { TUPLE_COUNT } from "../tuples/tuple";
import { probe, probeFirst } from "./probe";
import { filterAll } from "./filter";
import { noteLookup } from "../rebuild";
import { lowBits, NO_BITMAPS } from "../bitmaps/candidates";
import { verify } from "./verify";

export function lookup(table: usize, list: usize, count: u32): void {
  let bounds: u64 = 0;
  for (let i: usize = 0; i < count; i++) bounds |= load<u64>(branchOf(list, i), BRANCH_LOWER);
  find(table, list, count, <u32>(bounds != 0));
}

/**
 * A lookup for branches without a lower bound. It reads only their keys, so branches may be
 * uninitialised otherwise.
 */
export function lookupFirst(table: usize, list: usize, count: u32): void {
  find(table, list, count, 0);
}

/** `bounded`: some branch has a lower bound of rank. */
function find(table: usize, list: usize, count: u32, bounded: u32): void {
  memory.fill(FOUND, 0, (<usize>count) << 2);
  if (load<u32>(table, TABLE_RULES) == 0) return;
  noteLookup(table, count);
  const settled: usize = load<u32>(table, TABLE_BITMAPS);
  const definer = table + TABLE_DEFINER;
  const tuples = table + TABLE_TUPLES;
  const hashTable = table + TABLE_HASH;
  const stride = (<usize>definerLanes(definer)) << 4;
  gatherAll(definer, list, count, stride);

  const bitmaps = settled != 0 ? settled : NO_BITMAPS;
  const bits = load<u32>(tuples, TUPLE_COUNT);
  filterAll(bitmaps, count, stride, lowBits(min(bits, 64)), lowBits(max(bits, 64) - 64));
  // `verify` is called twice: a function that is called once would be inlined here, and run out of
  // registers.
  let probed = probeFirst(hashTable, tuples, bitmaps, count, stride);
  count = verify(list, hashTable, bitmaps, probed, stride, bounded);
  while (count > 0) {
    probed = probe(hashTable, tuples, bitmaps, count, stride);
    count = verify(list, hashTable, bitmaps, probed, stride, bounded);
  }
}
