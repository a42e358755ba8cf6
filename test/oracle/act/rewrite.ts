// Reference of frames that rules change: VLAN tags, encapsulation, decapsulation. Written from
// docs/rules.md, IEEE 802.1Q, RFC 791, RFC 768 and RFC 8200. Each function returns a new frame, or
// the reason why there is none.

import { onesComplementSum } from "../wire/checksum.js";
import { ethernetSize } from "../wire/link.js";
import { type Modify } from "./modifyFields.js";
import { type Registers, joined, modifyHeader } from "./modifyHeader.js";
import { type HeaderSeen, type ParserOptions } from "../wire/packet.js";
import { type ReferenceResult, parseReference } from "../wire/parse.js";

/** A frame on its path. */
export interface Frame {
  bytes: Uint8Array;
  wireLength: number;
  /** LINKTYPE_ value: 1 is Ethernet. */
  linkType: number;
  port: number;
  parser: ParserOptions;
}

export type Lost = "not_a_tunnel" | "frame_too_long";

/** enum mlx5dv_flow_action_packet_reformat_type */
export const REFORMAT = { L2_TUNNEL_TO_L2: 0, L2_TO_L2_TUNNEL: 1, L3_TUNNEL_TO_L2: 2, L2_TO_L3_TUNNEL: 3 } as const;

export interface Reformat {
  type: number;
  data: Uint8Array;
}

const MAX_LENGTH = 262144;
const ETHERNET = 1;

const parses = new WeakMap<Uint8Array, ReferenceResult>();
/** Headers of a frame that actions can refer to (docs/parsing.md). */
const MAX_HEADERS = 28;

/** Parse result of a frame. Frames are never changed, so each one is parsed once. */
export function parsed(frame: Frame): ReferenceResult {
  const { bytes } = frame;
  const known = parses.get(bytes);
  if (known) return known;
  const result = parseReference(bytes, frame);
  result.headers.splice(MAX_HEADERS);
  parses.set(bytes, result);
  return result;
}

/** The same frame with other bytes; the part that the capture cut off stays cut off. */
function changed(frame: Frame, bytes: Uint8Array, linkType = frame.linkType): Frame | Lost {
  const wireLength = Math.max(frame.wireLength, frame.bytes.length) + bytes.length - frame.bytes.length;
  if (wireLength > MAX_LENGTH && bytes.length > frame.bytes.length) return "frame_too_long";
  return { ...frame, bytes, wireLength, linkType };
}

const outer = (frame: Frame, kind: string): HeaderSeen | undefined =>
  parsed(frame).headers.find((one) => one.kind === kind && one.level === "outer");

/** Offset of the tags of an Ethernet frame: right before its type. */
const tagsAt = ({ bytes }: Frame): number => ethernetSize(bytes, 0) - 2;

/** Removes the outermost tag; a frame without a tag or without Ethernet stays unchanged. */
export function popVlan(frame: Frame): Frame | Lost {
  const { bytes } = frame;
  if (!outer(frame, "ethernet") || !outer(frame, "vlan")) return frame;
  const at = tagsAt(frame);
  return changed(frame, joined(bytes.subarray(0, at), bytes.subarray(at + 4)));
}

/** `header`: TPID and TCI. */
export function pushVlan(frame: Frame, header: number): Frame | Lost {
  const { bytes } = frame;
  if (!outer(frame, "ethernet")) return frame;
  const at = tagsAt(frame);
  const tag = [header >>> 24, (header >>> 16) & 0xff, (header >>> 8) & 0xff, header & 0xff];
  return changed(frame, joined(bytes.subarray(0, at), tag, bytes.subarray(at)));
}

/** Runs a modify-header action on the headers that the frame has at the start of the list. */
export function modified(frame: Frame, list: readonly Modify[], registers: Registers): Frame {
  return { ...frame, bytes: modifyHeader(frame.bytes, parsed(frame), list, registers) };
}

export function isDecapsulation({ type }: Reformat): boolean {
  return type === REFORMAT.L2_TUNNEL_TO_L2 || type === REFORMAT.L3_TUNNEL_TO_L2;
}

export function reformatted(frame: Frame, reformat: Reformat): Frame | Lost {
  return isDecapsulation(reformat) ? decapsulated(frame, reformat) : encapsulated(frame, reformat);
}

function decapsulated(frame: Frame, { type, data }: Reformat): Frame | Lost {
  const kinds = type === REFORMAT.L2_TUNNEL_TO_L2 ? ["ethernet"] : ["ipv4", "ipv6"];
  const inner = parsed(frame).headers.find((one) => one.level === "inner" && kinds.includes(one.kind));
  if (!inner) return "not_a_tunnel";
  return changed(frame, joined(data, frame.bytes.subarray(inner.offset)), ETHERNET);
}

