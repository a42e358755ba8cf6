/** The rules that are edited: their text, where it came from, and changes of it. */
import { batch, computed, signal } from "@preact/signals";
import { applyEdits, type Edit } from "jsonc-parser";
import type { Source, SourceOptions } from "../importing/api.js";
import { notify } from "./notices.js";
import { addedBy } from "./additions.js";

/** The text of the rules: a scenario file. Of rules of another program, what they become. */
export const rules = signal("");
/** The rules as another program has them, which are then what is edited; null for a scenario. */
export const source = signal<Source | null>(null);
/** The text that is edited. */
export const written = computed(() => source.value?.text ?? rules.value);
/** What the text is called. */
export const rulesName = signal("untitled");
/** The scenario as it was opened or pinned: what edits are compared with. Empty until a source has been read. */
export const openedRules = signal("");

/** Opens a scenario. The editor keeps the old text in its history. */
export function openRules(text: string, name: string): void {
  batch(() => {
    source.value = null;
    rulesName.value = name;
    openedRules.value = text;
    rules.value = text;
  });
}

/** Rules of another program. @param reading what is chosen for them, if anything */
export function newSource(text: string, file: string, reading: Partial<SourceOptions> = {}): Source {
  const options = { file, format: null, map: {}, driver: null, profile: null, into: null, ...reading };
  return { text: text.replace(/\r\n?/g, "\n"), options };
}

/** Opens rules of another program, which stay as they are. Their scenario follows. */
export function openSource(text: string, file: string): void {
  batch(() => {
    rulesName.value = file;
    openedRules.value = "";
    source.value = newSource(text, file);
  });
}

/** Goes on with the scenario that a source became. */
export function editAsScenario(): void {
  source.value = null;
}

/** Changes the scenario in places; one step of the editor's history. */
export function editRules(edits: readonly Edit[]): void {
  changeRules(applyEdits(rules.peek(), [...edits]));
}

/**
 * Changes the scenario. Rules of another program keep their text, so only what that does not say can be changed: frames
 * and the device.
 */
export function changeRules(text: string): void {
  const of = source.peek();
  if (of === null) {
    rules.value = text;
    return;
  }
  const into = addedBy(of.options.into, rules.peek(), text);
  if (into === null) notify({ id: "source", text: "This changes the scenario, not your text: use Edit as scenario." });
  else source.value = { ...of, options: { ...of.options, into } };
}

/** Changes the text that is edited in places. */
export function editWritten(edits: readonly Edit[]): void {
  const of = source.peek();
  if (of === null) editRules(edits);
  else source.value = { ...of, text: applyEdits(of.text, [...edits]) };
}
