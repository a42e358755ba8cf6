/**
 * The tables of a device as a graph: where frames come in, the rules of each table by rank, and what leads from a table to
 * the next one.
 */
import type { RuleNode } from "../../explain/why/rules.js";
import type { Link } from "../../explain/why/links.js";
import type { TraceSource } from "../../explain/trace/trace.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { TableRules } from "./tableRules.js";

/** A place where frames come in. */
export interface Entry {
  readonly source: TraceSource;
  /** The address of the first table. */
  readonly table: number;
  /** The queue pair that sends; null for the wire. */
  readonly queue: QueuePair | null;
  /** Whether the device makes the packets of the queue: of a datagram or connected queue pair. No witness begins there. */
  readonly transport: boolean;
}

/** What the key of a frame must have: a number of at most 48 bits that begins at a bit of the key. */
export interface Condition {
  readonly bit: number;
  readonly width: number;
  readonly value: number;
  /** False: the frame has any other number there. */
  readonly equal: boolean;
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
  /**
   * Pairs of operation and operand that can change the frame or end it on this way, in order: of the rule, then of the member
   * or sampler.
   */
  readonly changes: readonly number[];
  /** What else happens on the way. */
  readonly move: "jump" | "miss" | "resume" | "vport" | "egress" | "default" | "loop";
  /** How the rule leads on. Only some frames take a "sample". Misses have "action". */
  readonly by: Link["by"];
  /** The vport that the frame goes to; -1 if it stays with its function. */
  readonly vport: number;
  /** The lookup at `to` begins with the rules of this slot (`TableRules.slot`). */
  readonly slot: number;
  /** Only frames whose key has all of this after the changes go this way. */
  readonly conditions: readonly Condition[];
}

export interface Graph {
  readonly entries: readonly Entry[];
  /** The addresses of all tables. */
  readonly tables: readonly number[];
  /** The rules of a table by rank. */
  rulesOf(table: number): TableRules;
  /** The ways to a table. */
  edgesTo(table: number): readonly Edge[];
  /** The ways from a table. */
  edgesFrom(table: number): readonly Edge[];
  /** Whether a rule lets its frame go on to later rules of the same table. */
  goesOn(rule: RuleNode): boolean;
  /**
   * Whether a frame that its port loops back can pass over a rule that it matches: its sender decides.
   * @param sender the queue pair that sends it; null where that is not known
   */
  mayBePassedOver(rule: RuleNode, sender: QueuePair | null): boolean;
  /** Whether every frame of a sender that its port loops back passes over a rule. */
  isPassedOver(rule: RuleNode, sender: QueuePair): boolean;
  /** Whether ports loop frames back. */
  readonly hasLoops: boolean;
}
