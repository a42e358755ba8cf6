/** The bytes that a repair changes. */
import { hexOf } from "../../../base/hex.js";
import type { ByteChange } from "../../trace/trace.js";

/** Changes from one frame to another: the runs that differ, or what lies between the common start and end. */
export function byteChanges(before: Uint8Array, after: Uint8Array): ByteChange[] {
  if (before.length !== after.length) return [insertion(before, after)];
  const changes: ByteChange[] = [];
  for (let at = 0; at < before.length; at++) {
    if (before[at] === after[at]) continue;
    let end = at + 1;
    while (end < before.length && before[end] !== after[end]) end++;
    changes.push({ offset: at, before: hexOf(before.subarray(at, end)), after: hexOf(after.subarray(at, end)) });
    at = end;
  }
  return changes;
}

function insertion(before: Uint8Array, after: Uint8Array): ByteChange {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < most - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return {
    offset: start,
    before: hexOf(before.subarray(start, before.length - tail)),
    after: hexOf(after.subarray(start, after.length - tail)),
  };
}
