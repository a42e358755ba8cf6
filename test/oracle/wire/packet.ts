// Reference parser, part 0: the state of one parse, and the rules of reading and stopping.
// Nothing here is fast. A header is read only if all of its bytes are there, the fixed part of TCP,
// GRE and GTP-U also without the options (docs/parsing.md); the first header that is incomplete or
// invalid ends the parse, and `stopped` says where and why.

import { LAYOUT } from "./layout.js";

export type Level = "outer" | "inner";

/** The point where parsing ended early. */
export interface Stopped {
  header: string;
  /** The first incomplete field of the header, or the field whose value was refused. */
  field: string;
  /** Offset of the header in the frame. */
  offset: number;
  /**
   * Bytes required from `offset` on; for a refused value the minimum size of headers of the kind.
   */
  wanted: number;
  /** Bytes available. */
  had: number;
  /** The capture cut the header; the enclosing packet ends inside it; or the error of the field. */
  reason: "truncated" | "beyond_packet" | "bad_version" | "bad_header_length";
}

export interface HeaderSeen {
  kind: string;
  offset: number;
  level: Level;
}

/** The payload after the headers of a level: offsets in the frame. */
export interface Payload {
  offset: number;
  end: number;
}

/** The parser declarations of the device (docs/parsing.md). */
export interface ParserOptions {
  geneveOption0?: { class: number; type: number };
  samples?: readonly SampleOptions[];
  /** The UDP destination ports of VXLAN; 4789 if left out. */
  vxlanPorts?: readonly number[];
}

export interface SampleOptions {
  id: number;
  /** The engine's name of a header, or "payload". */
  header: string;
  level: Level;
  offset: number;
  /** Only if the UDP destination port of the level is this one. */
  port?: number;
}

export interface Packet {
  bytes: Uint8Array;
  fields: Map<string, bigint>;
  headers: HeaderSeen[];
  stopped: Stopped | null;
  /** `inner` exists once a tunnel contains an inner packet. */
  payload: { outer: Payload; inner?: Payload };
  parser: ParserOptions;
}

/** Input of an upper-layer checksum from the IP header before it. */
export interface Network {
  version: 4 | 6;
  /** Source and destination address, as in the header. */
  addresses: Uint8Array;
  /** False if the checksum cannot be verified: l3_ok 0, a fragment, a source route in progress. */
  verifiable: boolean;
}

/** The next header: its start, the end of the readable bytes, the end of the packet on the wire. */
export interface Step {
  kind: string;
  level: Level;
  at: number;
  /** End of the readable bytes: captured, and inside the enclosing packet. */
  end: number;
  /** End of the enclosing packet on the wire, captured or not; never below `end`. */
  wireEnd: number;
  /** An IPv6 packet of length 0 without a jumbo option: the L4 lengths cannot be checked. */
  lengthUnknown?: boolean;
  network?: Network;
  /** The carrier of these MPLS entries, if it is a tunnel and not the link layer. */
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

/**
 * The payload of a header whose options are cut: empty, at the end of the readable bytes. Such a
 * header is listed, with the fields of its fixed part.
 */
export function seenCut(packet: Packet, step: Step): void {
  seen(packet, step, step.end - step.at);
}

/**
 * Stops the parse at an invalid value; `wanted` is the number of bytes that were needed to see it.
 */
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

/**
 * Lists a header; the payload of its level starts after it, and ends where the packet in `step`
 * does.
 */
export function seen(packet: Packet, step: Step, length: number): void {
  packet.headers.push({ kind: nameOf(step), offset: step.at, level: step.level });
  packet.payload[step.level] = { offset: step.at + length, end: step.end };
}

/** BSD null and OpenBSD loop differ in byte order only. */
function nameOf(step: Step): string {
  return step.kind === "null" || step.kind === "loop" ? "loopback" : step.kind;
}

/**
 * A step into the packet inside a tunnel: properties of the outer packet (unknown length, checksums)
 * do not apply to it.
 */
export function enter(packet: Packet, step: Step, kind: string, at: number): Step {
  packet.payload.inner = { offset: at, end: step.end };
  return { kind, level: "inner", at, end: step.end, wireEnd: step.wireEnd };
}

/**
 * A big-endian unsigned number of `length` bytes. The caller has checked that they are available.
 */
export function big(packet: Packet, offset: number, length: number): bigint {
  let value = 0n;
  for (const byte of packet.bytes.subarray(offset, offset + length)) value = (value << 8n) | BigInt(byte);
  return value;
}

export function number(packet: Packet, offset: number, length: number): number {
  return Number(big(packet, offset, length));
}
