// Reference parser, part 1: link layers, VLAN tags, ARP, MACsec, NSH, and MPLS entries at any position.

import { type Level, type Packet, type Step, big, enter, number, refuse, seen, whole } from "./packet.js";

const CUSTOMER_TAG = 0x8100;
const SERVICE_TAG = 0x88a8;
const isTag = (type: number): boolean => type === CUSTOMER_TAG || type === SERVICE_TAG;

/**
 * The header of each EtherType. Others (802.3 lengths, RoCE v1, ...) end the parse without an
 * error.
 */
function byEtherType(type: number): string | null {
  if (type === 0x0800) return "ipv4";
  if (type === 0x86dd) return "ipv6";
  if (type === 0x0806) return "arp";
  if (type === 0x8847 || type === 0x8848) return "mpls"; // RFC 3032 section 5, RFC 5332
  if (type === 0x88e5) return "macsec";
  if (type === 0x894f) return "nsh";
  return null;
}

/** Ethernet II and 802.3 (IEEE 802.3 clause 3.2.6), with VLAN tags of both kinds (IEEE 802.1Q clause 9.5). */
export function readEthernet(packet: Packet, step: Step): Step | null {
  const { at, level } = step;
  if (!whole(packet, step, 14)) return null;
  const size = ethernetSize(packet.bytes, at);
  if (!whole(packet, step, size)) return null;
  seen(packet, step, size);
  packet.fields.set(`${level}.dmac`, big(packet, at, 6));
  packet.fields.set(`${level}.smac`, big(packet, at + 6, 6));

  let next = at + size;
  let type = number(packet, next - 2, 2);
  for (let index = 0; isTag(type); index++) {
    // A tag as read here: its TCI and the type after it; its TPID was the type before it. SPEC: a
    // cut tag does not count as a tag: no state bit, no ethertype.
    const tag: Step = { ...step, kind: "vlan", at: next };
    if (!whole(packet, tag, 4)) return null;
    seen(packet, tag, 4);
    fillTag(packet, level, index, type, number(packet, next, 2));
    type = number(packet, next + 2, 2);
    next += 4;
  }
  // Below 0x600 this is an 802.3 length: kept unchanged, and nothing after it is parsed
  // (docs/parsing.md).
  packet.fields.set(`${level}.ethertype`, BigInt(type));
  return follow(step, byEtherType(type), next);
}

/**
 * Reads the type of an Ethernet header: 0x8ce4 is followed by 6 bytes of inline ESP actions and
 * another type.
 */
export function ethernetSize(bytes: Uint8Array, at: number): number {
  return bytes[at + 12] === 0x8c && bytes[at + 13] === 0xe4 ? 22 : 14;
}

/** First = outermost, second = next; further tags set no fields (docs/parsing.md). */
function fillTag(packet: Packet, level: Level, index: number, tpid: number, tci: number): void {
  const which = index === 0 ? `${level}.first` : index === 1 ? `misc.${level}_second` : null;
  if (!which) return;
  packet.fields.set(`${which}_prio`, BigInt(tci >> 13));
  packet.fields.set(`${which}_cfi`, BigInt((tci >> 12) & 1));
  packet.fields.set(`${which}_vid`, BigInt(tci & 0xfff));
  const kind = tpid === CUSTOMER_TAG ? "cvlan_tag" : "svlan_tag";
  packet.fields.set(index === 0 ? `${level}.${kind}` : `${which}_${kind}`, 1n);
}

/**
 * ARP (RFC 826): no fields, but a cut one is a cut header. 8 bytes are followed by two addresses of
 * each of the two lengths.
 */
export function readArp(packet: Packet, step: Step): null {
  if (!whole(packet, step, 8)) return null;
  const length = 8 + 2 * (number(packet, step.at + 4, 1) + number(packet, step.at + 5, 1));
  if (whole(packet, step, length)) seen(packet, step, length);
  return null;
}

/** The SC bit of the TCI: the SecTAG names its secure channel (IEEE 802.1AE clause 9.5). */
const EXPLICIT_SCI = 0x20;

/**
 * The SecTAG (IEEE 802.1AE clause 9.3), after its EtherType; the rest is integrity-protected or
 * encrypted.
 */
export function readMacsec(packet: Packet, step: Step): null {
  const { at, level } = step;
  // SPEC: fewer than six bytes are a cut SecTAG of six, whatever its first byte contains.
  if (!whole(packet, step, 6)) return null;
  const explicit = (number(packet, at, 1) & EXPLICIT_SCI) !== 0;
  const length = explicit ? 14 : 6;
  if (!whole(packet, step, length)) return null;
  seen(packet, step, length);
  // SPEC: an inner one is listed and sets no fields, like an inner ICMP.
  if (level === "inner") return null;
  packet.fields.set("misc5.macsec_tag_0", (0x88e5n << 16n) | big(packet, at, 2));
  packet.fields.set("misc5.macsec_tag_1", big(packet, at + 2, 4));
  if (explicit) {
    packet.fields.set("misc5.macsec_tag_2", big(packet, at + 6, 4));
    packet.fields.set("misc5.macsec_tag_3", big(packet, at + 10, 4));
  }
  return null;
}

