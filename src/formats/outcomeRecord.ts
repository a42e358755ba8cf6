/** An outcome as a line of JSON holds it. */
import type { Destination, Outcome } from "../model/outcome.js";

/** What became of a frame at a port: names in place of objects. */
export interface OutcomePart {
  verdict: Outcome["verdict"];
  reason: Outcome["reason"];
  /** Destinations by name, such as `qp:web`. */
  to: string[];
  tag: number | null;
  /** Names of the rules that it hit, in order. */
  rules: string[];
  registers: Record<string, number>;
  copies: string[];
  /** The tag that each destination got with it, 0 without one; in the order of `to`. */
  toTags: number[];
  /** The same of copies. */
  copyTags: number[];
  /** By port that it left from: what became of it at the port that it came to. */
  beyond: Record<string, OutcomePart>;
}

/** What became of one frame. */
export interface OutcomeRecord extends OutcomePart {
  /** Number of the frame, from 1. */
  frame: number;
  /** Its length on the wire in bytes. */
  len: number;
}

/** The record of an outcome; `length` is that on the wire in bytes. */
export function outcomeRecord(frameNumber: number, length: number, outcome: Outcome): OutcomeRecord {
  return { frame: frameNumber, len: length, ...outcomePart(outcome) };
}

function outcomePart(outcome: Outcome): OutcomePart {
  return {
    verdict: outcome.verdict,
    reason: outcome.reason,
    to: outcome.to.map(nameOf),
    tag: outcome.tag,
    rules: outcome.rules.map(nameOf),
    registers: outcome.registers,
    copies: outcome.copies.map(nameOf),
    toTags: outcome.to.map(tagOf),
    copyTags: outcome.copies.map(tagOf),
    beyond: Object.fromEntries(farOutcomes(outcome).map(([port, far]) => [port, outcomePart(far)])),
  };
}

/** What became of a frame beyond the ports that it left, by their names. */
export function farOutcomes({ to }: Outcome): [port: string, far: Outcome][] {
  return to.flatMap((one): [string, Outcome][] =>
    one.kind === "port" && one.outcome !== null ? [[one.name, one.outcome]] : [],
  );
}

const nameOf = ({ name }: { readonly name: string }): string => name;
const tagOf = ({ tag }: Destination): number => tag;
