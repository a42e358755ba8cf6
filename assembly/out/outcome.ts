/**
 * What happened to each frame of the batch: written here, read by the host (layouts in src/abi/engine.ts).
 */
import {
  DEST_ADDRESS,
  DEST_INDEX,
  DEST_KIND,
  DEST_LENGTH,
  DEST_SIZE,
  DEST_STATUS,
  DESTINATIONS_PER_FRAME,
  FRAME_ADDRESS,
  FRAME_LENGTH,
  FRAME_SIZE,
  FRAME_WIRE_LENGTH,
  HITS_PER_FRAME,
  OUTCOME_DESTINATIONS,
  OUTCOME_FLAGS,
  OUTCOME_HAS_TAG,
  OUTCOME_HITS,
  OUTCOME_REASON,
  OUTCOME_SIZE,
  OUTCOME_TAG,
  OUTCOME_VERDICT,
  OUTCOME_WIRE_LENGTH,
  Verdict,
} from "../../src/abi/engine";
import { DESTINATIONS, FRAMES, HITS, OUTCOMES } from "../memory";
import { RULE_ID } from "../steer/rule";

// @ts-ignore: decorator
@inline
export function outcomeAt(index: u32): usize {
  return OUTCOMES + <usize>index * OUTCOME_SIZE;
}

// @ts-ignore: decorator
@inline
export function destinationAt(index: u32, number: u32): usize {
  return DESTINATIONS + <usize>(index * DESTINATIONS_PER_FRAME + number) * DEST_SIZE;
}

// @ts-ignore: decorator
@inline
export function openOutcome(index: u32): void {
  const outcome = outcomeAt(index);
  store<u64>(outcome, 0);
  store<u32>(outcome, 0, OUTCOME_HITS);
  store<u32>(outcome, load<u32>(FRAMES + <usize>index * FRAME_SIZE, FRAME_WIRE_LENGTH), OUTCOME_WIRE_LENGTH);
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

/** Lists a rule that the frame hit. One a table and HOP_LIMIT tables behind the first: HITS_PER_FRAME at the most. */
// @ts-ignore: decorator
@inline
export function hit(index: u32, rule: usize): void {
  const outcome = outcomeAt(index);
  const hits: u32 = load<u16>(outcome, OUTCOME_HITS);
  assert(hits < <u32>HITS_PER_FRAME);
  store<u32>(HITS + <usize>(index * HITS_PER_FRAME + hits) * 4, load<u32>(rule, RULE_ID));
  store<u16>(outcome, <u16>(hits + 1), OUTCOME_HITS);
}

/** The branch ends at a destination; whether it takes the frame is for deliver.ts. */
// @ts-ignore: decorator
@inline
export function deliverTo(index: u32, kind: u32, object: u32, frame: usize): void {
  const outcome = outcomeAt(index);
  const number: u32 = load<u16>(outcome, OUTCOME_DESTINATIONS);
  assert(number < <u32>DESTINATIONS_PER_FRAME);
  const destination = destinationAt(index, number);
  store<u32>(destination, kind, DEST_KIND);
  store<u32>(destination, object, DEST_INDEX);
  store<u32>(destination, load<u32>(frame, FRAME_ADDRESS), DEST_ADDRESS);
  store<u32>(destination, load<u32>(frame, FRAME_LENGTH), DEST_LENGTH);
  store<u32>(destination, 0, DEST_STATUS);
  store<u16>(outcome, <u16>(number + 1), OUTCOME_DESTINATIONS);
  store<u8>(outcome, Verdict.deliver, OUTCOME_VERDICT);
}
