/** Buttons and keys that go through the steps. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { registerCommands } from "../../state/commands.js";
import { selectedStep, way } from "../../state/selection.js";

function goTo(by: 1 | -1): void {
  const last = (way.peek()?.trace.steps.length ?? 0) - 1;
  if (last >= 0) selectedStep.value = Math.max(0, Math.min(last, selectedStep.peek() + by));
}

export function Stepper(): JSX.Element | null {
  useEffect(
    () =>
      registerCommands([
        { id: "way.next", title: "Next step", key: "n", run: () => goTo(1) },
        { id: "way.previous", title: "Previous step", key: "p", run: () => goTo(-1) },
      ]),
    [],
  );
  const count = way.value?.trace.steps.length ?? 0;
  if (count === 0) return null;
  const step = selectedStep.value;
  return (
    <div class="stepper" role="group" aria-label="Steps">
      <button
        type="button"
        aria-label="Previous step"
        title="Previous step (p)"
        disabled={step === 0}
        onClick={() => goTo(-1)}
      >
        ◀
      </button>
      <span aria-live="polite">
        step {step + 1} of {count}
      </span>
      <button
        type="button"
        aria-label="Next step"
        title="Next step (n)"
        disabled={step >= count - 1}
        onClick={() => goTo(1)}
      >
        ▶
      </button>
    </div>
  );
}
