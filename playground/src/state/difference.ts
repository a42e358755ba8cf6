/** The proved comparison: whether the rules of the moment treat any frame otherwise than those that are compared with. */
import { computed, effect, signal } from "@preact/signals";
import type { ComparedRules } from "../proof/api.js";
import { accepted } from "./answer.js";
import { baseline, baselineRefused } from "./compare.js";
import { rules } from "./document.js";
import { rangeOf, type TextRange } from "../text/places.js";
import { ProofTask } from "./proofTask.js";

interface Compared {
  readonly before: string;
  readonly now: string;
  /** Where `now` has its frames. */
  readonly frames: TextRange | null;
  readonly result: ComparedRules;
}

/** What was found last; null without a comparison. */
export const compared = signal<Compared | null>(null);
export const comparisonProof = new ProofTask<ComparedRules>();

const isCurrent = computed(() => {
  const found = compared.value;
  const now = rules.value;
  return found?.before === baseline.value && (found.now === now || differInFrames(found, now));
});

/** Whether what was found is about other rules than those of the moment. */
export const comparedIsOld = computed(() => compared.value !== null && !isCurrent.value);

const SAME: ComparedRules = { equal: true, groups: [], changes: 0, unknown: 0, unknownChanges: [] };

/** Begins. Edits end the proof under way. */
export function startComparingAll(): void {
  effect(() => {
    const before = baseline.value;
    const now = rules.value;
    if (before === null) compared.value = null;
    if (before === null || !accepted.value || baselineRefused.value || isCurrent.peek()) return;
    if (before === now) {
      show(before, now, SAME);
      return;
    }
    return comparisonProof.ask(
      (prover, progress) => prover.compare(before, now, progress),
      (result) => {
        if (result !== null) show(before, now, result);
      },
    );
  });
}

function show(before: string, now: string, result: ComparedRules): void {
  compared.value = { before, now, frames: rangeOf(now, "frames"), result };
}

/** Whether two documents differ in nothing but the frames of their lists, which are no behaviour. */
function differInFrames({ now, frames }: Compared, text: string): boolean {
  const is = frames === null ? null : rangeOf(text, "frames");
  if (frames === null || is?.from !== frames.from || now.length - frames.to !== text.length - is.to) return false;
  return now.startsWith(text.slice(0, is.from)) && now.endsWith(text.slice(is.to));
}
