/** The narrowed list of frames: how long it is, and which frame is selected when none was chosen. */
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { Answer, FrameFilter, FrameOrder } from "../engine/api.js";
import { engine } from "../engine/client.js";
import { answer, engineLife } from "./answer.js";
import { openedRules } from "./document.js";
import { filter, selectedFrame } from "./selection.js";
import { working } from "./working.js";

export interface Listed {
  /** The number of frames in the list. */
  readonly count: number;
  /** Of how many. */
  readonly of: number;
  /** What the list is narrowed by. */
  readonly filter: FrameFilter;
  readonly order: FrameOrder | null;
}

/** What the list is sorted by; null for the order of arrival. */
export const order = signal<FrameOrder | null>(null);

/** The list that the engine holds; null until it has one. A new object is a new list, whose rows may differ. */
export const listed = signal<Listed | null>(null);

/** What the list was last narrowed by. */
const narrowed = signal<readonly [FrameFilter, FrameOrder | null, Answer] | null>(null);

/** Whether the list is still that of another filter, order or answer. */
export const isNarrowing = computed(() => {
  const [asked, sorted, answered] = narrowed.value ?? [];
  return answer.value !== null && (asked !== filter.value || sorted !== order.value || answered !== answer.value);
});

/** Begins. @returns ends it */
export function startListing(): () => void {
  /** The answer about the rules before those that were opened, and the last one that was looked at. */
  let outdated: Answer | null = null;
  let seen: Answer | null = null;
  const ends = [
    effect(() => {
      // A new engine knows no filter.
      const [asked, sorted, answered, life] = [filter.value, order.value, answer.value, engineLife.value];
      if (answered !== null && life >= 0) untracked(() => void narrow(asked, sorted, answered));
    }),
    openedRules.subscribe(() => {
      outdated = answer.peek();
      selectedFrame.value = null;
    }),
    effect(() => {
      const answered = answer.value;
      const none = selectedFrame.value === null;
      if (answered === null || answered === outdated || answered.frames === 0) return;
      const gone = untracked(() => (selectedFrame.value ?? 0) > answered.frames) && answered !== seen;
      seen = answered;
      if (none || gone) selectedFrame.value = answered.firstLost ?? 1;
    }),
  ];
  return () => ends.forEach((end) => end());
}

async function narrow(asked: FrameFilter, sorted: FrameOrder | null, answered: Answer): Promise<void> {
  const count = await working((progress) => engine().filter(asked, sorted, progress));
  if (asked !== filter.peek() || sorted !== order.peek() || answered !== answer.peek()) return;
  batch(() => {
    narrowed.value = [asked, sorted, answered];
    if (count !== null) listed.value = { count, of: answered.frames, filter: asked, order: sorted };
  });
}
