/** Default values of header fields in `buildFrame`. Addresses are the documentation addresses of RFC 5737 and RFC 3849. */
import { ETHERTYPE_IPV4, PROTOCOL_NONE, TPID_SVLAN } from "../../abi/protocols.js";
import { hexBytes, joined } from "../bytes.js";
import type { LaidOutHeader } from "../layout.js";
import {
  ETHERTYPES,
  FAMILIES,
  GPE_PROTOCOLS,
  GTPU_EXTENSIONS,
  PROTOCOLS,
  TUNNEL_ETHERTYPES,
  UDP_PORTS,
  type Carried,
} from "../../headers/announcers.js";
import { ETHERTYPE_EXPERIMENTAL, PROTOCOL_EXPERIMENTAL } from "../numbers.js";
import type { Defaults, HeaderDraft } from "./headerDraft.js";

const bytes = (hex: string): Uint8Array => hexBytes(hex) ?? new Uint8Array();

const MAC_A = bytes("020000000001");
const MAC_B = bytes("020000000002");
const IPV4_A = bytes("c0000201");
const IPV4_B = bytes("c0000202");
const IPV6_A = bytes("20010db8000000000000000000000001");
const IPV6_B = bytes("20010db8000000000000000000000002");

/** Ports without a meaning: the first dynamic one, and discard (RFC 863). */
const SOURCE_PORT = 49152;
const DISCARD = 9;
const TTL = 64;
/** The first SPI that is not reserved (RFC 4303 section 2.1). */
const SPI = 256;

/** The number of what follows; `none` where a payload does or nothing. */
const carried =
  (field: string, numbers: Carried, none: number | ((draft: HeaderDraft) => number)) =>
  (draft: HeaderDraft): number => {
    const { next } = draft;
    if (next === undefined || next === "payload" || next === "trailer") {
      return typeof none === "number" ? none : none(draft);
    }
    const number = numbers[next];
    if (number !== undefined) return number;
    return draft.cannotDerive(
      field,
      `no number says that ${next} follows ${draft.header}: give ${draft.path}.${field}, or give what follows as a payload`,
    );
  };

/** The outer one of two tags is a service tag (IEEE 802.1Q clause 9.5). */
const ethertype =
  (field: string) =>
  (draft: HeaderDraft): number =>
    draft.next === "vlan" && draft.all[draft.index + 2]?.header === "vlan"
      ? TPID_SVLAN
      : carried(field, ETHERTYPES, ETHERTYPE_EXPERIMENTAL)(draft);

const protocol = carried("protocol", PROTOCOLS, PROTOCOL_EXPERIMENTAL);
const nextHeader = carried("next_header", PROTOCOLS, ({ next }) =>
  next === undefined ? PROTOCOL_NONE : PROTOCOL_EXPERIMENTAL,
);
const gtpuExtension = (draft: HeaderDraft): number =>
  draft.next === "gtpu_extension" ? (GTPU_EXTENSIONS.gtpu_extension ?? 0) : 0;

const flag = (is: boolean): number => Number(is);
const words = (draft: HeaderDraft): number => draft.size / 4;
const always = (value: number | Uint8Array) => (): number | Uint8Array => value;

/** Extension headers count in 8 bytes, without the first (RFC 8200 section 4.3). */
const extension: Defaults = { next_header: nextHeader, length: (draft) => draft.size / 8 - 1 };
/** PadN of 6 bytes: the smallest header there is. */
const padded: Defaults = { ...extension, options: always(bytes("010400000000")) };

/** A length that 16 bits cannot hold is 0 in a jumbogram (RFC 2675). */
const payloadLength = (draft: HeaderDraft): number =>
  draft.bodyLength > 0xffff && draft.next === "ipv6_hop_by_hop" ? 0 : draft.bodyLength;

const udpLength = (draft: HeaderDraft): number => {
  const length = 8 + draft.bodyLength;
  return length > 0xffff && networkBelow(draft)?.header === "ipv6" ? 0 : length;
};

/** The IP header that a segment lies in, through extension headers. */
export function networkBelow(draft: HeaderDraft): HeaderDraft | undefined {
  for (let i = draft.index - 1; i >= 0; i--) {
    const below = draft.all[i];
    if (below?.header === "ipv4" || below?.header === "ipv6") return below;
    if (below === undefined || !(below.header === "ah" || below.header.startsWith("ipv6_"))) return undefined;
  }
  return undefined;
}

/** The sender is who sends the frame. */
function arpSender(draft: HeaderDraft): Uint8Array {
  const size = draft.given("hardware_length") ? draft.number("hardware_length") : 6;
  const ethernet = draft.all.slice(0, draft.index).findLast(({ header }) => header === "ethernet");
  return size === 6 ? (ethernet?.bytes("source") ?? MAC_A) : new Uint8Array(size);
}

const arpProtocol =
  (address: Uint8Array) =>
  (draft: HeaderDraft): Uint8Array => {
    const size = draft.given("protocol_length") ? draft.number("protocol_length") : 4;
    return size === 4 ? address : new Uint8Array(size);
  };

const cooked: Defaults = {
  arphrd_type: always(1),
  address_length: always(6),
  address: always(joined(MAC_A, new Uint8Array(2))),
  protocol: ethertype("protocol"),
};

const ports: Defaults = { source_port: always(SOURCE_PORT), destination_port: always(DISCARD) };

