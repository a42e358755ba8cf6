/**
 * The walk: takes the frames of a batch from the root table, rule by rule, to the end of every
 * branch. In: the first `count` frames and a root table. Out: their outcomes.
 *
 * The walk goes in rounds; each takes every branch one rule on. Branches at the same table are
 * looked up as a batch. Then all act in order. Branches that go on (forward/nextTable.ts), and
 * forks, form the next round. So the outcome of a frame does not depend on the other frames of its
 * batch.
 */
import { run } from "../act/run";
import { VPORT_MANAGER } from "../../src/abi/engine";
import { NEEDS_BRANCHES, NEEDS_ESP, NEEDS_ORDER } from "../../src/abi/key";
import { finishNext, prepareRun, runOf } from "./espBatch";
import { BATCH, FIRST_RULES, FOUND, GATHERED, SPLIT_BATCH } from "../memory";
import { Forks, Lists } from "../rows";
import { hit, keepRegisters, openOutcome, openOutcomes } from "../branch/outcome";
import { branchAt, BRANCH_FOUND, BRANCH_INDEX, BRANCH_TABLE, BRANCH_REASON, openBranch } from "../branch/branch";
import { openForks } from "../branch/fork";
import { Loan } from "../arena";
import { lookup } from "../classify/lookup/lookup";
import { goOn, NextRound } from "../forward/nextRound";
import {
  Admitted,
  admit,
  endMissAt,
  missedPlace,
  missEndsHere,
  miss,
  missReason,
  missVerdict,
  Walk,
} from "../forward/nextTable";
import { deliverByRule, hasFastPath, endMiss } from "./fastPath";
import { Required } from "../wire/required";
import { firstLookup, nextLookup, hasResult, keepRecorded, nextResult, cacheLookup, record } from "./recordedLookups";
import { noteActing, noteLookup, noteSnapshot } from "../branch/events";
import { TraceEvent } from "../../src/abi/trace";
import { RULE_ID } from "../../src/abi/rule";

/**
 * Walks the first `count` frames of the batch from `root`. `sender` is the queue whose frames the
 * port loops back, else 0.
 */
export function walk(root: usize, count: u32, sender: usize): void {
  Walk.sender = sender;
  Walk.mustAdmit = sender != 0;
  openOutcomes();
  const wanted = Required.fields;
  let inOrder = (wanted & NEEDS_ORDER) != 0;
  if (TRACED) inOrder = true;
  if (wanted & NEEDS_BRANCHES) prepareForks(inOrder ? 1 : count);
  if (inOrder) {
    walkInOrder(root, count);
    return;
  }
  const most: u32 = wanted & NEEDS_BRANCHES ? max<u32>(Forks.frames, 1) : <u32>BATCH;
  for (let first: u32 = 0; first < count; first += most) walkTogether(root, first, min(most, count - first));
}

/**
 * Takes memory for the forks of SPLIT_BATCH frames, or of as many as a batch of `count` needs. Where
 * memory is full, it tries a quarter of them, again and again: fewer frames are walked together then.
 * Without memory for one frame, frames are not split (`fork`).
 */
function prepareForks(count: u32): void {
  let frames: u32 = <u32>SPLIT_BATCH;
  while (frames > 1 && frames >> 2 >= count) frames >>= 2;
  while (frames > Forks.frames && !openForks(frames)) frames >>= 2;
}

function walkTogether(root: usize, first: u32, count: u32): void {
  listFrames(first, count);
  Forks.first = first;
  const left = cacheLookup(root, Lists.round, count, true);
  // All of them are at one table.
  firstLookup(root, Lists.round, left);
  NextRound.list = Lists.waiting;
  NextRound.count = 0;
  actFirst(root, Lists.round, left);
  runRounds();
  keepRecorded(root, first, count);
  if (Required.fields & NEEDS_BRANCHES) for (let i: u32 = 0; i < count; i++) keepRegisters(first + i);
}

/**
 * Walks frames one after the other, since the outcome of a frame depends on those before it. Only
 * the first lookup takes all frames together, and so do the ciphers of an ESP batch.
 */
function walkInOrder(root: usize, count: u32): void {
  listFrames(0, count);
  cacheLookup(root, Lists.round, count, false);
  firstLookup(root, Lists.round, count);
  for (let i: u32 = 0; i < count; i++) openFrame(i, root);
  NextRound.list = Lists.waiting;
  NextRound.count = 0;
  memory.copy(FIRST_RULES, FOUND, (<usize>count) << 2);
  const esp = (Required.fields & NEEDS_ESP) != 0 && !Walk.mustAdmit;
  for (let i: u32 = 0; i < count;) {
    const run = esp ? runOf(i, count) : 1;
    if (run > 1) prepareRun(root, i, run);
    for (const end = i + run; i < end; i++) {
      Forks.first = i;
      const branch = branchAt(i);
      if (TRACED) noteSnapshot(TraceEvent.parsed, branch);
      const goesOn =
        run > 1
          ? finishNext(root, i)
          : advance(branch, root, load<u32>(FIRST_RULES + ((<usize>i) << 2)), Walk.mustAdmit);
      if (goesOn) goOn(branch);
      runRounds();
      keepRegisters(i);
    }
  }
  keepRecorded(root, 0, count);
}