/** NSH (RFC 8300 section 2): its length is in the low six bits of the first half, in words. It sets no fields. */
export function readNsh(packet: Packet, step: Step): null {
  if (!whole(packet, step, 8)) return null;
  const length = 4 * (number(packet, step.at, 2) & 0x3f);
  if (length < 8) return refuse(packet, step, "length", 8, "bad_header_length");
  if (whole(packet, step, length)) seen(packet, step, length);
  return null;
}

/** Linux cooked captures: a pseudo header whose protocol field is an EtherType. No L2 fields. */
export function readCooked(packet: Packet, step: Step, length: number, protocolAt: number): Step | null {
  if (!whole(packet, step, length)) return null;
  seen(packet, step, length);
  // SPEC: the protocol field is read as an EtherType whatever the ARPHRD_ type says.
  let type = number(packet, step.at + protocolAt, 2);
  let next = step.at + length;
  while (isTag(type)) {
    const tag: Step = { ...step, kind: "vlan", at: next };
    if (!whole(packet, tag, 4)) return null;
    seen(packet, tag, 4);
    type = number(packet, next + 2, 2);
    next += 4;
  }
  return follow(step, byEtherType(type), next);
}

const AF_IPV4 = 2;
const AF_IPV6 = [10, 24, 28, 30];

/** BSD null and loop: four bytes of address family, in the writer's byte order (null) or the network's (loop). */
export function readFamily(packet: Packet, step: Step): Step | null {
  if (!whole(packet, step, 4)) return null;
  seen(packet, step, 4);
  const big = number(packet, step.at, 4);
  const little = new DataView(packet.bytes.buffer, packet.bytes.byteOffset + step.at, 4).getUint32(0, true);
  const families = step.kind === "null" ? [big, little] : [big];
  const kind = families.includes(AF_IPV4) ? "ipv4" : families.some((f) => AF_IPV6.includes(f)) ? "ipv6" : null;
  return follow(step, kind, step.at + 4);
}

/** Raw IP: the version nibble is the only type information. */
export function readRawIp(packet: Packet, step: Step): Step | null {
  if (!whole(packet, step, 1)) return null;
  const version = number(packet, step.at, 1) >> 4;
  if (version === 4 || version === 6) return follow(step, `ipv${version}`, step.at);
  return refuse(packet, step, "ip_version", 1, "bad_version");
}

/**
 * Label stack entries to the bottom of the stack (RFC 3032 section 2.1); only the first one sets
 * fields.
 */
export function readMpls(packet: Packet, step: Step): Step | null {
  const name = `misc2.${step.level}_first_mpls${step.over ? `_over_${step.over}` : ""}`;
  let entry = step;
  for (;;) {
    if (!whole(packet, entry, 4)) return null;
    seen(packet, entry, 4);
    const word = number(packet, entry.at, 4);
    const bottom = ((word >>> 8) & 1) === 1;
    if (entry === step) {
      packet.fields.set(`${name}_label`, BigInt(word >>> 12));
      packet.fields.set(`${name}_exp`, BigInt((word >>> 9) & 7));
      packet.fields.set(`${name}_s_bos`, BigInt((word >>> 8) & 1));
      packet.fields.set(`${name}_ttl`, BigInt(word & 0xff));
    }
    entry = { ...entry, at: entry.at + 4 };
    if (bottom) return byNibble(packet, entry, step.over !== undefined);
  }
}

/**
 * Without a type field the first nibble decides: 4 or 6 is IP, anything else payload (RFC 4385
 * section 3.1 keeps IP and control words apart). `inner`: it is the first nibble of the packet
 * inside a tunnel.
 */
export function byNibble(packet: Packet, step: Step, inner: boolean): Step | null {
  if (step.at >= step.wireEnd) return null;
  // SPEC: if the capture cut the nibble, the packet is cut IP.
  if (!whole(packet, { ...step, kind: "ip" }, 1)) return null;
  const nibble = number(packet, step.at, 1) >> 4;
  if (nibble !== 4 && nibble !== 6) return null;
  return inner ? enter(packet, step, `ipv${nibble}`, step.at) : follow(step, `ipv${nibble}`, step.at);
}

function follow(step: Step, kind: string | null, at: number): Step | null {
  return kind ? { ...step, kind, at } : null;
}
