/** Pieces of a command, with their places: text between commas, in parentheses, after a sign. */
import type { TextLine } from "../../text/lines.js";
import { notImported, type Place, type Word } from "../../text/refusal.js";

const OPENING = "([{";
const CLOSING = ")]}";
/** Actions within actions are read by functions that call themselves. */
const MAX_NESTED = 64;
const TOO_DEEP = `more than ${MAX_NESTED} parentheses are open`;

export class Piece implements Word {
  /** @param from the first character in the text of the line; @param to the one after the last */
  constructor(
    readonly line: TextLine,
    readonly from: number,
    readonly to: number,
  ) {}

  static of(line: TextLine): Piece {
    return new Piece(line, 0, line.text.length);
  }

  get text(): string {
    return this.line.text.slice(this.from, this.to);
  }

  get place(): Place {
    return this.line.place(this.from);
  }

  /** Characters of it, without the spaces around them. */
  part(from: number, to: number = this.to - this.from): Piece {
    const { text } = this.line;
    let first = this.from + from;
    let end = Math.min(this.from + to, this.to);
    while (first < end && isSpace(text[first])) first++;
    while (end > first && isSpace(text[end - 1])) end--;
    return new Piece(this.line, first, end);
  }

  /**
   * The pieces between separators that stand outside parentheses and quotation marks; empty ones are left out.
   *
   * @throws NotImported too many parentheses are open
   */
  split(separators: string): Piece[] {
    const pieces: Piece[] = [];
    const { text } = this;
    let from = 0;
    let depth = 0;
    let quote = "";
    for (let at = 0; at <= text.length; at++) {
      const sign = text[at] ?? "";
      if (quote !== "") {
        if (sign === quote || sign === "") quote = "";
        if (sign !== "") continue;
      }
      if (sign === '"' || sign === "'") quote = sign;
      else if (sign !== "" && OPENING.includes(sign)) {
        if (++depth > MAX_NESTED) notImported(this, TOO_DEEP);
      } else if (sign !== "" && CLOSING.includes(sign)) depth = Math.max(0, depth - 1);
      else if (sign === "" || (depth === 0 && separators.includes(sign))) {
        const piece = this.part(from, at);
        if (piece.from < piece.to) pieces.push(piece);
        from = at + 1;
      }
    }
    return pieces;
  }

  /** The text before a separator and after it; undefined if it is not there. */
  cut(sign: string): readonly [Piece, Piece] | undefined {
    const at = this.text.indexOf(sign);
    return at < 0 ? undefined : [this.part(0, at), this.part(at + sign.length)];
  }

  /** `name(inside)`: what stands in the last parentheses; undefined without them. */
  call(): readonly [string, Piece] | undefined {
    const { text } = this;
    const at = text.indexOf("(");
    if (at < 0) return undefined;
    if (!text.endsWith(")")) notImported(this, "a parenthesis is not closed");
    return [text.slice(0, at).trim(), this.part(at + 1, text.length - 1)];
  }

  /** Without quotation marks around it. */
  unquoted(): string {
    const { text } = this;
    return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
  }
}

function isSpace(sign: string | undefined): boolean {
  return sign === " " || sign === "\t" || sign === "\r" || sign === "\n";
}
