/** Byte ranges of a frame that an action changed. */
import { hexOf } from "../../base/hex.js";
import type { ByteChange } from "./trace.js";

/** Equal bytes between two changes that do not separate them. */
const GAP = 2;

/**
 * The changes that make `after` of `before`, in the order of their offsets. If the length changed,
 * they are one range.
 */
export function byteChanges(before: Uint8Array, after: Uint8Array): ByteChange[] {
  return before.length === after.length ? changedInPlace(before, after) : resized(before, after);
}

function changedInPlace(before: Uint8Array, after: Uint8Array): ByteChange[] {
  const changes: ByteChange[] = [];
  for (let at = 0; at < before.length; at++) {
    if (before[at] === after[at]) continue;
    const end = endOfChange(before, after, at);
    changes.push(changeOf(before, at, end, after.subarray(at, end)));
    at = end;
  }
  return changes;
}

/** The end of a change that begins at `from`: GAP equal bytes or more follow. */
function endOfChange(before: Uint8Array, after: Uint8Array, from: number): number {
  let end = from + 1;
  for (let at = end; at < before.length && at <= end + GAP; at++) if (before[at] !== after[at]) end = at + 1;
  return end;
}

function resized(before: Uint8Array, after: Uint8Array): ByteChange[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return [changeOf(before, head, before.length - tail, after.subarray(head, after.length - tail))];
}

function changeOf(before: Uint8Array, offset: number, end: number, after: Uint8Array): ByteChange {
  return { offset, before: hexOf(before.subarray(offset, end)), after: hexOf(after) };
}
