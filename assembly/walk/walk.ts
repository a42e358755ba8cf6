/**
 * The walk: from the root table, along the rules, to the end of every branch.
 *
 * In rounds: each takes all branches one rule on. Those that stand at the same table are looked up as a batch; then all are
 * acted on in their order, and those that go on (nextTable.ts), with the branches that rules have split off, are the next round. So
 * what happens to a frame does not depend on what else is in the batch.
 */
import { run } from "../act/run";
import { NEEDS_BRANCHES, NEEDS_ESP, NEEDS_ORDER } from "../../src/abi/key";
import { finishNext, prepareRun, runOf } from "./espBatch";
import { BATCH, FIRST_RULES, FOUND, GATHERED, PENDING, ROUND, SPLIT_BATCH, WAITING } from "../memory";
import { hit, keepRegisters, openOutcome, openOutcomes, setVerdict } from "../branch/outcome";
import { branchAt, BRANCH_FOUND, BRANCH_INDEX, BRANCH_TABLE, BRANCH_WHY, openBranch } from "../branch/branch";
import { Forks } from "../branch/fork";
import { Loan } from "../arena";
import { lookup } from "../classify/lookup";
import { RULE_ID } from "../classify/rule";
import { goOn, NextRound } from "../forward/nextRound";
import { Admitted, admit, missEndsHere, miss, missReason, missVerdict, Walk } from "../forward/nextTable";
import { deliverByRule, hasFastPath, endMiss } from "./fastPath";
import { Required } from "../wire/required";
import { firstLookup, nextLookup, hasResult, keepRecorded, nextResult, cacheLookup, record } from "./recordedLookups";

/** Walks the first `count` frames of the batch from `root`, looped back by the queue `sender` where that is not 0. */
export function walk(root: usize, count: u32, sender: usize): void {
  Walk.sender = sender;
  Walk.careful = sender != 0;
  openOutcomes();
  const wanted = Required.fields;
  if (wanted & NEEDS_ORDER) {
    walkInOrder(root, count);
    return;
  }
  const most: u32 = wanted & NEEDS_BRANCHES ? <u32>SPLIT_BATCH : <u32>BATCH;
  for (let first: u32 = 0; first < count; first += most) walkSome(root, first, min(most, count - first));
}

function walkSome(root: usize, first: u32, count: u32): void {
  list(first, count);
  Forks.first = first;
  const left = cacheLookup(root, ROUND, count, true);
  // All of them stand at one table.
  firstLookup(root, ROUND, left);
  NextRound.list = WAITING;
  NextRound.count = 0;
  actFirst(root, ROUND, left);
  moveToEnd();
  keepRecorded(root, first, count);
  if (Required.fields & NEEDS_BRANCHES) for (let i: u32 = 0; i < count; i++) keepRegisters(first + i);
}

/**
 * What becomes of a frame depends on those before it: only the first lookup is of all of them together, and the ciphers of
 * those that go through ESP one behind the other.
 */
function walkInOrder(root: usize, count: u32): void {
  list(0, count);
  cacheLookup(root, ROUND, count, false);
  firstLookup(root, ROUND, count);
  for (let i: u32 = 0; i < count; i++) open(i, root);
  NextRound.list = WAITING;
  NextRound.count = 0;
  memory.copy(FIRST_RULES, FOUND, (<usize>count) << 2);
  const esp = (Required.fields & NEEDS_ESP) != 0 && !Walk.careful;
  for (let i: u32 = 0; i < count;) {
    const run = esp ? runOf(i, count) : 1;
    if (run > 1) prepareRun(root, i, run);
    for (const end = i + run; i < end; i++) {
      Forks.first = i;
      const branch = branchAt(i);
      const goesOn =
        run > 1 ? finishNext(root, i) : advance(branch, root, load<u32>(FIRST_RULES + ((<usize>i) << 2)), Walk.careful);
      if (goesOn) goOn(branch);
      moveToEnd();
      keepRegisters(i);
    }
  }
  keepRecorded(root, 0, count);
}

/** Lists the branches that frames begin with in ROUND. */
// @ts-ignore: decorator
@inline
function list(first: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u32>(ROUND + ((<usize>i) << 2), first + i);
}

/** Puts a frame at the root table. */
// @ts-ignore: decorator
@inline
function open(index: u32, root: usize): usize {
  openOutcome(index);
  return openBranch(index, root);
}

/** Moves those that go on, until none does. */
// @ts-ignore: decorator
@inline
function moveToEnd(): void {
  while (NextRound.count > 0) {
    const list = NextRound.list;
    const length = NextRound.count;
    NextRound.list = list == WAITING ? ROUND : WAITING;
    NextRound.count = 0;
    moveAll(list, length);
  }
}

