/** The words of imported rules that an answer names, with their places. */
import type { SourceElement } from "../../import/index.js";
import type { Rules } from "../input/rules/rules.js";
import { printable, type Paint } from "../text.js";

/** The last key of a line of JSON: the elements of rules that the line names, by the names of the rules. */
export interface NamedElements {
  readonly elements?: Readonly<Record<string, SourceElement>>;
}

/** Characters of an element that are printed. */
const WIDTH = 200;

/** The elements of the rules that a record names, in the order of the record; nothing for scenarios. */
export function elementsOfRules(record: unknown, ...rules: readonly Rules[]): NamedElements {
  const [first, ...others] = rules.flatMap(({ imported }) => imported ?? []);
  const found = first?.elementsNamed(record, ...others) ?? new Map<string, SourceElement>();
  return found.size === 0 ? {} : { elements: Object.fromEntries(found) };
}

/** A line for each element. */
export function elementsText(paint: Paint, { elements = {} }: NamedElements): string {
  return Object.entries(elements)
    .map(([name, element]) => `  ${paint("dim", printable(name))}  ${wordsOf(element)}\n`)
    .join("");
}

/** The words of an element in one line. */
export function wordsOf({ text }: SourceElement): string {
  const words = printable(text.trim().replace(/\s+/g, " "));
  return words.length > WIDTH ? `${words.slice(0, WIDTH - 3)}...` : words;
}
