/** Every step of the frame as a list, the selected one with what it read and changed. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { TraceStep } from "flowsteer/explain";
import { selectedStep, way } from "../../state/selection.js";
import { keepInView } from "../keepInView.js";
import { shownPlace, shownSteps } from "./shown.js";
import { StepDetail } from "./detail.js";
import { stepWords } from "./stepText.js";

export function Steps(): JSX.Element | null {
  const list = useRef<HTMLOListElement>(null);
  const trace = way.value?.trace;
  useLayoutEffect(() => {
    const item = list.current?.children[shownPlace.value];
    // The pane itself does not move.
    if (item instanceof HTMLElement && list.current !== null) keepInView(list.current, item);
  }, [selectedStep.value, trace]);
  if (trace === undefined) return null;
  const branches = trace.steps.some(({ branch }) => branch !== 0);
  return (
    <ol class="steps" ref={list} aria-label="Steps of the frame">
      {trace.steps.map(
        (step, i) => shownSteps.value.includes(i) && <Step key={i} step={step} index={i} branches={branches} />,
      )}
      {!trace.complete && <li class="muted">The frame did more than a trace can hold.</li>}
    </ol>
  );
}

interface StepProps {
  readonly step: TraceStep;
  readonly index: number;
  readonly branches: boolean;
}

function Step({ step, index, branches }: StepProps): JSX.Element {
  const { label, text } = stepWords(step);
  const current = shownSteps.value[shownPlace.value] === index;
  const change = step.kind === "action" && step.bytes.length > 0;
  return (
    <li data-kind={step.kind} data-verdict={step.kind === "end" ? step.verdict : undefined}>
      <button
        type="button"
        class="step quiet"
        aria-current={current ? "step" : undefined}
        onClick={() => void (selectedStep.value = index)}
      >
        {branches && <span class="branch">{`branch ${step.branch}`}</span>}
        <span class="step-label">{label}</span> <span class="step-text">{text}</span>
        {change && <span class="step-changed">bytes changed</span>}
      </button>
      {current && <StepDetail step={step} />}
    </li>
  );
}
