/** The bytes of a frame at a step of its trace, and what the step changed. */
import type { ByteChange, Trace } from "flowsteer/explain";
import type { FrameTree } from "flowsteer/packet";
import type { Snapshot } from "../../engine/api.js";

/** Bytes of the frame after the step. */
export interface Mark {
  readonly offset: number;
  readonly length: number;
  readonly kind: "changed" | "inserted";
}

/** Bytes that the step took away: they lay before the byte at `offset` of the frame after the step. */
export interface Removed {
  readonly offset: number;
  /** As hexadecimal digits. */
  readonly bytes: string;
}

export interface BytesAt {
  readonly tree: FrameTree;
  readonly marks: readonly Mark[];
  readonly removed: readonly Removed[];
}

/** The snapshot of the branch at a step: a branch begins with the bytes of the one that it split from. */
export function snapshotAt(trace: Trace, snapshots: readonly Snapshot[], step: number): Snapshot | null {
  let branch = trace.steps[step]?.branch ?? 0;
  for (let until = step; ;) {
    const found = snapshots.findLast((one) => one.branch === branch && one.step <= until);
    if (found !== undefined) return found;
    const fork = trace.steps.findIndex((one) => one.kind === "fork" && one.into === branch);
    if (fork < 0) break;
    until = Math.min(until, fork);
    branch = (trace.steps[fork] as { readonly branch: number }).branch;
  }
  // A looped frame begins as the one that was sent.
  return snapshots.findLast((one) => one.step <= step) ?? snapshots[0] ?? null;
}

export function bytesAt(trace: Trace, snapshots: readonly Snapshot[], step: number): BytesAt | null {
  const snapshot = snapshotAt(trace, snapshots, step);
  if (snapshot === null) return null;
  const now = trace.steps[step];
  const changes = now?.kind === "action" ? now.bytes : [];
  return { tree: snapshot.tree, ...marksOf(changes) };
}

/** Where changes lie in the frame after them. Offsets of changes are those before the step. */
export function marksOf(changes: readonly ByteChange[]): Pick<BytesAt, "marks" | "removed"> {
  const marks: Mark[] = [];
  const removed: Removed[] = [];
  let shift = 0;
  for (const { offset, before, after } of changes) {
    const [had, has] = [before.length / 2, after.length / 2];
    const at = offset + shift;
    if (has > 0) marks.push({ offset: at, length: has, kind: had === has ? "changed" : "inserted" });
    if (had > 0 && had !== has) removed.push({ offset: at, bytes: before });
    shift += has - had;
  }
  return { marks, removed };
}

/** The way in which a byte is marked. */
export function markAt(marks: readonly Mark[], at: number): Mark["kind"] | null {
  return marks.find(({ offset, length }) => at >= offset && at < offset + length)?.kind ?? null;
}
