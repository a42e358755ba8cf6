/** A frame that was traced, as explanations read it: its trace, and each of its lookups with the key at that table. */
import type { TracedCore } from "../../engine/tracedCore.js";
import type { Device } from "../../model/device/device.js";
import type { ParseStop } from "../../packet/parsedFrame.js";
import type { ActionStep, EndStep, LookupStep, Trace, TraceStep } from "../trace/trace.js";
import type { FrameFacts } from "./absent/facts.js";
import { keyView, type KeyView } from "./compare.js";

/** A lookup of the frame. */
export interface Visit {
  readonly step: LookupStep;
  /** The address of the table. */
  readonly table: number;
  /** The address of the rule that it found; 0 for none. */
  readonly rule: number;
  /** The frame's key at this table, with every group. */
  readonly key: Uint8Array;
  /** The first rank that the lookup considers. */
  readonly lowHigh: number;
  readonly lowLow: number;
  readonly stopped: ParseStop | null;
  /** The bytes of the frame at this table. */
  readonly bytes: Uint8Array;
}

export interface Walked {
  readonly device: Device;
  readonly traced: TracedCore;
  readonly trace: Trace;
  readonly visits: readonly Visit[];
}

export function factsAt({ device }: Walked, { key, stopped }: Visit): FrameFacts {
  return { key, stopped, parser: device.parser };
}

const VIEWS = new WeakMap<Visit, KeyView>();

export function viewOf(visit: Visit): KeyView {
  let view = VIEWS.get(visit);
  if (view === undefined) VIEWS.set(visit, (view = keyView(visit.key)));
  return view;
}

/** The lookups in a table, in their order. */
export function visitsOf({ visits }: Walked, table: number): Visit[] {
  return visits.filter((visit) => visit.table === table);
}

/** The branch of a step and those that it was forked from, each with the step at which the next one began. */
function lineage(steps: readonly TraceStep[], branch: number, until: number): { branch: number; until: number }[] {
  const line = [{ branch, until }];
  for (let child = branch; ;) {
    const at = steps.findIndex((step) => step.kind === "fork" && step.into === child);
    if (at < 0) return line;
    child = (steps[at] as TraceStep).branch;
    line.push({ branch: child, until: at });
  }
}

/** The steps of a branch before a step, with those of the branches that it was forked from, first to last. */
export function stepsBefore({ trace: { steps } }: Pick<Walked, "trace">, step: TraceStep): TraceStep[] {
  const line = lineage(steps, step.branch, steps.indexOf(step));
  return steps.filter((one, i) => line.some(({ branch, until }) => one.branch === branch && i < until));
}

/** The steps of a branch after a step, with those of all branches that it was forked into. */
export function stepsAfter({ trace: { steps } }: Walked, step: TraceStep): TraceStep[] {
  const branches = new Set([step.branch]);
  const after: TraceStep[] = [];
  for (const one of steps.slice(steps.indexOf(step) + 1)) {
    if (!branches.has(one.branch)) continue;
    if (one.kind === "fork") branches.add(one.into);
    after.push(one);
  }
  return after;
}

export function isAction(step: TraceStep): step is ActionStep {
  return step.kind === "action";
}

export function isEnd(step: TraceStep): step is EndStep {
  return step.kind === "end";
}
