/** The outcome of a frame as plain data: names in place of objects. */
import { hexOf } from "../../base/hex.js";
import type { Destination, Outcome } from "../../model/traffic/outcome.js";
import type { TraceDestination, TraceOutcome } from "./trace.js";

export function traceOutcome({ verdict, reason, tag, registers, rules, to, copies, missed }: Outcome): TraceOutcome {
  return {
    verdict,
    reason,
    tag,
    registers: { ...registers },
    rules: rules.map(({ name }) => name),
    to: to.map(traceDestination),
    copies: copies.map(traceDestination),
    missed: missed.map((table) => ({ ...table })),
  };
}

function traceDestination({ kind, name, tag, frame }: Destination): TraceDestination {
  return { kind, name, tag, frame: hexOf(frame) };
}
