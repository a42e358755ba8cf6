/** What happened to a frame, as objects. */
import { Reason, Verdict } from "../../abi/engine.js";
import type { DevxFlowEntry } from "../devx/flowEntry.js";
import type { Flow } from "../flow/flow.js";
import type { HostRule } from "../flow/hostRules.js";
import type { QueuePair } from "../queue/queuePair.js";
import type { Rule } from "../rule/rule.js";
import type { WorkQueue } from "../queue/workQueue.js";

export type VerdictName = Exclude<keyof typeof Verdict, "none">;
/** Stable identities; each has a counter (`device.reasons()`). */
export type ReasonName = Exclude<keyof typeof Reason, "none">;

interface Arrived {
  /** `qp:web`, `wq:wq3`, `host:3`, `port:1` */
  name: string;
  /** The bytes that arrived there. */
  frame: Uint8Array;
  /** Tag of the rule that delivered it, 0 without one. */
  tag: number;
  /** LINKTYPE_ETHERNET, LINKTYPE_RAW where rules changed its bytes and they begin with Ethernet, with IP; else that which it came with. */
  linkType?: number;
  /** What an inline ESP action found wrong, so that it could not decrypt it; else missing. */
  espFault?: EspFault;
}

/** By what the completion has as its vendor error: 1, 2. */
export type EspFault = "icv" | "trailer";

export interface QueueDestination extends Arrived {
  kind: "qp";
  object: QueuePair;
}

/** A work queue, which a hash chose or a TIR led to. */
export interface WorkQueueDestination extends Arrived {
  kind: "wq";
  object: WorkQueue;
}

/** A queue of the host, behind the rules of its applications. */
export interface HostDestination extends Arrived {
  kind: "host";
  object: null;
}

/** Out of a port of the device. */
export interface PortDestination extends Arrived {
  kind: "port";
  object: null;
  /** What became of it at the port that it came to; null where a function got it, or nobody. */
  outcome: Outcome | null;
}

/** Where a frame arrived. */
export type Destination = QueueDestination | WorkQueueDestination | HostDestination | PortDestination;

/** What a frame can hit. */
export type HitRule = Rule | Flow | HostRule | DevxFlowEntry;

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
  /** The rules that the frame hit, in order; of identical flows all. */
  rules: readonly HitRule[];
  /** Where copies of it arrived, whatever became of the frame itself. */
  copies: readonly Destination[];
}

/** By the numbers in the column `verdicts` of a burst; the first is none. */
export const VERDICTS: readonly (VerdictName | "none")[] = namesOf(Verdict);
/** By the numbers in the column `reasons`; the first is none. */
export const REASONS: readonly (ReasonName | "none")[] = namesOf(Reason);

function namesOf<T extends string>(numbers: Readonly<Record<T, number>>): T[] {
  const names: T[] = [];
  for (const [name, number] of Object.entries(numbers)) if (typeof number === "number") names[number] = name as T;
  return names;
}

export function verdictName(verdict: number): VerdictName {
  return Verdict[verdict] as VerdictName;
}

export function reasonName(reason: number): ReasonName | null {
  return reason === (Reason.none as number) ? null : (Reason[reason] as ReasonName);
}

// Shared by all outcomes that have none.
const NOWHERE: readonly Destination[] = Object.freeze([]);
const NO_RULES: readonly HitRule[] = Object.freeze([]);
const NO_REGISTERS: Readonly<Record<string, number>> = Object.freeze({});

/** An outcome under construction. */
export type OpenOutcome = { -readonly [K in keyof Outcome]: Outcome[K] };

/** The outcome of a frame that hit no rule and reached nobody. */
export function bareOutcome(verdict: VerdictName, reason: ReasonName | null, tag: number | null): OpenOutcome {
  return { verdict, reason, to: NOWHERE, tag, registers: NO_REGISTERS, rules: NO_RULES, copies: NOWHERE };
}
