/**
 * Frames whose entry says all that becomes of them: of their one rule, which tags them at the most, counts them, and has one queue.
 *
 *     0         4      8                   16   20      24        28
 *     | results | rule | verdict, tag      | id | queue | counter | 0 |        the end of such an entry (cache.ts)
 *
 * The verdict lies there as an outcome has it. What this does is what the walk does with such a rule, without a branch.
 */
import {
  ACTION_SIZE,
  DEST_ADDRESS,
  DEST_QUEUE,
  DEST_STATUS,
  FRAME_ADDRESS,
  FRAME_SIZE,
  HITS_PER_FRAME,
  Op,
  OUTCOME_HITS,
  OUTCOME_WRITTEN,
  Verdict,
} from "../../src/abi/engine";
import { count } from "../act/count";
import { FRAMES, HITS } from "../memory";
import { firstDestination, outcomeAt } from "../out/outcome";
import { HAS_TAG } from "./branch";
import { actionsOf, RULE_ACTION_COUNT, RULE_ID } from "./rule";

const RULE: usize = 4;
const VERDICT: usize = 8;
const ID: usize = 16;
const QUEUE: usize = 20;
const COUNTER: usize = 24;

/** In the number of results. */
const PLAIN: u32 = 0x100;
export const RESULTS_MASK: u32 = 0xff;

// @ts-ignore: decorator
@inline
export function isPlain(tape: usize): bool {
  return (load<u32>(tape) & PLAIN) != 0;
}

/** Makes a tape plain where its rule is. */
export function flatten(tape: usize): void {
  const rule: usize = load<u32>(tape, RULE);
  if (load<u32>(tape) != 1 || rule == 0) return;
  let verdict: u64 = Verdict.deliver;
  let counter: u32 = 0;
  let action = actionsOf(rule);
  const last = action + (<usize>load<u8>(rule, RULE_ACTION_COUNT) - 1) * ACTION_SIZE;
  for (; action < last; action += ACTION_SIZE) {
    const op = load<u32>(action);
    const operand = load<u32>(action, 4);
    if (op == Op.tag) verdict = (<u64>Verdict.deliver) | (HAS_TAG << 8) | ((<u64>operand) << 32);
    else if (op == Op.count && counter == 0) counter = operand;
    else return;
  }
  if (action != last || (load<u32>(action) != Op.queue && load<u32>(action) != Op.queue_from_others)) return;
  store<u32>(tape, 1 | PLAIN);
  store<u64>(tape, verdict, VERDICT);
  store<u32>(tape, load<u32>(rule, RULE_ID), ID);
  store<u32>(tape, load<u32>(action, 4), QUEUE);
  store<u32>(tape, counter, COUNTER);
}

/** Takes a frame to its end. */
// @ts-ignore: decorator
@inline
export function deliverPlain(index: u32, tape: usize): void {
  const frame = FRAMES + <usize>index * FRAME_SIZE;
  const outcome = outcomeAt(index);
  const verdict = load<u64>(tape, VERDICT);
  store<u64>(outcome, verdict);
  // One hit, one destination, no other one.
  store<u64>(outcome, 0x10001, OUTCOME_HITS);
  store<u32>(outcome, 0, OUTCOME_WRITTEN);
  store<u32>(HITS + <usize>index * HITS_PER_FRAME * 4, load<u32>(tape, ID));
  const destination = firstDestination(index);
  store<u64>(destination, <u64>load<u32>(tape, QUEUE), DEST_QUEUE);
  store<u64>(destination, load<u64>(frame, FRAME_ADDRESS), DEST_ADDRESS);
  // Status, and the tag behind it.
  store<u64>(destination, verdict & 0xffffffff_00000000, DEST_STATUS);
  const counter: usize = load<u32>(tape, COUNTER);
  if (counter != 0) count(counter, frame);
}
