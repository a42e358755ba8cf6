/** Bytes as initializers of C, with what they say beside them. */
import { commentText } from "../../program/names.js";
import type { ProgramBytes, ProgramField } from "../../program/program.js";

/**
 * Initializers of an array of bytes: those of each field in a line, zeros left out.
 *
 *     [22] = 0x00, 0x50, // outer.tcp_dport 80
 */
export function bytesWithFields({ bytes, fields }: ProgramBytes): string[] {
  return piecesOf(bytes, fields).map(({ from, to, texts }) => {
    const list = Array.from(bytes.subarray(from, to), byteText).join(", ");
    const comment = texts.length === 0 ? "" : ` /* ${commentText(texts.join(", "))} */`;
    return `\t[${from}] = ${list},${comment}`;
  });
}

interface Piece {
  readonly from: number;
  to: number;
  readonly texts: string[];
}

/** Fields, and bytes of no field that are not zero; those that share bytes are one piece. */
function piecesOf(bytes: Uint8Array, fields: readonly ProgramField[]): Piece[] {
  const spans = [
    ...fields.map(({ at, size, text }) => ({ from: at, to: at + size, texts: [text] })),
    ...[...bytes.keys()].filter((at) => bytes[at] !== 0).map((at) => ({ from: at, to: at + 1, texts: [] })),
  ].filter(({ to }) => to <= bytes.length);
  const pieces: Piece[] = [];
  for (const { from, to, texts } of spans.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = pieces.at(-1);
    if (last === undefined || from >= last.to) pieces.push({ from, to, texts: [...texts] });
    else {
      last.to = Math.max(last.to, to);
      last.texts.push(...texts);
    }
  }
  return pieces;
}

export function byteText(byte: number): string {
  return `0x${byte.toString(16).padStart(2, "0")}`;
}

/** A string literal. */
export function literal(text: string): string {
  const plain = text.replaceAll(/[\\"?]/g, "\\$&").replaceAll(/[^\x20-\x7e]/g, (one) => {
    const bytes = new TextEncoder().encode(one);
    return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  });
  return `"${plain}"`;
}
