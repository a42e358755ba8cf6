/** What a step of a trace did to a counter. */
import type { StateChange, TraceStep } from "../../trace/trace.js";
import type { CounterTarget } from "../targets.js";
import { isAction } from "../walked.js";

/** The change of a counter, or of one of its bulk; undefined for steps that did not count there. */
export function countIn(step: TraceStep, { name }: CounterTarget): StateChange | undefined {
  if (!isAction(step) || step.action !== "count") return undefined;
  return step.state.find((one) => one.name === name || one.name.startsWith(`${name}[`));
}
