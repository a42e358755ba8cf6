/** Words that are drawn once, and then the same again. */
import { Random } from "../../../oracle/generate/random.js";

export class Tape extends Random {
  readonly #source: Random;
  readonly #words: number[] = [];
  #at = 0;

  constructor(source: Random) {
    super(0);
    this.#source = source;
  }

  override word(): number {
    if (this.#at === this.#words.length) this.#words.push(this.#source.word());
    return this.#words[this.#at++] as number;
  }

  /** The next word is the first again. */
  rewind(): void {
    this.#at = 0;
  }
}
