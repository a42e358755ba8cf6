/**
 * A trace: everything that happened to one frame, in order, as plain data. It survives
 * `structuredClone` and JSON. `traceFrame.ts` makes it from the events of the traced core.
 */
import type { Check } from "../../abi/trace.js";
import type { DomainType } from "../../model/base/domainType.js";
import type { ReasonName, VerdictName } from "../../model/traffic/outcome.js";
import type { ParsedHeader, ParseStop } from "../../packet/parsedFrame.js";

export interface Trace {
  readonly frame: TracedFrame;
  readonly from: TraceSource;
  /** Whether the frame had its effect on the device; false for a dry run. */
  readonly committed: boolean;
  /** False if the frame did more than a trace holds (TRACE_BYTES in src/abi/trace.ts): its steps end early then. */
  readonly complete: boolean;
  /** In the order in which the engine took them. */
  readonly steps: readonly TraceStep[];
  readonly outcome: TraceOutcome;
}

export interface TracedFrame {
  /** Captured bytes. */
  readonly length: number;
  /** Bytes on the wire. */
  readonly wireLength: number;
  /** LINKTYPE_*. */
  readonly linkType: number;
  /** The frame as hexadecimal digits. */
  readonly bytes: string;
}

/** Where the frame came in. */
export type TraceSource =
  | { readonly kind: "wire"; readonly port: number }
  /** The function has the number `vport`. */
  | { readonly kind: "queue"; readonly queue: string; readonly vport: number; readonly port: number };

/**
 * Which table: its name, "root" for the root table of a domain; for other stages "sniffers",
 * "connections", "host rules", "default flows" and so on. A function of the device by its vport.
 */
export interface TableRef {
  readonly domain: DomainType;
  readonly vport: number;
  readonly table: string;
}

/** A rule, flow or other object that has a rule in the core. */
export interface RuleRef {
  /** "connection": the rule of an RC or UC queue pair. */
  readonly kind: "rule" | "flow" | "host rule" | "entry" | "connection";
  /** The names of all identical flows, or rules of an entry, joined by " = "; of a connection its queue pair; else the name of the rule. */
  readonly name: string;
  /** The number in outcomes. */
  readonly id: number;
  /** Its index for an entry of a flow table, 0 for a connection. */
  readonly priority: number;
  /** The name of its matcher; null for flows. */
  readonly matcher: string | null;
}

export type CheckName = keyof typeof Check;

/** Branch 0 is the frame itself; arrays and samplers make further branches. */
interface Step {
  readonly branch: number;
}

/** The frame was parsed: when it came in, or again after a change. */
export interface ParseStep extends Step {
  readonly kind: "parse";
  readonly again: boolean;
  readonly headers: readonly ParsedHeader[];
  /** Offsets of the bytes after the last header. */
  readonly payload: { readonly offset: number; readonly end: number };
  readonly stopped: ParseStop | null;
  /** Present fields by name, as `device.parse` gives them. */
  readonly fields: Readonly<Record<string, number | string>>;
}

/** A lookup in a table. */
export interface LookupStep extends Step {
  readonly kind: "lookup";
  readonly table: TableRef;
  /** Rules in the table. */
  readonly rules: number;
  /** The first priority that the lookup considers; null if it considers all rules. */
  readonly fromPriority: number | null;
  /** The rule that the lookup found; null for a miss. */
  readonly rule: RuleRef | null;
  /** The fields that the rule matches, as the frame has them at this table. */
  readonly matched: readonly MatchedField[];
  /** Whether the rule was found but does not apply to the sender of a looped frame. */
  readonly passedOver: boolean;
}

/** A field of a rule: `wanted` in the notation of scenario files (docs/scenarios.md), `found` as the frame has it. */
export interface MatchedField {
  readonly field: string;
  readonly wanted: string;
  readonly found: string;
}

/** An action of a rule, of a member of an array, or of a sampler. */
export interface ActionStep extends Step {
  readonly kind: "action";
  readonly rule: RuleRef | null;
  /** The name of the operation: "modify", "count", "queue", "table", "drop", "meter" ... */
  readonly action: string;
  /** One line that says what it does, without the name of the operation; may be empty. */
  readonly text: string;
  /** Match fields whose values it changed; null for a field that is absent. */
  readonly fields: readonly FieldChange[];
  readonly bytes: readonly ByteChange[];
  readonly state: readonly StateChange[];
  /** The metadata registers that it wrote ("C1", "A"), whether or not their values changed; absent if it wrote none. */
  readonly registers?: readonly string[];
  /** How RSS chose a queue; absent for other actions. */
  readonly hash?: HashChoice;
  /** The checks of connection tracking or ESP that the frame failed, in their order; absent if it failed none. */
  readonly failed?: readonly FailedCheck[];
}

