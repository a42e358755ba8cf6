/**
 * The lines of JSON that `check` prints. schema/check-1.schema.json is made from these types
 * (scripts/output-schemas.mjs).
 */
import type { Finding, FindingObject, Fix, Severity } from "../../explain/index.js";
import type { NamedElements } from "./elements.js";
import type { DocumentPlace } from "../../scenario/index.js";

export type CheckLine = FindingLine | FileLine;

/** A finding. */
export interface FindingLine extends Omit<Finding, "objects" | "fix">, NamedElements {
  readonly kind: "finding";
  readonly file: string;
  /** Where it is in the file; null where the text is not JSON, and for what no object of the file stands for. */
  readonly place: DocumentPlace | null;
  /** The object that has the fault, first; then others that take part. Empty for an error of the document. */
  readonly objects: readonly PlacedObject[];
  /** A repair that --fix makes; null without one. */
  readonly fix: Fix | null;
}

export interface PlacedObject extends FindingObject {
  readonly place: DocumentPlace | null;
}

/** The last line of a file. */
export interface FileLine {
  readonly kind: "file";
  readonly file: string;
  readonly errors: number;
  readonly warnings: number;
  readonly notes: number;
  /** What --fix has changed. */
  readonly fixed: readonly string[];
}

/** How many findings there are of each severity. */
export function countsOf(findings: readonly { readonly severity: Severity }[]): Record<Severity, number> {
  const count = (severity: Severity): number => findings.filter((one) => one.severity === severity).length;
  return { error: count("error"), warning: count("warning"), note: count("note") };
}
