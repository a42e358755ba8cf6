/**
 * The walk: from the root table, along the rules, to the end of every branch.
 *
 * A work list of branches. Those that stand at the table of the first one are looked up as a batch, then acted on in
 * their order; a branch that an action sends to a table goes to the end of the list. The hop limit bounds the loop.
 */
import { HOP_LIMIT, Reason, TABLE_ROOT, Verdict } from "../../src/abi/engine";
import { run } from "../act/run";
import { FOUND, GATHERED, WAITING } from "../memory";
import { end, hit, openOutcome } from "../out/outcome";
import { branchAt, BRANCH_HOPS, BRANCH_INDEX, BRANCH_TABLE, openBranch } from "./branch";
import { lookup } from "./match";
import { TABLE_FLAGS } from "./table";

/** Walks the first `count` frames of the batch from `root`. */
export function walk(root: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    openOutcome(i);
    openBranch(i, root);
    store<u32>(WAITING + ((<usize>i) << 2), i);
  }
  while (count > 0) count = step(count);
}

/** Moves the branches at one table by one rule; gives how many still wait. */
function step(waiting: u32): u32 {
  const table: usize = load<u32>(branchAt(load<u32>(WAITING)), BRANCH_TABLE);
  let here: u32 = 0;
  let rest: u32 = 0;
  for (let i: usize = 0; i < waiting; i++) {
    const index = load<u32>(WAITING + (i << 2));
    if (<usize>load<u32>(branchAt(index), BRANCH_TABLE) == table) here = append(GATHERED, here, index);
    else rest = append(WAITING, rest, index);
  }
  lookup(table, GATHERED, here);
  for (let i: usize = 0; i < here; i++) {
    const index = load<u32>(GATHERED + (i << 2));
    if (advance(branchAt(index), table, load<u32>(FOUND + (i << 2)))) rest = append(WAITING, rest, index);
  }
  return rest;
}

// @ts-ignore: decorator
@inline
function append(list: usize, length: u32, index: u32): u32 {
  store<u32>(list + ((<usize>length) << 2), index);
  return length + 1;
}

/** Acts on what the lookup found; whether the branch goes on. */
function advance(branch: usize, table: usize, rule: usize): bool {
  const index = load<u32>(branch, BRANCH_INDEX);
  if (rule == 0) {
    if (load<u32>(table, TABLE_FLAGS) & TABLE_ROOT) end(index, Verdict.miss, Reason.no_rule);
    else end(index, Verdict.drop, Reason.table_miss);
    return false;
  }
  hit(index, rule);
  const next = run(branch, table, rule);
  if (next == 0) return false;
  const hops = load<u32>(branch, BRANCH_HOPS) + 1;
  if (hops > <u32>HOP_LIMIT) {
    end(index, Verdict.drop, Reason.hop_limit);
    return false;
  }
  store<u32>(branch, hops, BRANCH_HOPS);
  store<u32>(branch, <u32>next, BRANCH_TABLE);
  return true;
}
