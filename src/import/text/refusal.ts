/** What a reader throws at an element that it does not carry over; the importer goes on with the next one. */
import type { SourcePlace } from "../finding.js";

export type Place = Pick<SourcePlace, "line" | "column">;

/** An element of a text, and where it starts. */
export interface Word {
  readonly text: string;
  readonly place: Place;
}

export class NotImported extends Error {
  constructor(
    readonly word: Word,
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** @throws NotImported */
export function notImported(word: Word, reason: string): never {
  throw new NotImported(word, reason);
}
