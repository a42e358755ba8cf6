/** The comparison with other rules: with which, and what the selected frame was under them. */
import { computed, effect, signal } from "@preact/signals";
import type { FrameFilter, FrameOutcome } from "../engine/api.js";
import { engine } from "../engine/client.js";
import { answer, engineLife, showAnswer } from "./answer.js";
import { openedRules, rules } from "./document.js";
import { filter, selectedFrame } from "./selection.js";
import { working } from "./working.js";

export type Baseline = "opened" | "pinned";

/** The rules to compare with; null for no comparison. */
export const comparing = signal<Baseline | null>(null);
/** The rules as they were pinned; null if none were since a text was opened. */
export const pinnedRules = signal<string | null>(null);
/** The outcome of the selected frame under the rules that are compared with; null without one. */
export const before = signal<{ readonly frame: number; readonly outcome: FrameOutcome } | null>(null);
/** Whether the rules to compare with were refused. */
export const baselineRefused = signal(false);

/** The text that is compared with; null for no comparison. */
export const baseline = computed(() => {
  if (comparing.value === null) return null;
  return comparing.value === "pinned" ? pinnedRules.value : openedRules.value;
});

/** Compares from now on with the rules of the moment. */
export function pinRules(): void {
  pinnedRules.value = rules.peek();
  comparing.value = "pinned";
}

/** Begins. @returns ends it */
export function startComparing(): () => void {
  const ends = [
    openedRules.subscribe(() => {
      pinnedRules.value = null;
      if (comparing.peek() === "pinned") comparing.value = "opened";
    }),
    effect(() => void compare(baseline.value)),
    engineLife.subscribe(() => {
      asked = null;
      void compare(baseline.peek());
    }),
    effect(() => {
      if (comparing.value === null) dropConditions(filter.value);
    }),
    effect(() => {
      const answered = answer.value;
      baselineRefused.value = asked !== null && asked === baseline.peek() && answered?.changed === null;
    }),
    effect(() => {
      const compared = answer.value?.changed ?? null;
      void readBefore(compared === null ? null : selectedFrame.value);
    }),
  ];
  return () => ends.forEach((end) => end());
}

/** What the engine was last asked to compare with. */
let asked: string | null = null;

async function compare(text: string | null): Promise<void> {
  if (text === "" || text === asked) return;
  asked = text;
  baselineRefused.value = false;
  const answered = await working((progress) => engine().compareWith(text, progress));
  if (answered !== null && text === asked && answer.peek() !== null) showAnswer(answered);
}

/** Without a comparison no frame is a changed one. */
function dropConditions({ changed, change, ...others }: FrameFilter): void {
  if (changed !== undefined || change !== undefined) filter.value = others;
}

async function readBefore(frame: number | null): Promise<void> {
  if (frame === null) {
    before.value = null;
    return;
  }
  const outcome = await engine().before(frame);
  if (frame !== selectedFrame.peek()) return;
  before.value = outcome === null ? null : { frame, outcome };
}
