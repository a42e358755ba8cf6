/** Detectors of known mistakes, and what they find. */
import type { FieldChange } from "../trace/trace.js";
import type { RuleInTable } from "./context.js";
import type { Facts } from "./facts.js";

/** What a detector found. */
export interface Finding {
  readonly sentence: string;
  /** Changes of the rule that would correct it. They are tried before they are offered. */
  readonly changes?: readonly FieldChange[];
  /** The UDP port to register for VXLAN that would correct it. It is tried before it is offered. */
  readonly vxlanPort?: number;
  /** The frame has the header, and the device did not read it: a rule without its fields would be for other frames. */
  readonly unread?: true;
  /** The rule that changes; the rule of the context if it is left out. */
  readonly rule?: RuleInTable;
}

/** Recognizes one known mistake. Null where the case does not show it. */
export interface Detector {
  /** In kebab case; docs/why.md lists them. */
  readonly name: string;
  readonly detect: (facts: Facts) => Finding | null;
}
