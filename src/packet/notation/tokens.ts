/** Splits packet notation into tokens, each with its column. */
import { refuse, type Refusal } from "../../errors.js";

export const CALL = "parsePacket";

export interface Token {
  /** `list` is what stands in brackets, `note` what stands in parentheses, without these. */
  readonly kind: "word" | "list" | "note" | "/" | ">";
  readonly text: string;
  /** The place of its first character, from 1. */
  readonly column: number;
}

/** A refusal at a column of the text. */
export function refuseAt(column: number, refusal: Omit<Refusal, "code" | "call" | "path">): never {
  return refuse({ code: "EINVAL", call: CALL, path: `column ${column}`, ...refusal });
}

const TOKEN = /[\s,]+|([/>])|\[([^\]]*)\]|\(([^)]*)\)|([^\s,/>[\]()]+)/gy;

/** The tokens of a text. Commas separate as blanks do. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    const column = at + 1;
    if (found === null) {
      const value = text.charAt(at);
      const opens = value === "[" || value === "(";
      const hint = opens ? `no ${value === "[" ? "]" : ")"} closes it` : `nothing opens it`;
      return refuseAt(column, { reason: "bad_packet", value, hint });
    }
    const [, sign, list, note, word] = found;
    if (sign === "/" || sign === ">") tokens.push({ kind: sign, text: sign, column });
    else if (list !== undefined) tokens.push({ kind: "list", text: list, column });
    else if (note !== undefined) tokens.push({ kind: "note", text: note, column });
    else if (word !== undefined) tokens.push({ kind: "word", text: word, column });
  }
  return tokens;
}
