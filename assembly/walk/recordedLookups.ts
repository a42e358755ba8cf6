/**
 * Lookups through the flow cache. In: a list of branches. Out: in FOUND, their rules. A frame with
 * an entry takes the recorded results one lookup after the other. The lookups of a frame without an
 * entry are recorded, and become an entry when the frame has walked to its end.
 *
 *     record    | results 4 | result 4 ... |
 *
 * Only the results of lookups are recorded; all actions run as usual. An entry has the results
 * after its lanes and their number as its kind, or the whole fast path of its only rule
 * (fastPath.ts). Forks neither use nor make entries.
 */
import { NEEDS_ORDER } from "../../src/abi/key";
import { leavesFunction } from "../act/keyDetermined";
import { Loan } from "../arena";
import { ENTRIES, FOUND, HASHES, UNCACHED, UNCACHED_AT, RESULTS, RECORDED_SIZE } from "../memory";
import { Rows } from "../rows";
import { BRANCH_END, BRANCH_NEXT, BRANCH_RECORDING, branchAt } from "../branch/branch";
import { likelyEntry, entryFor, isCacheOn, noteHits } from "./flowCache";
import { Cache } from "./flowCacheMemory";
import { ENTRY_LANES, CacheKey, ENTRY_KIND, hashAll, headOf, isEntryOf } from "./flowCacheKey";
import { lookup, lookupFirst } from "../classify/lookup/lookup";
import { Walk } from "../forward/nextTable";
import { deliverByEntry, hasFastPath, isFinal, KIND_RESULTS, writeFinal } from "./fastPath";
import { Required } from "../wire/required";

namespace Uncached {
  /** The number of branches of a list without a recorded result. */
  export let count: u32 = 0;
}

/**
 * Looks up the entries of frames that start at the table `root`. If `mayFinish` is set, frames with a
 * final entry are delivered and leave the list. Returns how many frames are left.
 */
export function cacheLookup(root: usize, list: usize, count: u32, mayFinish: bool): u32 {
  Loan.inUse = Walk.sender == 0 && isCacheOn(count);
  if (!Loan.inUse) return count;
  hashAll(list, count, root);
  for (let i: usize = 0; i < count; i++) {
    store<u32>(ENTRIES + (i << 2), <u32>likelyEntry(load<u64>(HASHES + (i << 3))));
  }
  verifyEntries(root, list, count);
  const left = takeEntries(list, count, mayFinish);
  noteHits(count - Uncached.count, count);
  return left;
}

/** The first lookup of the frames that are left; the rules are in FOUND. */
export function firstLookup(root: usize, list: usize, count: u32): void {
  if (!Loan.inUse) {
    lookupFirst(root, list, count);
    return;
  }
  if (Uncached.count != 0) lookupFirst(root, UNCACHED, Uncached.count);
  keepFound(count);
}

/** A later lookup of branches at one table; the rules are in FOUND. */
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

/** Whether the cache has the result of the next lookup of a branch. */
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

/** Makes entries of the records of frames from `first` on, which have walked to their end. */
export function keepRecorded(root: usize, first: u32, count: u32): void {
  // The arena may have taken the memory back during the walk.
  if (!Loan.inUse) return;
  const stride = CacheKey.stride;
  for (let i: usize = 0; i < count; i++) {
    if (load<u32>(ENTRIES + (i << 2)) != 0) continue;
    const number = first + <u32>i;
    const entry = entryFor(number, root, load<u64>(HASHES + (i << 3)), Rows.cacheLanes + i * stride);
    if (entry != 0) writeResults(entry, recordedOf(number));
  }
}

/** Writes the results of a record to an entry, or the fast path of its only rule. */
function writeResults(entry: usize, record: usize): void {
  const tail = entry + ENTRY_LANES + CacheKey.stride;
  const count = load<u32>(record);
  const first: usize = load<u32>(record, 4);
  let mayFinish = count == 1 && first != 0 && hasFastPath(first) && !(Required.fields & NEEDS_ORDER);
  // The traced core walks all frames in order, which takes results only.
  if (TRACED) mayFinish = false;
  store<u8>(entry, <u8>(mayFinish ? writeFinal(tail, first) : count), ENTRY_KIND);
  if (!mayFinish) memory.copy(tail, record + 4, (<usize>count) << 2);
}

/**
 * Compares the keys of entries: 0 in ENTRIES if one differs. A loop of its own, so that cache
 * misses overlap.
 */
function verifyEntries(root: usize, list: usize, count: u32): void {
  const stride = CacheKey.stride;
  let lanes: usize = Rows.cacheLanes;
  for (let at: usize = 0; at < (<usize>count) << 2; at += 4, lanes += stride) {
    const entry = load<u32>(ENTRIES + at);
    const found = isEntryOf(entry, headOf(load<u32>(list + at), root), lanes, stride);
    store<u32>(ENTRIES + at, select<u32>(entry, 0, found));
  }
}

/**
 * Delivers frames with a final entry, which leave the list. The first results of other entries are
 * in RESULTS.
 */
function takeEntries(list: usize, count: u32, mayFinish: bool): u32 {
  const tail = ENTRY_LANES + CacheKey.stride;
  let left: u32 = 0;
  Uncached.count = 0;
  for (let i: usize = 0; i < count; i++) {
    const number = load<u32>(list + (i << 2));
    const entry: usize = load<u32>(ENTRIES + (i << 2));
    if (entry != 0 && mayFinish && isFinal(entry)) {
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

/** Records the results of lookups, and merges them with those of entries into FOUND. */
function keepFound(count: u32): void {
  for (let n: usize = 0; n < <usize>Uncached.count; n++) {
    const rule = load<u32>(FOUND + (n << 2));
    record(load<u32>(UNCACHED + (n << 2)), rule);
    store<u32>(RESULTS + ((<usize>load<u32>(UNCACHED_AT + (n << 2))) << 2), rule);
  }
  memory.copy(FOUND, RESULTS, (<usize>count) << 2);
}

/** Records the result of a lookup if it follows from the key that the frame started with. */
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
  return Rows.recorded + <usize>number * RECORDED_SIZE;
}
