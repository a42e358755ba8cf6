// The TCP segment of a frame, read as docs/conntrack.md defines: RFC 9293 section 3.1, RFC 2018
// section 3.

import { parseReference } from "../wire/parse.js";

export interface TrackedFrame {
  bytes: Uint8Array;
  linkType: number;
  wireLength: number;
  time: bigint;
}

export type Kind = "syn" | "syn_ack" | "fin" | "ack" | "rst";

export interface Segment {
  kind: Kind;
  hasAck: boolean;
  seq: number;
  end: number;
  ack: number;
  /** Unscaled. */
  window: number;
  options: Uint8Array;
}

/** Serial numbers (RFC 1982 with 32 bits). */
export function after(a: number, b: number): boolean {
  const distance = (a - b + 2 ** 32) % 2 ** 32;
  return distance >= 1 && distance <= 2 ** 31 - 1;
}

export function plus(a: number, b: number): number {
  return (a + b) % 2 ** 32;
}

/** Maximum number of headers in the frame map (docs/parsing.md). */
const LISTED = 28;

/** The TCP segment of a frame's outer packet; null if the frame is not good. */
export function readSegment({ bytes, linkType, wireLength }: TrackedFrame): Segment | null {
  const { headers: all, fields } = parseReference(bytes, { linkType, wireLength });
  const headers = all.slice(0, LISTED);
  const tcp = headers.find(({ kind, level }) => kind === "tcp" && level === "outer");
  const ip = headers.find(({ kind, level }) => (kind === "ipv4" || kind === "ipv6") && level === "outer");
  if (!tcp || !ip || fields.get("outer.frag") === 1n) return null;

  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const onWire = Math.max(wireLength, bytes.length);
  const said = ip.kind === "ipv4" ? view.getUint16(ip.offset + 2) : view.getUint16(ip.offset + 4);
  const length = ip.kind === "ipv4" || said === 0 ? said : said + 40;
  const packetEnd = said === 0 ? onWire : ip.offset + length;
  const size = (view.getUint8(tcp.offset + 12) >> 4) * 4;
  if (size < 20 || packetEnd > onWire || tcp.offset + size > Math.min(packetEnd, bytes.length)) return null;

  const flags = view.getUint8(tcp.offset + 13);
  const [fin, syn, rst, hasAck] = [1, 2, 4, 16].map((bit) => (flags & bit) !== 0) as [
    boolean,
    boolean,
    boolean,
    boolean,
  ];
  const kind = kindOf(fin, syn, rst, hasAck);
  if (kind === null) return null;
  const seq = view.getUint32(tcp.offset + 4);
  const payload = packetEnd - tcp.offset - size;
  return {
    kind,
    hasAck,
    seq,
    end: plus(seq, payload + (syn ? 1 : 0) + (fin ? 1 : 0)),
    ack: hasAck ? view.getUint32(tcp.offset + 8) : 0,
    window: view.getUint16(tcp.offset + 14),
    options: bytes.subarray(tcp.offset + 20, tcp.offset + size),
  };
}

function kindOf(fin: boolean, syn: boolean, rst: boolean, ack: boolean): Kind | null {
  if ([fin, syn, rst].filter(Boolean).length > 1) return null;
  if (rst) return "rst";
  if (syn) return ack ? "syn_ack" : "syn";
  if (!ack) return null;
  return fin ? "fin" : "ack";
}

/** RFC 9293 section 3.1: kind 0 ends the list, kind 1 is padding, other kinds have a length. */
export function readOptions(options: Uint8Array): { kind: number; data: Uint8Array }[] {
  const list: { kind: number; data: Uint8Array }[] = [];
  let at = 0;
  while (at < options.length && options[at] !== 0) {
    if (options[at] === 1) {
      at++;
      continue;
    }
    const length = options[at + 1] ?? 0;
    if (length < 2 || at + length > options.length) break;
    list.push({ kind: options[at]!, data: options.subarray(at + 2, at + length) });
    at += length;
  }
  return list;
}

/** `reach`: the acknowledgement, or the rightmost edge of a block. */
export function furthest({ ack, options }: Segment): number {
  let reach = ack;
  for (const { kind, data } of readOptions(options)) {
    if (kind !== 5 || data.length % 8 !== 0 || data.length === 0) continue;
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    for (let at = 4; at < data.length; at += 8) if (after(view.getUint32(at), reach)) reach = view.getUint32(at);
  }
  return reach;
}
