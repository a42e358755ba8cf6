/** Detectors of the linter, and what they find. */
import type { Finding, Severity } from "../answer.js";
import type { LintContext } from "./context.js";

/** What a detector found. What is left out is null. */
export type Found = Pick<Finding, "objects" | "sentence"> &
  Partial<Pick<Finding, "field" | "witness" | "proof" | "fix">>;

/** Finds one kind of fault. */
export interface LintDetector {
  /** In kebab case; docs/check.md lists them. */
  readonly id: string;
  readonly severity: Severity;
  readonly detect: (context: LintContext) => Iterable<Found>;
}
