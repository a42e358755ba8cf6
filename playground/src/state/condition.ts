/** What the list of frames can be narrowed by: the condition of what was selected last. */
import { effect, signal } from "@preact/signals";
import { answer } from "./answer.js";
import { selectedPath } from "./selection.js";

/** Such as `ip.dst == 10.0.0.7`; null where what was selected is none. */
export const condition = signal<string | null>(null);

/** Begins: rules that are selected are conditions. Fields and bytes set theirs themselves. @returns ends it */
export function startConditions(): () => void {
  return effect(() => {
    const path = selectedPath.value;
    const name = answer.value?.totals?.rules.find((rule) => rule.path === path)?.name;
    if (name !== undefined) condition.value = `fs.rule == ${JSON.stringify(name)}`;
  });
}
