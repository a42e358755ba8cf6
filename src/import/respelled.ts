/** Misspelled words of texts, replaced by those that the importers suggest. */
import { suggestedName } from "../base/nearest.js";
import type { ImportFinding } from "../formats/reading/finding.js";
import { lineStarts, withEdits, type TextEdit } from "./edits.js";
import { importRules, type ImportOptions, type ImportSource } from "./importRules.js";

/** A correction, and the finding that it answers. */
export interface Respelling {
  readonly edit: TextEdit;
  readonly finding: ImportFinding;
}

/** A rule can have several such words, of which an importer names the first. */
const MAX_ROUNDS = 16;
/** Letters of a word that must be the same ones in another order. */
const MAX_SHORT = 3;
const WORD = /^[\w.-]+/;

/** The sources with the words that the importers suggest. A correction stays if its line is read then. */
export function respelled(
  sources: readonly ImportSource[],
  options: ImportOptions,
): { readonly sources: readonly ImportSource[]; readonly made: readonly Respelling[] } {
  const made: Respelling[] = [];
  const tried = new Set<string>();
  let now = sources;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const open = suggestions(now, options).filter(({ edit }) => !tried.has(keyOf(edit)));
    if (open.length === 0) break;
    for (const { edit } of open) tried.add(keyOf(edit));
    const left = importRules(withEdits(now, open.map(editOf)), options).findings.filter(
      ({ severity }) => severity === "refused",
    );
    const good = open.filter(({ edit }) => left.every((finding) => isAnother(edit, finding)));
    now = withEdits(now, good.map(editOf));
    made.push(...good);
  }
  return { sources: now, made };
}

/** Whether a finding after a correction is about another line, or about another misspelled word of the line. */
function isAnother(edit: TextEdit, { file, line, column, reason }: ImportFinding): boolean {
  if (file !== edit.file || line !== edit.line) return true;
  return column !== edit.column && suggestedName(reason) !== undefined;
}

/** Whether a word is surely the other one: short words are near to many, and another number is no misspelling. */
function isSure(word: string, other: string): boolean {
  const sorted = (text: string): string => (text.match(/./gs) ?? []).sort().join("");
  const letters = (text: string): string => text.replaceAll(/\d/g, "");
  return word.length > MAX_SHORT ? letters(word) !== letters(other) : sorted(word) === sorted(other);
}

const editOf = ({ edit }: Respelling): TextEdit => edit;
const placeOf = ({ file, line, column }: TextEdit): string => `${file}:${line}:${column}`;
const keyOf = (edit: TextEdit): string => `${placeOf(edit)} ${edit.before}`;

/** The corrections that an import suggests, one a line: a later column moves with an earlier word. */
function suggestions(sources: readonly ImportSource[], options: ImportOptions): Respelling[] {
  const found = new Map<string, Respelling>();
  for (const finding of importRules(sources, options).findings) {
    const { file, line, column, severity, reason } = finding;
    const after = suggestedName(reason);
    const text = sources.find((one) => one.file === file)?.text;
    if (severity !== "refused" || after === undefined || text === undefined) continue;
    const before = WORD.exec(text.slice((lineStarts(text)[line - 1] ?? 0) + column - 1))?.[0];
    const key = `${file}:${line}`;
    if (before !== undefined && isSure(before, after) && !found.has(key))
      found.set(key, { edit: { file, line, column, before, after }, finding });
  }
  return [...found.values()];
}
