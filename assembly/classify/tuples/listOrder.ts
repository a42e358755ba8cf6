/**
 * The order of a rule list: rules of one tuple with equal values under its mask, by rank. In: the
 * first rule of a list, and a rule. Out: the new first rule. Of equal ranks the older rule comes
 * first.
 *
 * A list of more than LONG rules gets marks, so that a change walks over at most 2 * STRIDE rules.
 * They are some of its rules, in their order, in a block:
 *
 *     0      4       8      16
 *     | hash | marks | room | mark 16 | ...         a mark: | rank 8 | rule 4 | rules 4 |
 *
 *     hash    of the list: RULE_HASH of the first rule has the address of the block (MARK_FIRST)
 *     rules   from this mark up to before the next one
 *
 * Invariants: the first rule is the first mark, and each rule of a mark has the flag MARK. Without
 * memory for another mark the rules between two are more.
 */
import { RULE_FLAGS, RULE_HASH, RULE_NEXT, RULE_PREVIOUS, RULE_RANK } from "../../../src/abi/rule";
import { allocate, release } from "../../arena";
import { draw } from "./noise";
import { MARK, MARK_FIRST } from "../rule";

/** A list of more rules gets marks; of fewer than half as many, it loses them. */
const LONG: u32 = 128;
const STRIDE: u32 = 64;
/** An insertion counts the rules of its list with a chance of 1 in COUNTED. */
const COUNTED: u64 = 16;

const COUNT: usize = 4;
const ROOM: usize = 8;
const MARKS: usize = 16;
const MARK_SHIFT: usize = 4;
const MARK_SIZE: u32 = 16;
const MARK_RULE: usize = 8;
const MARK_RULES: usize = 12;
const FIRST_ROOM: u32 = 15;

/** Makes a rule list of one rule. */
// @ts-ignore: decorator
@inline
export function listOfOne(rule: usize): usize {
  store<u32>(rule, 0, RULE_NEXT);
  store<u32>(rule, <u32>rule, RULE_PREVIOUS);
  return rule;
}

/** Whether a list has marks. */
// @ts-ignore: decorator
@inline
export function isLongList(first: usize): bool {
  return hasFlag(first, MARK_FIRST);
}

/** The hash of a rule's list. */
// @ts-ignore: decorator
@inline
export function hashOf(rule: usize): u32 {
  const hash = load<u32>(rule, RULE_HASH);
  return hasFlag(rule, MARK_FIRST) ? load<u32>(<usize>hash) : hash;
}

// @ts-ignore: decorator
@inline
function hasFlag(rule: usize, flag: u32): bool {
  return ((<u32>load<u8>(rule, RULE_FLAGS)) & flag) != 0;
}

function setFlag(rule: usize, flag: u32): void {
  store<u8>(rule, <u8>((<u32>load<u8>(rule, RULE_FLAGS)) | flag), RULE_FLAGS);
}

function clearFlag(rule: usize, flag: u32): void {
  store<u8>(rule, <u8>((<u32>load<u8>(rule, RULE_FLAGS)) & ~flag), RULE_FLAGS);
}

/** Adds a rule to the list of `first`; returns the new first rule. */
export function linkRule(first: usize, rule: usize): usize {
  if (isLongList(first)) return linkMarked(first, rule);
  const rank = load<u64>(rule, RULE_RANK);
  let before: usize = load<u32>(first, RULE_PREVIOUS);
  if (load<u64>(before, RULE_RANK) > rank) {
    before = 0;
    for (let after = first; load<u64>(after, RULE_RANK) <= rank; after = load<u32>(after, RULE_NEXT)) before = after;
  }
  const now = linkAfter(first, before, rule);
  if ((draw() >> 32) % COUNTED == 0 && isLong(now)) makeMarks(now);
  return now;
}

/** Puts a rule after another one of its list, or in front for 0; returns the new first rule. */
function linkAfter(first: usize, before: usize, rule: usize): usize {
  const after: usize = before != 0 ? <usize>load<u32>(before, RULE_NEXT) : first;
  store<u32>(rule, <u32>after, RULE_NEXT);
  if (before == 0) {
    store<u32>(rule, load<u32>(first, RULE_PREVIOUS), RULE_PREVIOUS);
    store<u32>(first, <u32>rule, RULE_PREVIOUS);
    return rule;
  }
  store<u32>(rule, <u32>before, RULE_PREVIOUS);
  store<u32>(before, <u32>rule, RULE_NEXT);
  store<u32>(after != 0 ? after : first, <u32>rule, RULE_PREVIOUS);
  return first;
}

