/** The words of a command: as a shell splits them, with variables of the text and quotation marks. */
import type { TextLine } from "./lines.js";
import { notImported, type Place, type Word } from "./refusal.js";

/** Values of shell variables that the text sets. */
export type Variables = Map<string, string>;

const OPENING: Readonly<Record<string, string>> = { '"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019" };
/** What stands in a word as it is. */
const PLAIN = /[^\s"'\u201c\u2018]*/y;
const BLANKS = /\s*/y;
/** Signs of a word that may become others. */
const SPECIAL = /[$\u2010-\u2015\u2212]/;

/** Where what an expression matches at a place ends. */
function endAfter(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  expression.test(text);
  return expression.lastIndex;
}

/**
 * Splits a command at white space; quoted parts stay together, a comment (` #`) ends it. A variable
 * that the text sets has its value, others stay as they are: `$DEV`.
 */
export function wordsOf(line: TextLine, variables: Variables = new Map()): Word[] {
  const words: Word[] = [];
  const { text } = line;
  /** Signs that do not come any more. */
  const missing = new Set<string>();
  let at = 0;
  for (;;) {
    const start = endAfter(BLANKS, text, at);
    if (start >= text.length || text[start] === "#") break;
    at = endAfter(PLAIN, text, start);
    let word = text.slice(start, at);
    for (let char = text[at]; char !== undefined && !/\s/.test(char); char = text[at]) {
      const closing = OPENING[char];
      const end = closing === undefined || missing.has(closing) ? -1 : text.indexOf(closing, at + 1);
      if (closing !== undefined && end < 0) missing.add(closing);
      if (end < 0) {
        word += char;
        at++;
      } else {
        word += text.slice(at + 1, end);
        at = end + 1;
      }
      const plain = endAfter(PLAIN, text, at);
      word += text.slice(at, plain);
      at = plain;
    }
    const read = SPECIAL.test(word) ? plainDashes(expanded(word, variables)) : word;
    const isWritten = word === read && word.length === at - start;
    const place = line.place(start);
    words.push(isWritten ? { text: read, place } : { text: read, place, written: at - start });
  }
  return withoutRedirections(words);
}

/** `> FILE`, `2>/dev/null`, `&>/dev/null`, `2>&1`: where a shell sends what a command prints. */
function withoutRedirections(words: Word[]): Word[] {
  return words.filter(({ text }, n) => !REDIRECTION.test(text) && !/^[\d&]?>>?$/.test(words[n - 1]?.text ?? ""));
}

const REDIRECTION = /^[\d&]?>>?(?:&\d|\/\S*)?$/;

function expanded(word: string, variables: Variables): string {
  return word.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (whole, braced?: string, bare?: string) => {
    return variables.get(braced ?? bare ?? "") ?? whole;
  });
}

/** Word processors write "--" as one long dash, and "-" as another sign. */
function plainDashes(word: string): string {
  const [dashes = ""] = /^[\u2010-\u2015\u2212]+/.exec(word) ?? [];
  const isLong = dashes.length === 1 && word.length > 2;
  return `${isLong ? "--" : "-".repeat(dashes.length)}${word.slice(dashes.length).replaceAll(/[\u2010-\u2015\u2212]/g, "-")}`;
}

/** The longest value: each may be made of others, twice as long. */
const MAX_VALUE = 65_536;

/** How long a word is with the values of its variables. */
function expandedLength(word: string, variables: Variables): number {
  let length = word.length;
  for (const [whole, braced, bare] of word.matchAll(/\$(?:\{(\w+)\}|(\w+))/g)) {
    length += (variables.get(braced ?? bare ?? "") ?? whole).length - whole.length;
  }
  return length;
}

/** A `#` within a word is one of its letters; after a blank it begins a comment. */
const ASSIGNMENT =
  /^\s*(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;]*)\s*(?:;|(?<!\S)#[^]*)?$/;

/**
 * Reads `NAME=value` lines, as shell scripts set their variables. One whose value is too long has none.
 *
 * @returns whether it is such a line
 */
export function setVariable(text: string, variables: Variables): boolean {
  const found = ASSIGNMENT.exec(text);
  if (found === null) return false;
  const [, name = "", value = ""] = found;
  const plain = value.replace(/^(["'])(.*)\1$/, "$2");
  if (expandedLength(plain, variables) > MAX_VALUE) variables.delete(name);
  else variables.set(name, expanded(plain, variables));
  return true;
}

/** Goes through the words of a command. */
export class Cursor {
  readonly #end: Word;
  #at = 0;

  constructor(private readonly words: readonly Word[]) {
    const last: Word = words.at(-1) ?? { text: "", place: { line: 1, column: 1 } };
    const { line, column } = last.place;
    this.#end = { text: last.text, place: { line, column: column + (last.written ?? last.text.length) } };
  }

  get done(): boolean {
    return this.#at >= this.words.length;
  }

  /** How many words were taken. */
  get taken(): number {
    return Math.min(this.#at, this.words.length);
  }

  /** The next word, which stays; undefined at the end. */
  peek(ahead = 0): string | undefined {
    return this.words[this.#at + ahead]?.text;
  }

  /** Where the next word is. */
  get place(): Place {
    return (this.words[this.#at] ?? this.#end).place;
  }

  /** The next word. At the end it is refused, with what is missing. */
  next(missing: string): Word {
    return this.words[this.#at++] ?? notImported(this.#end, `${missing} is missing`);
  }

  /** Takes the next words if they are these. */
  take(...texts: readonly string[]): boolean {
    if (!texts.every((text, n) => this.peek(n) === text)) return false;
    this.#at += texts.length;
    return true;
  }

  /** Goes on after the next word of this text, or to the end. */
  skipTo(...texts: readonly string[]): void {
    while (!this.done && !texts.includes((this.words[this.#at++] as Word).text));
  }
}
