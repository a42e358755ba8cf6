/** A difference in the treatment of a frame, described: its sentence, and what groups frames that differ alike. */
import { headerChain } from "../../explain/print/headerChain.js";
import type { FieldChange } from "../../explain/trace/trace.js";
import type { Device } from "../../model/device/device.js";
import type { DifferenceGroup, DifferenceKind, Treatment } from "../answer.js";
import { firstDifferentBytes, names } from "./compare.js";
import { differenceSentence } from "./sentences.js";
import { ruleKey } from "./treatment.js";

/** A frame that two devices treat differently. */
export interface DifferentFrame {
  readonly bytes: Uint8Array;
  readonly linkType: number;
  readonly kinds: readonly DifferenceKind[];
  readonly before: Treatment;
  readonly after: Treatment;
}

export interface Described extends Omit<DifferenceGroup, "witness"> {
  /** Equal for frames that differ in the same way. */
  readonly key: string;
}

/** @param frames which frames, such as "frames to 10.0.0.0/8" */
export function described(device: Device, frame: DifferentFrame, frames: string): Described {
  const { bytes, linkType, kinds, before, after } = frame;
  const changed = kinds.includes("bytes") ? changedFields(device, before, after) : [];
  const [parsed] = device.parseBatch([bytes], { linkType });
  return {
    key: keyOf(frame, changed),
    kinds,
    sentence: differenceSentence(frames, kinds, before, after, changed),
    headers: parsed === undefined ? "" : headerChain(parsed),
    before,
    after,
  };
}

function keyOf({ kinds, before, after }: DifferentFrame, changed: readonly FieldChange[]): string {
  return JSON.stringify([
    kinds,
    changed.map(({ field }) => field),
    ...[before, after].map((one) => sideKey(kinds, one)),
  ]);
}

function sideKey(kinds: readonly DifferenceKind[], { rules, outcome, counters }: Treatment): unknown[] {
  const key: unknown[] = [rules.map(ruleKey), outcome.verdict, outcome.reason, names(outcome)];
  if (kinds.includes("tag"))
    key.push(
      outcome.tag,
      outcome.to.map(({ tag }) => tag),
    );
  if (kinds.includes("counters")) key.push(Object.keys(counters));
  return key;
}

/** The fields that differ where a destination gets other bytes. */
function changedFields(device: Device, before: Treatment, after: Treatment): FieldChange[] {
  const [was, is] = firstDifferentBytes(before.outcome, after.outcome);
  const [a, b] = device.parseBatch([was, is]).map(({ fields }) => fields);
  if (a === undefined || b === undefined) return [];
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...fields]
    .filter((field) => a[field] !== b[field])
    .map((field) => ({ field, before: textOf(a[field]), after: textOf(b[field]) }));
}

function textOf(value: number | string | undefined): string | null {
  return value === undefined ? null : String(value);
}