/** Removes `rule` from the list of `first`, which has other rules; returns the new first rule. */
export function unlinkRule(first: usize, rule: usize): usize {
  if (isLongList(first)) unmark(first, rule);
  const next: usize = load<u32>(rule, RULE_NEXT);
  const previous: usize = load<u32>(rule, RULE_PREVIOUS);
  if (rule == first) {
    store<u32>(next, <u32>previous, RULE_PREVIOUS);
    return next;
  }
  store<u32>(previous, <u32>next, RULE_NEXT);
  store<u32>(next != 0 ? next : first, <u32>previous, RULE_PREVIOUS);
  return first;
}

function isLong(first: usize): bool {
  let rules: u32 = 0;
  for (let rule = first; rule != 0 && rules <= LONG; rule = load<u32>(rule, RULE_NEXT)) rules++;
  return rules > LONG;
}

// @ts-ignore: decorator
@inline
function markAt(marks: usize, n: u32): usize {
  return marks + MARKS + ((<usize>n) << MARK_SHIFT);
}

function blockBytes(room: u32): u32 {
  return <u32>MARKS + room * MARK_SIZE;
}

/** Gives a list marks. Without memory it stays without. */
function makeMarks(first: usize): void {
  const marks = allocate(blockBytes(FIRST_ROOM));
  if (marks == 0) return;
  store<u32>(marks, load<u32>(first, RULE_HASH));
  store<u32>(marks, 0, COUNT);
  store<u32>(marks, FIRST_ROOM, ROOM);
  store<u32>(first, <u32>marks, RULE_HASH);
  setFlag(first, MARK_FIRST);
  let rules: u32 = 0;
  for (let rule = first; rule != 0; rule = load<u32>(rule, RULE_NEXT)) rules++;
  addMark(first, 0, first, rules);
  for (let n: u32 = 0; splitMark(first, n);) n++;
}

/** Enters a mark before the others from `n` on; false when memory is full. */
function addMark(first: usize, n: u32, rule: usize, rules: u32): bool {
  let marks: usize = load<u32>(first, RULE_HASH);
  const count = load<u32>(marks, COUNT);
  const room = load<u32>(marks, ROOM);
  if (count == room) {
    // A block of a power of two: blockBytes(2^k - 1) is 2^(k + 4).
    const larger = allocate(blockBytes(room * 2 + 1));
    if (larger == 0) return false;
    memory.copy(larger, marks, blockBytes(room));
    release(marks, blockBytes(room));
    marks = larger;
    store<u32>(marks, room * 2 + 1, ROOM);
    store<u32>(first, <u32>marks, RULE_HASH);
  }
  const mark = markAt(marks, n);
  memory.copy(mark + <usize>MARK_SIZE, mark, (<usize>(count - n)) << MARK_SHIFT);
  store<u32>(marks, count + 1, COUNT);
  store<u32>(mark, rules, MARK_RULES);
  setMark(mark, rule);
  return true;
}

/** Removes mark `n`, whose rules are counted elsewhere. */
function removeMark(marks: usize, n: u32): void {
  const mark = markAt(marks, n);
  const count = load<u32>(marks, COUNT) - 1;
  clearFlag(load<u32>(mark, MARK_RULE), MARK);
  memory.copy(mark, mark + <usize>MARK_SIZE, (<usize>(count - n)) << MARK_SHIFT);
  store<u32>(marks, count, COUNT);
}

function setMark(mark: usize, rule: usize): void {
  store<u64>(mark, load<u64>(rule, RULE_RANK));
  store<u32>(mark, <u32>rule, MARK_RULE);
  setFlag(rule, MARK);
}

/**
 * Divides the rules of mark `n` by another mark if they are many; false if they are not, or memory is
 * full.
 */
function splitMark(first: usize, n: u32): bool {
  const mark = markAt(load<u32>(first, RULE_HASH), n);
  const rules = load<u32>(mark, MARK_RULES);
  if (rules <= 2 * STRIDE) return false;
  let rule: usize = load<u32>(mark, MARK_RULE);
  for (let steps = STRIDE; steps != 0; steps--) rule = load<u32>(rule, RULE_NEXT);
  if (!addMark(first, n + 1, rule, rules - STRIDE)) return false;
  store<u32>(markAt(load<u32>(first, RULE_HASH), n), STRIDE, MARK_RULES);
  return true;
}

