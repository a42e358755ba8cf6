/** Applies the condition of what was selected as the filter of the list. */
import type { Command } from "../../state/commands.js";
import { condition } from "../../state/condition.js";
import { notify } from "../../state/notices.js";
import { filter } from "../../state/selection.js";
import { grouped } from "./language.js";

/** Applies a condition alone, or with the conditions on fields that there are. */
function apply(change: (text: string) => string, alone: boolean): void {
  const text = condition.peek();
  if (text === null) {
    notify({ id: "condition", text: "Select a field, bytes or a rule first: the filter is made of it." });
    return;
  }
  const { fields: before = "" } = filter.peek();
  const part = change(text);
  if (alone) filter.value = { fields: part };
  else filter.value = { ...filter.peek(), fields: before === "" ? part : `${grouped(before)} && ${part}` };
}

const same = (text: string): string => text;
const not = (text: string): string => `!(${text})`;

export const conditionCommands: readonly Command[] = [
  { id: "filter.apply", title: "Apply as filter", key: "a", run: () => apply(same, true) },
  { id: "filter.exclude", title: "Apply as filter: not these", key: "x", run: () => apply(not, true) },
  { id: "filter.and", title: "Add to filter", key: "A", run: () => apply(same, false) },
  { id: "filter.andNot", title: "Add to filter: not these", key: "X", run: () => apply(not, false) },
];
