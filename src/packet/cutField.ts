/** Names the first field of a header that the parser could not read. */
import { Header, Stop } from "../abi/headers.js";
import { layoutOf } from "./layout.js";
import type { HeaderName } from "./parsedFrame.js";

/**
 * The first field of a header of which only `had` bytes are there, or the one that made no sense.
 * `header` and `why` are numbers of `Header` and `Stop`.
 */
export function firstCutField(header: number, why: number, had: number): string {
  if (why === (Stop.bad_version as number) || header === (Header.ip as number)) return "version";
  if (why === (Stop.bad_header_length as number)) return header === (Header.ipv4 as number) ? "ihl" : "length";
  // The field that holds the first missing byte: the last one that begins at or before it.
  let at = 0;
  let found = "";
  for (const [name, bits, , detail] of layoutOf(Header[header] as HeaderName)) {
    if (at > 8 * had) break;
    found = detail?.part ?? name;
    // What lies behind a field of no fixed size cannot be told apart.
    if (typeof bits !== "number") break;
    at += bits;
  }
  return found;
}
