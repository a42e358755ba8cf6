/** Detectors of the linter. */
import type { Severity } from "../answer.js";
import type { LintContext } from "./context.js";
import type { Found } from "./found.js";

export type { Found };

/** Finds one kind of fault. */
export interface LintDetector {
  /** In kebab case; docs/check.md lists them. */
  readonly id: string;
  readonly severity: Severity;
  readonly detect: (context: LintContext) => Iterable<Found>;
}
