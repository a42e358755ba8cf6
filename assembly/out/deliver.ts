/**
 * The last stage: offers frames to their queues, in the order of the batch. In: outcomes with
 * destinations. Out: a status for each destination, the final verdict, counted reasons.
 */
import {
  DEST_ADDRESS,
  DEST_COPY,
  DEST_FLAGS,
  DEST_LENGTH,
  DEST_NEXT,
  DEST_PORT,
  DEST_QUEUE,
  DEST_REQUEST,
  DEST_STATUS,
  OUTCOME_DESTINATIONS,
  OUTCOME_REASON,
  OUTCOME_VERDICT,
  Reason,
  Verdict,
} from "../../src/abi/outcome";
import { countReason, egressVerdict, firstDestination, outcomeAt, replaceVerdict } from "../branch/outcome";
import { takeDatagram } from "./datagram";
import { checksDatagrams, take, Taken } from "./queue";

export function deliver(count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const outcome = outcomeAt(i);
    const destinations: u32 = load<u16>(outcome, OUTCOME_DESTINATIONS);
    if (destinations == 1 && load<u8>(outcome, OUTCOME_VERDICT) == Verdict.deliver) arrive(i, outcome);
    else if (destinations != 0) arriveAtAll(i, outcome, destinations);
    const reason: u32 = load<u16>(outcome, OUTCOME_REASON);
    if (reason != Reason.none) countReason(reason, 1);
  }
}

/**
 * Offers the frame to the queue of a destination; returns the reason if the queue does not take it.
 */
// @ts-ignore: decorator
@inline
function offer(destination: usize): u32 {
  const queue: usize = load<u32>(destination, DEST_QUEUE);
  const length = load<u32>(destination, DEST_LENGTH);
  const status = checksDatagrams(queue)
    ? takeDatagram(queue, destination, load<u32>(destination, DEST_ADDRESS), length)
    : take(queue, length);
  store<u32>(destination, Taken.request, DEST_REQUEST);
  store<u32>(destination, status, DEST_STATUS);
  return status;
}

/** A frame whose only destination refuses it is dropped; the destination stays listed when it used a buffer. */
function arrive(index: u32, outcome: usize): void {
  const status = offer(firstDestination(index));
  if (status == Reason.none) return;
  replaceVerdict(outcome, Verdict.drop, status);
  if (status != Reason.receive_buffer_too_short) store<u16>(outcome, 0, OUTCOME_DESTINATIONS);
}

/**
 * Frames with several destinations, copies alone, or ports, which take everything. The frame is
 * delivered if a queue takes it that is not a copy. Otherwise it has left by a port, or has the
 * reason of the first queue that did not take it. Each further queue that did not take it is
 * counted in addition to the frame's own reason.
 */
function arriveAtAll(index: u32, outcome: usize, destinations: u32): void {
  let delivered = false;
  let left = false;
  let first: u32 = Reason.none;
  let destination = firstDestination(index);
  for (let n: u32 = 0; n < destinations; n++) {
    const flags = load<u32>(destination, DEST_FLAGS);
    const copy = flags & DEST_COPY;
    if (flags & DEST_PORT) {
      left = left || copy == 0;
    } else {
      const status = offer(destination);
      if (status == Reason.none) delivered = delivered || copy == 0;
      else if (copy == 0 && first == Reason.none) first = status;
      else countReason(status, 1);
    }
    destination = load<u32>(destination, DEST_NEXT);
  }
  if (first == Reason.none) return;
  if (delivered || left) countReason(first, 1);
  if (delivered) return;
  if (left) replaceVerdict(outcome, egressVerdict(index), Reason.none);
  else replaceVerdict(outcome, Verdict.drop, first);
}
