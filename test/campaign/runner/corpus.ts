/** The inputs of a target that reached something new: those of the repository, and those found since. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "../../oracle/generate/random.js";
import { parseInput, textOf } from "../input/input.js";
import type { Sized } from "../input/mutate.js";
import { ROOT } from "../../support/root.js";

const COMMITTED = "test/campaign/corpus";
const FOUND = "build/campaign/corpus";
/** Beyond this many, newer inputs replace others. */
const MAX = 2000;

export class Corpus {
  readonly #file: string;
  readonly #inputs: Sized[];
  #found = 0;

  constructor(target: string) {
    this.#file = join(ROOT, FOUND, `${target}.txt`);
    this.#inputs = [join(ROOT, COMMITTED, `${target}.txt`), this.#file].flatMap(read);
  }

  get size(): number {
    return this.#inputs.length;
  }

  /** Inputs added in this process. */
  get found(): number {
    return this.#found;
  }

  /** All, those that were found last at the end. */
  get inputs(): readonly Sized[] {
    return this.#inputs;
  }

  /** One of them; newer ones more often. */
  pick(random: Random): Sized {
    const { length } = this.#inputs;
    return this.#inputs[random.chance(0.5) ? random.below(length) : Math.max(length - 1 - random.below(16), 0)]!;
  }

  /** Keeps an input, in the file too. */
  add(sized: Sized): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    appendFileSync(this.#file, `${lineOf(sized)}\n`);
    this.#found++;
    this.#inputs.push(sized);
    if (this.#inputs.length > MAX) this.#inputs.shift();
  }
}

/** `1234 @1f:0`: the number of words that the run drew, and the input. */
export function lineOf({ input, length }: Sized): string {
  return `${length} ${textOf(input)}`;
}

function read(file: string): Sized[] {
  if (!existsSync(file)) return [];
  // The last line may be cut: its process was stopped.
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const end = line.indexOf(" ");
    return { input: parseInput(line.slice(end + 1)), length: Number(line.slice(0, end)) };
  });
}
