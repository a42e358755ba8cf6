/** Draws the words of an input, and keeps those that were drawn. */
import { Random } from "../../oracle/generate/random.js";
import { type Input, wordsOf } from "./input.js";

/** The most words of a run: a generator that draws until something comes up may wait for ever. */
export const MAX_WORDS = 4_000_000;

/** The input asks for more than a run may have. It shows nothing. */
export class TooManyWords extends Error {
  constructor(most: number) {
    super(`more than ${most} words`);
  }
}

export class Choices extends Random {
  readonly #next: () => number;
  readonly #most: number;
  #count = 0;

  constructor(input: Input, most = MAX_WORDS) {
    super(0);
    this.#next = wordsOf(input);
    this.#most = most;
  }

  /** The number of words drawn. */
  get count(): number {
    return this.#count;
  }

  override word(): number {
    if (++this.#count > this.#most) throw new TooManyWords(this.#most);
    return this.#next();
  }
}
