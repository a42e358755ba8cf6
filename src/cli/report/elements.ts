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
  const known = rules.flatMap(({ imported }) => imported ?? []);
  if (known.length === 0) return {};
  const found = new Map<string, SourceElement>();
  const find = (value: unknown): void => {
    if (typeof value === "string") {
      for (const name of namesIn(value)) {
        for (const { elements } of known) {
          const element = elements.get(name);
          if (element !== undefined) found.set(name, element);
        }
      }
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(find);
  };
  find(record);
  return found.size === 0 ? {} : { elements: Object.fromEntries(found) };
}

/** A text as a name, and what stands in quotation marks in it. */
function namesIn(text: string): string[] {
  return [text, ...[...text.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name)];
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
