/** What proofs say of the selected rule: a frame that hits it, to add, or why there is none. */
import { untracked } from "@preact/signals";
import type { JSX } from "preact";
import { ProofProgressLine } from "../parts/proofProgress.js";
import type { LiveRule } from "../proof/api.js";
import { written } from "../state/document.js";
import { provedIsOld } from "../state/findings.js";
import { rangeInWritten } from "../state/imported.js";
import type { RangeNow } from "../state/moved.js";
import { deadRules, liveRules, rulesProof } from "../state/proofs.js";
import { selectedPath } from "../state/selection.js";
import { addWitness } from "../state/witnesses.js";

export function ProofBar(): JSX.Element | null {
  const dead = ofSelected(deadRules.value);
  const live = ofSelected(liveRules.value);
  const old = provedIsOld.value;
  if (dead === undefined && live === undefined && rulesProof.status.value.kind === "idle") return null;
  return (
    <div class="proof-bar">
      <ProofProgressLine task={rulesProof} what="Checking the rules for all frames" />
      {dead !== undefined && (
        <p class={old ? "muted" : undefined}>
          <span aria-hidden="true">⊘</span> No frame hits this rule{old ? " before the last edit" : ""}: {dead.why}.
        </p>
      )}
      {live !== undefined && (
        <button type="button" disabled={old} onClick={() => add(live)}>
          Add a frame that hits "{live.name}"
        </button>
      )}
    </div>
  );
}

/** For keys and palette, where nothing happens without such a rule. */
export function addWitnessOfSelected(): void {
  const live = untracked(() => ofSelected(liveRules.value));
  if (live !== undefined && !provedIsOld.peek()) add(live);
}

/** What is known of the rule that is selected, wherever it is now. */
function ofSelected<T extends { readonly range: RangeNow }>(all: readonly T[]): T | undefined {
  const path = selectedPath.value;
  const text = written.value;
  const selected = path === null ? null : rangeInWritten(path);
  if (selected === null) return undefined;
  return all.find(({ range }) => {
    const now = range(text);
    return now?.from === selected.from && now.to === selected.to;
  });
}

function add({ name, witness }: LiveRule): void {
  addWitness(witness, `hits "${name}"`, name);
}
