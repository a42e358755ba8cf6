// The second opinion, part 0: what one parse carries along, and how it reads and stops.
//
// Nothing here is fast. A header is read only when all of its bytes are there ("all or nothing for each header",
// docs/parsing.md); the first header that is not whole, or not sane, ends the parse and `stopped` says where and why.

import { LAYOUT } from "./layout.js";

export type Level = "outer" | "inner";

/** Where parsing ended early. */
export interface Stopped {
  header: string;
  /** The first field of the header that could not be read whole, or the field whose value was refused. */
  field: string;
  /** Offset of the header in the frame. */
  offset: number;
  /** Bytes wanted from `offset` on; for a refused value those that every header of the kind has. */
  wanted: number;
  /** Bytes that were there. */
  had: number;
  /** The capture cut the header; the packet around it ends inside it; or what is wrong with the field. */
  reason: "truncated" | "beyond_packet" | "bad_version" | "bad_header_length";
}

export interface HeaderSeen {
  kind: string;
  offset: number;
  level: Level;
}

/** What lies behind a level's headers: offsets in the frame. */
export interface Payload {
  offset: number;
  end: number;
}

/** What the device was told of its parser (docs/parsing.md). */
export interface ParserOptions {
  geneveOption0?: { class: number; type: number };
  samples?: readonly SampleOptions[];
}

export interface SampleOptions {
  id: number;
  /** The engine's name of a header, or "payload". */
  header: string;
  level: Level;
  offset: number;
  /** Only where the level's UDP destination port is this one. */
  port?: number;
}

export interface Packet {
  bytes: Uint8Array;
  fields: Map<string, bigint>;
  headers: HeaderSeen[];
  stopped: Stopped | null;
  /** `inner` is there once a tunnel leads to an inner packet. */
  payload: { outer: Payload; inner?: Payload };
  parser: ParserOptions;
}

/** What the checksum of an upper layer takes from the IP header in front of it. */
export interface Network {
  version: 4 | 6;
  /** Source and destination address, as they lie in the header. */
  addresses: Uint8Array;
  /** False where nothing can be verified: l3_ok 0, a fragment, a source route under way. */
  verifiable: boolean;
}

/** The next header to read: where it starts, how far bytes may be read, how far the packet reached on the wire. */
export interface Step {
  kind: string;
  level: Level;
  at: number;
  /** End of the readable bytes: captured, and inside the enclosing packet. */
  end: number;
  /** End of the enclosing packet on the wire, whether captured or not; never below `end`. */
  wireEnd: number;
  /** The payload of a first fragment: the fixed part of an L4 header is enough. */
  fragment?: boolean;
  /** An IPv6 packet of length 0 without a jumbo option: nothing can vouch for the L4 lengths. */
  lengthUnknown?: boolean;
  network?: Network;
  /** What carries these MPLS entries, where it is a tunnel and not the link layer. */
  over?: "gre" | "udp";
}

/** True when `length` bytes of the header are readable; otherwise the parse is stopped. */
export function whole(packet: Packet, step: Step, length: number): boolean {
  const had = step.end - step.at;
  if (had >= length) return true;
  const header = nameOf(step);
  const field = LAYOUT[header]?.find(([, end]) => end > had)?.[0] ?? "options";
  const reason = step.at + length <= step.wireEnd ? "truncated" : "beyond_packet";
  packet.stopped = { header, field, offset: step.at, wanted: length, had, reason };
  return false;
}

/** Stops the parse at a value that makes the header unreadable; `wanted` are the bytes that were read to see it. */
export function refuse(
  packet: Packet,
  step: Step,
  field: string,
  wanted: number,
  reason: "bad_version" | "bad_header_length",
): null {
  packet.stopped = { header: nameOf(step), field, offset: step.at, wanted, had: step.end - step.at, reason };
  return null;
}

/** Lists a header that was read; its level's payload begins behind it, and ends where the packet in `step` does. */
export function seen(packet: Packet, step: Step, length: number): void {
  packet.headers.push({ kind: nameOf(step), offset: step.at, level: step.level });
  packet.payload[step.level] = { offset: step.at + length, end: step.end };
}

/** BSD null and OpenBSD loop differ in byte order only. */
function nameOf(step: Step): string {
  return step.kind === "null" || step.kind === "loop" ? "loopback" : step.kind;
}

/** The packet inside a tunnel starts afresh: what was said of the outer one (fragment, unknown length) ends here. */
export function enter(packet: Packet, step: Step, kind: string, at: number): Step {
  packet.payload.inner = { offset: at, end: step.end };
  return { kind, level: "inner", at, end: step.end, wireEnd: step.wireEnd };
}

/** A big-endian unsigned number of `length` bytes. The caller has made sure that they are there. */
export function big(packet: Packet, offset: number, length: number): bigint {
  let value = 0n;
  for (const byte of packet.bytes.subarray(offset, offset + length)) value = (value << 8n) | BigInt(byte);
  return value;
}

export function number(packet: Packet, offset: number, length: number): number {
  return Number(big(packet, offset, length));
}
