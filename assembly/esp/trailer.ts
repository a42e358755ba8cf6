/**
 * Checks the ESP trailer (RFC 4303, 2.4 to 2.6). In: decrypted bytes. Out: whether they end with
 * this trailer.
 *
 *     | padding 1, 2, 3, ... | pad length 1 | next header 1 |
 */
import { Check } from "../../src/abi/trace";
import { noteCheck } from "../branch/events";
import { TRAILER } from "./job";

/** Whether the decrypted bytes end with a valid trailer. The time tells the pad length, not which byte is wrong. */
export function isTrailer(data: usize, length: u32): bool {
  // Unreached: callers have dropped shorter packets.
  if (length < TRAILER) return false;
  const padding: u32 = load<u8>(data + length - TRAILER);
  if (padding + TRAILER > length) {
    if (TRACED) noteCheck(Check.esp_pad_length, padding, length - TRAILER);
    return false;
  }
  const pad = data + length - TRAILER - padding;
  let wrong: u32 = 0;
  for (let n: u32 = 0; n < padding; n++) wrong |= (<u32>load<u8>(pad + n)) ^ (n + 1);
  if (TRACED) {
    if (wrong != 0) noteCheck(Check.esp_pad_bytes, padding);
  }
  return wrong == 0;
}
