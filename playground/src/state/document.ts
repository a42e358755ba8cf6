/** The rules that are edited: their text, where it came from, and changes of it. */
import { signal } from "@preact/signals";
import { applyEdits, type Edit } from "jsonc-parser";

/** The text of the rules: a scenario file. */
export const rules = signal("");
/** What the text is called. */
export const rulesName = signal("untitled");
/** The text as it was opened or pinned: what edits are compared with. */
export const openedRules = signal("");

/** Opens another text. The editor keeps the old one in its history. */
export function openRules(text: string, name: string): void {
  rulesName.value = name;
  openedRules.value = text;
  rules.value = text;
}

/** Changes the text in places; one step of the editor's history. */
export function editRules(edits: readonly Edit[]): void {
  rules.value = applyEdits(rules.peek(), [...edits]);
}
