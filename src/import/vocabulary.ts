/** The words of a format, from the tables that its importer reads by: for completion and highlighting. */
import { FORMATS, type ImportFormat } from "./formats.js";
import type { Format } from "../formats/reading/format.js";

/** A word of the language of a format, or two: "dst_ip", "flow create". */
export interface FormatWord {
  readonly word: string;
  /** "Match fields", "Actions". */
  readonly group: string;
  /** What becomes of it in a scenario; null for a word that is not imported. */
  readonly becomes: string | null;
  /** The word that it is a field of: `is a field of "ipv4"`; null for a word of its own. */
  readonly of: string | null;
}

/** A name that a text can have as it is: one or two words, and no description such as "a number". */
const WORDS = /^(?!an? |all |other |rules |flows )-{0,2}[a-z][\w.-]*(?: [a-z][\w.-]*)?$/i;

/** The words of a format, in the order of its page in `docs/import/`. */
export function formatWords(name: ImportFormat): readonly FormatWord[] {
  const { elements, fields = {} }: Format = FORMATS[name];
  const words = Object.entries(elements).flatMap(([group, all]) =>
    Object.entries(all).flatMap(([names, element]) =>
      names
        .split(", ")
        // "action N": what stands for a value.
        .map((word) => word.replace(/ [A-Z]+$/, ""))
        .filter((word) => WORDS.test(word))
        .map((word) => ({ word, group, becomes: "becomes" in element ? element.becomes : null, of: null })),
    ),
  );
  const ofElements = Object.entries(fields).flatMap(([of, all]) =>
    all.map((word) => ({ word, group: `Fields of ${of}`, becomes: "", of })),
  );
  // Where several elements begin alike, the first is the common one.
  const all = [...words, ...ofElements];
  return all.filter(({ word, group }, n) => all.findIndex((one) => one.word === word && one.group === group) === n);
}
