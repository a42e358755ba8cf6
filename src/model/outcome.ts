/** What happened to a frame, as objects. */
import { Reason, Verdict } from "../abi/engine.js";
import type { QueuePair } from "./queues.js";
import type { Rule } from "./rule.js";

export type VerdictName = Exclude<keyof typeof Verdict, "none">;
/** Stable identities; each has a counter (`device.reasons()`). */
export type ReasonName = Exclude<keyof typeof Reason, "none">;

/** Where a frame arrived, with the bytes that arrived there. */
export interface Destination {
  kind: "qp";
  /** `qp:web` */
  name: string;
  object: QueuePair;
  frame: Uint8Array;
  /** Tag of the rule that delivered it, 0 without one. */
  tag: number;
}

export interface Outcome {
  /** What became of the original branch of the frame. */
  verdict: VerdictName;
  /** Why, where the verdict alone does not say it. */
  reason: ReasonName | null;
  to: readonly Destination[];
  /** The tag that the original branch ended with. */
  tag: number | null;
  /** Metadata registers that a rule wrote, by name. */
  registers: Readonly<Record<string, number>>;
  /** The rules that the frame hit, in order. */
  rules: readonly Rule[];
  /** Where copies of it arrived, whatever became of the frame itself. */
  copies: readonly Destination[];
}

export function verdictName(verdict: number): VerdictName {
  return Verdict[verdict] as VerdictName;
}

export function reasonName(reason: number): ReasonName | null {
  return reason === (Reason.none as number) ? null : (Reason[reason] as ReasonName);
}
