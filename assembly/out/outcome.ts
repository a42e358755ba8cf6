/**
 * What happened to each frame of the batch: written here, read by the host (layouts in src/abi/engine.ts).
 */
import {
  DEST_ADDRESS,
  DEST_COPY,
  DEST_NEXT,
  DEST_QUEUE,
  DEST_SIZE,
  DEST_TAG,
  DESTINATIONS_PER_FRAME,
  FRAME_ADDRESS,
  HITS_PER_FRAME,
  OUTCOME_DESTINATIONS,
  OUTCOME_FLAGS,
  OUTCOME_HAS_TAG,
  OUTCOME_HITS,
  OUTCOME_LAST,
  OUTCOME_REASON,
  OUTCOME_SIZE,
  OUTCOME_TAG,
  OUTCOME_VERDICT,
  Reason,
  Verdict,
} from "../../src/abi/engine";
import { COPIES, DESTINATIONS, HITS, OUTCOMES } from "../memory";
import { RULE_ID } from "../steer/rule";

// @ts-ignore: decorator
@inline
export function outcomeAt(index: u32): usize {
  return OUTCOMES + <usize>index * OUTCOME_SIZE;
}

// @ts-ignore: decorator
@inline
export function firstDestination(index: u32): usize {
  return DESTINATIONS + <usize>index * DEST_SIZE;
}

namespace Copies {
  /** Where the next destination lies that is not a frame's first. */
  export let next: usize = COPIES;
}

/** Before the first outcome of a batch. */
// @ts-ignore: decorator
@inline
export function openOutcomes(): void {
  Copies.next = COPIES;
}

// @ts-ignore: decorator
@inline
export function openOutcome(index: u32): void {
  const outcome = outcomeAt(index);
  store<u64>(outcome, 0);
  store<u32>(outcome, 0, OUTCOME_HITS);
}

/** Whether nothing has been said yet of what becomes of the frame. */
// @ts-ignore: decorator
@inline
export function isOpen(index: u32): bool {
  return load<u8>(outcomeAt(index), OUTCOME_VERDICT) == Verdict.none;
}

/** The branch ends here. */
// @ts-ignore: decorator
@inline
export function end(index: u32, verdict: u32, reason: u32): void {
  const outcome = outcomeAt(index);
  store<u8>(outcome, <u8>verdict, OUTCOME_VERDICT);
  store<u16>(outcome, <u16>reason, OUTCOME_REASON);
}

// @ts-ignore: decorator
@inline
export function tag(index: u32, value: u32): void {
  const outcome = outcomeAt(index);
  store<u32>(outcome, value, OUTCOME_TAG);
  store<u8>(outcome, OUTCOME_HAS_TAG, OUTCOME_FLAGS);
}

/** The branch goes on without a tag: that of a rule belongs to what the rule has delivered. */
// @ts-ignore: decorator
@inline
export function untag(index: u32): void {
  const outcome = outcomeAt(index);
  store<u32>(outcome, 0, OUTCOME_TAG);
  store<u8>(outcome, 0, OUTCOME_FLAGS);
}

/** Lists a rule that the frame hit: the first, one a hop, one a table that was left: HITS_PER_FRAME at the most. */
// @ts-ignore: decorator
@inline
export function hit(index: u32, rule: usize): void {
  const outcome = outcomeAt(index);
  const hits: u32 = load<u16>(outcome, OUTCOME_HITS);
  assert(hits < <u32>HITS_PER_FRAME);
  store<u32>(HITS + <usize>(index * HITS_PER_FRAME + hits) * 4, load<u32>(rule, RULE_ID));
  store<u16>(outcome, <u16>(hits + 1), OUTCOME_HITS);
}

/**
 * The frame reaches a queue, which ends the branch unless it is a copy; whether the queue takes it is for deliver.ts.
 * One destination too many is counted, and not made: deliver.ts sets the count right.
 */
// @ts-ignore: decorator
@inline
export function deliverTo(index: u32, queue: u32, flags: u32, frame: usize): void {
  const outcome = outcomeAt(index);
  const number: u32 = load<u16>(outcome, OUTCOME_DESTINATIONS);
  store<u16>(outcome, <u16>(number + 1), OUTCOME_DESTINATIONS);
  let destination = firstDestination(index);
  if (number != 0) {
    destination = anotherDestination(index, number, flags);
    if (destination == 0) return;
  }
  // Two fields at a time: queue and flags, address and length.
  store<u64>(destination, (<u64>queue) | ((<u64>flags) << 32), DEST_QUEUE);
  store<u64>(destination, load<u64>(frame, FRAME_ADDRESS), DEST_ADDRESS);
  store<u32>(destination, load<u32>(outcome, OUTCOME_TAG), DEST_TAG);
  if ((flags & DEST_COPY) == 0) store<u8>(outcome, Verdict.deliver, OUTCOME_VERDICT);
}

/** Room for one more destination of a frame that has some, behind its last; 0 where it has all that it can have. */
function anotherDestination(index: u32, number: u32, flags: u32): usize {
  assert(number < <u32>u16.MAX_VALUE);
  if (number >= <u32>DESTINATIONS_PER_FRAME) {
    if ((flags & DEST_COPY) == 0 && isOpen(index)) end(index, Verdict.drop, Reason.copy_limit);
    return 0;
  }
  const outcome = outcomeAt(index);
  const last: usize = number == 1 ? firstDestination(index) : load<u32>(outcome, OUTCOME_LAST);
  const destination = Copies.next;
  Copies.next = destination + DEST_SIZE;
  store<u32>(last, <u32>destination, DEST_NEXT);
  store<u32>(outcome, <u32>destination, OUTCOME_LAST);
  return destination;
}
