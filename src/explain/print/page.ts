/** Labelled lines of text, wrapped at a width, with colour on request. */
import { wrap } from "./wrap.js";

/** A colour of a label. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const CODES: Readonly<Record<Style, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** A space at which no line ends. */
export const SPACE = "\u00a0";

/** Makes one word of a text: lines end before it or after it, if a line can hold it. */
export function together(text: string): string {
  return text.replaceAll(" ", SPACE);
}

/** The least width that texts are folded to. */
const MIN_WIDTH = 40;

export class Page {
  readonly #width: number;
  readonly #colour: boolean;
  readonly #lines: string[] = [];

  constructor(width: number, colour: boolean) {
    this.#width = Math.max(MIN_WIDTH, width);
    this.#colour = colour;
  }

  /** Adds a text after a label of `column` columns, `indent` columns from the left. */
  line(indent: number, column: number, label: string, style: Style, text: string): void {
    const head = " ".repeat(indent) + label.padEnd(column);
    const room = this.#width - head.length;
    const words = text.split(" ").map((word) => (word.length > room ? word.replaceAll(SPACE, " ") : word));
    const [first = "", ...rest] = wrap(words.join(" "), this.#width, head, " ".repeat(head.length));
    const painted = first.slice(0, indent) + this.#paint(style, label) + first.slice(indent + label.length);
    for (const line of [painted, ...rest]) this.#lines.push(line.replaceAll(SPACE, " ").trimEnd());
  }

  /** The lines so far, without a last line break. */
  get text(): string {
    return this.#lines.join("\n");
  }

  #paint(style: Style, text: string): string {
    const [on, off] = CODES[style];
    return this.#colour && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  }
}
