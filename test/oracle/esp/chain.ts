// Reference of ESP, part 3: the headers that tunnel mode prepends (docs/esp.md; RFC 4301, 5.1.2).

import { onesComplementSum } from "../wire/checksum.js";
import { ESP, UDP, write } from "./packet.js";
import { joined } from "../act/modifyHeader.js";

/** One header of the encapsulation, with the C names of its filter; omitted fields are 0. */
export interface Encapsulation {
  type: "eth" | "ipv4" | "ipv4_ext" | "ipv6" | "udp";
  dst_mac?: Uint8Array;
  src_mac?: Uint8Array;
  ether_type?: number;
  vlan_tag?: number;
  src_ip?: Uint8Array;
  dst_ip?: Uint8Array;
  proto?: number;
  next_hdr?: number;
  tos?: number;
  traffic_class?: number;
  ttl?: number;
  hop_limit?: number;
  flow_label?: number;
  /** 2: do not fragment. */
  flags?: number;
  dst_port?: number;
  src_port?: number;
}

export interface Inside {
  /** Frame number: its lower 16 bits are the identification. */
  sequence: bigint;
  /** TOS byte or traffic class. */
  traffic: number;
  dontFragment: boolean;
}

export interface OuterHeaders {
  /** null: keep the frame's own. */
  link: Uint8Array | null;
  /** IP, and UDP. */
  headers: Uint8Array;
  version: 4 | 6;
}

/** `payload`: bytes from the ESP header to the ICV. null if a length field is too small. */
export function outerHeaders(list: readonly Encapsulation[], payload: number, inside: Inside): OuterHeaders | null {
  const eth = list.find(({ type }) => type === "eth");
  const udp = list.find(({ type }) => type === "udp");
  const ip = list.find(({ type }) => type.startsWith("ip")) as Encapsulation;
  const version = versionOf(ip);
  const transport = udp ? udpHeader(udp, payload) : new Uint8Array(0);
  const length = transport.length + payload;
  if (length > 0xffff - (version === 4 ? 20 : 0)) return null;
  const protocol = udp ? UDP : ESP;
  const header = version === 4 ? ipv4(ip, length, protocol, inside) : ipv6(ip, length, protocol, inside);
  return { link: eth ? ethernet(eth, version) : null, headers: joined(header, transport), version };
}

export function versionOf({ type }: Encapsulation): 4 | 6 {
  return type === "ipv6" ? 6 : 4;
}

/** Ports of 0 become 4500 (RFC 3948, 2.1); the checksum is 0. */
export function udpHeader({ src_port, dst_port }: Encapsulation, payload: number): Uint8Array {
  const header = new Uint8Array(8);
  write(header, 0, 2, src_port || 4500);
  write(header, 2, 2, dst_port || 4500);
  write(header, 4, 2, payload + 8);
  return header;
}

function ethernet({ dst_mac, src_mac, ether_type, vlan_tag }: Encapsulation, version: 4 | 6): Uint8Array {
  const tag = vlan_tag ? [0x81, 0x00, vlan_tag >> 8, vlan_tag & 0xff] : [];
  const type = ether_type || (version === 4 ? 0x0800 : 0x86dd);
  return joined(dst_mac ?? new Uint8Array(6), src_mac ?? new Uint8Array(6), tag, [type >> 8, type & 0xff]);
}

/**
 * The given DSCP if it is not 0, else the DSCP of the inner packet; ECN is always that of the inner
 * packet.
 */
function traffic(given: number | undefined, inside: number): number {
  const dscp = (given ?? 0) >> 2 || inside >> 2;
  return (dscp << 2) | (inside & 3);
}

function ipv4(given: Encapsulation, payload: number, protocol: number, inside: Inside): Uint8Array {
  const header = new Uint8Array(20);
  const own = given.type === "ipv4_ext" ? ((given.flags ?? 0) & 2) !== 0 : inside.dontFragment;
  header[0] = 0x45;
  header[1] = traffic(given.tos, inside.traffic);
  write(header, 2, 2, 20 + payload);
  write(header, 4, 2, inside.sequence % 65536n);
  header[6] = own ? 0x40 : 0;
  header[8] = given.ttl || 64;
  header[9] = given.proto || protocol;
  header.set(given.src_ip ?? [], 12);
  header.set(given.dst_ip ?? [], 16);
  write(header, 10, 2, 0xffff - onesComplementSum(header));
  return header;
}

function ipv6(given: Encapsulation, payload: number, protocol: number, inside: Inside): Uint8Array {
  const header = new Uint8Array(40);
  const traffic6 = traffic(given.traffic_class, inside.traffic);
  write(header, 0, 4, 0x60000000 + traffic6 * 2 ** 20 + (given.flow_label ?? 0));
  write(header, 4, 2, payload);
  header[6] = given.next_hdr || protocol;
  header[7] = given.hop_limit || 64;
  header.set(given.src_ip ?? [], 8);
  header.set(given.dst_ip ?? [], 24);
  return header;
}
