/**
 * The lines of JSON that `diff` prints. schema/diff-1.schema.json is made from these types
 * (scripts/output-schemas.mjs).
 */
import type { CapturedGroup, Change, DifferenceGroup } from "../../explain/index.js";
import type { NamedElements } from "./elements.js";

export type DiffLine = ChangeLine | DifferenceLine | FramesLine | EqualLine | SumLine;

/** `flowsteer diff OLD NEW --json`: something that is not the same in both scenarios. */
export interface ChangeLine extends Change, NamedElements {
  readonly kind: "change";
}

/** `flowsteer diff OLD NEW --json`: frames that are treated differently, with a witness. */
export interface DifferenceLine extends DifferenceGroup, NamedElements {
  readonly kind: "difference";
}

/** `flowsteer diff OLD NEW CAPTURE --json`: frames of the capture that are treated differently. */
export interface FramesLine extends CapturedGroup, NamedElements {
  readonly kind: "frames";
}

/** The last line of `flowsteer diff OLD NEW --json`. */
export interface EqualLine {
  readonly kind: "equal";
  /** True only with proof. */
  readonly equal: boolean;
  readonly groups: number;
  /** Changes of which neither a difference nor a proof was found. */
  readonly unknown: number;
}

/** The last line of `flowsteer diff OLD NEW CAPTURE --json`. */
export interface SumLine {
  readonly kind: "sum";
  /** All frames that were steered. */
  readonly frames: number;
  /** Those that are treated differently. */
  readonly different: number;
  readonly groups: number;
  /** Why the input was read in part only; null if all of it was read. */
  readonly partial: string | null;
}
