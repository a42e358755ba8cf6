/**
 * The end of the journey: frames reach their queues in the order of the batch, and every reason is counted.
 */
import {
  DEST_INDEX,
  DEST_LENGTH,
  DEST_REQUEST,
  DEST_STATUS,
  OUTCOME_DESTINATIONS,
  OUTCOME_REASON,
  OUTCOME_VERDICT,
  Reason,
  Verdict,
} from "../../src/abi/engine";
import { REASONS } from "../memory";
import { end, destinationAt, outcomeAt } from "./outcome";
import { take, Taken } from "./queue";

export function deliver(count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const outcome = outcomeAt(i);
    if (load<u8>(outcome, OUTCOME_VERDICT) == Verdict.deliver) arrive(i, outcome);
    const reason = REASONS + ((<usize>load<u16>(outcome, OUTCOME_REASON)) << 3);
    store<u64>(reason, load<u64>(reason) + 1);
  }
}

/** A frame whose only destination refuses it is dropped; the destination stays listed when it used a buffer. */
function arrive(index: u32, outcome: usize): void {
  const destination = destinationAt(index, 0);
  const status = take(load<u32>(destination, DEST_INDEX), load<u32>(destination, DEST_LENGTH));
  store<u32>(destination, Taken.request, DEST_REQUEST);
  store<u32>(destination, status, DEST_STATUS);
  if (status == Reason.none) return;
  end(index, Verdict.drop, status);
  if (status != Reason.receive_buffer_too_short) store<u16>(outcome, 0, OUTCOME_DESTINATIONS);
}
