/**
 * The lines of JSON that `trace` and `why` print. schema/explain-1.schema.json is made from these
 * types (scripts/output-schemas.mjs).
 */
import type { Near, Spread, Trace } from "../../explain/index.js";
import type { Outcome } from "../../index.js";
import type { NamedElements } from "./elements.js";
import type { OwnExplanation } from "../../import/index.js";

export type ExplainLine = TraceLine | WhyLine | GroupLine | SpreadLine | SumLine;

/** `flowsteer trace --json` */
export interface TraceLine extends NamedElements {
  readonly kind: "trace";
  /** The number of the frame in the captures or in the scenario; null for a frame of the command line. */
  readonly frame: number | null;
  readonly trace: Trace;
  /** The rules nearest to the frame in the tables where it found none, the nearest first. */
  readonly near: readonly Near[];
}

/** `flowsteer why --json` */
export interface WhyLine extends NamedElements {
  readonly kind: "why";
  /** As in `trace`. */
  readonly frame: number | null;
  readonly explanation: OwnExplanation;
}

/** `flowsteer why --all --json`: frames with the same explanation. */
export interface GroupLine extends NamedElements {
  readonly kind: "group";
  readonly frames: number;
  /** The sum of their lengths on the wire. */
  readonly bytes: number;
  /** The numbers of the first frames. */
  readonly examples: readonly number[];
  readonly verdict: Outcome["verdict"];
  readonly reason: Outcome["reason"];
  /** Why the first of them ended as it did; null for frames that are like no explained frame of this outcome. */
  readonly explanation: OwnExplanation | null;
}

/** `flowsteer why --all --json`: frames of a rule that RSS spread unevenly. */
export interface SpreadLine extends Spread {
  readonly kind: "spread";
}

/** The last line of `flowsteer why --all --json`. */
export interface SumLine {
  readonly kind: "sum";
  /** All frames that were steered. */
  readonly frames: number;
  /** Those that missed or were dropped. */
  readonly lost: number;
  /** Those that a driver received because no rule took them. */
  readonly unclaimed: number;
  /** Copies of frames that reached no destination, by reason. */
  readonly lostCopies: Readonly<Record<string, number>>;
  readonly groups: number;
  /** Why the input was read in part only; null if all of it was read. */
  readonly partial: string | null;
}
