/** Comments as options of pcapng blocks. */
import { OPTION, padded } from "./pcapng.js";
import { viewOf } from "./record.js";

/** A comment as an option, in both byte orders. */
export interface EncodedComment {
  readonly little: Uint8Array;
  readonly big: Uint8Array;
  /** Whether it was too long for an option. */
  readonly cut: boolean;
}

/** The length of an option has 16 bits. */
const LONGEST_OPTION = 0xffff;
const CUT = "...";

/** Encodes a comment. One that is too long for an option is cut and ends in "...". */
export function encodeComment(text: string): EncodedComment {
  const encoder = new TextEncoder();
  let bytes = encoder.encode(text);
  const cut = bytes.length > LONGEST_OPTION;
  if (cut) {
    // No character is divided: a byte 10xxxxxx continues one.
    let end = LONGEST_OPTION - CUT.length;
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    bytes = encoder.encode(new TextDecoder().decode(bytes.subarray(0, end)) + CUT);
  }
  return { little: optionOf(OPTION.comment, bytes, true), big: optionOf(OPTION.comment, bytes, false), cut };
}

/** An option (section 3.5). */
export function optionOf(code: number, value: Uint8Array, littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(4 + padded(value.length));
  const view = viewOf(bytes);
  view.setUint16(0, code, littleEndian);
  view.setUint16(2, value.length, littleEndian);
  bytes.set(value, 4);
  return bytes;
}
