/** What the text of another program became: its scenario, the places of rules in the text, and what is wrong with it. */
import { batch, effect, signal } from "@preact/signals";
import type { ReadSource, Source } from "../importing/api.js";
import { readSource } from "../importing/client.js";
import { refusals } from "./answer.js";
import { openedRules, rules, source, written } from "./document.js";
import { following, type RangeNow } from "./moved.js";
import { rangeOf, type TextRange } from "../text/places.js";

export interface Imported extends ReadSource {
  readonly of: Source;
  /** Where a part of the text is that was read. */
  readonly follow: (range: TextRange) => RangeNow;
  /** Where the elements are that objects come from, by the paths of these. */
  readonly places: ReadonlyMap<string, TextRange>;
}

/** What the text was read as last; null for a scenario. */
export const imported = signal<Imported | null>(null);

/** Begins: a text that is edited is read again. */
export function startImporting(): void {
  effect(() => {
    const of = source.value;
    if (of === null) imported.value = null;
    else void read(of);
  });
}

async function read(asked: Source): Promise<void> {
  try {
    const found = await readSource(asked);
    if (found === null || found.of !== source.peek()) return;
    const { of, read: result } = found;
    batch(() => {
      imported.value = { ...result, of, follow: following(of.text), places: placesOf(of.text, result) };
      if (openedRules.peek() === "") openedRules.value = result.scenario;
      rules.value = result.scenario;
    });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    refusals.value = [{ message: text, text, hint: null, path: null, offset: null }];
  }
}

function placesOf(text: string, { elements }: ReadSource): ReadonlyMap<string, TextRange> {
  const rangeOf = placesIn(text);
  return new Map(elements.map((one) => [one.path, rangeOf(one)]));
}

/** What stands in a text at a line and a column: the words that are given, or what follows them in the line. */
export function placesIn(
  text: string,
): (place: { readonly line: number; readonly column: number; readonly text: string }) => TextRange {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return ({ line, column, text: words }) => {
    const start = starts[line - 1] ?? text.length;
    const end = Math.max((starts[line] ?? text.length + 1) - 1, start);
    const from = Math.min(start + column - 1, end);
    if (words !== "" && text.startsWith(words, from)) return { from, to: from + words.trimEnd().length };
    return { from, to: Math.max(from, start + text.slice(start, end).trimEnd().length) };
  };
}

/** Where the element of a rule is, by the path of the rule, `rules[2].match`; null where no element says it. */
export function elementRange(path: string): RangeNow | null {
  const read = imported.value;
  const range = read?.places.get(/^\w+\[\d+\]/.exec(path)?.[0] ?? "");
  return read === null || range === undefined ? null : read.follow(range);
}

/** Where an object of the scenario is in the text that is edited; null where that has none. */
export function rangeInWritten(path: string): TextRange | null {
  return source.value === null ? rangeOf(rules.value, path) : (elementRange(path)?.(written.value) ?? null);
}

/** The rule that an element at an offset of the text says; null elsewhere. */
export function pathOfElement(text: string, offset: number): string | null {
  const read = imported.peek();
  if (read === null || read.of.text !== text) return null;
  let found: string | null = null;
  for (const [path, { from, to }] of read.places) {
    if (from > offset || offset > to) continue;
    found ??= path;
  }
  return found;
}
