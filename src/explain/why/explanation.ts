/**
 * An explanation: the shortest chain of reasons why a frame did not come to a target, or why it
 * ended as it did. Plain data: it survives `structuredClone` and JSON.
 */
import type { DomainType } from "../../model/base/domainType.js";
import type { ReasonName, VerdictName } from "../../model/traffic/outcome.js";
import type { ByteChange, FailedCheck, FieldChange, HashChoice, RuleRef, TableRef } from "../trace/trace.js";
import type { Witness } from "../trace/witness.js";

/** What a frame was expected to come to. */
export type Target =
  | { readonly kind: "rule" | "flow" | "table" | "queue"; readonly name: string }
  | { readonly kind: "vport"; readonly vport: number }
  /** The tag that completions report. */
  | { readonly kind: "tag"; readonly tag: number }
  /** That the frame was counted: `name[3]` is one counter of a bulk. */
  | { readonly kind: "counter"; readonly name: string }
  /** Why it was dropped, or missed, or ended as it did. */
  | { readonly kind: "end" }
  /** Why it was not delivered a second time. */
  | { readonly kind: "twice" };

export interface Explanation {
  readonly target: Target;
  /** Whether the frame came to the target. The reasons then say what happened afterwards. */
  readonly reached: boolean;
  /** One sentence: the answer. */
  readonly sentence: string;
  /** The chain, from the target back to where the frame came in. */
  readonly reasons: readonly Reason[];
  /** The mistake that the rules look like; null if none is recognized. */
  readonly mistake: Mistake | null;
  /** The smallest changes, each tried: with it the frame comes to the target. */
  readonly repairs: readonly Repair[];
}

/** One link of the chain. `sentence` says it in words, without the name of the kind. */
export type Reason = { readonly sentence: string } &
  /** `table` of a queue or a vport: the root table of its function. */
  (
    | { readonly kind: "not reached"; readonly table: TableRef; readonly leading: readonly RuleRef[] }
    | { readonly kind: "earlier rule"; readonly rule: RuleRef; readonly by: RuleRef; readonly wouldMatch: boolean }
    | {
        readonly kind: "no match";
        readonly rule: RuleRef;
        readonly table: TableRef;
        readonly differences: readonly Difference[];
      }
    | {
        readonly kind: "changed on the way";
        readonly field: string;
        readonly rule: RuleRef;
        readonly action: string;
        readonly before: string | null;
        readonly after: string | null;
      }
    | {
        readonly kind: "other domain";
        readonly domain: DomainType;
        readonly vport: number;
        readonly took: RuleRef | null;
      }
    | {
        readonly kind: "lost";
        readonly verdict: VerdictName;
        readonly reason: ReasonName | null;
        readonly at: TableRef;
        /** The checks of an ESP action that the frame failed. */
        readonly failed?: readonly FailedCheck[];
      }
    | {
        readonly kind: "action";
        readonly rule: RuleRef;
        readonly action: string;
        /** How RSS chose another queue. */
        readonly hash?: HashChoice;
      }
    | {
        readonly kind: "state";
        readonly object: string;
        readonly name: string;
        /** The checks of connection tracking that the frame failed. */
        readonly failed?: readonly FailedCheck[];
      }
  );

/** A field of a rule that the frame does not have as the rule wants it. */
export interface Difference {
  readonly field: string;
  /** In the notation of scenario files. */
  readonly wanted: string;
  /** As the frame has it; null if the header is absent. */
  readonly found: string | null;
  /** The bits of the field that differ, from its most significant bit: "1" differs, "0" equal, "." not masked. */
  readonly bits: string;
  /** How many bits differ; 1 for a field outside a range. */
  readonly distance: number;
  /** For an absent header: where parsing stopped and why ("UDP port 8472 is not 4789, so no VXLAN header was read"). */
  readonly absent: string | null;
  /** Where the value that was found comes from, where the bytes of the frame do not say it; null for other fields. */
  readonly note: string | null;
}

/** A rule of a table that the frame visited, and how near it came. */
export interface Near {
  readonly rule: RuleRef;
  readonly table: TableRef;
  /** Empty if the rule would have matched, but an earlier one took the frame. */
  readonly differences: readonly Difference[];
}

/** A mistake with a name (docs/why.md lists them). */
export interface Mistake {
  readonly name: string;
  readonly sentence: string;
}

/** A change of the frame, of a rule or of the device. It was tried on the traced core. */
export interface Repair {
  readonly of: "frame" | "rule" | "device";
  readonly sentence: string;
  /** For a change of the frame: the whole frame after it, as hexadecimal digits. */
  readonly frame: string | null;
  readonly bytes: readonly ByteChange[];
  /** For a change of a rule, maybe beside one of the device: its name; null for other changes. */
  readonly rule: string | null;
  /**
   * The fields that change, in the notation of scenario files; null for a field that is not there.
   * "priority" stands for the priority of a rule, "flags" for the flags of a flow. For a change of the
   * device: the path of its key in the scenario, and JSON; fields of a rule may follow.
   */
  readonly fields: readonly FieldChange[];
  /** What the change does to other frames; null for a change of the frame or of the device. */
  readonly standing: Standing | null;
  /** The standing in a sentence, with the other frames; null without one. */
  readonly others: string | null;
  /** One of the other frames: with the change it takes another path. Null where there is none, or none was found. */
  readonly witness: Witness | null;
}

/**
 * What the change of a rule does to other frames. "safe": only frames that have what this one has in the changed fields
 * take another path. "corrects": it corrects a known mistake, and the rule takes frames with the right value in place of
 * those with the mistaken one. "widens": others match too. "disables": frames that the rule takes today no longer match it.
 * "undecided": none was proved. A change after which a rule would get no frame any more is no repair.
 */
export type Standing = "safe" | "corrects" | "widens" | "disables" | "undecided";
