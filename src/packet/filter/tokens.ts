/** The words of a filter. */

/** A fault in a filter: characters `from` to `to` - 1. */
export interface FilterFault {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

export interface Token {
  readonly kind: "word" | "string" | "sign" | "end";
  /** Of a string, what is between its quotes. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Thrown inside this folder, and caught by `parseDisplayFilter`. */
export class FilterError extends Error {
  constructor(
    message: string,
    readonly from: number,
    readonly to: number,
  ) {
    super(message);
  }
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*("?))|((?:[\w:/%-]|\.(?!\.))+)|(===|!==|[=!~<>]=|&&|\|\||\.\.|[^\s]))/sy;

/** Words of Wireshark for signs. */
const SPELLED: Readonly<Record<string, string>> = {
  and: "&&",
  or: "||",
  not: "!",
  eq: "==",
  ne: "!=",
  gt: ">",
  lt: "<",
  ge: ">=",
  le: "<=",
  any_eq: "==",
  all_ne: "!=",
  all_eq: "===",
  any_ne: "!==",
  bitwise_and: "&",
  in: "in",
  contains: "contains",
  matches: "matches",
};
const SIGNS: Readonly<Record<string, string>> = { "~=": "!==", "~": "matches" };

/** The token at or after a place. */
export function tokenAt(text: string, at: number): Token {
  TOKEN.lastIndex = at;
  const found = TOKEN.exec(text);
  if (found === null) return { kind: "end", text: "", from: text.length, to: text.length };
  const [, quoted, close, word, sign] = found;
  const to = TOKEN.lastIndex;
  if (quoted !== undefined) {
    const from = to - quoted.length;
    if (close === "") throw new FilterError("the quote is not closed", from, to);
    return { kind: "string", text: quoted.slice(1, -1).replace(/\\(.)/gs, "$1"), from, to };
  }
  if (word !== undefined) {
    const spelled = Object.hasOwn(SPELLED, word) ? SPELLED[word] : undefined;
    const from = to - word.length;
    return { kind: spelled === undefined ? "word" : "sign", text: spelled ?? word, from, to };
  }
  return { kind: "sign", text: SIGNS[sign ?? ""] ?? sign ?? "", from: to - (sign?.length ?? 0), to };
}
