/**
 * Flow counters, in bulks of consecutive counters. In: a counter and a frame. Out: one packet more,
 * and its bytes (COUNTER_*).
 *
 * Bytes are the length of the frame on the wire when it reaches the rule, from its first byte,
 * without FCS.
 */
import { COUNTER_BYTES, COUNTER_PACKETS, COUNTER_SIZE } from "../../src/abi/state";
import { FRAME_WIRE_LENGTH } from "../../src/abi/engine";
import { allocate, release } from "../arena";
import { StateKind } from "../../src/abi/trace";
import { noteState } from "../branch/events";

/** Allocates a block of `count` counters, all zero; 0 when memory is full. */
export function createCounters(count: u32): usize {
  const counters = allocate(count * COUNTER_SIZE);
  if (counters != 0) memory.fill(counters, 0, <usize>count * COUNTER_SIZE);
  return counters;
}

/** Frees a block of counters. */
export function releaseCounters(counters: usize, count: u32): void {
  release(counters, count * COUNTER_SIZE);
}

// @ts-ignore: decorator
@inline
export function count(counter: usize, frame: usize): void {
  if (TRACED) noteState(StateKind.counter, <usize>counter, COUNTER_SIZE);
  store<u64>(counter, load<u64>(counter, COUNTER_PACKETS) + 1, COUNTER_PACKETS);
  store<u64>(counter, load<u64>(counter, COUNTER_BYTES) + <u64>load<u32>(frame, FRAME_WIRE_LENGTH), COUNTER_BYTES);
}
