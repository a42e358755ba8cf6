/** An outcome as a line of JSON holds it. */
import type { Outcome } from "../model/outcome.js";

/** What became of one frame: names in place of objects. */
export interface OutcomeRecord {
  /** Number of the frame, from 1. */
  frame: number;
  /** Its length on the wire in bytes. */
  len: number;
  verdict: Outcome["verdict"];
  reason: Outcome["reason"];
  /** Destinations by name, such as `qp:web`. */
  to: string[];
  tag: number | null;
  /** Names of the rules that it hit, in order. */
  rules: string[];
  registers: Record<string, number>;
  copies: string[];
}

/** The record of an outcome; `length` is that on the wire in bytes. */
export function outcomeRecord(frameNumber: number, length: number, outcome: Outcome): OutcomeRecord {
  return {
    frame: frameNumber,
    len: length,
    verdict: outcome.verdict,
    reason: outcome.reason,
    to: outcome.to.map(({ name }) => name),
    tag: outcome.tag,
    rules: outcome.rules.map(({ name }) => name),
    registers: outcome.registers,
    copies: outcome.copies.map(({ name }) => name),
  };
}