/** Moves a list of branches by one rule each. */
function moveAll(list: usize, count: u32): void {
  const table = tableOf(list, 0);
  let together = count <= <u32>BATCH;
  for (let i: u32 = 1; together && i < count; i++) together = tableOf(list, i) == table;
  if (together) {
    nextLookup(table, list, count);
    actTogether(table, list, count);
  } else moveApart(list, count);
}

// @ts-ignore: decorator
@inline
function tableOf(list: usize, i: u32): usize {
  return load<u32>(branchAt(load<u32>(list + ((<usize>i) << 2))), BRANCH_TABLE);
}

/** Acts on what was found for frames at the table that they begin at. Most are at their end then, and need no branch. */
function actFirst(root: usize, list: usize, count: u32): void {
  const careful = Walk.careful;
  const ends = missEndsHere(root);
  const verdict = missVerdict(root);
  const reason = missReason(root);
  for (let i: usize = 0; i < count; i++) {
    const index = load<u32>(list + (i << 2));
    const rule: usize = load<u32>(FOUND + (i << 2));
    if (rule == 0 && ends) endMiss(index, verdict, reason);
    else if (rule != 0 && !careful && hasFastPath(rule)) deliverByRule(index, rule);
    else actAlone(index, root, rule, careful);
  }
}

function actAlone(index: u32, root: usize, rule: usize, careful: bool): void {
  const branch = open(index, root);
  if (advance(branch, root, rule, careful)) goOn(branch);
}

/** Acts on what was found for at most BATCH branches, all at `table`. */
function actTogether(table: usize, list: usize, count: u32): void {
  const careful = Walk.careful;
  const ends = missEndsHere(table);
  const verdict = missVerdict(table);
  const reason = missReason(table);
  for (let i: usize = 0; i < count; i++) {
    const branch = branchAt(load<u32>(list + (i << 2)));
    const rule: usize = load<u32>(FOUND + (i << 2));
    if (rule == 0 && ends && load<u8>(branch, BRANCH_WHY) == 0) setVerdict(branch, verdict, reason);
    else if (advance(branch, table, rule, careful)) goOn(branch);
  }
}

/** Moves branches at several tables, or more than one lookup takes: all are looked up, then acted on in their order. */
function moveApart(list: usize, count: u32): void {
  let pending = listPending(list, count);
  while (pending > 0) {
    const table = tableOf(PENDING, 0);
    let here: u32 = 0;
    let rest: u32 = 0;
    for (let i: u32 = 0; i < pending; i++) {
      const number = load<u32>(PENDING + ((<usize>i) << 2));
      const together = here < <u32>BATCH && <usize>load<u32>(branchAt(number), BRANCH_TABLE) == table;
      if (together) here = append(GATHERED, here, number);
      else rest = append(PENDING, rest, number);
    }
    pending = rest;
    lookup(table, GATHERED, here);
    for (let i: usize = 0; i < here; i++) {
      const number = load<u32>(GATHERED + (i << 2));
      const rule = load<u32>(FOUND + (i << 2));
      if (Loan.inUse) record(number, rule);
      store<u32>(branchAt(number), rule, BRANCH_FOUND);
    }
  }
  const careful = Walk.careful;
  for (let i: usize = 0; i < count; i++) {
    const branch = branchAt(load<u32>(list + (i << 2)));
    if (advance(branch, load<u32>(branch, BRANCH_TABLE), load<u32>(branch, BRANCH_FOUND), careful)) goOn(branch);
  }
}

/** Those of which the cache does not know what is found, in PENDING; how many. */
function listPending(list: usize, count: u32): u32 {
  let pending: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const number = load<u32>(list + ((<usize>i) << 2));
    const branch = branchAt(number);
    if (hasResult(branch)) store<u32>(branch, nextResult(branch), BRANCH_FOUND);
    else pending = append(PENDING, pending, number);
  }
  return pending;
}

// @ts-ignore: decorator
@inline
function append(list: usize, length: u32, number: u32): u32 {
  store<u32>(list + ((<usize>length) << 2), number);
  return length + 1;
}

/** Acts on what the lookup found; whether the branch goes on. */
// @ts-ignore: decorator
@inline
function advance(branch: usize, table: usize, rule: usize, careful: bool): bool {
  if (rule == 0) return miss(branch, table);
  if (careful) {
    const admitted = admit(branch, rule);
    if (admitted != Admitted.yes) return admitted == Admitted.passed_over;
  }
  hit(load<u32>(branch, BRANCH_INDEX), load<u32>(rule, RULE_ID));
  return run(branch, table, rule);
}
