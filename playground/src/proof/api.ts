/** What the page asks of proofs, which run in a worker of their own. All of it is plain data. */
import type { Severity, Witness } from "flowsteer/explain";

/** What proofs say of rules that were accepted. */
export interface Proved {
  readonly findings: readonly ProvedFinding[];
  /** Rules that no frame hits. */
  readonly dead: readonly DeadRule[];
  /** Rules with a frame that hits them. */
  readonly live: readonly LiveRule[];
}

export interface ProvedFinding {
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
