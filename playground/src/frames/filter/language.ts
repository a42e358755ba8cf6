/**
 * The language of the filter: words that rows have, and conditions.
 *
 *     verdict:miss,drop rule:"net 5001" to:qp:blue reason:no_rule changed 10.0.0.7
 *
 * All of them hold. What is in quotes is a value or a word as it is; `\` takes a quote as it is.
 */
import type { ReasonName, VerdictName } from "flowsteer";
import type { FrameFilter } from "../../engine/api.js";

export const VERDICTS: readonly VerdictName[] = ["deliver", "forward", "transmit", "drop", "miss"];
export const KEYS = ["verdict", "rule", "to", "reason", "change"] as const;
export type Key = (typeof KEYS)[number];
export const CHANGED = "changed";

export interface FilterError {
  readonly text: string;
  /** Characters of the text that are wrong: from `from` to `to` - 1. */
  readonly from: number;
  readonly to: number;
}

export type Parsed = { readonly filter: FrameFilter; readonly error: null } | { readonly error: FilterError };

/** A word or a condition, as it is written. */
export interface Term {
  readonly from: number;
  readonly to: number;
  /** What stands before the colon; null for a word. */
  readonly key: string | null;
  readonly value: string;
  readonly quoted: boolean;
  /** Whether a quote was opened and not closed. */
  readonly open: boolean;
}

const TERM = /(?:([A-Za-z]+):)?(?:"((?:[^"\\]|\\.)*)("?)|([^\s"]*))(\S*)/y;

export function termsOf(text: string): Term[] {
  const terms: Term[] = [];
  for (let at = 0; at < text.length;) {
    if (/\s/.test(text[at] ?? "")) {
      at++;
      continue;
    }
    TERM.lastIndex = at;
    const [all = "", key, quotedText, end, plain = "", rest = ""] = TERM.exec(text) ?? [];
    const to = at + Math.max(1, all.length);
    const quoted = quotedText !== undefined;
    const value = quoted ? quotedText.replace(/\\(.)/gs, "$1") + rest : plain + rest;
    terms.push({ from: at, to, key: key ?? null, value, quoted, open: quoted && end === "" });
    at = to;
  }
  return terms.map(asWord);
}

/** Parts of addresses are no conditions: `fe80::1`, `dead:beef::`. */
function asWord(term: Term): Term {
  const { key, value, quoted } = term;
  if (key === null || isKey(key) || quoted || !/^[0-9a-f]*$/i.test(key)) return term;
  return { ...term, key: null, value: `${key}:${value}` };
}

function isKey(word: string): word is Key {
  return (KEYS as readonly string[]).includes(word.toLowerCase());
}

/** The filter that a text says. */
export function parseFilter(text: string): Parsed {
  const values = new Map<Key, string>();
  const words: string[] = [];
  let changed = false;
  for (const term of termsOf(text)) {
    const { key, value, quoted } = term;
    const wrong = errorOf(term, values);
    if (wrong !== null) return { error: { text: wrong, from: term.from, to: term.to } };
    if (key !== null) values.set(key.toLowerCase() as Key, value);
    else if (!quoted && value.toLowerCase() === CHANGED) changed = true;
    else words.push(value);
  }
  const [verdicts, rule, to, reason, change] = KEYS.map((key) => values.get(key));
  return {
    error: null,
    filter: {
      ...(verdicts !== undefined && { verdicts: verdictsOf(verdicts) }),
      ...(rule !== undefined && { rule }),
      ...(to !== undefined && { to }),
      ...(reason !== undefined && { reason: reason as ReasonName }),
      ...(changed && { changed }),
      ...(change !== undefined && { change }),
      ...(words.length > 0 && { text: words.join(" ") }),
    },
  };
}

function errorOf({ key, value, open }: Term, values: ReadonlyMap<Key, string>): string | null {
  if (open) return "the quote is not closed";
  if (key === null) return null;
  const known = key.toLowerCase();
  if (!isKey(known)) {
    return `unknown condition "${key}": use ${KEYS.slice(0, 4).join(", ")}, or put the word in quotes`;
  }
  if (values.has(known)) return `"${known}" is given twice`;
  if (value === "") return `"${known}:" needs a value`;
  if (known !== "verdict") return null;
  const wrong = value
    .toLowerCase()
    .split(",")
    .find((one) => !(VERDICTS as readonly string[]).includes(one));
  return wrong === undefined ? null : `"${wrong}" is not a verdict: use ${VERDICTS.join(", ")}`;
}

function verdictsOf(value: string): VerdictName[] {
  return value.toLowerCase().split(",") as VerdictName[];
}

/** The text of a filter. `parseFilter` of it gives the filter again. */
export function filterText({ verdicts, rule, to, reason, changed, change, text }: FrameFilter): string {
  const terms: string[] = [];
  const add = (key: Key, value: string | undefined): void => {
    if (value !== undefined && value !== "") terms.push(`${key}:${quotedIfNeeded(value)}`);
  };
  add("verdict", verdicts?.join(","));
  add("rule", rule);
  add("to", to);
  add("reason", reason);
  if (changed === true) terms.push(CHANGED);
  add("change", change);
  for (const word of (text ?? "").split(/\s+/).filter((one) => one !== "")) {
    const [term] = termsOf(word);
    const plain = term?.key === null && !term.quoted && term.value === word && word.toLowerCase() !== CHANGED;
    terms.push(plain && !word.includes('"') ? word : quoted(word));
  }
  return terms.join(" ");
}

/** A value as it is written after a colon. */
export function quotedIfNeeded(value: string): string {
  return /[\s"\\]/.test(value) ? quoted(value) : value;
}

function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** Whether two filters let the same frames pass. */
export function sameFilter(one: FrameFilter, other: FrameFilter): boolean {
  return filterText(one) === filterText(other);
}
