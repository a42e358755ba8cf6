// Reference of ESP, part 1: position of the outer IP packet in a frame, insertion point of ESP, and
// updates of IP headers. Written from docs/esp.md, docs/parsing.md, RFC 791, RFC 8200 and RFC 4303.

import { onesComplementSum } from "../wire/checksum.js";
import { type Frame, parsed } from "../act/rewrite.js";

/** The outer IP packet of a frame; offsets in the frame. */
export interface Outer {
  at: number;
  version: 4 | 6;
  /** After the fixed header and the options of IPv4. */
  behind: number;
  /** End of the packet on the wire. */
  end: number;
  /** The packet is complete and its length is sane. */
  whole: boolean;
  fragment: boolean;
}

export const ESP = 50;
export const UDP = 17;

export function read(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = 0; i < length; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

export function write(bytes: Uint8Array, at: number, length: number, value: number | bigint): void {
  for (let i = length - 1, rest = BigInt(value); i >= 0; i--, rest >>= 8n) bytes[at + i] = Number(rest & 0xffn);
}

const LINKS = ["ethernet", "vlan", "loopback", "linux_cooked", "linux_cooked_v2"];

/** The IP packet directly after the link header and its tags; `toSend`: ESP will be inserted. */
export function outerOf(frame: Frame, toSend: boolean): Outer | null {
  const { headers, fields } = parsed(frame);
  const ip = headers.find(({ kind }) => !LINKS.includes(kind));
  if (ip?.level !== "outer" || (ip.kind !== "ipv4" && ip.kind !== "ipv6")) return null;
  const { bytes } = frame;
  const at = ip.offset;
  const fragment = fields.get("outer.frag") === 1n;
  const found = ip.kind === "ipv4" ? place4(bytes, at) : place6(bytes, at);
  const least = ip.kind === "ipv4" ? found.behind : found.behind + 1;
  const outer: Outer = { at, ...found, whole: found.end >= least && found.end <= bytes.length, fragment };
  const place = toSend ? insertion(bytes, outer) : upper(bytes, outer);
  if (place.at > outer.end) outer.whole = false;
  return outer;
}

function place4(bytes: Uint8Array, at: number): Pick<Outer, "version" | "behind" | "end"> {
  return { version: 4, behind: at + 4 * (read(bytes, at, 1) & 15), end: at + read(bytes, at + 2, 2) };
}

/** Length 0 is unknown (a jumbogram, or a packet that a stack merged). */
function place6(bytes: Uint8Array, at: number): Pick<Outer, "version" | "behind" | "end"> {
  return { version: 6, behind: at + 40, end: at + 40 + read(bytes, at + 4, 2) };
}

/**
 * The part after the IP header: its offset, its protocol, and the position of the protocol byte.
 */
export interface Carried {
  at: number;
  protocol: number;
  said: number;
}

const HOP_BY_HOP = 0;
const ROUTING = 43;
const FRAGMENT = 44;
const DESTINATION = 60;

/** The IPv6 extension headers that may precede ESP, in order, then the first other header. */
function chain(bytes: Uint8Array, { at, version, behind }: Outer): Carried[] {
  if (version === 4) return [{ at: behind, protocol: read(bytes, at + 9, 1), said: at + 9 }];
  const list: Carried[] = [{ at: behind, protocol: read(bytes, at + 6, 1), said: at + 6 }];
  for (;;) {
    const last = list[list.length - 1] as Carried;
    const size = last.protocol === FRAGMENT ? 8 : 8 * (read(bytes, last.at + 1, 1) + 1);
    const known = [HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION].includes(last.protocol);
    if (!known || last.at + 8 > bytes.length || last.at + size > bytes.length) return list;
    list.push({ at: last.at + size, protocol: read(bytes, last.at, 1), said: last.at });
    // A later fragment has no further headers.
    if (last.protocol === FRAGMENT && read(bytes, last.at + 2, 2) >> 3 !== 0) return list;
  }
}

/**
 * Insertion point of ESP in transport mode: after hop-by-hop, routing and fragment headers, and
 * after destination options directly before a routing header (RFC 4303, 3.1.1; RFC 8200, 4.1).
 */
export function insertion(bytes: Uint8Array, outer: Outer): Carried {
  const list = chain(bytes, outer);
  const stays = ({ protocol }: Carried, i: number): boolean =>
    protocol === DESTINATION && list[i + 1]?.protocol !== ROUTING;
  return list.find(stays) ?? (list[list.length - 1] as Carried);
}

/** The payload after all of them. */
export function upper(bytes: Uint8Array, outer: Outer): Carried {
  const list = chain(bytes, outer);
  return list[list.length - 1] as Carried;
}

/** A fragment other than the first: its first bytes are not a header. */
export function isLater(bytes: Uint8Array, outer: Outer): boolean {
  if (outer.version === 4) return (read(bytes, outer.at + 6, 2) & 0x1fff) !== 0;
  const list = chain(bytes, outer);
  const [before, last] = [list[list.length - 2], list[list.length - 1] as Carried];
  return before?.protocol === FRAGMENT && read(bytes, last.said + 2, 2) >> 3 !== 0;
}

/** Writes two bytes of an IP header and recomputes the IPv4 checksum (RFC 4301, 5.1.2). */
function put16(bytes: Uint8Array, { at, version }: Outer, where: number, value: number): void {
  write(bytes, where, 2, value);
  if (version === 6) return;
  const header = bytes.subarray(at, at + 4 * (read(bytes, at, 1) & 15));
  write(header, 10, 2, 0);
  write(header, 10, 2, 0xffff - onesComplementSum(header));
}

/**
 * Writes the length of the packet that starts at `outer` into its header. False if the field is too
 * small.
 */
export function setLength(bytes: Uint8Array, outer: Outer, length: number): boolean {
  const { at, version } = outer;
  const said = version === 4 ? length : length - 40;
  if (said > 0xffff) return false;
  put16(bytes, outer, version === 4 ? at + 2 : at + 4, said);
  return true;
}

/** Sets the protocol in the IP header, or the next header in the last extension header. */
export function setProtocol(bytes: Uint8Array, outer: Outer, said: number, protocol: number): void {
  const even = outer.version === 4 ? said - 1 : said;
  if (outer.version === 6) bytes[said] = protocol;
  else put16(bytes, outer, even, (read(bytes, even, 1) << 8) | protocol);
}

/** TOS byte or traffic class. */
export function trafficClass(bytes: Uint8Array, { at, version }: Outer): number {
  return version === 4 ? read(bytes, at + 1, 1) : (read(bytes, at, 2) >> 4) & 0xff;
}

/** ECN 3: congestion experienced (RFC 3168). */
export function setCongested(bytes: Uint8Array, outer: Outer): void {
  const { at, version } = outer;
  const bits = version === 4 ? 3 : 3 << 4;
  put16(bytes, outer, at, read(bytes, at, 2) | bits);
}