export const DEFAULTS: Readonly<Record<LaidOutHeader, Defaults>> = {
  ethernet: { destination: always(MAC_B), source: always(MAC_A), type: ethertype("type") },
  vlan: { vid: always(1), type: ethertype("type") },
  loopback: { family: carried("family", FAMILIES, 0) },
  linux_cooked: cooked,
  linux_cooked_v2: { ...cooked, interface: always(1) },
  arp: {
    hardware_type: always(1),
    protocol_type: always(ETHERTYPE_IPV4),
    hardware_length: (draft) => draft.bytes("sender_hardware").length,
    protocol_length: (draft) => draft.bytes("sender_protocol").length,
    operation: always(1),
    sender_hardware: arpSender,
    sender_protocol: arpProtocol(IPV4_A),
    // A request asks for it.
    target_hardware: (draft) => new Uint8Array(draft.number("hardware_length")),
    target_protocol: arpProtocol(IPV4_B),
  },
  ipv4: {
    version: always(4),
    ihl: words,
    total_length: (draft) => draft.size + draft.bodyLength,
    ttl: always(TTL),
    protocol,
    source: always(IPV4_A),
    destination: always(IPV4_B),
  },
  ipv6: {
    version: always(6),
    payload_length: payloadLength,
    next_header: nextHeader,
    hop_limit: always(TTL),
    source: always(IPV6_A),
    destination: always(IPV6_B),
  },
  ipv6_hop_by_hop: padded,
  ipv6_destination: padded,
  ipv6_routing: {
    ...extension,
    type: always(4),
    // A route of one address, the destination, that is at its end.
    data: (draft) => joined(new Uint8Array(4), networkBelow(draft)?.bytes("destination") ?? IPV6_B),
  },
  ipv6_fragment: { next_header: nextHeader },
  ah: {
    next_header: nextHeader,
    length: (draft) => draft.size / 4 - 2,
    spi: always(SPI),
    sequence: always(1),
    // 96 bits, as HMAC-SHA1-96 has; its value takes a key.
    icv: always(new Uint8Array(12)),
  },
  tcp: { ...ports, data_offset: words, flags: always(0x002), window: always(0xffff) },
  udp: { ...ports, destination_port: carried("destination_port", UDP_PORTS, DISCARD), length: udpLength },
  icmp: { type: always(8), identifier: always(1), sequence: always(1) },
  icmpv6: { type: always(128), identifier: always(1), sequence: always(1) },
  vxlan: { flags: always(0x08), vni: always(1) },
  sctp: { ...ports, verification_tag: always(1) },
  gre: {
    c: (draft) => flag(draft.given("checksum")),
    r: (draft) => flag(draft.given("routing")),
    k: (draft) => flag(draft.given("key")),
    s: (draft) => flag(draft.given("sequence")),
    a: (draft) => flag(draft.given("acknowledgement")),
    version: (draft) => flag(draft.given("acknowledgement")),
    protocol_type: carried(
      "protocol_type",
      { ...TUNNEL_ETHERTYPES, mpls: ETHERTYPES.mpls ?? 0 },
      ETHERTYPE_EXPERIMENTAL,
    ),
    // The entry that ends a route (RFC 1701).
    routing: always(new Uint8Array(4)),
  },
  // Flags I and P: the VNI and the next protocol count.
  vxlan_gpe: { flags: always(0x0c), next_protocol: carried("next_protocol", GPE_PROTOCOLS, 0), vni: always(1) },
  geneve: {
    opt_len: (draft) => draft.bytes("options").length / 4,
    critical: (draft) => flag(hasCriticalOption(draft.bytes("options"))),
    protocol_type: carried("protocol_type", TUNNEL_ETHERTYPES, ETHERTYPE_EXPERIMENTAL),
    vni: always(1),
  },
  gtpu: {
    version: always(1),
    pt: always(1),
    e: (draft) => flag(draft.next === "gtpu_extension" || draft.given("next_extension")),
    s: (draft) => flag(draft.given("sequence")),
    pn: (draft) => flag(draft.given("n_pdu")),
    message_type: always(255),
    // All behind the first 8 bytes (TS 29.281 section 5.1).
    length: (draft) => draft.size - 8 + draft.bodyLength,
    teid: always(1),
    next_extension: gtpuExtension,
  },
  gtpu_extension: { length: words, content: always(new Uint8Array(2)), next_extension: gtpuExtension },
  // The first label that is not reserved (RFC 3032 section 2.1).
  mpls: { label: always(16), s_bos: (draft) => flag(draft.next !== "mpls"), ttl: always(TTL) },
  esp: { spi: always(SPI), sequence: always(1) },
  // RC SEND only, the default partition.
  bth: { opcode: always(0x04), p_key: always(0xffff), dst_qp: always(2) },
  macsec: {
    sc: (draft) => flag(draft.given("sci")),
    e: always(1),
    c: always(1),
    short_length: (draft) => shortLength(draft.bodyLength),
    packet_number: always(1),
  },
  // MD type 2, without context headers.
  nsh: {
    ttl: always(63),
    length: words,
    md_type: (draft) => (draft.size === 24 ? 1 : 2),
    next_protocol: carried("next_protocol", GPE_PROTOCOLS, 0),
    spi: always(1),
    si: always(255),
  },
};

/** RFC 8926 section 3.4: C says that some option has the critical bit, the highest of its type. */
function hasCriticalOption(options: Uint8Array): boolean {
  for (let at = 0; at + 4 <= options.length; at += 4 + 4 * ((options[at + 3] ?? 0) & 0x1f)) {
    if (((options[at + 2] ?? 0) & 0x80) !== 0) return true;
  }
  return false;
}

/** IEEE 802.1AE clause 9.7: bytes of secure data where they are fewer than 48; an ICV of 16 follows them. */
function shortLength(behind: number): number {
  const data = Math.max(0, behind - 16);
  return data < 48 ? data : 0;
}