/** Lists the first branches of frames in ROUND. */
// @ts-ignore: decorator
@inline
function listFrames(first: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u32>(Lists.round + ((<usize>i) << 2), first + i);
}

/** Opens the branch and the outcome of a frame. */
// @ts-ignore: decorator
@inline
function openFrame(index: u32, root: usize): usize {
  openOutcome(index);
  return openBranch(index, root);
}

/** Runs rounds until no branch goes on. */
// @ts-ignore: decorator
@inline
function runRounds(): void {
  while (NextRound.count > 0) {
    const list = NextRound.list;
    const length = NextRound.count;
    NextRound.list = list == Lists.waiting ? Lists.round : Lists.waiting;
    NextRound.count = 0;
    runRound(list, length);
  }
}

/** Runs one round: takes each branch of a list one rule on. */
function runRound(list: usize, count: u32): void {
  const table = tableOf(list, 0);
  let together = count <= <u32>BATCH;
  for (let i: u32 = 1; together && i < count; i++) together = tableOf(list, i) == table;
  if (together) {
    nextLookup(table, list, count);
    actTogether(table, list, count);
  } else runMixedRound(list, count);
}

// @ts-ignore: decorator
@inline
function tableOf(list: usize, i: u32): usize {
  return load<u32>(branchAt(load<u32>(list + ((<usize>i) << 2))), BRANCH_TABLE);
}

/** Acts on the first rules. Most frames end here and need no branch. */
function actFirst(root: usize, list: usize, count: u32): void {
  const mustAdmit = Walk.mustAdmit;
  const ends = missEndsHere(root);
  const verdict = missVerdict(root);
  const reason = missReason(root);
  const place = missedPlace(root, VPORT_MANAGER);
  for (let i: usize = 0; i < count; i++) {
    const index = load<u32>(list + (i << 2));
    const rule: usize = load<u32>(FOUND + (i << 2));
    if (rule == 0 && ends) endMiss(index, verdict, reason, place);
    else if (rule != 0 && !mustAdmit && hasFastPath(rule)) deliverByRule(index, rule);
    else actAlone(index, root, rule, mustAdmit);
  }
}

function actAlone(index: u32, root: usize, rule: usize, mustAdmit: bool): void {
  const branch = openFrame(index, root);
  if (advance(branch, root, rule, mustAdmit)) goOn(branch);
}

/** Acts on the rules of at most BATCH branches, all at `table`. */
function actTogether(table: usize, list: usize, count: u32): void {
  const mustAdmit = Walk.mustAdmit;
  const ends = missEndsHere(table);
  const verdict = missVerdict(table);
  const reason = missReason(table);
  for (let i: usize = 0; i < count; i++) {
    const branch = branchAt(load<u32>(list + (i << 2)));
    const rule: usize = load<u32>(FOUND + (i << 2));
    if (TRACED) {
      if (advance(branch, table, rule, mustAdmit)) goOn(branch);
      continue;
    }
    if (rule == 0 && ends && load<u8>(branch, BRANCH_REASON) == 0) endMissAt(branch, table, verdict, reason);
    else if (advance(branch, table, rule, mustAdmit)) goOn(branch);
  }
}

/**
 * Runs a round of branches at several tables, or of more than one lookup takes: looks all of them
 * up, then acts in order.
 */
function runMixedRound(list: usize, count: u32): void {
  let pending = listPending(list, count);
  while (pending > 0) {
    const table = tableOf(Lists.pending, 0);
    let here: u32 = 0;
    let rest: u32 = 0;
    for (let i: u32 = 0; i < pending; i++) {
      const number = load<u32>(Lists.pending + ((<usize>i) << 2));
      const together = here < <u32>BATCH && <usize>load<u32>(branchAt(number), BRANCH_TABLE) == table;
      if (together) here = append(GATHERED, here, number);
      else rest = append(Lists.pending, rest, number);
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
  const mustAdmit = Walk.mustAdmit;
  for (let i: usize = 0; i < count; i++) {
    const branch = branchAt(load<u32>(list + (i << 2)));
    if (advance(branch, load<u32>(branch, BRANCH_TABLE), load<u32>(branch, BRANCH_FOUND), mustAdmit)) goOn(branch);
  }
}

/** Lists the branches without a recorded result in the pending list; returns their number. */
function listPending(list: usize, count: u32): u32 {
  let pending: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const number = load<u32>(list + ((<usize>i) << 2));
    const branch = branchAt(number);
    if (hasResult(branch)) store<u32>(branch, nextResult(branch), BRANCH_FOUND);
    else pending = append(Lists.pending, pending, number);
  }
  return pending;
}

// @ts-ignore: decorator
@inline
function append(list: usize, length: u32, number: u32): u32 {
  store<u32>(list + ((<usize>length) << 2), number);
  return length + 1;
}

/** Acts on the rule of a branch; whether the branch goes on. */
// @ts-ignore: decorator
@inline
function advance(branch: usize, table: usize, rule: usize, mustAdmit: bool): bool {
  if (TRACED) {
    noteActing(branch);
    noteLookup(branch, table, rule);
  }
  if (rule == 0) return miss(branch, table);
  if (mustAdmit) {
    const admitted = admit(branch, rule);
    if (admitted != Admitted.yes) return admitted == Admitted.passed_over;
  }
  hit(load<u32>(branch, BRANCH_INDEX), load<u32>(rule, RULE_ID));
  return run(branch, table, rule);
}