/** A hash of RSS, and the entry of the indirection table that it chose. */
export interface HashChoice {
  readonly function: "none" | "xor8" | "toeplitz";
  /** Whether source and destination go in as their OR and their exclusive OR. */
  readonly symmetric: boolean;
  /** The selected fields that the frame has, in the order of the input. */
  readonly fields: readonly HashedField[];
  /** The fields that did not go in: selected ones, and the addresses and ports that the frame has besides. */
  readonly leftOut: readonly UnhashedFields[];
  /** The input as hexadecimal digits. */
  readonly input: string;
  readonly hash: number;
  /** The index in the indirection table, and its number of entries. */
  readonly entry: number;
  readonly entries: number;
  /** Entries of the table that have the chosen queue. */
  readonly sharing: number;
}

/** A field that went into a hash: `value` in the notation of scenario files. */
export interface HashedField {
  readonly field: string;
  readonly value: string;
}

/** Fields that did not go into a hash, and why. */
export interface UnhashedFields {
  readonly fields: readonly string[];
  /** "fragment": ports of fragments are not hashed; "unselected": the TIR or the flow does not select them. */
  readonly cause: "fragment" | "absent" | "unselected";
  readonly sentence: string;
}

/** A check of a stateful action that the frame failed. */
export interface FailedCheck {
  /** Its name (src/abi/trace.ts, `Check`). */
  readonly check: CheckName;
  /** The numbers that it compared: those of the frame first. */
  readonly numbers: Readonly<Record<string, string>>;
  /** "acknowledges 4001, beyond 3400, the highest sequence number seen from the other side" */
  readonly sentence: string;
}

export interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Bytes at an offset of the frame before the action, as hexadecimal digits; the two may differ in length. */
export interface ByteChange {
  readonly offset: number;
  readonly before: string;
  readonly after: string;
}

/** State that an action read or wrote: `counter "c1": packets 4 -> 5`. */
export interface StateChange {
  /** "counter", "meter", "first-hit flag", "connection", "association", "receive queue" ... */
  readonly object: string;
  readonly name: string;
  readonly values: readonly { readonly value: string; readonly before: string; readonly after: string }[];
}

export interface ForkStep extends Step {
  readonly kind: "fork";
  /** The number of the new branch. */
  readonly into: number;
}

/** The branch goes to a table. */
export interface MoveStep extends Step {
  readonly kind: "move";
  readonly to: TableRef;
  /** The cause (src/abi/trace.ts, `Move`); "loopback": the port loops the sent frame back to its own receive rules. */
  readonly cause: "jump" | "resume" | "miss" | "egress" | "vport" | "fdb_default" | "loopback";
}

/** A destination gets the branch, if it takes it. */
export interface DestinationStep extends Step {
  readonly kind: "destination";
  /** `qp:web`, `port:1`: as in outcomes. */
  readonly to: string;
  readonly copy: boolean;
  /** Why it did not take the frame; null if it took it. */
  readonly refused: ReasonName | null;
  /** Receive requests and completions that the frame took. */
  readonly state: readonly StateChange[];
}

/** The branch has ended. */
export interface EndStep extends Step {
  readonly kind: "end";
  readonly verdict: VerdictName;
  readonly reason: ReasonName | null;
  /** The table at which it ended. */
  readonly table: TableRef;
}

export type TraceStep = ParseStep | LookupStep | ActionStep | ForkStep | MoveStep | DestinationStep | EndStep;

/** The outcome of the frame (model/traffic/outcome.ts), with names in place of objects. */
export interface TraceOutcome {
  readonly verdict: VerdictName;
  readonly reason: ReasonName | null;
  readonly tag: number | null;
  readonly registers: Readonly<Record<string, number>>;
  readonly rules: readonly string[];
  readonly to: readonly TraceDestination[];
  readonly copies: readonly TraceDestination[];
  readonly missed: readonly TableRef[];
}

export interface TraceDestination {
  readonly kind: "qp" | "wq" | "host" | "port";
  readonly name: string;
  readonly tag: number;
  /** The bytes that arrived, as hexadecimal digits. */
  readonly frame: string;
}
