// The second opinion on parsing: a plain, slow reference for the everyday headers, written from the parsing rulings and
// the RFCs, not from the engine. Each header is one function that reads itself and names the next one; the loop in
// `parseReference` is the whole control flow.
//
//   link layer -> [VLAN tags] -> IPv4 | IPv6 (+ extension headers) -> TCP | UDP | ICMP | ICMPv6
//                                                                          UDP 4789 -> VXLAN -> inner Ethernet -> ...
//
// Other tunnels, MPLS, ESP and the rest are payload for now: their places are marked "Later:".

import {
  type HeaderSeen,
  type Level,
  type Packet,
  type Step,
  type Stopped,
  big,
  number,
  refuse,
  seen,
  whole,
} from "./packet.js";
import { readIpv4, readIpv6 } from "./ip.js";
import { readIcmp, readTcp, readUdp, readVxlan } from "./transport.js";

export interface ReferenceOptions {
  /** LINKTYPE_ value of the capture. */
  linkType: number;
  /** Length of the frame on the wire. */
  wireLength: number;
  /** Ingress port; 1 when left out. */
  port?: number;
}

export interface ReferenceResult {
  fields: Map<string, bigint>;
  stopped: Stopped | null;
  headers: HeaderSeen[];
}

/** Fields that tell of presence or state themselves: always present, 0 where there is nothing (parsing rulings). */
export const STATE_FIELDS: readonly string[] = ["outer", "inner"].flatMap((level) => [
  ...["cvlan_tag", "svlan_tag", "frag", "l3_ok", "l4_ok"].map((name) => `${level}.${name}`),
  `misc.${level}_second_cvlan_tag`,
  `misc.${level}_second_svlan_tag`,
]);

type Reader = (packet: Packet, step: Step) => Step | null;

const READERS: Record<string, Reader> = {
  ethernet: readEthernet,
  sll: (packet, step) => readCooked(packet, step, 16, 14),
  sll2: (packet, step) => readCooked(packet, step, 20, 0),
  null: readFamily,
  loop: readFamily,
  arp: readArp,
  ip: readByNibble,
  ipv4: readIpv4,
  ipv6: readIpv6,
  tcp: readTcp,
  udp: readUdp,
  icmp: readIcmp,
  icmpv6: readIcmp,
  vxlan: readVxlan,
  // Later: gre, geneve, vxlan_gpe, gtpu, mpls, ip in ip, esp, macsec, bth.
};

/** LINKTYPE_ values (the tcpdump group's registry) and the first header that each begins with. */
const LINK_TYPES = new Map<number, string>([
  [0, "null"],
  [1, "ethernet"],
  [12, "ip"],
  [14, "ip"],
  [101, "ip"],
  [108, "loop"],
  [113, "sll"],
  [228, "ipv4"],
  [229, "ipv6"],
  [276, "sll2"],
]);

export function parseReference(bytes: Uint8Array, options: ReferenceOptions): ReferenceResult {
  const packet: Packet = { bytes, fields: new Map(), headers: [], stopped: null };
  for (const name of STATE_FIELDS) packet.fields.set(name, 0n);
  packet.fields.set("ext.port", BigInt(options.port ?? 1));

  // SPEC: an unknown link type is like an unknown EtherType: nothing to read, and no error.
  const first = LINK_TYPES.get(options.linkType);
  // SPEC: a frame was at least as long on the wire as the bytes that were captured of it.
  const wireEnd = Math.max(options.wireLength, bytes.length);
  let step: Step | null = first ? { kind: first, level: "outer", at: 0, end: bytes.length, wireEnd } : null;
  while (step) {
    const reader: Reader | undefined = READERS[step.kind];
    if (!reader) throw new Error(`the reference has no reader for ${step.kind}`);
    step = reader(packet, step);
  }
  return { fields: packet.fields, stopped: packet.stopped, headers: packet.headers };
}

// ---------------------------------------------------------------------------------------------------------------------
// Link layers

const CUSTOMER_TAG = 0x8100;
const SERVICE_TAG = 0x88a8;
const isTag = (type: number): boolean => type === CUSTOMER_TAG || type === SERVICE_TAG;

/** What an EtherType leads to. Others (MPLS, MACsec, 802.3 lengths, RoCE v1, ...) end the parse without an error. */
function byEtherType(type: number): string | null {
  if (type === 0x0800) return "ipv4";
  if (type === 0x86dd) return "ipv6";
  if (type === 0x0806) return "arp";
  return null; // Later: mpls (0x8847), macsec (0x88e5).
}

