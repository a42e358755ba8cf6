/** Where rules stand in the texts that they were imported from. */
import type { SourceElement } from "../formats/reading/finding.js";
import type { Scenario } from "../scenario/document.js";
import { lineStarts } from "./edits.js";
import type { ImportResult, ImportSource } from "./importRules.js";

/** The most characters of an element that stands on several lines. */
const MAX_ELEMENT = 4000;

export type Match = Readonly<Record<string, unknown>>;
export type AnyRule = {
  readonly name?: string;
  readonly match?: Match;
  readonly table?: string;
  readonly matcher?: string;
  readonly priority?: number;
};

/** The element of a rule in its source. */
export interface Home {
  readonly source: ImportSource;
  readonly element: SourceElement;
  /** Where the element begins in the text of the source. */
  readonly start: number;
  readonly match: Match;
}

export function homesOf(
  sources: readonly ImportSource[],
  scenario: Scenario,
  elementOf: ImportResult["elementOf"],
): ReadonlyMap<string, Home> {
  const starts = new Map(sources.map(({ file, text }) => [file, lineStarts(text)]));
  const found: (Home & { readonly name: string })[] = [];
  for (const [path, { name, match = {} }] of rulesIn(scenario)) {
    const element = elementOf(path);
    const source = sources.find(({ file }) => file === element?.file);
    if (name === undefined || element === undefined || source === undefined) continue;
    const start = (starts.get(element.file)?.[element.line - 1] ?? 0) + element.column - 1;
    found.push({ name, source, element, start, match });
  }
  // Where the element after the one that begins at a place begins, by files.
  const nexts = new Map(sources.map((source) => [source, new Map<number, number>()]));
  const last = new Map<ImportSource, number>();
  for (const { source, start } of found.toSorted((a, b) => a.start - b.start)) {
    const before = last.get(source);
    if (before !== undefined && before < start) nexts.get(source)?.set(before, start);
    last.set(source, start);
  }
  return new Map(
    found.map(({ name, ...home }) => {
      const next = nexts.get(home.source)?.get(home.start) ?? Infinity;
      const end = Math.min(next, home.start + MAX_ELEMENT, home.source.text.length);
      return [name, { ...home, element: { ...home.element, text: wordsAt(home, end) } }];
    }),
  );
}

/**
 * The words of an element as they stand in the source, up to `end`: those of a listing with the
 * lines below it that are indented deeper, those of JSON and of split commands up to the next one.
 */
function wordsAt({ source, element, start }: Home, end: number): string {
  const { text } = source;
  if (!text.startsWith(element.text, start)) return text.slice(start, end).trimEnd();
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart, start))?.[0].length ?? 0;
  const below = new RegExp(`^[^\\n]*(?:\\n[ \\t]{${indent + 1}}[^\\n]*)*`).exec(
    text.slice(start + element.text.length, end),
  );
  const lines = below?.[0] ?? "";
  return lines.includes("\n") ? (element.text + lines).trimEnd() : element.text;
}

/** The lines on which an element stands. */
export function linesOf({ line, text }: SourceElement): number[] {
  return Array.from({ length: text.split("\n").length }, (_, n) => line + n);
}

/** The rules of a scenario that match fields, and their paths. */
export function rulesIn({
  rules = [],
  hostRules = [],
  deviceFlows = [],
}: Scenario): readonly (readonly [path: string, rule: AnyRule])[] {
  return [
    ...rules.map((rule, n) => [`rules[${n}]`, rule] as const),
    ...hostRules.map((rule, n) => [`hostRules[${n}]`, rule] as const),
    ...deviceFlows.map((rule, n) => [`deviceFlows[${n}]`, rule] as const),
  ];
}

/** Where a rule stands among the others. */
export interface Place {
  readonly table: string | undefined;
  readonly priority: number;
}

export function placeOf(scenario: Scenario | null, { priority, table, matcher }: AnyRule): Place {
  const own = scenario?.matchers?.find(({ name }) => name === matcher);
  return { table: table ?? own?.table, priority: priority ?? own?.priority ?? 0 };
}

/** A rule as a text, without its place among the others. */
export function withoutOrder({ priority: _, matcher: __, ...rest }: AnyRule): string {
  return JSON.stringify(rest);
}
