/**
 * Frames of which all is said when their first rule is found: it is plain (rule.ts), or there is none. What this does is what the walk
 * does with such a rule, without a branch.
 *
 *     0         4      8                   16   20      24        28
 *     | results | rule | verdict, tag      | id | queue | counter | 0 |        the end of an entry of the cache that says as much (cache.ts)
 *
 * The verdict lies there as an outcome has it.
 */
import {
  ACTION_SIZE,
  DEST_ADDRESS,
  DEST_QUEUE,
  DEST_STATUS,
  FRAME_ADDRESS,
  FRAME_SIZE,
  HITS_PER_FRAME,
  OUTCOME_HITS,
  OUTCOME_WRITTEN,
  Verdict,
} from "../../src/abi/engine";
import { count } from "../act/count";
import { FRAMES, HITS } from "../memory";
import { firstDestination, outcomeAt } from "../out/outcome";
import { HAS_TAG } from "./branch";
import { actionsOf, PLAIN, PLAIN_COUNT, PLAIN_TAG, RULE_ID, RULE_MORE } from "./rule";

const RULE: usize = 4;
const VERDICT: usize = 8;
const ID: usize = 16;
const QUEUE: usize = 20;
const COUNTER: usize = 24;

/** In the number of results. */
const WHOLE: u32 = 0x100;
export const RESULTS_MASK: u32 = 0xff;

// @ts-ignore: decorator
@inline
export function isWhole(tape: usize): bool {
  return (load<u32>(tape) & WHOLE) != 0;
}

// @ts-ignore: decorator
@inline
export function isPlain(rule: usize): bool {
  return ((<u32>load<u8>(rule, RULE_MORE)) & PLAIN) != 0;
}

/** Writes behind a tape of one plain rule what that does. */
export function flatten(tape: usize): void {
  const rule: usize = load<u32>(tape, RULE);
  if (load<u32>(tape) != 1 || rule == 0 || !isPlain(rule)) return;
  const more: u32 = load<u8>(rule, RULE_MORE);
  const actions = actionsOf(rule);
  store<u32>(tape, 1 | WHOLE);
  store<u64>(tape, verdictOf(more, actions), VERDICT);
  store<u32>(tape, load<u32>(rule, RULE_ID), ID);
  store<u32>(tape, queueOf(more, actions), QUEUE);
  store<u32>(tape, more & PLAIN_COUNT ? counterOf(more, actions) : 0, COUNTER);
}

/** Takes a frame to the end that its entry names. */
// @ts-ignore: decorator
@inline
export function deliverByTape(index: u32, tape: usize): void {
  deliver(index, load<u64>(tape, VERDICT), load<u32>(tape, ID), load<u32>(tape, QUEUE));
  const counter: usize = load<u32>(tape, COUNTER);
  if (counter != 0) count(counter, FRAMES + <usize>index * FRAME_SIZE);
}

/** Takes a frame to the end that its plain rule names. */
// @ts-ignore: decorator
@inline
export function deliverByRule(index: u32, rule: usize): void {
  const more: u32 = load<u8>(rule, RULE_MORE);
  const actions = actionsOf(rule);
  deliver(index, verdictOf(more, actions), load<u32>(rule, RULE_ID), queueOf(more, actions));
  if (more & PLAIN_COUNT) count(counterOf(more, actions), FRAMES + <usize>index * FRAME_SIZE);
}

/** Ends a frame that no rule wants. */
// @ts-ignore: decorator
@inline
export function missed(index: u32, verdict: u32, reason: u32): void {
  const outcome = outcomeAt(index);
  store<u64>(outcome, (<u64>verdict) | ((<u64>reason) << 16));
  store<u64>(outcome, 0, OUTCOME_HITS);
  store<u32>(outcome, 0, OUTCOME_WRITTEN);
}

// @ts-ignore: decorator
@inline
function verdictOf(more: u32, actions: usize): u64 {
  const tagged: u64 = Verdict.deliver | (HAS_TAG << 8);
  return more & PLAIN_TAG ? tagged | ((<u64>load<u32>(actions, 4)) << 32) : Verdict.deliver;
}

// @ts-ignore: decorator
@inline
function counterOf(more: u32, actions: usize): usize {
  return load<u32>(actions + (more & PLAIN_TAG ? <usize>ACTION_SIZE : 0), 4);
}

// @ts-ignore: decorator
@inline
function queueOf(more: u32, actions: usize): u32 {
  const before = (more & PLAIN_TAG ? <usize>ACTION_SIZE : 0) + (more & PLAIN_COUNT ? <usize>ACTION_SIZE : 0);
  return load<u32>(actions + before, 4);
}

/** One hit, one destination, no other one. */
// @ts-ignore: decorator
@inline
function deliver(index: u32, verdict: u64, id: u32, queue: u32): void {
  const outcome = outcomeAt(index);
  store<u64>(outcome, verdict);
  store<u64>(outcome, 0x10001, OUTCOME_HITS);
  store<u32>(outcome, 0, OUTCOME_WRITTEN);
  store<u32>(HITS + <usize>index * HITS_PER_FRAME * 4, id);
  const destination = firstDestination(index);
  store<u64>(destination, <u64>queue, DEST_QUEUE);
  store<u64>(destination, load<u64>(FRAMES + <usize>index * FRAME_SIZE, FRAME_ADDRESS), DEST_ADDRESS);
  // Status, and the tag behind it.
  store<u64>(destination, verdict & 0xffffffff_00000000, DEST_STATUS);
}
