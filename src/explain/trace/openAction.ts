/** An action of a trace that is being made. */
import type { InstalledRule } from "../../model/base/installed.js";
import type { ActionStep, FailedCheck } from "./trace.js";

export type Open<T> = { -readonly [K in keyof T]: T[K] };

/** An action whose effects are still to come. */
export interface OpenAction {
  readonly step: Open<ActionStep>;
  readonly rule: InstalledRule;
  readonly op: number;
  readonly operand: number;
  readonly parameters: number;
  readonly destinations: string[];
  /** The checks that did not pass, each once. */
  readonly failed: FailedCheck[];
  readonly vport: number;
  forked: boolean;
  object: string;
  /** The key of the branch after the action. */
  key: Uint8Array | null;
}
