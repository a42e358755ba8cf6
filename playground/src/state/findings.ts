/** What is wrong with the rules, and what mends it: refusals of the engine, and findings of proofs. */
import type { Severity } from "flowsteer/explain";
import { computed, signal } from "@preact/signals";
import type { Edit } from "jsonc-parser";
import type { RulesRefusal } from "../engine/api.js";
import { refusals } from "./answer.js";
import { editWritten, rules, source, written } from "./document.js";
import { setValue } from "./edits.js";
import { elementRange, imported, placesIn } from "./imported.js";
import { filtered, type RangeNow } from "./moved.js";
import { nearestPlace, placeOf, type TextRange } from "../text/places.js";

export interface Finding {
  readonly severity: Severity;
  readonly text: string;
  readonly hint: string | null;
  /** Where it is in the document, and in the text where that is no document; null without a place. */
  readonly path: string | null;
  readonly offset: number | null;
  readonly fixes: readonly Fix[];
  /** What is marked, now: of proofs, and of rules of another program. Others have a place in the text of the moment. */
  readonly range?: RangeNow | null;
  /** The port or interface of the text that the finding is about: it can be another one on the device. */
  readonly port?: string;
}

/** A change of the rules that mends a finding. */
export interface Fix {
  /** As a button says it: `Use "web"`. */
  readonly title: string;
  /** Null where the text does not have the place any more. */
  readonly edits: (text: string) => readonly Edit[] | null;
}

/** Makes the change of a fix. */
export function applyFix(fix: Fix): void {
  const edits = fix.edits(written.peek());
  if (edits !== null) editWritten(edits);
}

/** What proofs found last, and in which text; null for nothing. */
export const proved = signal<{ readonly text: string; readonly findings: readonly Finding[] } | null>(null);
/** Whether that is about other rules than those of the moment. */
export const provedIsOld = computed(() => proved.value !== null && proved.value.text !== rules.value);

/** Of it, what no edit has touched since. */
const warnings = filtered(
  () => proved.value?.findings ?? [],
  ({ range }) => range === undefined || range === null || range(written.value) !== null,
);

/** The changes that mend a finding. Those of proofs hold in the text that they were found in. */
export function fixesOf({ fixes, range }: Finding): readonly Fix[] {
  return range !== undefined && provedIsOld.value ? [] : fixes;
}

/** What an import says of the text. */
const ofImport = computed<readonly Finding[]>(() => {
  const read = imported.value;
  if (read === null) return [];
  const rangeOf = placesIn(read.of.text);
  return read.findings.map((one) => {
    const [, port] = /--map ([^\s=]+)=/.exec(one.reason) ?? [];
    const what = one.severity === "refused" ? "Not imported" : "Assumed";
    return {
      severity: one.severity === "refused" ? "error" : "note",
      text: `${what}: ${one.reason.replace(OPTIONS, "")}`,
      hint: null,
      path: null,
      offset: null,
      fixes: [],
      range: read.follow(rangeOf(one)),
      ...(port !== undefined && { port }),
    };
  });
});

/** How a sentence of an import names options of the command, in whose place the page has controls. */
const OPTIONS = /(?:[;:] | \()--(?:map|set) .*$/;

/** Errors first. */
export const findings = computed<readonly Finding[]>(() => {
  const all = [...refusals.value.map(findingOf), ...ofImport.value, ...warnings.value];
  return all.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
});

const SEVERITIES: readonly Severity[] = ["error", "warning", "note"];

function findingOf({ text, message, hint, path, offset }: RulesRefusal): Finding {
  if (source.value !== null) {
    const range = path === null ? null : elementRange(path);
    return { severity: "error", text: message, hint, path: null, offset: null, fixes: [], range };
  }
  const fixes = path === null || hint === null ? [] : suggestions(hint).map((name) => renaming(path, hint, name));
  return { severity: "error", text: text === "" ? message : text, hint, path, offset, fixes };
}

/** The names that a hint proposes: `did you mean "web" or "web2"?` */
export function suggestions(hint: string): string[] {
  const [, names = ""] = /did you mean ((?:"(?:[^"\\]|\\.)*"(?:, | or )?)+)\?/.exec(hint) ?? [];
  return [...names.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([quoted]) => JSON.parse(quoted) as string);
}

/** Another name at a path: of a key that is not known, else of the value. */
function renaming(path: string, hint: string, name: string): Fix {
  const ofKey = hint.startsWith("no such key") || (/\.(?:match|mask)\b/.test(path) && name.includes("."));
  return {
    title: `Use "${name}"`,
    edits: (text) => {
      if (!ofKey) return setValue(text, path, name);
      const key = placeOf(text, path)?.key ?? null;
      return key === null ? null : [{ offset: key.from, length: key.to - key.from, content: JSON.stringify(name) }];
    },
  };
}

/** The text that a finding is about; null for one without a place. */
export function rangeOfFinding(text: string, finding: Finding): TextRange | null {
  return finding.range === undefined ? markedRange(text, finding) : (finding.range?.(text) ?? null);
}

/** What is marked at a place of a text; null for no place. */
export function markedRange(text: string, { path, offset }: Pick<Finding, "path" | "offset">): TextRange | null {
  const at = offset ?? offsetOf(text, path ?? "");
  if (at !== null) return tokenAt(text, at);
  if (path === null) return null;
  const place = nearestPlace(text, path);
  if (place === null) return null;
  const { key, value } = place;
  if (!"{[".includes(text.charAt(value.from))) return { from: key?.from ?? value.from, to: value.to };
  // An object is marked by its key or its first line.
  if (key !== null) return key;
  const line = text.indexOf("\n", value.from + 1);
  return { from: value.from, to: line < 0 ? value.to : Math.min(line, value.to) };
}

/** Where text is not JSON, the engine says line and column. */
function offsetOf(text: string, path: string): number | null {
  const [, line, column] = /\bline (\d+), column (\d+)\)?$/.exec(path) ?? [];
  if (line === undefined || column === undefined) return null;
  let begin = 0;
  for (let i = 1; i < Number(line); i++) begin = text.indexOf("\n", begin) + 1;
  return Math.min(begin + Number(column) - 1, text.length);
}

/** The word at an offset; at the end of the text its last character. */
function tokenAt(text: string, offset: number): TextRange {
  const from = Math.min(offset, Math.max(text.length - 1, 0));
  const [word = ""] = /^(?:"(?:[^"\\\n]|\\.)*"?|[\w.+-]+|.)?/.exec(text.slice(from, from + 200)) ?? [];
  return { from, to: Math.min(from + Math.max(word.length, 1), text.length) };
}
