/** What the worker of imports and exports answers. All of it is plain data. */
import type { ImportFinding } from "flowsteer/import";

export interface Imported {
  /** The scenario. */
  readonly text: string;
  /** Rules, flows and rules of the host in it. */
  readonly rules: number;
  readonly findings: readonly ImportFinding[];
}

export interface Exported {
  readonly text: string;
  /** What the format cannot express, a line each. */
  readonly left: readonly string[];
}
