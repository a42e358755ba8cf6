/** Makes a failing input small: fewer words, then smaller words, as long as it fails. */
import { type Input, inputOfWords, wordsOf } from "./input.js";

/** Whether an input still fails as the first one did. */
export type Fails = (input: Input) => Promise<boolean>;

/** Beyond this many words no single word is made smaller. */
const MAX_SINGLE = 4000;
/** Words below this are tried one by one. */
const SMALLEST = 3;

/**
 * @param length the words that the run of the input drew
 * @param until the time (`performance.now()`) when the search ends
 * @returns the smallest input found; one whose words end is not tried without them in vain: the last word is not 0
 */
export async function shrunk(input: Input, length: number, fails: Fails, until: number): Promise<Input> {
  const next = wordsOf(input);
  const words = Array.from({ length }, next);
  const search = new Search(words, fails, until);
  if (!(await search.try(words))) return input;
  let before: number;
  do {
    before = search.score;
    await search.cutEnd();
    for (let size = search.words.length >> 1; size > 0; size >>= 1) await search.each(size);
    if (search.words.length <= MAX_SINGLE) await search.lowerAll();
  } while (search.score < before && !search.over);
  return inputOfWords(search.words);
}

class Search {
  words: number[];
  readonly #fails: Fails;
  readonly #until: number;

  constructor(words: number[], fails: Fails, until: number) {
    this.words = words;
    this.#fails = fails;
    this.#until = until;
  }

  get over(): boolean {
    return performance.now() > this.#until;
  }

  /** Fewer words first, then smaller ones. */
  get score(): number {
    return this.words.length * 2 ** 33 + this.words.reduce((sum, word) => sum + Math.log2(word + 1), 0);
  }

  async try(words: number[]): Promise<boolean> {
    if (this.over || !(await this.#fails(inputOfWords(words)))) return false;
    while (words.at(-1) === 0) words.pop();
    this.words = words;
    return true;
  }

  /** Words after the end are 0: finds the shortest beginning by halves. */
  async cutEnd(): Promise<void> {
    let [least, most] = [0, this.words.length];
    const all = this.words;
    while (least < most && !this.over) {
      const middle = (least + most) >> 1;
      if (await this.try(all.slice(0, middle))) most = middle;
      else least = middle + 1;
    }
  }

  /** Drops or clears parts of this size, from the last to the first. */
  async each(size: number): Promise<void> {
    for (let at = Math.max(this.words.length - size, 0); !this.over; at -= size) {
      const from = Math.max(at, 0);
      const { words } = this;
      const part = words.slice(from, from + size);
      const dropped = await this.try([...words.slice(0, from), ...words.slice(from + size)]);
      if (!dropped && part.some((word) => word !== 0))
        await this.try([...words.slice(0, from), ...part.map(() => 0), ...words.slice(from + size)]);
      if (from === 0) return;
    }
  }

  async lowerAll(): Promise<void> {
    for (let at = 0; at < this.words.length && !this.over; at++) await this.#lower(at);
  }

  /** One of the smallest words, or else a smaller one by halves. */
  async #lower(at: number): Promise<void> {
    let [least, most] = [0, this.words[at] ?? 0];
    for (; least < Math.min(most, SMALLEST); least++) if (await this.#put(at, least)) return;
    while (least < most && !this.over) {
      const middle = Math.floor((least + most) / 2);
      if (await this.#put(at, middle)) most = middle;
      else least = middle + 1;
    }
  }

  #put(at: number, word: number): Promise<boolean> {
    const words = [...this.words];
    words[at] = word;
    return this.try(words);
  }
}
