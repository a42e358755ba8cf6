/**
 * The fast path: finishes a frame whose first rule has the fast path (classify/rule.ts), or that
 * has no rule, without opening a branch. In: the rule, or a final entry of the flow cache. Out: the
 * outcome, like that of the walk.
 *
 *     | tag 4 | id 4 | queue 4 | counter 4 |        after the lanes of a FINAL entry (flowCache.ts)
 */
import { ACTION_OPERAND, ACTION_SIZE, FRAME_ADDRESS, FRAME_SIZE, HITS_PER_FRAME } from "../../src/abi/engine";
import {
  DEST_ADDRESS,
  DEST_QUEUE,
  DEST_STATUS,
  OUTCOME_HITS,
  OUTCOME_MISSED,
  OUTCOME_WRITTEN,
  Verdict,
} from "../../src/abi/outcome";
import { RULE_ID, RULE_COUNTER, RULE_FLAGS } from "../../src/abi/rule";
import { count } from "../act/count";
import { Rows } from "../rows";
import { firstDestination, outcomeAt } from "../branch/outcome";
import { HAS_TAG } from "../branch/branch";
import { ENTRY_KIND } from "./flowCacheKey";
import { actionsOf, FAST_PATH, FAST_PATH_COUNT, FAST_PATH_TAG } from "../classify/rule";

const ID: usize = 4;
const QUEUE: usize = 8;
const COUNTER: usize = 12;

/** The kind of an entry: its number of results, or FINAL, with TAGGED if the rule sets a tag. */
export const KIND_RESULTS: u32 = 0x0f;
const FINAL: u32 = 0x10;
const TAGGED: u32 = 0x20;

// @ts-ignore: decorator
@inline
export function isFinal(entry: usize): bool {
  return ((<u32>load<u8>(entry, ENTRY_KIND)) & FINAL) != 0;
}

// @ts-ignore: decorator
@inline
export function hasFastPath(rule: usize): bool {
  return ((<u32>load<u8>(rule, RULE_FLAGS)) & FAST_PATH) != 0;
}

/** Writes the actions of a rule with a fast path to an entry; returns the kind of the entry. */
export function writeFinal(tail: usize, rule: usize): u32 {
  const more: u32 = load<u8>(rule, RULE_FLAGS);
  const actions = actionsOf(rule);
  store<u32>(tail, <u32>(verdictOf(more, actions) >> 32));
  store<u32>(tail, load<u32>(rule, RULE_ID), ID);
  store<u32>(tail, queueOf(more, actions), QUEUE);
  store<u32>(tail, more & FAST_PATH_COUNT ? load<u32>(rule, RULE_COUNTER) : 0, COUNTER);
  return more & FAST_PATH_TAG ? FINAL | TAGGED : FINAL;
}

/** Delivers a frame as its entry says. */
// @ts-ignore: decorator
@inline
export function deliverByEntry(index: u32, entry: usize, tail: usize): void {
  const tagged: u64 = load<u8>(entry, ENTRY_KIND) & TAGGED ? Verdict.deliver | (HAS_TAG << 8) : Verdict.deliver;
  deliver(index, tagged | ((<u64>load<u32>(tail)) << 32), load<u32>(tail, ID), load<u32>(tail, QUEUE));
  const counter: usize = load<u32>(tail, COUNTER);
  if (counter != 0) count(counter, Rows.frames + <usize>index * FRAME_SIZE);
}

/** Delivers a frame as its rule says. */
// @ts-ignore: decorator
@inline
export function deliverByRule(index: u32, rule: usize): void {
  const more: u32 = load<u8>(rule, RULE_FLAGS);
  const actions = actionsOf(rule);
  deliver(index, verdictOf(more, actions), load<u32>(rule, RULE_ID), queueOf(more, actions));
  if (more & FAST_PATH_COUNT) count(load<u32>(rule, RULE_COUNTER), Rows.frames + <usize>index * FRAME_SIZE);
}

/** Ends a frame without a rule. `place` is that of the miss. */
// @ts-ignore: decorator
@inline
export function endMiss(index: u32, verdict: u32, reason: u32, place: u32): void {
  const outcome = outcomeAt(index);
  store<u64>(outcome, (<u64>verdict) | ((<u64>reason) << 16));
  store<u64>(outcome, 0, OUTCOME_HITS);
  store<u32>(outcome, 0, OUTCOME_WRITTEN);
  store<u64>(outcome, place, OUTCOME_MISSED);
}

// @ts-ignore: decorator
@inline
function verdictOf(more: u32, actions: usize): u64 {
  const tagged: u64 = Verdict.deliver | (HAS_TAG << 8);
  return more & FAST_PATH_TAG ? tagged | ((<u64>load<u32>(actions, ACTION_OPERAND)) << 32) : Verdict.deliver;
}

// @ts-ignore: decorator
@inline
function queueOf(more: u32, actions: usize): u32 {
  const before = (more & FAST_PATH_TAG ? <usize>ACTION_SIZE : 0) + (more & FAST_PATH_COUNT ? <usize>ACTION_SIZE : 0);
  return load<u32>(actions + before, ACTION_OPERAND);
}

/** Writes one hit and one destination. */
// @ts-ignore: decorator
@inline
function deliver(index: u32, verdict: u64, id: u32, queue: u32): void {
  const outcome = outcomeAt(index);
  store<u64>(outcome, verdict);
  store<u64>(outcome, 0x10001, OUTCOME_HITS);
  store<u32>(outcome, 0, OUTCOME_WRITTEN);
  store<u32>(Rows.hits + <usize>index * HITS_PER_FRAME * 4, id);
  const destination = firstDestination(index);
  store<u64>(destination, <u64>queue, DEST_QUEUE);
  store<u64>(destination, load<u64>(Rows.frames + <usize>index * FRAME_SIZE, FRAME_ADDRESS), DEST_ADDRESS);
  // Status and tag.
  store<u64>(destination, verdict & 0xffffffff_00000000, DEST_STATUS);
}
