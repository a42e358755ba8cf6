/** The steps that the list shows. A jump and the move that it is are one. */
import { computed } from "@preact/signals";
import type { TraceStep } from "flowsteer/explain";
import { selectedStep, way } from "../../state/selection.js";

const isJump = (step: TraceStep | undefined): boolean =>
  step?.kind === "action" && (step.action === "table" || step.action === "root");

/** Indices in the trace. */
export const shownSteps = computed((): readonly number[] => {
  const steps = way.value?.trace.steps ?? [];
  return [...steps.keys()].filter((i) => {
    const [step, before] = [steps[i], steps[i - 1]];
    return !(step?.kind === "move" && step.cause === "jump" && step.branch === before?.branch && isJump(before));
  });
});

/** The place of the selected step among them: that of a jump for its move. */
export const shownPlace = computed(() => shownSteps.value.findLastIndex((step) => step <= selectedStep.value));
