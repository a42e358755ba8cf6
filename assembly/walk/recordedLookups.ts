/**
 * Lookups by the cache of decisions: frames that have an entry take the results of it one after the other, those that have none are
 * looked up, and what is found for them is taped, to be kept when they have walked to their end.
 *
 *     tape    | results 4 | result 4 ... |
 *
 * An entry has the results of its tape behind its lanes, and how many they are as its kind; or, where the first of them says all, that
 * (fastPath.ts).
 * What is found is all that is taken from the cache; actions run as ever. Branches that rules have split off have neither entry nor tape.
 */
import { WANT_ORDER } from "../../src/abi/key";
import { leavesFunction } from "../act/keyDetermined";
import { Loan } from "../arena";
import { CACHE_LANES, ENTRIES, FOUND, HASHES, MISSED, MISSED_AT, RESULTS, TAPES, TAPE_SIZE } from "../memory";
import { BRANCH_END, BRANCH_NEXT, BRANCH_TAPED, branchAt } from "../branch/branch";
import { Cache, candidateOf, entryFor, isCacheAwake, noteHits } from "./flowCache";
import { CACHE_LANES_AT, CacheKey, ENTRY_KIND, hashAll, headOf, isEntryOf } from "./flowCacheKey";
import { lookup, lookupFirst } from "../classify/lookup";
import { Walk } from "../forward/nextTable";
import { deliverByEntry, isPlain, isWhole, KIND_RESULTS, writeWhole } from "./fastPath";
import { Required } from "../wire/required";

namespace Missed {
  /** Branches of a list that have to be looked up. */
  export let count: u32 = 0;
}

/**
 * Looks for the entries of frames that begin at the table `root`. Those that an entry takes to their end leave the list, where that may be
 * (`whole`); gives how many are left.
 */
export function recognize(root: usize, list: usize, count: u32, whole: bool): u32 {
  Loan.inUse = Walk.sender == 0 && isCacheAwake(count);
  if (!Loan.inUse) return count;
  hashAll(list, count, root);
  for (let i: usize = 0; i < count; i++) {
    store<u32>(ENTRIES + (i << 2), <u32>candidateOf(load<u64>(HASHES + (i << 3))));
  }
  verifyEntries(root, list, count);
  const left = takeEntries(list, count, whole);
  noteHits(count - Missed.count, count);
  return left;
}

/** The first lookup of those that are left: in FOUND. */
export function findFirst(root: usize, list: usize, count: u32): void {
  if (!Loan.inUse) {
    lookupFirst(root, list, count);
    return;
  }
  if (Missed.count != 0) lookupFirst(root, MISSED, Missed.count);
  keepFound(count);
}

/** Another lookup of branches that stand at one table: in FOUND. */
export function findNext(table: usize, list: usize, count: u32): void {
  if (!Loan.inUse) {
    lookup(table, list, count);
    return;
  }
  Missed.count = 0;
  for (let i: u32 = 0; i < count; i++) {
    const number = load<u32>(list + ((<usize>i) << 2));
    const branch = branchAt(number);
    if (hasResult(branch)) store<u32>(RESULTS + ((<usize>i) << 2), nextResult(branch));
    else addMissed(number, i);
  }
  if (Missed.count != 0) lookup(table, MISSED, Missed.count);
  keepFound(count);
}

/** Whether the cache has what the next lookup of a branch finds. */
// @ts-ignore: decorator
@inline
export function hasResult(branch: usize): bool {
  return Loan.inUse && load<u32>(branch, BRANCH_NEXT) != load<u32>(branch, BRANCH_END);
}

// @ts-ignore: decorator
@inline
export function nextResult(branch: usize): u32 {
  const next: usize = load<u32>(branch, BRANCH_NEXT);
  store<u32>(branch, <u32>next + 4, BRANCH_NEXT);
  return load<u32>(next);
}

/** Frames from `first` on have walked to their end: what was found for those that had no entry is kept. */
export function keepTapes(root: usize, first: u32, count: u32): void {
  // Memory that ran out on the way is no longer the cache's.
  if (!Loan.inUse) return;
  const stride = CacheKey.stride;
  for (let i: usize = 0; i < count; i++) {
    if (load<u32>(ENTRIES + (i << 2)) != 0) continue;
    const number = first + <u32>i;
    const entry = entryFor(number, root, load<u64>(HASHES + (i << 3)), CACHE_LANES + i * stride);
    if (entry != 0) writeResults(entry, tapeOf(number));
  }
}

