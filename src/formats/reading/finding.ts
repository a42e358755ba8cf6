/** What an importer says of an element that it did not carry over as it stands. */

/** Where an element stands in the text of a source. */
export interface SourcePlace {
  /** The name of the source, as it was given. */
  readonly file: string;
  /** The first line is 1. */
  readonly line: number;
  /** The first column is 1. */
  readonly column: number;
}

/** An element of a source, such as a command, a line of a listing or a record of a dump. */
export interface SourceElement extends SourcePlace {
  /** Its words. Empty for what all elements of the source share. */
  readonly text: string;
}

/**
 * `refused`: the element has no equal, or the source does not say enough; rules that need it are
 * incomplete. `assumed`: the source leaves open what was chosen.
 */
export type ImportSeverity = "refused" | "assumed";

export interface ImportFinding extends SourcePlace {
  readonly severity: ImportSeverity;
  /** The element, as it stands in the source. */
  readonly text: string;
  /** Why, as a sentence without a full stop. */
  readonly reason: string;
  /** The rule of the scenario that lacks it; null if none does. */
  readonly rule: string | null;
}

/** What the driver does to an element of a source. */
export interface DriverNote extends SourcePlace {
  /** The element, as it stands in the source. */
  readonly text: string;
  /** A sentence without a full stop. */
  readonly does: string;
  /** The match field that the driver asks for of its own accord. */
  readonly field?: string;
}

/** A note in one line: `FILE:LINE:COLUMN: driver: TEXT: WHAT IT DOES`. */
export function printNote({ file, line, column, text, does }: DriverNote): string {
  return `${file}:${line}:${column}: driver: ${text}: ${does}`;
}

/** A finding in one line: `FILE:LINE:COLUMN: TEXT: REASON`. */
export function printFinding({ file, line, column, severity, text, reason, rule }: ImportFinding): string {
  const where = `${file}:${line}:${column}`;
  const of = rule === null ? "" : ` (rule ${rule})`;
  const words = text === "" ? "" : `: ${text}`;
  return `${where}: ${severity === "refused" ? "not imported" : "assumed"}${words}${of}: ${reason}`;
}
