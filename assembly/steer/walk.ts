/**
 * The walk: from the root table, along the rules, to the end of every branch.
 *
 * A work list of branches. Those that stand at the table of the first one are looked up as a batch, then acted on in
 * their order; a branch that goes on (onward.ts) goes to the end of the list.
 */
import { run } from "../act/run";
import { FOUND, GATHERED, WAITING } from "../memory";
import { end, hit, openOutcome, openOutcomes } from "../out/outcome";
import { branchAt, BRANCH_INDEX, BRANCH_TABLE, BRANCH_WHY, openBranch } from "./branch";
import { lookup } from "./match";
import { Admitted, admits, leave, missReason, missVerdict, nextStage, Walk } from "./onward";

/** Walks the first `count` frames of the batch from `root`, looped back by the queue `sender` where that is not 0. */
export function walk(root: usize, count: u32, sender: usize): void {
  Walk.sender = sender;
  Walk.careful = sender != 0;
  openOutcomes();
  for (let i: u32 = 0; i < count; i++) {
    openOutcome(i);
    openBranch(i, root);
    store<u32>(WAITING + ((<usize>i) << 2), i);
  }
  // All of them stand at one table.
  let waiting = move(root, WAITING, count, 0);
  while (waiting > 0) waiting = step(waiting);
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
  return move(table, GATHERED, here, rest);
}

// @ts-ignore: decorator
@inline
function append(list: usize, length: u32, index: u32): u32 {
  store<u32>(list + ((<usize>length) << 2), index);
  return length + 1;
}

/**
 * Acts on the first `count` branches of a list, all at `table`; those that go on are appended to the `rest` that wait.
 * The list may be that of the waiting itself, from its start on: none is written over before it is read.
 */
function move(table: usize, list: usize, count: u32, rest: u32): u32 {
  lookup(table, list, count);
  const careful = Walk.careful;
  const ends = nextStage(table) == 0;
  const verdict = missVerdict(table);
  const reason = missReason(table);
  for (let i: usize = 0; i < count; i++) {
    const index = load<u32>(list + (i << 2));
    const branch = branchAt(index);
    const rule: usize = load<u32>(FOUND + (i << 2));
    if (rule == 0 && ends && load<u8>(branch, BRANCH_WHY) == 0) end(index, verdict, reason);
    else if (advance(branch, table, rule, careful)) rest = append(WAITING, rest, index);
  }
  return rest;
}

/** Acts on what the lookup found; whether the branch goes on. */
// @ts-ignore: decorator
@inline
function advance(branch: usize, table: usize, rule: usize, careful: bool): bool {
  if (rule == 0) return leave(branch, table);
  if (careful) {
    const admitted = admits(branch, rule);
    if (admitted != Admitted.yes) return admitted == Admitted.passed_over;
  }
  hit(load<u32>(branch, BRANCH_INDEX), rule);
  return run(branch, table, rule);
}
