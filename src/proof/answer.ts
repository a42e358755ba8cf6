/**
 * What proofs find, as plain data: it survives `structuredClone` and JSON. A claim that a frame exists is shown by the
 * frame; a claim that none exists names the reason.
 */
import type { MatchedField, RuleRef, TableRef, TraceOutcome } from "../explain/trace/trace.js";
import type { Witness, WitnessFrame } from "../explain/trace/witness.js";

export type { Witness, WitnessFrame };

/** Why no frame hits a rule. `sentence` says it in words. `Named` is how it names other rules. */
export type Proof<Named = RuleRef> = { readonly sentence: string } &
  /** The rules before it take all its frames. Without any one of `by` this no longer holds. */
  (
    | { readonly kind: "covered"; readonly by: readonly Named[] }
    /** Its own match excludes every frame. Without any one of `terms` this no longer holds. */
    | { readonly kind: "contradiction"; readonly terms: readonly ProofTerm[] }
    /** No frame comes to its table. */
    | { readonly kind: "unreached"; readonly table: TableRef; readonly cause: UnreachedCause }
    /**
     * The frames that come to its table cannot match it. `leading`: the rules that lead there. `terms` of its match exclude
     * the frames, which have `held`; both are empty where several fields together do.
     */
    | {
        readonly kind: "cannot match";
        readonly table: TableRef;
        readonly leading: readonly Named[];
        readonly terms: readonly ProofTerm[];
        readonly held: readonly HeldField<Named>[];
      }
  );

/** A value that frames have in a field at a table. */
export interface HeldField<Named = RuleRef> {
  readonly field: string;
  readonly value: string;
  /** The nearest rules on the paths there that write the value, or match it. */
  readonly by: readonly Named[];
  readonly written: boolean;
}

/**
 * Why no frame comes to a table. "no rule leads there": neither a rule nor an unmatched frame does; "no queue sends": to a
 * table of NIC_TX; "leading rules are never hit": each of them has a proof of its own.
 */
export type UnreachedCause = "no rule leads there" | "no queue sends" | "leading rules are never hit";

/** A field of a match, in the notation of scenario files. */
export type ProofTerm = Pick<MatchedField, "field" | "wanted">;

/** Whether some frame does something. */
export type Coverage =
  | { readonly status: "witness"; readonly witness: Witness }
  | { readonly status: "none"; readonly proof: Proof }
  /** Neither was found; `tried` says how far the search went. */
  | { readonly status: "unknown"; readonly tried: string };

export interface RuleCoverage {
  readonly rule: RuleRef;
  readonly table: TableRef;
  readonly coverage: Coverage;
}

export interface TableCoverage {
  readonly table: TableRef;
  readonly coverage: Coverage;
}

/** Every rule, flow and table of a device, in the order of tables and ranks. */
export interface Cover {
  readonly rules: readonly RuleCoverage[];
  readonly tables: readonly TableCoverage[];
}

/** How bad a finding is. */
export type Severity = "error" | "warning" | "note";

/** What a finding is about: an object of the device, by kind and name. */
export interface FindingObject {
  readonly kind:
    | "rule"
    | "flow"
    | "host rule"
    | "entry"
    | "table"
    | "matcher"
    | "action"
    | "counter"
    | "flow counter"
    | "ASO object"
    | "queue"
    | "TIR"
    | "RQT"
    | "indirection table"
    | "flow action"
    | "flow table"
    | "steering anchor"
    | "domain"
    | "vport"
    | "device";
  /** The number of a vport; a queue without the kind before its name. */
  readonly name: string;
}

/** A finding of `lint`. */
export interface Finding {
  /** Its identity, such as "dead-rule": docs/check.md lists them. */
  readonly id: string;
  readonly severity: Severity;
  /** The object that has the fault, first; then others that take part. */
  readonly objects: readonly FindingObject[];
  /** The field, if one is at fault. */
  readonly field: string | null;
  readonly sentence: string;
  readonly witness: Witness | null;
  readonly proof: Proof | null;
  /** A repair that is sure; null without one. */
  readonly fix: Fix | null;
}

/** A change of objects that mends a finding. */
export type Fix = { readonly sentence: string } & (
  | { readonly kind: "remove"; readonly object: FindingObject }
  /** `field` of the object's match, or "priority"; `value` in the notation of scenario files, null to leave it out. */
  | { readonly kind: "set"; readonly object: FindingObject; readonly field: string; readonly value: string | null }
);

/** How two devices can treat a frame differently. */
export type DifferenceKind = "verdict" | "destination" | "bytes" | "counters" | "tag" | "state" | "rule";

/** What a device does with a frame. */
export interface Treatment {
  /** The rules that the frame hits, in their order. */
  readonly rules: readonly RuleRef[];
  readonly outcome: TraceOutcome;
  /** The counters that count it, by name, with what each adds: `{ "c1": "1 packet, 60 bytes" }`. */
  readonly counters: Readonly<Record<string, string>>;
  /** The meters, connections, associations and flags that it uses, each as a line. */
  readonly state: readonly string[];
}

/** Frames that two devices treat differently in one way. */
export interface DifferenceGroup {
  readonly kinds: readonly DifferenceKind[];
  readonly sentence: string;
  readonly witness: Witness;
  /** The headers of the frame in one line; those of a witness in packet notation. */
  readonly headers: string;
  /** How the old and the new device treat the witness. */
  readonly before: Treatment;
  readonly after: Treatment;
}

/** Frames of a capture that two devices treat differently in one way. */
export interface CapturedGroup extends Omit<DifferenceGroup, "witness"> {
  readonly frames: number;
  /** The sum of their lengths on the wire. */
  readonly bytes: number;
  /** The numbers of the first frames; `headers`, `before` and `after` are those of the first one. */
  readonly examples: readonly number[];
}

/** What is not the same in two devices, and whether it changes what happens to frames. */
export interface Change {
  readonly what: "added" | "removed" | "match" | "order" | "actions" | "unmatched" | "device";
  /** The rule, in the new device unless it was removed; null for other changes. */
  readonly rule: RuleRef | null;
  /** Its table; null for a change of the device. */
  readonly table: TableRef | null;
  readonly sentence: string;
  /**
   * "different": some group shows a frame that this change treats differently. "same": proved that there is none. "unknown":
   * neither was found.
   */
  readonly effect: "different" | "same" | "unknown";
  /** How far the search went where the effect is unknown; null elsewhere. */
  readonly tried: string | null;
}

/** What a change changes. */
export interface DifferenceResult {
  /** True only with proof: no frame is treated differently. */
  readonly equal: boolean;
  readonly groups: readonly DifferenceGroup[];
  readonly changes: readonly Change[];
}
