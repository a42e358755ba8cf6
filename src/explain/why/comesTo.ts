/** Whether a frame came to the target of an explanation, for trials of repairs. */
import { isDestination } from "./reasons/end.js";
import { countIn } from "./reasons/counts.js";
import type { FoundTarget } from "./targets.js";
import type { Walked } from "./walked.js";

/** Steers a frame from where the frame of the explanation came in. */
export type Steer = (frame: Uint8Array) => Walked;

/** Whether a walked frame came to a target. An end is reached where the frame hits the rule that it was nearest to. */
export function comesTo(
  walked: Walked,
  target: FoundTarget,
  labels: ReadonlySet<string | undefined>,
  nearest: number | null,
): boolean {
  const hits = (id: number): boolean => walked.visits.some(({ step }) => step.rule?.id === id && !step.passedOver);
  switch (target.kind) {
    case "rule":
      return target.objects.some(({ id }) => hits(id));
    case "table":
      return walked.visits.some(({ table }) => table === target.address);
    case "queue":
      return walked.trace.steps.some((step) => isDestination(step) && step.refused === null && labels.has(step.to));
    case "vport":
      return walked.visits.some(({ step: { table } }) => table.vport === target.vport && table.domain === "nic_rx");
    case "tag":
      return [...walked.trace.outcome.to, ...walked.trace.outcome.copies].some(
        ({ kind, tag }) => kind !== "port" && tag === target.tag,
      );
    case "counter":
      return walked.trace.steps.some((step) => countIn(step, target) !== undefined);
    case "end":
      return nearest === null
        ? walked.trace.outcome.verdict !== "drop" && walked.trace.outcome.verdict !== "miss"
        : hits(nearest);
    case "twice":
      return walked.trace.steps.filter((step) => isDestination(step) && step.refused === null).length > 1;
  }
}
