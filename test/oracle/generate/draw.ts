// Common parts of the generators of random headers: bytes, pools of likely values, and error rates.

import { type Random } from "./random.js";

/** Error rate of each part that can be wrong. */
export const BOGUS = 0.04;

/** Share of correct checksums. */
const RIGHT = 0.7;

/** Possible payloads of an outer packet; the first ones are directly over the link layer. */
export const LINK_KINDS = ["arp", "macsec", "mpls", "nsh"] as const;
export const UPPER_KINDS = [
  ...["tcp", "udp", "icmp", "icmpv6", "sctp", "esp", "esp_in_udp", "bth", "other"],
  ...["gre", "vxlan", "vxlan_gpe", "geneve", "gtpu", "mpls_over_udp", "ip_in_ip"],
] as const;
export type Kind = (typeof LINK_KINDS)[number] | (typeof UPPER_KINDS)[number];
export const KINDS: readonly Kind[] = [...LINK_KINDS, ...UPPER_KINDS];

/** One frame under construction. */
export interface Draw {
  random: Random;
  /** 0 in the outer packet. No tunnels below level 2: they would be payload of payload. */
  depth: number;
  /** Requested payload of this packet; null: any. */
  want: Kind | null;
}

/** The inner packet of a tunnel. */
export function inside({ random, depth }: Draw): Draw {
  return { random, depth: depth + 1, want: null };
}

/** The correct checksum of an upper-layer segment; its own checksum field is 0. */
export type Checksum = (protocol: number, segment: readonly number[]) => number;

/** Big-endian bytes of a number. */
export function be(value: number | bigint, length: number): number[] {
  const bytes: number[] = [];
  for (let rest = BigInt(value), i = 0; i < length; i++, rest >>= 8n) bytes.unshift(Number(rest & 0xffn));
  return bytes;
}

/** A value from a small pool half of the time, else any. */
export function some(random: Random, pool: readonly (number | bigint)[], length: number): number[] {
  return random.chance(0.5) ? be(random.pick(pool), length) : random.bytes(length);
}

/** A length: correct, too short, 0, or beyond the frame. */
export function wrongLength(random: Random, length: number): number {
  if (!random.chance(BOGUS * 2)) return Math.min(length, 65535);
  return random.pick([0, random.below(length + 1), random.below(20), Math.min(length + random.between(1, 80), 65535)]);
}

/** Writes a checksum of two bytes: usually correct, else with one wrong bit, 0, or anything. */
export function putChecksum(random: Random, bytes: number[], at: number, right: number): void {
  const roll = random.chance(RIGHT) ? 0 : random.between(1, 3);
  const value = [right, right ^ (1 << random.below(16)), 0, random.below(65536)][roll] ?? 0;
  [bytes[at], bytes[at + 1]] = [value >> 8, value & 0xff];
}

/** The Geneve option that is most frequent in random frames. */
/** The UDP ports of VXLAN that tests declare: the one of the standard is not the first, and one is below all others. */
export const VXLAN_PORTS = [8472, 4789, 1701];

export const OPTION_0 = { class: 0x0102, type: 0x81 };
