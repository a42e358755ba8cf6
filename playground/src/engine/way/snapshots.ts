/** The bytes of a frame on its way: as it came in, and after each step that changed them. */
import { LINK_TYPES, type Device, type ParsedHeaders } from "flowsteer";
import type { Trace, TraceStep } from "flowsteer/explain";
import { frameTree } from "flowsteer/packet";
import type { FrameInput } from "flowsteer/scenario";
import type { Snapshot } from "../api.js";

type Changes = Extract<TraceStep, { kind: "action" }>["bytes"];

export function snapshotsOf(device: Device, trace: Trace, { bytes, linkType = 1 }: FrameInput): Snapshot[] {
  const branches = new Map([[0, bytes]]);
  const snapshots: Snapshot[] = [];
  const add = (step: number, branch: number, now: Uint8Array, parsed: ParsedHeaders): void => {
    branches.set(branch, now);
    snapshots.push({ step, branch, tree: frameTree(now, parsed) });
  };
  for (const [i, step] of trace.steps.entries()) {
    const now = branches.get(step.branch) ?? bytes;
    if (i === 0) add(0, step.branch, now, parsedAs(device, now, linkType));
    if (step.kind === "fork") {
      const { tree } = snapshots.findLast(({ branch }) => branch === step.branch) ?? {};
      branches.set(step.into, now);
      if (tree !== undefined) snapshots.push({ step: i, branch: step.into, tree });
    } else if (step.kind === "action" && step.bytes.length > 0) {
      const changed = changedBy(now, step.bytes);
      // What the device parsed next on this branch are these bytes.
      const next = trace.steps.slice(i + 1).find((one) => one.branch === step.branch && changesOrParses(one));
      const parsed =
        next?.kind === "parse"
          ? { headers: [...next.headers], payload: next.payload, stopped: next.stopped }
          : parsedAs(device, changed, linkTypeOf(changed, now, linkType));
      add(i, step.branch, changed, parsed);
    }
  }
  return snapshots;
}

function changesOrParses(step: TraceStep): boolean {
  return step.kind === "parse" || (step.kind === "action" && step.bytes.length > 0);
}

/** Offsets are those before the step. */
function changedBy(bytes: Uint8Array, changes: Changes): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { offset, before, after } of [...changes].sort((a, b) => a.offset - b.offset)) {
    parts.push(bytes.subarray(at, offset), fromHex(after));
    at = offset + before.length / 2;
  }
  parts.push(bytes.subarray(at));
  const changed = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    changed.set(part, end);
    end += part.length;
  }
  return changed;
}

/** What changes headers puts Ethernet in front, or leaves the link layer that was there. */
function linkTypeOf(changed: Uint8Array, before: Uint8Array, linkType: number): number {
  return changed.length === before.length ? linkType : LINK_TYPES.ETHERNET;
}

function parsedAs(device: Device, bytes: Uint8Array, linkType: number): ParsedHeaders {
  const [parsed] = device.parseHeaders([bytes], { linkType });
  if (parsed === undefined) throw new Error("a frame was not parsed");
  return parsed;
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
