/** The words and signs of a rule set as text. */
import { commandWithin, startOfCommand } from "../../text/lines.js";
import { placesOf } from "../../../base/json.js";
import type { Word } from "../../text/refusal.js";

/** A word, a text in quotation marks, a sign, or the end of a line (`\n`). */
export interface Token extends Word {
  readonly isQuoted: boolean;
  /** Where it ends in the source. */
  readonly start: number;
  readonly end: number;
}

/** Blanks, a wrapped line, signs of a shell and comments; then what counts. */
const TOKEN =
  /(?:[^\S\n]|\\\n|['\\]|#[^\n]*(?![^\n]))*(?:(\n|==|!=|<=|>=|<<|>>|[{}();,&|^<>=!])|"([^"\n]*)"|([^\s{}();,&|^<>=!"'#\\]+)|")?/y;

/** Splits a text. Prompts before `nft`, and marks of diffs and quotations, are left out. */
export function tokensOf(source: string): Token[] {
  const text = withoutPrompts(source);
  const placeAt = placesOf(source);
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const found = TOKEN.exec(text);
    if (found === null) break;
    const [, sign, quoted, word] = found;
    const token = sign ?? quoted ?? word;
    if (token === undefined) continue;
    const isQuoted = quoted !== undefined;
    const end = TOKEN.lastIndex;
    const start = end - token.length - (isQuoted ? 2 : 0);
    tokens.push({ text: token, isQuoted, start, end, place: placeAt(start) });
  }
  return tokens;
}

const WITHIN = commandWithin(
  /(?<![\w-])nft(?<!\bcomment\b.{0,200})(?:\s+-\S{1,80}){0,4}\s+["']?(?:add|insert|create|replace|delete|destroy|flush|reset|list)\s/,
);

/** The same text, with blanks where something stands in front of a command: places stay as they are. */
function withoutPrompts(source: string): string {
  const isCommand = (text: string): boolean => /^nft\s/.test(text);
  return source
    .split("\n")
    .map((line) => {
      const mark = /^\s*[+>|]/.exec(line)?.[0].length ?? 0;
      const from = startOfCommand(line, isCommand, WITHIN) ?? mark;
      return " ".repeat(from) + line.slice(from);
    })
    .join("\n");
}