/** The last mark whose rank is at most `rank`; -1 for none. */
function lastMark(marks: usize, rank: u64): i32 {
  let low: u32 = 0;
  let high = load<u32>(marks, COUNT);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u64>(markAt(marks, middle)) <= rank) low = middle + 1;
    else high = middle;
  }
  return <i32>low - 1;
}

function linkMarked(first: usize, rule: usize): usize {
  const marks: usize = load<u32>(first, RULE_HASH);
  const rank = load<u64>(rule, RULE_RANK);
  const n = lastMark(marks, rank);
  const mark = markAt(marks, max(n, 0));
  const rules = load<u32>(mark, MARK_RULES);
  store<u32>(mark, rules + 1, MARK_RULES);
  if (n < 0) {
    linkAfter(first, 0, rule);
    clearFlag(first, MARK);
    setMark(mark, rule);
    passMarks(first, rule);
    splitMark(rule, 0);
    return rule;
  }
  const last: usize = load<u32>(first, RULE_PREVIOUS);
  let before: usize = load<u32>(mark, MARK_RULE);
  if (load<u64>(last, RULE_RANK) <= rank) {
    before = last;
  } else {
    for (let steps = rules - 1; steps != 0; steps--) {
      const after: usize = load<u32>(before, RULE_NEXT);
      if (load<u64>(after, RULE_RANK) > rank) break;
      before = after;
    }
  }
  linkAfter(first, before, rule);
  splitMark(first, <u32>n);
  return first;
}

/** Makes another rule the first one, which has the address of the marks. */
function passMarks(from: usize, to: usize): void {
  const marks = load<u32>(from, RULE_HASH);
  clearFlag(from, MARK_FIRST);
  store<u32>(from, load<u32>(<usize>marks), RULE_HASH);
  setFlag(to, MARK_FIRST);
  store<u32>(to, marks, RULE_HASH);
}

/** Takes a rule out of the marks of its list, before it is unlinked. */
function unmark(first: usize, rule: usize): void {
  const marks: usize = load<u32>(first, RULE_HASH);
  let n = markOf(marks, rule);
  const mark = markAt(marks, n);
  const rules = load<u32>(mark, MARK_RULES) - 1;
  store<u32>(mark, rules, MARK_RULES);
  if (rules == 0) {
    removeMark(marks, n);
  } else if (<usize>load<u32>(mark, MARK_RULE) == rule) {
    clearFlag(rule, MARK);
    setMark(mark, load<u32>(rule, RULE_NEXT));
  }
  const now: usize = load<u32>(markAt(marks, 0), MARK_RULE);
  if (rule == first) passMarks(first, now);
  if (n != 0) n--;
  if (n + 1 < load<u32>(marks, COUNT)) joinMarks(marks, n);
  if (load<u32>(marks, COUNT) == 1 && load<u32>(markAt(marks, 0), MARK_RULES) < LONG / 2) dropMarks(now);
}

/** The mark that a rule belongs to. Marks of one rank are searched one by one. */
function markOf(marks: usize, rule: usize): u32 {
  const rank = load<u64>(rule, RULE_RANK);
  let n = <u32>lastMark(marks, rank);
  if (load<u64>(markAt(marks, n)) < rank) return n;
  while (!hasFlag(rule, MARK)) rule = load<u32>(rule, RULE_PREVIOUS);
  while (<usize>load<u32>(markAt(marks, n), MARK_RULE) != rule) n--;
  return n;
}

/** Makes one of two neighbours that have few rules. */
function joinMarks(marks: usize, n: u32): void {
  const mark = markAt(marks, n);
  const rules = load<u32>(mark, MARK_RULES) + load<u32>(markAt(marks, n + 1), MARK_RULES);
  if (rules > STRIDE) return;
  removeMark(marks, n + 1);
  store<u32>(mark, rules, MARK_RULES);
}

function dropMarks(first: usize): void {
  const marks: usize = load<u32>(first, RULE_HASH);
  store<u32>(first, load<u32>(marks), RULE_HASH);
  clearFlag(first, MARK | MARK_FIRST);
  release(marks, blockBytes(load<u32>(marks, ROOM)));
}
