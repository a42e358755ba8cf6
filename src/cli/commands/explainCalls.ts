/** Traces and explains frames of a scenario as the command line names them. */
import {
  openExplainer,
  openTracer,
  type Explainer,
  type Explanation,
  type Near,
  type TableRef,
  type Target,
  type Trace,
} from "../../explain/index.js";
import type { Device } from "../../index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import type { ChosenFrame } from "../input/chosenFrame.js";

/** Rules that are shown for a table where none matched, and rules that are looked at for them. */
const SHOWN = 3;
const LOOKED_AT = 64;

/** A frame that arrives, or that a queue sends. */
type Input = Omit<ChosenFrame, "number">;

export async function traceOf({ device }: LoadedScenario, frame: Input): Promise<Trace> {
  const tracer = await openTracer(device);
  const { bytes, queue, metadata, port } = frame;
  return queue === null ? tracer.trace(port, bytes, optionsOf(frame)) : tracer.traceSend(queue, bytes, { metadata });
}

/** The rules nearest to the frame in the tables where it found none. */
export async function nearestOf({ device }: LoadedScenario, frame: Input, { steps }: Trace): Promise<Near[]> {
  if (frame.queue !== null) return [];
  const missed = steps.flatMap((step) => (step.kind === "lookup" && step.rule === null ? [step.table] : []));
  if (missed.length === 0) return [];
  const explainer = await openExplainer(device);
  const near = explainer.nearest(frame.port, frame.bytes, LOOKED_AT, optionsOf(frame));
  return missed.flatMap((table) => near.filter((one) => isSame(one.table, table)).slice(0, SHOWN));
}

function isSame(a: TableRef, b: TableRef): boolean {
  return a.table === b.table && a.domain === b.domain && a.vport === b.vport;
}

export async function explanationOf({ device }: LoadedScenario, frame: Input, target: Target): Promise<Explanation> {
  return explained(await openExplainer(device), frame, target);
}

/** Says of many frames why they ended as they did. */
export async function openEndExplainer(device: Device): Promise<(frame: Input) => Explanation> {
  const explainer = await openExplainer(device);
  return (frame) => explained(explainer, frame, { kind: "end" });
}

function explained(explainer: Explainer, frame: Input, target: Target): Explanation {
  const { bytes, queue, metadata, port } = frame;
  if (queue !== null) return explainer.whySend(queue, bytes, target, { metadata });
  return explainer.why(port, bytes, target, optionsOf(frame));
}

function optionsOf({ linkType, wireLength, time }: Input) {
  return { linkType, wireLength, time: time === null ? null : BigInt.asUintN(64, time) };
}
