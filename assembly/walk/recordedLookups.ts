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
import { NEEDS_ORDER } from "../../src/abi/key";
import { leavesFunction } from "../act/keyDetermined";
import { Loan } from "../arena";
import {
  CACHE_LANES,
  ENTRIES,
  FOUND,
  HASHES,
  UNCACHED,
  UNCACHED_AT,
  RESULTS,
  RECORDED,
  RECORDED_SIZE,
} from "../memory";
import { BRANCH_END, BRANCH_NEXT, BRANCH_RECORDING, branchAt } from "../branch/branch";
import { Cache, likelyEntry, entryFor, isCacheOn, noteHits } from "./flowCache";
import { ENTRY_LANES, CacheKey, ENTRY_KIND, hashAll, headOf, isEntryOf } from "./flowCacheKey";
import { lookup, lookupFirst } from "../classify/lookup";
import { Walk } from "../forward/nextTable";
import { deliverByEntry, hasFastPath, isFinal, KIND_RESULTS, writeFinal } from "./fastPath";
import { Required } from "../wire/required";

namespace Uncached {
  /** Branches of a list that have to be looked up. */
  export let count: u32 = 0;
}

/**
 * Looks for the entries of frames that begin at the table `root`. Those that an entry takes to their end leave the list, where that may be
 * (`whole`); gives how many are left.
 */
export function cacheLookup(root: usize, list: usize, count: u32, whole: bool): u32 {
  Loan.inUse = Walk.sender == 0 && isCacheOn(count);
  if (!Loan.inUse) return count;
  hashAll(list, count, root);
  for (let i: usize = 0; i < count; i++) {
    store<u32>(ENTRIES + (i << 2), <u32>likelyEntry(load<u64>(HASHES + (i << 3))));
  }
  verifyEntries(root, list, count);
  const left = takeEntries(list, count, whole);
  noteHits(count - Uncached.count, count);
  return left;
}

/** The first lookup of those that are left: in FOUND. */
export function firstLookup(root: usize, list: usize, count: u32): void {
  if (!Loan.inUse) {
    lookupFirst(root, list, count);
    return;
  }
  if (Uncached.count != 0) lookupFirst(root, UNCACHED, Uncached.count);
  keepFound(count);
}

/** Another lookup of branches that stand at one table: in FOUND. */
export function nextLookup(table: usize, list: usize, count: u32): void {
  if (!Loan.inUse) {
    lookup(table, list, count);
    return;
  }
  Uncached.count = 0;
  for (let i: u32 = 0; i < count; i++) {
    const number = load<u32>(list + ((<usize>i) << 2));
    const branch = branchAt(number);
    if (hasResult(branch)) store<u32>(RESULTS + ((<usize>i) << 2), nextResult(branch));
    else addUncached(number, i);
  }
  if (Uncached.count != 0) lookup(table, UNCACHED, Uncached.count);
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
export function keepRecorded(root: usize, first: u32, count: u32): void {
  // Memory that ran out on the way is no longer the cache's.
  if (!Loan.inUse) return;
  const stride = CacheKey.stride;
  for (let i: usize = 0; i < count; i++) {
    if (load<u32>(ENTRIES + (i << 2)) != 0) continue;
    const number = first + <u32>i;
    const entry = entryFor(number, root, load<u64>(HASHES + (i << 3)), CACHE_LANES + i * stride);
    if (entry != 0) writeResults(entry, recordedOf(number));
  }
}

/** Where frames take the end of their entry as it stands, that of a plain rule is written out. */
function writeResults(entry: usize, record: usize): void {
  const tail = entry + ENTRY_LANES + CacheKey.stride;
  const count = load<u32>(record);
  const first: usize = load<u32>(record, 4);
  const whole = count == 1 && first != 0 && hasFastPath(first) && !(Required.fields & NEEDS_ORDER);
  store<u8>(entry, <u8>(whole ? writeFinal(tail, first) : count), ENTRY_KIND);
  if (!whole) memory.copy(tail, record + 4, (<usize>count) << 2);
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
  const tail = ENTRY_LANES + CacheKey.stride;
  let left: u32 = 0;
  Uncached.count = 0;
  for (let i: usize = 0; i < count; i++) {
    const number = load<u32>(list + (i << 2));
    const entry: usize = load<u32>(ENTRIES + (i << 2));
    if (entry != 0 && whole && isFinal(entry)) {
      deliverByEntry(number, entry, entry + tail);
      continue;
    }
    store<u32>(list + ((<usize>left) << 2), number);
    if (entry != 0) takeEntry(branchAt(number), entry, entry + tail, left);
    else startRecording(number, left);
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
  store<u32>(branch, 0, BRANCH_RECORDING);
}

function startRecording(number: u32, i: u32): void {
  const branch = branchAt(number);
  store<u32>(branch, 0, BRANCH_NEXT);
  store<u32>(branch, 0, BRANCH_END);
  store<u32>(branch, 1, BRANCH_RECORDING);
  store<u32>(recordedOf(number), 0);
  addUncached(number, i);
}

// @ts-ignore: decorator
@inline
function addUncached(number: u32, i: u32): void {
  const at = (<usize>Uncached.count) << 2;
  store<u32>(UNCACHED + at, number);
  store<u32>(UNCACHED_AT + at, i);
  Uncached.count++;
}

/** What was found for those of a list that had no results is taped; what there is for all of them is put into FOUND. */
function keepFound(count: u32): void {
  for (let n: usize = 0; n < <usize>Uncached.count; n++) {
    const rule = load<u32>(FOUND + (n << 2));
    record(load<u32>(UNCACHED + (n << 2)), rule);
    store<u32>(RESULTS + ((<usize>load<u32>(UNCACHED_AT + (n << 2))) << 2), rule);
  }
  memory.copy(FOUND, RESULTS, (<usize>count) << 2);
}

/** Notes what a lookup has found for a branch, where that follows from the key that its frame began with. */
export function record(number: u32, rule: u32): void {
  const branch = branchAt(number);
  if (load<u32>(branch, BRANCH_RECORDING) == 0) return;
  const record = recordedOf(number);
  const count = load<u32>(record);
  const before: usize = count == 0 ? 0 : load<u32>(record + ((<usize>count) << 2));
  if (count == Cache.results || (before != 0 && !leavesFunction(before))) {
    store<u32>(branch, 0, BRANCH_RECORDING);
    return;
  }
  store<u32>(record, count + 1);
  store<u32>(record + ((<usize>count) << 2), rule, 4);
}

// @ts-ignore: decorator
@inline
function recordedOf(number: u32): usize {
  return RECORDED + <usize>number * RECORDED_SIZE;
}
