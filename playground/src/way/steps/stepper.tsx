/** Buttons and keys that go through the steps. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { registerCommands } from "../../state/commands.js";
import { selectedStep } from "../../state/selection.js";
import { shownPlace, shownSteps } from "./shown.js";

function goTo(by: 1 | -1): void {
  const to = shownSteps.peek()[shownPlace.peek() + by];
  if (to !== undefined) selectedStep.value = to;
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
  const count = shownSteps.value.length;
  if (count === 0) return null;
  const step = shownPlace.value;
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
