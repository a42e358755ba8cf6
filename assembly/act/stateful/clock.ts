/**
 * The time and the number of a frame, which stateful and random actions depend on (docs/state.md).
 */
import { BATCH } from "../../memory";
import { Rows } from "../../rows";
import { BRANCH_INDEX } from "../../branch/branch";

export namespace Frames {
  /** The number of the first frame of the batch. */
  export let first: u64 = 0;
  /** Frames received or sent so far. */
  export let seen: u64 = 0;
}

/** Begins a batch of new frames, or of frames that return to their port and keep their number. */
export function openNumbers(count: u32, again: bool): void {
  assert(count <= <u32>BATCH, "more frames than a batch holds");
  Frames.first = again && Frames.seen != 0 ? Frames.seen - 1 : Frames.seen;
  if (!again) Frames.seen += count;
}

/** Counts `count` frames that another core steered. */
export function skipNumbers(count: u32): void {
  Frames.seen += count;
}

/** The time of the frame in nanoseconds. */
export function timeOf(branch: usize): u64 {
  return load<u64>(Rows.times + ((<usize>load<u32>(branch, BRANCH_INDEX)) << 3));
}

/** The number of the frame: from 0, in the order in which frames are received or sent. */
export function numberOfFrame(branch: usize): u64 {
  return Frames.first + <u64>load<u32>(branch, BRANCH_INDEX);
}