/**
 * Sets the lengths of the data's first IP header, and of UDP directly after it, to reach the end of
 * the frame on the wire.
 */
function encapsulated(frame: Frame, { type, data }: Reformat): Frame | Lost {
  const behind = type === REFORMAT.L2_TO_L3_TUNNEL ? behindLink(frame) : 0;
  const whole = changed(frame, joined(data, frame.bytes.subarray(behind)), ETHERNET);
  if (typeof whole === "string") return whole;
  const { bytes, wireLength } = whole;
  const { headers } = parsed({ ...frame, bytes: data, wireLength: data.length, linkType: ETHERNET });
  const ip = headers.find(({ kind }) => kind === "ipv4" || kind === "ipv6");
  if (!ip) throw new Error("an encapsulation begins with Ethernet and IP");
  const put16 = (at: number, value: number): void => {
    [bytes[at], bytes[at + 1]] = [value >> 8, value & 0xff];
  };
  const v4 = ip.kind === "ipv4";
  const ipHeader = v4 ? ((data[ip.offset] ?? 0) & 15) * 4 : 40;
  const length = wireLength - ip.offset - (v4 ? 0 : 40);
  if (length > 0xffff) return "frame_too_long";

  const udp = ip.offset + ipHeader;
  if (data[ip.offset + (v4 ? 9 : 6)] === 17 && udp + 8 <= data.length) {
    put16(udp + 4, wireLength - udp);
    const port = ((data[udp + 2] ?? 0) << 8) | (data[udp + 3] ?? 0);
    if (WITH_ENTROPY.includes(port)) put16(udp, entropy(frame));
  }
  if (v4) {
    put16(ip.offset + 2, length);
    put16(ip.offset + 10, 0);
    put16(ip.offset + 10, 0xffff - onesComplementSum(bytes.subarray(ip.offset, udp)));
  } else put16(ip.offset + 4, length);
  return whole;
}

/** Length of a link header other than Ethernet. */
const LINK_SIZES: ReadonlyMap<string, number> = new Map([
  ["loopback", 4],
  ["linux_cooked", 16],
  ["linux_cooked_v2", 20],
]);

/** After all tags and the Ethernet header, or the link header of the capture. */
export function behindLink(frame: Frame): number {
  const headers = parsed(frame).headers.filter(({ level }) => level === "outer");
  const tags = headers.filter(({ kind }) => kind === "vlan").length;
  const first = headers[0]?.kind ?? "";
  return (first === "ethernet" ? ethernetSize(frame.bytes, 0) : (LINK_SIZES.get(first) ?? 0)) + 4 * tags;
}

/** VXLAN, VXLAN-GPE, Geneve, GTP-U, MPLS over UDP. */
const WITH_ENTROPY = [4789, 4790, 6081, 2152, 6635];

const EXTENSIONS = ["ipv6_hop_by_hop", "ipv6_routing", "ipv6_fragment", "ipv6_destination", "ah"];

/**
 * The UDP source port of a tunnel: 14 bits of a hash of the encapsulated frame (docs/rules.md,
 * Packet reformat).
 */
export function entropy(frame: Frame): number {
  const h = fnv1a(hashed(frame));
  return 0xc000 | ((h ^ (h >>> 14) ^ (h >>> 28)) & 0x3fff);
}

function hashed(frame: Frame): number[] {
  const { bytes } = frame;
  const { headers } = parsed(frame);
  const part = (at: number, length: number): number[] => [...bytes.subarray(at, at + length)];
  const ip = headers.find(({ kind, level }) => level === "outer" && (kind === "ipv4" || kind === "ipv6"));
  if (!ip) return frame.linkType === ETHERNET ? part(0, 12) : [];
  const addresses = ip.kind === "ipv4" ? part(ip.offset + 12, 8) : part(ip.offset + 8, 32);
  // For IPv6 the last next header that was read, of whatever kind.
  const last = headers.filter(({ kind, level }) => level === "outer" && EXTENSIONS.includes(kind)).at(-1);
  const next = bytes[last?.offset ?? ip.offset + 6] ?? 0;
  const protocol = ip.kind === "ipv4" ? (bytes[ip.offset + 9] ?? 0) : next;
  const upper = headers.find(({ kind, level }) => level === "outer" && (kind === "tcp" || kind === "udp"));
  return [...addresses, ...(protocol === undefined ? [] : [Number(protocol)]), ...(upper ? part(upper.offset, 4) : [])];
}

/** 32-bit FNV-1a (Fowler, Noll, Vo). */
function fnv1a(bytes: readonly number[]): number {
  let hash = 0x811c9dc5n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x01000193n) & 0xffffffffn;
  return Number(hash);
}
