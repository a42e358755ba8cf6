/** The rule that the answer speaks of, where a text that was opened is shown first. */
import { computed, effect, signal } from "@preact/signals";
import { pipeline } from "./answer.js";
import { openedRules } from "./document.js";
import { pathsByName } from "./hits.js";
import { way } from "./selection.js";

/** Lines that are shown before it. */
export const LINES_BEFORE = 2;

/** The path of the rule that explanation, nearest rules or hits name first; null for none. */
const spoken = computed(() => {
  const found = way.value;
  if (found === null) return null;
  const { why, near, trace } = found;
  const reasons = (why?.reasons ?? []).flatMap((reason) => ("rule" in reason ? [reason.rule.name] : []));
  const hit = trace.outcome.rules.toReversed();
  const paths = pathsByName.value;
  for (const name of [...reasons, ...near.map(({ rule }) => rule.name), ...hit]) {
    const path = paths.get(name);
    if (path !== undefined) return path;
  }
  return null;
});

/** The rule that the first answer about an opened text speaks of; null until it is there. */
export const spokenOf = signal<string | null>(null);

/** The text that it is of. */
let of: string | null = null;

effect(() => {
  const opened = openedRules.value;
  if (opened !== of) spokenOf.value = null;
  of = opened;
  if (spokenOf.peek() === null) spokenOf.value = pipeline.value === null ? null : spoken.value;
});
