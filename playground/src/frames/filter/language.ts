/**
 * The language of the filter: conditions on fields, as Wireshark's display filters have them, and with them words that rows
 * have, and conditions that panes set.
 *
 *     ip.dst == 10.0.0.0/8 && !tcp    verdict:miss,drop rule:"net 5001" to:qp:blue reason:no_rule changed 10.0.0.7
 *
 * What is in quotes is a value or words as they are; `\` takes a quote as it is.
 */
import type { ReasonName, VerdictName } from "flowsteer";
import { parseDisplayFilter, type FilterExpression, type FilterFault } from "flowsteer/packet";
import type { FrameFilter } from "../../engine/api.js";
import { filterFields } from "../../engine/filterFields.js";
import { VERDICTS } from "../../engine/verdicts.js";

export const KEYS = ["verdict", "rule", "to", "reason", "change"] as const;
export type Key = (typeof KEYS)[number];
export const CHANGED = "changed";

export type Parsed = { readonly filter: FrameFilter; readonly error: null } | { readonly error: FilterFault };

/** A word or a condition, as it is written. */
export interface Term {
  /** What stands before the colon; null for a word. */
  readonly key: string | null;
  readonly value: string;
  readonly quoted: boolean;
  /** Whether a quote was opened and not closed. */
  readonly open?: boolean;
}

type Expression = FilterExpression<Term>;

const KEYED = /([a-z]+):(?:"((?:[^"\\]|\\.)*)("?)|([^\s"]*))/iy;
const QUOTED = /"((?:[^"\\]|\\.)*)"(?!\s*\.\.)/y;
const WORD = /(?:[\w:/%-]|\.(?!\.))+/y;
/** What makes a word a field that there is not: an operator after it, or the name of a header before a dot. */
const OPERATOR = /\s*(?:[=!<>~]=|=|[<>~&[]|(?:eq|ne|gt|lt|ge|le|in|contains|matches)\b)/iy;
const NO_WORDS = /^(and|or|not|eq|ne|gt|lt|ge|le|in|contains|matches)$/i;

/** The word or condition of ours at a place; null where a condition on fields begins. */
function ownTerm(text: string, at: number): { readonly own: Term; readonly to: number } | null {
  const keyed = matchAt(KEYED, text, at);
  if (keyed !== null) {
    const [all, key = "", quotedText, close, plain = ""] = keyed;
    // Parts of addresses are no conditions: `fe80::1`, `dead:beef::`.
    if (isKey(key) || !/^[0-9a-f]*$/i.test(key)) {
      const isQuoted = quotedText !== undefined;
      const value = quotedText?.replace(/\\(.)/gs, "$1") ?? plain;
      const own = { key, value, quoted: isQuoted, open: isQuoted && close === "" };
      return { own, to: at + all.length };
    }
  }
  const quoted = matchAt(QUOTED, text, at);
  if (quoted !== null) {
    const value = (quoted[1] ?? "").replace(/\\(.)/gs, "$1");
    return { own: { key: null, value, quoted: true }, to: at + quoted[0].length };
  }
  const [word] = matchAt(WORD, text, at) ?? [];
  if (word === undefined || NO_WORDS.test(word)) return null;
  const fields = filterFields();
  if (fields.has(word) || (word.includes(".") && fields.has(word.slice(0, word.indexOf("."))))) return null;
  if (matchAt(OPERATOR, text, at + word.length) !== null) return null;
  return { own: { key: null, value: word, quoted: false }, to: at + word.length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function isKey(word: string): word is Key {
  return (KEYS as readonly string[]).includes(word.toLowerCase());
}

/** The filter that a text says. */
export function parseFilter(text: string): Parsed {
  const parsed = parseDisplayFilter(text, filterFields(), ownTerm);
  if (parsed.fault !== null) return { error: parsed.fault };
  const { expression } = parsed;
  if (expression === null) return { error: null, filter: {} };
  const values = new Map<Key, string>();
  const words: string[] = [];
  const fields: string[] = [];
  let changed = false;
  for (const one of conjuncts(expression)) {
    const wrong = one.kind === "own" ? faultOf(one, one.own, values) : nestedTerm(one);
    if (wrong !== null) return { error: wrong };
    if (one.kind !== "own") fields.push(text.slice(one.from, one.to).trim());
    else if (one.own.key !== null) values.set(one.own.key.toLowerCase() as Key, one.own.value);
    else if (!one.own.quoted && one.own.value.toLowerCase() === CHANGED) changed = true;
    else words.push(one.own.value);
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
      ...(fields.length > 0 && { fields: fields.join(" && ") }),
    },
  };
}

/** Conditions that all hold. What is in parentheses is one of them. */
function conjuncts(expression: Expression): readonly Expression[] {
  return expression.kind === "and" && !expression.grouped ? expression.of : [expression];
}

/** A condition of ours among conditions on fields. */
function nestedTerm(expression: Expression): FilterFault | null {
  if (expression.kind === "own") {
    const { key, value } = expression.own;
    const all = value.split(",").map((one) => `"${one}"`);
    const values = all.length === 1 ? `== ${all[0]}` : `in {${all.join(", ")}}`;
    const use = key === null || !isKey(key) ? `fs.rule contains "${value}"` : `fs.${key} ${values}`;
    return { text: `this stands alone, or beside others that all hold: here use ${use}`, ...placeOf(expression) };
  }
  if (expression.kind === "field") return null;
  return expression.of.map(nestedTerm).find((one) => one !== null) ?? null;
}

function placeOf({ from, to }: Expression): { readonly from: number; readonly to: number } {
  return { from, to };
}

function faultOf(expression: Expression, term: Term, values: ReadonlyMap<Key, string>): FilterFault | null {
  const text = textOfFault(term, values);
  return text === null ? null : { text, ...placeOf(expression) };
}

function textOfFault({ key, value, open }: Term, values: ReadonlyMap<Key, string>): string | null {
  if (open === true) return "the quote is not closed";
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
export function filterText({ verdicts, rule, to, reason, changed, change, text, fields }: FrameFilter): string {
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
    const found = ownTerm(word, 0);
    const plain = found?.to === word.length && found.own.key === null && !found.own.quoted;
    terms.push(plain && word.toLowerCase() !== CHANGED ? word : quoted(word));
  }
  if (fields !== undefined && fields !== "") terms.push(terms.length > 0 ? grouped(fields) : fields);
  return terms.join(" ");
}

/** Conditions on fields, as one among others that all hold. */
export function grouped(fields: string): string {
  const { expression = null } = { ...parseDisplayFilter(fields, filterFields()) } as {
    expression?: FilterExpression | null;
  };
  return expression?.kind === "or" && !expression.grouped ? `(${fields})` : fields;
}

/** A value as it is written after a colon. */
export function quotedIfNeeded(value: string): string {
  return /[\s"\\]/.test(value) ? quoted(value) : value;
}

export function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** Whether two filters let the same frames pass. */
export function sameFilter(one: FrameFilter, other: FrameFilter): boolean {
  return filterText(one) === filterText(other);
}
