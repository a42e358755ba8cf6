/** Every step of the frame as a list, the selected one with what it read and changed. */
import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { TraceStep } from "flowsteer/explain";
import { selectedStep, way } from "../../state/selection.js";
import { StepDetail } from "./detail.js";
import { stepWords } from "./stepText.js";

export function Steps(): JSX.Element | null {
  const list = useRef<HTMLOListElement>(null);
  useSignalEffect(() => {
    const item = list.current?.children[selectedStep.value];
    // The pane itself does not move.
    if (item instanceof HTMLElement && list.current !== null) keepInView(list.current, item);
  });
  const trace = way.value?.trace;
  if (trace === undefined) return null;
  const branches = trace.steps.some(({ branch }) => branch !== 0);
  return (
    <ol class="steps" ref={list} aria-label="Steps of the frame">
      {trace.steps.map((step, i) => (
        <Step key={i} step={step} index={i} branches={branches} />
      ))}
      {!trace.complete && <li class="muted">The frame did more than a trace holds.</li>}
    </ol>
  );
}

function keepInView(list: HTMLElement, item: HTMLElement): void {
  const [above, below] = [item.offsetTop - list.offsetTop, item.offsetTop - list.offsetTop + item.offsetHeight];
  if (above < list.scrollTop) list.scrollTop = above;
  else if (below > list.scrollTop + list.clientHeight) list.scrollTop = Math.min(above, below - list.clientHeight);
}

interface StepProps {
  readonly step: TraceStep;
  readonly index: number;
  readonly branches: boolean;
}

function Step({ step, index, branches }: StepProps): JSX.Element {
  const { label, text } = stepWords(step);
  const current = selectedStep.value === index;
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
