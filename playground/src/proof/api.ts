/** What the page asks of proofs, which run in a worker of their own. All of it is plain data. */
import type { ReasonName, VerdictName } from "flowsteer";
import type { DifferenceKind, Severity, Witness } from "flowsteer/explain";

/** Called now and then with what is done, of what is to do. */
export type ProofProgress = (done: number, total: number) => void;

/** What proofs say of rules that were accepted. */
export interface Proved {
  readonly findings: readonly ProvedFinding[];
  /** Rules that no frame hits. */
  readonly dead: readonly DeadRule[];
  /** Rules with a frame that hits them. */
  readonly live: readonly LiveRule[];
}

export interface ProvedFinding {
  /** "dead-rule". */
  readonly id: string;
  /** What it is about, that first which has the place. */
  readonly objects: readonly { readonly kind: string; readonly name: string }[];
  readonly severity: Severity;
  readonly text: string;
  /** In the document; null without a place. */
  readonly path: string | null;
  readonly fix: ProvedFix | null;
}

/** A value that a repair removes. */
export interface ProvedFix {
  readonly sentence: string;
  readonly path: string;
}

export interface DeadRule {
  /** `rules[2]`. */
  readonly path: string;
  /** Why: "rule "tcp" takes all its frames". */
  readonly why: string;
}

export interface LiveRule {
  readonly path: string;
  readonly name: string;
  readonly witness: Witness;
}

/** Whether other rules treat some frame differently, over all frames there are. */
export interface ComparedRules {
  /** True only with proof. */
  readonly equal: boolean;
  readonly groups: readonly ComparedGroup[];
  /** How many changes of rules and tables there are. */
  readonly changes: number;
  /** Of them, those for which neither a frame nor a proof was found. */
  readonly unknown: number;
  /** The first of them, as sentences, and how far the search went. */
  readonly unknownChanges: readonly { readonly sentence: string; readonly tried: string }[];
}

/** Frames that are treated differently in one way. */
export interface ComparedGroup {
  readonly kinds: readonly DifferenceKind[];
  readonly sentence: string;
  /** Of the witness, in one line. */
  readonly headers: string;
  readonly witness: Witness;
  readonly before: TreatedFrame;
  readonly after: TreatedFrame;
}

/** What rules do with a witness. */
export interface TreatedFrame {
  readonly verdict: VerdictName;
  readonly reason: ReasonName | null;
  readonly to: readonly string[];
  readonly copies: readonly string[];
  readonly rules: readonly string[];
}
