/**
 * Flow counters, in bulks of consecutive counters. In: a counter and a frame. Out: one packet more,
 * and its bytes.
 *
 *     | packets 8 | bytes 8 |
 * Bytes are the length of the frame on the wire when it reaches the rule, from its first byte,
 * without FCS.
 */
import { FRAME_WIRE_LENGTH } from "../../src/abi/engine";
import { allocate, release } from "../arena";
import { StateKind } from "../../src/abi/trace";
import { noteState } from "../branch/events";

const COUNTER_SIZE: u32 = 16;

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
  store<u64>(counter, load<u64>(counter) + 1);
  store<u64>(counter, load<u64>(counter, 8) + <u64>load<u32>(frame, FRAME_WIRE_LENGTH), 8);
}
