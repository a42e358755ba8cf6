/** Finds IP lengths that go beyond the end of the frame. */
import type { ParsedHeader, ParsedHeaders } from "../parsedFrame.js";

/** An IP header that promises more bytes than the frame had on the wire. */
export interface LengthBeyond extends Pick<ParsedHeader, "header" | "level"> {
  /** The field, and its offset in the frame. */
  field: "total_length" | "payload_length" | "jumbo_payload_length";
  offset: number;
  /** The bytes that the field promises. */
  length: number;
  /** The bytes that the frame had for them on the wire. */
  had: number;
}

/** Bytes of an IPv6 header, which its length does not count. */
const IPV6_HEADER = 40;
/** The length of a jumbogram: RFC 2675 section 2. */
const JUMBO_OPTION = 0xc2;

/**
 * The IP lengths of a frame that go beyond its end on the wire. Bytes that only the capture left out
 * are not missing.
 * @param wireLength of the frame; more than `frame` has where the capture cut it
 */
export function lengthsBeyond(
  frame: Uint8Array,
  { headers }: Pick<ParsedHeaders, "headers">,
  wireLength: number,
): LengthBeyond[] {
  const found: LengthBeyond[] = [];
  for (const [i, header] of headers.entries()) {
    const promise = header.header === "ipv4" ? ipv4(frame, header) : ipv6(frame, header, headers[i + 1]);
    if (promise === null) continue;
    const { field, at, length, from } = promise;
    const had = Math.max(wireLength - from, 0);
    if (length > had) found.push({ header: header.header, level: header.level, field, offset: at, length, had });
  }
  return found;
}

/** A length field, its value, and the byte that it counts from. */
interface Promised {
  field: LengthBeyond["field"];
  at: number;
  length: number;
  from: number;
}

function ipv4(frame: Uint8Array, { offset }: ParsedHeader): Promised {
  return { field: "total_length", at: offset + 2, length: number16(frame, offset + 2), from: offset };
}

function ipv6(frame: Uint8Array, { header, offset }: ParsedHeader, next: ParsedHeader | undefined): Promised | null {
  if (header !== "ipv6") return null;
  const length = number16(frame, offset + 4);
  const from = offset + IPV6_HEADER;
  if (length > 0) return { field: "payload_length", at: offset + 4, length, from };
  const option = next?.header === "ipv6_hop_by_hop" ? jumboOption(frame, next.offset) : undefined;
  if (option === undefined) return null;
  const jumbo = number16(frame, option + 2) * 0x10000 + number16(frame, option + 4);
  return { field: "jumbo_payload_length", at: option + 2, length: jumbo, from };
}

/** The offset of the jumbo option in a hop-by-hop header. */
function jumboOption(frame: Uint8Array, header: number): number | undefined {
  const end = Math.min(header + 8 + 8 * (frame[header + 1] ?? 0), frame.length);
  for (let at = header + 2; at + 6 <= end;) {
    if (frame[at] === JUMBO_OPTION) return at;
    // Pad1 has no length (RFC 8200 section 4.2).
    at += frame[at] === 0 ? 1 : 2 + (frame[at + 1] ?? 0);
  }
  return undefined;
}

function number16(frame: Uint8Array, at: number): number {
  return ((frame[at] ?? 0) << 8) | (frame[at + 1] ?? 0);
}
