/** Comments as options of pcapng blocks. */
import { MAX_OPTION, OPTION, optionOf } from "./pcapng.js";

/** A comment as an option, in both byte orders. */
export interface EncodedComment {
  readonly little: Uint8Array;
  readonly big: Uint8Array;
}

const CUT = "...";

/** Encodes a comment. One that is too long for an option is cut and ends in "...". */
export function encodeComment(text: string): EncodedComment {
  const encoder = new TextEncoder();
  let bytes = encoder.encode(text);
  if (bytes.length > MAX_OPTION) {
    // No character is divided: a byte 10xxxxxx continues one.
    let end = MAX_OPTION - CUT.length;
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    bytes = encoder.encode(new TextDecoder().decode(bytes.subarray(0, end)) + CUT);
  }
  return { little: optionOf(OPTION.comment, bytes, true), big: optionOf(OPTION.comment, bytes, false) };
}