/** Ethernet II and 802.3 (IEEE 802.3 clause 3.2.6), with VLAN tags of both kinds (IEEE 802.1Q clause 9.5). */
function readEthernet(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  if (!whole(packet, step, 14)) return null;
  seen(packet, step);
  packet.fields.set(`${level}.dmac`, big(packet, at, 6));
  packet.fields.set(`${level}.smac`, big(packet, at + 6, 6));

  let type = number(packet, at + 12, 2);
  let next = at + 14;
  for (let index = 0; isTag(type); index++) {
    // A tag as read here: its TCI and the type behind it; its TPID was the type in front of it.
    // SPEC: a tag that is cut does not count as a tag: no state bit, no ethertype.
    const tag: Step = { ...step, kind: "vlan", at: next };
    if (!whole(packet, tag, 4)) return null;
    seen(packet, tag);
    fillTag(packet, level, index, type, number(packet, next, 2));
    type = number(packet, next + 2, 2);
    next += 4;
  }
  // Below 0x600 this is an 802.3 length: kept as it is, and nothing behind it is read (parsing rulings).
  packet.fields.set(`${level}.ethertype`, BigInt(type));
  return follow(step, byEtherType(type), next);
}

/** First = outermost, second = next; further tags leave no trace (parsing rulings). */
function fillTag(packet: Packet, level: Level, index: number, tpid: number, tci: number): void {
  const which = index === 0 ? `${level}.first` : index === 1 ? `misc.${level}_second` : null;
  if (!which) return;
  packet.fields.set(`${which}_prio`, BigInt(tci >> 13));
  packet.fields.set(`${which}_cfi`, BigInt((tci >> 12) & 1));
  packet.fields.set(`${which}_vid`, BigInt(tci & 0xfff));
  const kind = tpid === CUSTOMER_TAG ? "cvlan_tag" : "svlan_tag";
  packet.fields.set(index === 0 ? `${level}.${kind}` : `${which}_${kind}`, 1n);
}

/** ARP (RFC 826): no fields, but a cut one is a cut header. Two addresses of each of the two lengths follow 8 bytes. */
function readArp(packet: Packet, step: Step): null {
  if (!whole(packet, step, 8)) return null;
  const addresses = 2 * (number(packet, step.at + 4, 1) + number(packet, step.at + 5, 1));
  if (whole(packet, step, 8 + addresses)) seen(packet, step);
  return null;
}

/** Linux cooked captures: a pseudo header whose protocol field is an EtherType. No L2 fields. */
function readCooked(packet: Packet, step: Step, length: number, protocolAt: number): Step | null {
  if (!whole(packet, step, length)) return null;
  seen(packet, step);
  // SPEC: the protocol field is read as an EtherType whatever the ARPHRD_ type says.
  let type = number(packet, step.at + protocolAt, 2);
  let next = step.at + length;
  while (isTag(type)) {
    const tag: Step = { ...step, kind: "vlan", at: next };
    if (!whole(packet, tag, 4)) return null;
    seen(packet, tag);
    type = number(packet, next + 2, 2);
    next += 4;
  }
  return follow(step, byEtherType(type), next);
}

const AF_IPV4 = 2;
const AF_IPV6 = [10, 24, 28, 30];

/** BSD null and loop: four bytes of address family, in the writer's byte order (null) or the network's (loop). */
function readFamily(packet: Packet, step: Step): Step | null {
  if (!whole(packet, step, 4)) return null;
  seen(packet, step);
  const big = number(packet, step.at, 4);
  const little = new DataView(packet.bytes.buffer, packet.bytes.byteOffset + step.at, 4).getUint32(0, true);
  const families = step.kind === "null" ? [big, little] : [big];
  const kind = families.includes(AF_IPV4) ? "ipv4" : families.some((f) => AF_IPV6.includes(f)) ? "ipv6" : null;
  return follow(step, kind, step.at + 4);
}

/** Raw IP: the version nibble is all there is. */
function readByNibble(packet: Packet, step: Step): Step | null {
  if (!whole(packet, step, 1)) return null;
  const version = number(packet, step.at, 1) >> 4;
  if (version === 4 || version === 6) return follow(step, `ipv${version}`, step.at);
  return refuse(packet, step, "ip_version", 4, version, "bad_version");
}

function follow(step: Step, kind: string | null, at: number): Step | null {
  return kind ? { ...step, kind, at } : null;
}
