/**
 * What is undone together with the text: how it is read, its name, what it is compared with, the lesson of the tour, the
 * open capture. The history
 * of the editor has it beside the text, so that there is one history of the page.
 */
import { batch, computed } from "@preact/signals";
import type { SourceOptions } from "../importing/api.js";
import { closeCapture, isFileOfRules, openCapture, openFile, type OpenFile } from "./capture.js";
import { openedRules, rules, rulesName, source } from "./document.js";
import { tourAt } from "./tourAt.js";

export interface Around {
  /** How the text is read; null for a scenario. */
  readonly options: SourceOptions | null;
  readonly name: string;
  readonly opened: string;
  readonly lesson: string | null;
  readonly file: OpenFile | null;
}

/** The file that is being opened or closed again. */
let restored: { readonly file: OpenFile | null } | null = null;

export const around = computed((): Around => ({
  options: source.value?.options ?? null,
  name: rulesName.value,
  opened: openedRules.value,
  lesson: tourAt.value,
  file: restored === null ? openFile.value : (openFile.value, restored.file),
}));

export function sameAround(one: Around, other: Around): boolean {
  return sameButOpened(one, other) && one.opened === other.opened && one.lesson === other.lesson;
}

function sameButOpened(one: Around, other: Around): boolean {
  return one.options === other.options && one.name === other.name && sameFile(one, other);
}

function sameFile(one: Around, other: Around): boolean {
  return one.file?.file === other.file?.file;
}

/**
 * Whether a change is no step of its own: what the text is compared with follows from other steps, and a capture that comes
 * with rules is undone with them.
 */
export function belongsToStepBefore(before: Around, now: Around): boolean {
  if (sameButOpened(before, now)) return true;
  return isFileOfRules() && sameButOpened({ ...before, file: null }, { ...now, file: null });
}

/** Shows a text of the history with what was around it. */
export function restore(text: string, now: Around): void {
  const { options, name, opened, lesson, file } = now;
  const isOther = !sameFile(now, around.peek());
  if (isOther) restored = { file };
  batch(() => {
    source.value = options === null ? null : { text, options };
    if (options === null) rules.value = text;
    rulesName.value = name;
    openedRules.value = opened;
    tourAt.value = lesson;
  });
  if (isOther) void restoreFile(file);
}

async function restoreFile(file: OpenFile | null): Promise<void> {
  const own = restored;
  if (file === null) await closeCapture();
  else await openCapture(file.file, file.name);
  if (restored === own) restored = null;
}
