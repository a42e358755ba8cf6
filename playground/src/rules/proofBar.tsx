/** What proofs say of the selected rule: a frame that hits it, to add, or why there is none. */
import type { JSX } from "preact";
import { deadRules, liveRules } from "../state/proofs.js";
import { selectedPath } from "../state/selection.js";
import { addWitness } from "../state/witnesses.js";

export function ProofBar(): JSX.Element | null {
  const path = selectedPath.value;
  const dead = deadRules.value.find((one) => one.path === path);
  const live = liveRules.value.find((one) => one.path === path);
  if (dead === undefined && live === undefined) return null;
  return (
    <div class="proof-bar">
      {dead !== undefined && (
        <p>
          <span aria-hidden="true">⊘</span> No frame hits this rule. {dead.why}
        </p>
      )}
      {live !== undefined && (
        <button type="button" onClick={() => addWitness(live)}>
          Add a frame that hits "{live.name}"
        </button>
      )}
    </div>
  );
}

/** For keys and palette, where nothing happens without such a rule. */
export function addWitnessOfSelected(): void {
  const live = liveRules.peek().find((one) => one.path === selectedPath.peek());
  if (live !== undefined) addWitness(live);
}
