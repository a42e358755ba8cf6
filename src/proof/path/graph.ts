/**
 * The tables of a device as a graph: where frames come in, the rules of each table by rank, and what leads from a table to
 * the next one.
 */
import type { RuleNode } from "../../explain/why/rules.js";
import type { TraceSource } from "../../explain/trace/trace.js";

/** A place where frames come in. */
export interface Entry {
  readonly source: TraceSource;
  /** The address of the first table. */
  readonly table: number;
}

/** A way from a table to another one. */
export interface Edge {
  /** The address of the table before. */
  readonly from: number;
  readonly to: number;
  /** The rule that leads on; null for frames that no rule of the table takes. */
  readonly rule: RuleNode | null;
  /**
   * How many of the rule's actions are done before the frame goes on (pairs of operation and operand of
   * `RuleContent.actions`); for members of arrays and samplers, all before them.
   */
  readonly actions: number;
  /** What else happens on the way. */
  readonly move: "jump" | "miss" | "resume" | "vport" | "egress" | "default" | "loop";
  /** The vport that the frame goes to; -1 if it stays with its function. */
  readonly vport: number;
}

export interface Graph {
  readonly entries: readonly Entry[];
  /** The rules of a table by rank. */
  rulesOf(table: number): readonly RuleNode[];
  /** The ways to a table. */
  edgesTo(table: number): readonly Edge[];
  /** Whether a rule lets its frame go on to later rules of the same table. */
  goesOn(rule: RuleNode): boolean;
}
