/** The outcome of a frame as objects: verdict, reason, destinations, rules hit. */
import { Reason, Verdict } from "../../abi/outcome.js";
import type { DomainType } from "../base/domainType.js";
import type { DevxFlowEntry } from "../devx/flowEntry.js";
import type { Flow } from "../flow/flow.js";
import type { HostRule } from "../flow/hostRules.js";
import { Printable, type PrintedFields } from "../../base/printable.js";
import type { QueuePair } from "../queuePair/queuePair.js";
import type { Rule } from "../rule/rule.js";
import type { WorkQueue } from "../queue/workQueue.js";

export type VerdictName = Exclude<keyof typeof Verdict, "none">;
/** Stable names. `device.reasons()` counts the frames of each. */
export type ReasonName = Exclude<keyof typeof Reason, "none">;

interface Arrived {
  /** `qp:web`, `wq:wq3`, `host:3` or `port:1`. */
  name: string;
  /**
   * The bytes that arrived, after the changes of the rules. If no rule changed the frame, this is
   * the array that was received or sent, and writing to that array changes this outcome. If a rule
   * changed it, this is a copy, and short copies share an `ArrayBuffer`: a program that transfers or
   * stores `frame.buffer` takes `frame.slice()` first. With `createDevice({ copyFrames: true })` it
   * is always a copy with a buffer of its own.
   */
  frame: Uint8Array;
  /** The tag of the rule that delivered it; 0 without one. */
  tag: number;
  /**
   * The link type, if rules changed the bytes: LINKTYPE_ETHERNET when they start with Ethernet,
   * LINKTYPE_RAW when they start with IP. Missing when the link type of the input still holds.
   */
  linkType?: number;
  /**
   * The fault that kept an inline ESP action from decrypting the frame; missing without a fault.
   */
  espFault?: EspFault;
}

/** A wrong ICV (`vendor_err` 1 in the completion) or a wrong ESP trailer (`vendor_err` 2). */
export type EspFault = "icv" | "trailer";

export interface QueueDestination extends Arrived {
  kind: "qp";
  object: QueuePair;
}

/** A work queue, chosen by RSS or by a TIR. */
export interface WorkQueueDestination extends Arrived {
  kind: "wq";
  object: WorkQueue;
}

/** A queue of the host, after the rules of its applications. */
export interface HostDestination extends Arrived {
  kind: "host";
  object: null;
}

/** A port of the device, by which the frame left. */
export interface PortDestination extends Arrived {
  kind: "port";
  object: null;
  /** The outcome on the device that is connected to the port; null when no device is connected. */
  outcome: Outcome | null;
}

/** A place where the frame, or a copy, arrived. */
export type Destination = QueueDestination | WorkQueueDestination | HostDestination | PortDestination;

/** A rule that a frame can hit. */
export type HitRule = Rule | Flow | HostRule | DevxFlowEntry;

/**
 * What happened to a frame. An outcome prints its fields, `missed` only where it is not empty;
 * `JSON.stringify` gives rules and objects as names, frames as hexadecimal digits.
 */
export interface Outcome {
  /** The verdict of the original branch of the frame. */
  verdict: VerdictName;
  /** The reason; null where the verdict needs none. */
  reason: ReasonName | null;
  to: readonly Destination[];
  /** The tag of the original branch at its end; null without a tag. */
  tag: number | null;
  /** The metadata registers that rules wrote, by name. */
  registers: Readonly<Record<string, number>>;
  /** The rules that the frame hit, in order. Of identical flows, all are listed. */
  rules: readonly HitRule[];
  /** The destinations of copies, independent of the verdict. */
  copies: readonly Destination[];
  /**
   * With the reason `no_rule` or `table_miss`: the tables without a rule for the frame at which it
   * left the FDB, if it did, and at which it ended. Else empty.
   */
  missed: readonly MissedTable[];
}

/** A table in which no rule matched. */
export interface MissedTable {
  readonly domain: DomainType;
  /** The function: 0 the PF, VFs from 1. */
  readonly vport: number;
  /**
   * Its name; "root" for the root table of NIC_RX with all that takes part in it (docs/flows.md,
   * "Order"), and for the root table of the FDB.
   */
  readonly table: string;
}

/** Verdict names by the numbers in the column `verdicts` of a burst; entry 0 is "none". */
export const VERDICTS: readonly (VerdictName | "none")[] = namesOf(Verdict);
/** Reason names by the numbers in the column `reasons` of a burst; entry 0 is "none". */
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

// All outcomes without destinations, rules or registers share these.
const NOWHERE: readonly Destination[] = Object.freeze([]);
const NO_RULES: readonly HitRule[] = Object.freeze([]);
const NOTHING_MISSED: readonly MissedTable[] = Object.freeze([]);
const NO_REGISTERS: Readonly<Record<string, number>> = Object.freeze({});

/** An outcome that is still being filled in. */
export type OpenOutcome = { -readonly [K in keyof Outcome]: Outcome[K] };

class FrameOutcome extends Printable implements OpenOutcome {
  declare verdict: VerdictName;
  declare reason: ReasonName | null;
  declare to: readonly Destination[];
  declare tag: number | null;
  declare registers: Readonly<Record<string, number>>;
  declare rules: readonly HitRule[];
  declare copies: readonly Destination[];
  declare missed: readonly MissedTable[];

  constructor(verdict: VerdictName, reason: ReasonName | null, tag: number | null) {
    super();
    this.verdict = verdict;
    this.reason = reason;
    this.to = NOWHERE;
    this.tag = tag;
    this.registers = NO_REGISTERS;
    this.rules = NO_RULES;
    this.copies = NOWHERE;
    this.missed = NOTHING_MISSED;
  }

  protected override printedFields(): PrintedFields {
    const { missed, ...fields } = super.printedFields();
    return this.missed.length === 0 ? fields : { ...fields, missed };
  }

  protected override get printedName(): string {
    return "Outcome";
  }
}

/** The outcome of a frame that hit no rule and reached no destination. */
export function bareOutcome(verdict: VerdictName, reason: ReasonName | null, tag: number | null): OpenOutcome {
  return new FrameOutcome(verdict, reason, tag);
}

/** One class for all kinds of destination: JavaScript engines read objects of one shape faster. */
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

/** Fields that most destinations lack. */
export interface DestinationRest {
  linkType?: number;
  espFault?: EspFault;
  outcome?: Outcome | null;
}

/** Creates a destination; `rest` is null for most. */
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
