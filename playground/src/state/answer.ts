/** What the engine says of the rules and frames of the moment. */
import { computed, signal } from "@preact/signals";
import type { Answer, RulesRefusal } from "../engine/api.js";
import { feltSince, lastInput } from "./felt.js";

/** The last answer; while rules are refused, that of the last good ones. */
export const answer = signal<Answer | null>(null);
/** What is wrong with the text of the moment. */
export const refusals = signal<readonly RulesRefusal[]>([]);
/** Work under way that has taken longer than 200 ms. */
export const work = signal<{ readonly what: string; readonly done: number; readonly total: number } | null>(null);

/**
 * Shows what the engine answered to a change. Refused rules leave the totals of the last good ones.
 * @param since when the input came that asked for it
 */
export function showAnswer(answered: Answer, since = lastInput()): void {
  refusals.value = answered.refusals;
  if (answered.pipeline !== null) answer.value = answered;
  feltSince(since);
}

/** How often the engine was restarted: it forgets everything then. */
export const engineLife = signal(0);

export const pipeline = computed(() => answer.value?.pipeline ?? null);
export const totals = computed(() => answer.value?.totals ?? null);
/** Whether what is shown is of older rules than the text. */
export const stale = computed(() => refusals.value.length > 0);
/** Whether the last text that was answered is accepted. */
export const accepted = computed(() => answer.value !== null && !stale.value);
