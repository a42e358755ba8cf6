/** What happened to a frame, as objects. */
import { Reason, Verdict } from "../../abi/engine.js";
import type { DevxFlowEntry } from "../devx/flowEntry.js";
import type { Flow } from "../flow/flow.js";
import type { HostRule } from "../flow/hostRules.js";
import { Printable } from "../../printable.js";
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

/**
 * What happened to a frame. It prints its fields, and `JSON.stringify` takes it: rules and objects are names there, frames
 * are hexadecimal digits.
 */
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

class FrameOutcome extends Printable implements OpenOutcome {
  declare verdict: VerdictName;
  declare reason: ReasonName | null;
  declare to: readonly Destination[];
  declare tag: number | null;
  declare registers: Readonly<Record<string, number>>;
  declare rules: readonly HitRule[];
  declare copies: readonly Destination[];

  constructor(verdict: VerdictName, reason: ReasonName | null, tag: number | null) {
    super();
    this.verdict = verdict;
    this.reason = reason;
    this.to = NOWHERE;
    this.tag = tag;
    this.registers = NO_REGISTERS;
    this.rules = NO_RULES;
    this.copies = NOWHERE;
  }

  protected override get printedName(): string {
    return "Outcome";
  }
}

/** The outcome of a frame that hit no rule and reached no destination. */
export function bareOutcome(verdict: VerdictName, reason: ReasonName | null, tag: number | null): OpenOutcome {
  return new FrameOutcome(verdict, reason, tag);
}

/** One class for all kinds of destination, so that all have the same shape in memory. */
class FrameDestination extends Printable {
  declare readonly kind: Destination["kind"];
  declare readonly name: string;
  declare readonly object: Destination["object"];
  declare readonly frame: Uint8Array;
  declare readonly tag: number;

  constructor(
    kind: Destination["kind"],
    name: string,
    object: Destination["object"],
    frame: Uint8Array,
    tag: number,
    rest: DestinationRest | null,
  ) {
    super();
    this.kind = kind;
    this.name = name;
    this.object = object;
    this.frame = frame;
    this.tag = tag;
    if (rest !== null) Object.assign(this, rest);
  }

  protected override get printedName(): string {
    return "Destination";
  }
}

/** Fields that most destinations do not have. */
export interface DestinationRest {
  linkType?: number;
  espFault?: EspFault;
  outcome?: Outcome | null;
}

/** A destination of a frame; `rest` is null for most. */
export function destinationOf<K extends Destination["kind"]>(
  kind: K,
  name: string,
  object: Extract<Destination, { kind: K }>["object"],
  frame: Uint8Array,
  tag: number,
  rest: DestinationRest | null,
): Extract<Destination, { kind: K }> {
  return new FrameDestination(kind, name, object, frame, tag, rest) as Destination as Extract<Destination, { kind: K }>;
}
