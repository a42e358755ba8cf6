/**
 * Prepares the traced core. In: what the host knows of the first core and no copy of its memory
 * tells. Out: the globals that the walk of a frame reads.
 */
import { NEEDS_ALL, NEEDS_BRANCHES } from "../../src/abi/key";
import { restartArena } from "../arena";
import { openBranches } from "../branch/branch";
import { Frames } from "../act/stateful/clock";
import { dropFrameBlocks } from "../branch/bytes";
import { openEvents } from "../branch/events";
import { dropChunks } from "../branch/outcome";
import { closeRows } from "../rows";
import { Required } from "../wire/required";

/**
 * Called after the memory of the first core was copied: its arena ends at `top`. From there to
 * `limit` the traced core has memory of its own, which its areas grow into.
 */
export function openCopy(top: usize, limit: usize): void {
  restartArena(top, limit);
  dropFrameBlocks();
  dropChunks();
  closeRows();
  openBranches();
}

/**
 * Called before each frame: the number of the frame, and the memory for events. The parser fills
 * all fields, so that explanations can name those that no rule reads.
 */
export function openTrace(numberHigh: u32, numberLow: u32, start: usize, end: usize): void {
  Frames.seen = ((<u64>numberHigh) << 32) | (<u64>numberLow);
  Required.fields = NEEDS_ALL | NEEDS_BRANCHES;
  openEvents(start, end);
}
