/** What the search of actions finds besides them: a frame by its number, rules and fields by their names. */
import { answer } from "../state/answer.js";
import type { Command } from "../state/commands.js";
import { filterFields } from "../engine/filterFields.js";
import { filter, selectedFrame, selectedPath } from "../state/selection.js";

/** Rules, and fields, that are offered at most. */
const MAX = 8;

export function goTo(text: string): Command[] {
  const asked = text.trim().toLowerCase();
  if (asked === "") return [];
  const { frames = 0, totals = null } = answer.value ?? {};
  const number = Number(/^(?:frame\s+)?(\d+)$/.exec(asked)?.[1] ?? 0);
  const found: Command[] =
    number < 1 || number > frames
      ? []
      : [{ id: "go.frame", title: `Go to frame ${number}`, run: () => void (selectedFrame.value = number) }];
  const name = asked.replace(/^(?:rule|field)\s+/, "");
  for (const rule of (totals?.rules ?? []).filter((one) => one.name.toLowerCase().includes(name)).slice(0, MAX)) {
    const run = (): void => void (selectedPath.value = rule.path);
    found.push({ id: `go.${rule.path}`, title: `Go to rule ${rule.name}`, run });
  }
  const fields = [...filterFields().keys()].filter((one) => one.includes(".") && one.startsWith(name));
  for (const field of fields.slice(0, MAX)) {
    const run = (): void => void (filter.value = { fields: field });
    found.push({ id: `go.${field}`, title: `Frames with ${field}`, run });
  }
  return found;
}