/** Where frames take the end of their entry as it stands, that of a plain rule is written out. */
function writeResults(entry: usize, tape: usize): void {
  const tail = entry + CACHE_LANES_AT + CacheKey.stride;
  const count = load<u32>(tape);
  const first: usize = load<u32>(tape, 4);
  const whole = count == 1 && first != 0 && isPlain(first) && !(Required.fields & WANT_ORDER);
  store<u8>(entry, <u8>(whole ? writeWhole(tail, first) : count), ENTRY_KIND);
  if (!whole) memory.copy(tail, tape + 4, (<usize>count) << 2);
}

/** Which candidates are the entries of their frames: 0 in ENTRIES where one is not. Apart, so that misses of memory overlap. */
function verifyEntries(root: usize, list: usize, count: u32): void {
  const stride = CacheKey.stride;
  let lanes: usize = CACHE_LANES;
  for (let at: usize = 0; at < (<usize>count) << 2; at += 4, lanes += stride) {
    const entry = load<u32>(ENTRIES + at);
    const found = isEntryOf(entry, headOf(load<u32>(list + at), root), lanes, stride);
    store<u32>(ENTRIES + at, select<u32>(entry, 0, found));
  }
}

/** Frames that their entry takes to their end leave the list; the first results of the others that have one are in RESULTS. */
function takeEntries(list: usize, count: u32, whole: bool): u32 {
  const tail = CACHE_LANES_AT + CacheKey.stride;
  let left: u32 = 0;
  Missed.count = 0;
  for (let i: usize = 0; i < count; i++) {
    const number = load<u32>(list + (i << 2));
    const entry: usize = load<u32>(ENTRIES + (i << 2));
    if (entry != 0 && whole && isWhole(entry)) {
      deliverByEntry(number, entry, entry + tail);
      continue;
    }
    store<u32>(list + ((<usize>left) << 2), number);
    if (entry != 0) takeEntry(branchAt(number), entry, entry + tail, left);
    else openTape(number, left);
    left++;
  }
  return left;
}

// @ts-ignore: decorator
@inline
function takeEntry(branch: usize, entry: usize, results: usize, i: u32): void {
  const count = (<u32>load<u8>(entry, ENTRY_KIND)) & KIND_RESULTS;
  store<u32>(RESULTS + ((<usize>i) << 2), load<u32>(results));
  store<u32>(branch, <u32>results + 4, BRANCH_NEXT);
  store<u32>(branch, <u32>results + (count << 2), BRANCH_END);
  store<u32>(branch, 0, BRANCH_TAPED);
}

function openTape(number: u32, i: u32): void {
  const branch = branchAt(number);
  store<u32>(branch, 0, BRANCH_NEXT);
  store<u32>(branch, 0, BRANCH_END);
  store<u32>(branch, 1, BRANCH_TAPED);
  store<u32>(tapeOf(number), 0);
  addMissed(number, i);
}

// @ts-ignore: decorator
@inline
function addMissed(number: u32, i: u32): void {
  const at = (<usize>Missed.count) << 2;
  store<u32>(MISSED + at, number);
  store<u32>(MISSED_AT + at, i);
  Missed.count++;
}

/** What was found for those of a list that had no results is taped; what there is for all of them is put into FOUND. */
function keepFound(count: u32): void {
  for (let n: usize = 0; n < <usize>Missed.count; n++) {
    const rule = load<u32>(FOUND + (n << 2));
    tape(load<u32>(MISSED + (n << 2)), rule);
    store<u32>(RESULTS + ((<usize>load<u32>(MISSED_AT + (n << 2))) << 2), rule);
  }
  memory.copy(FOUND, RESULTS, (<usize>count) << 2);
}

/** Notes what a lookup has found for a branch, where that follows from the key that its frame began with. */
export function tape(number: u32, rule: u32): void {
  const branch = branchAt(number);
  if (load<u32>(branch, BRANCH_TAPED) == 0) return;
  const tape = tapeOf(number);
  const count = load<u32>(tape);
  const before: usize = count == 0 ? 0 : load<u32>(tape + ((<usize>count) << 2));
  if (count == Cache.results || (before != 0 && !leavesFunction(before))) {
    store<u32>(branch, 0, BRANCH_TAPED);
    return;
  }
  store<u32>(tape, count + 1);
  store<u32>(tape + ((<usize>count) << 2), rule, 4);
}

// @ts-ignore: decorator
@inline
function tapeOf(number: u32): usize {
  return TAPES + <usize>number * TAPE_SIZE;
}
