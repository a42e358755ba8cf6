/** What a reader throws at an element that it does not carry over; the importer goes on with the next one. */
import { namesHint } from "../../base/nearest.js";
import type { SourcePlace } from "../reading/finding.js";

export type Place = Pick<SourcePlace, "line" | "column">;

/** An element of a text, and where it starts. */
export interface Word {
  readonly text: string;
  readonly place: Place;
  /** How long it is in the source, where quotation marks or variables make that another length. */
  readonly written?: number;
}

/** A part of a word, at its place; of a word that the source writes otherwise, at the place of the word. */
export function partOf(word: Word, from: number, to?: number): Word {
  const { line, column } = word.place;
  const text = word.text.slice(from, to);
  if (word.written === undefined) return { text, place: { line, column: column + from } };
  return { text, place: word.place, written: word.written };
}

export class NotImported extends Error {
  constructor(
    readonly word: Word,
    readonly reason: string,
  ) {
    // Texts have many: the stack of each would cost more than its line.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(reason);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The result of a reader, or what stands for an element that is not imported. */
export function attempt<T>(read: () => T, otherwise: (refused: NotImported) => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotImported) return otherwise(error);
    throw error;
  }
}

/** @throws NotImported */
export function notImported(word: Word, reason: string): never {
  throw new NotImported(word, reason);
}

/** Refuses a word that is none of the names that can stand there. @throws NotImported */
export function unknownName(word: Word, what: string, plural: string, names: readonly string[]): never {
  return notImported(word, `not ${what}; ${namesHint(word.text, plural, names)}`);
}
