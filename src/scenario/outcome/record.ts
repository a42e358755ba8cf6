/** An outcome as a line of JSON. */
import { hexOf } from "../../base/hex.js";
import type { Destination, EspFault, MissedTable, Outcome } from "../../model/traffic/outcome.js";

/** An outcome with names in place of objects. */
export interface OutcomeNames {
  verdict: Outcome["verdict"];
  reason: Outcome["reason"];
  /** Destinations by name, such as `qp:web`. */
  to: string[];
  tag: number | null;
  /** Names of the rules that it hit, in order. */
  rules: string[];
  /** Metadata registers that a rule has written. */
  registers: Record<string, number>;
  copies: string[];
  /** The tag that each destination got with it, 0 without one; in the order of `to`. */
  toTags: number[];
  /** The same of copies. */
  copyTags: number[];
  /** With the reason `no_rule` or `table_miss`: the tables without a rule for the frame. */
  missed?: readonly MissedTable[];
}

/** The outcome of a frame at a port. */
export interface OutcomePart extends OutcomeNames {
  /** The bytes that each destination received, as hexadecimal digits; null where they are unchanged. */
  toFrames: (string | null)[];
  /** The same of copies. */
  copyFrames: (string | null)[];
  /** The faults that an inline ESP action found in the frame of each destination, null for none; missing where all are null. */
  toEspFaults?: (EspFault | null)[];
  /** The same of copies. */
  copyEspFaults?: (EspFault | null)[];
  /** By the port that it left: its outcome at the port where it arrived next. */
  beyond: Record<string, OutcomePart>;
}

/** The outcome of one frame. */
export interface OutcomeRecord extends OutcomePart {
  /** Number of the frame, from 1. */
  frame: number;
  /** Its length on the wire in bytes. */
  len: number;
}

/** A frame that was steered. */
export interface RunFrame {
  bytes: Uint8Array;
  /** @default the length of `bytes` */
  wireLength?: number;
}

/** The record of the outcome of a frame. */
export function outcomeRecord(
  frameNumber: number,
  { bytes, wireLength = bytes.length }: RunFrame,
  outcome: Outcome,
): OutcomeRecord {
  return { frame: frameNumber, len: wireLength, ...outcomePart(bytes, outcome) };
}

function outcomePart(input: Uint8Array, outcome: Outcome): OutcomePart {
  const changed = ({ frame }: Destination): string | null => (frame === input ? null : hexOf(frame));
  return {
    ...outcomeNames(outcome),
    toFrames: outcome.to.map(changed),
    copyFrames: outcome.copies.map(changed),
    ...(outcome.to.some(isFaulty) ? { toEspFaults: outcome.to.map(faultOf) } : {}),
    ...(outcome.copies.some(isFaulty) ? { copyEspFaults: outcome.copies.map(faultOf) } : {}),
    beyond: Object.fromEntries(farOutcomes(outcome).map(([port, far, frame]) => [port, outcomePart(frame, far)])),
  };
}

/** The outcome with names in place of objects. */
export function outcomeNames(outcome: Outcome): OutcomeNames {
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
    ...(outcome.missed.length > 0 ? { missed: outcome.missed } : {}),
  };
}

/** For each port that a frame left: its name, the outcome where the frame arrived next, and the bytes that left. */
export function farOutcomes({ to }: Outcome): [port: string, far: Outcome, frame: Uint8Array][] {
  return to.flatMap((one): [string, Outcome, Uint8Array][] =>
    one.kind === "port" && one.outcome !== null ? [[one.name, one.outcome, one.frame]] : [],
  );
}

const nameOf = ({ name }: { readonly name: string }): string => name;
const isFaulty = ({ espFault }: Destination): boolean => espFault !== undefined;
const faultOf = ({ espFault }: Destination): EspFault | null => espFault ?? null;
const tagOf = ({ tag }: Destination): number => tag;
