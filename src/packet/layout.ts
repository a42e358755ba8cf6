/**
 * The fields of every header in wire order: name, width, kind. The tree, the builder and messages about cut headers read this
 * table. A field starts at the sum of the widths before it.
 */
import { ETHERTYPE_ESP_METADATA } from "../abi/protocols.js";
import type { HeaderName } from "./parsedFrame.js";
import { TUNNEL_ETHERTYPES } from "../headers/announcers.js";
import {
  ARP_OPERATION_NAMES,
  ARPHRD_NAMES,
  COOKED_NAMES,
  ETHERTYPE_NAMES,
  FAMILY_NAMES,
  GPE_NAMES,
  GTPU_EXTENSION_NAMES,
  GTPU_MESSAGE_NAMES,
  ICMP_NAMES,
  ICMPV6_NAMES,
  PROTOCOL_NAMES,
  ROUTING_NAMES,
  UDP_PORT_NAMES,
  type Names,
} from "./numbers.js";

/** How a field's bits are read and shown. */
export type FieldKind =
  /** Unsigned, big-endian; decimal or hexadecimal. */
  | "number"
  | "hex"
  /** One bit. */
  | "flag"
  /** Bits with names, the highest first. */
  | "flags"
  | "mac"
  | "ipv4"
  | "ipv6"
  /** Bytes that are an address if they are 4, 6 or 16. */
  | "address"
  | "bytes"
  | "tcp_options"
  | "ipv4_options"
  | "ipv6_options"
  | "geneve_options"
  /** What a routing header carries: a reserved or segment routing word, then IPv6 addresses. */
  | "route";

/** Value of a numeric field of the same header; undefined where it is not there. */
export type Look = (name: string) => number | undefined;

export interface FieldDetail {
  /** What it is called together with its neighbours, where a header is cut among them. */
  part?: string;
  /** Fields that only some headers have. */
  when?: (look: Look) => boolean;
  /** Names of flags, the highest bit first. */
  bits?: readonly string[];
  /** Names of values. */
  names?: Names;
  /** Bytes that the value stands for, where it counts something else. */
  counts?: (value: number) => number;
}

/** Name, width in bits, kind. "rest": what the header has beyond its other fields. */
export type FieldLayout = readonly [
  name: string,
  bits: number | "rest" | ((look: Look) => number),
  kind: FieldKind,
  detail?: FieldDetail,
];

/** TCP flags of RFC 9293 and RFC 3540, as the match parameters have them: nine. */
export const TCP_FLAGS = ["ns", "cwr", "ece", "urg", "ack", "psh", "rst", "syn", "fin"] as const;
export const IPV4_FLAGS = ["reserved", "df", "mf"] as const;

const ethertype: FieldDetail = { names: ETHERTYPE_NAMES };
const protocol: FieldDetail = { names: PROTOCOL_NAMES };

const words: FieldDetail["counts"] = (value) => 4 * value;
/** Extension headers of IPv6 do not count their first 8 bytes (RFC 8200 section 4.3). */
const beyondFirst: FieldDetail["counts"] = (value) => 8 * value + 8;

const set =
  (...names: readonly string[]) =>
  (look: Look): boolean =>
    names.some((name) => look(name) === 1);

/** Echo requests and replies of ICMP and ICMPv6 have an identifier and a sequence, unless the word is given whole. */
const echo = (look: Look): boolean => [0, 8, 128, 129].includes(look("type") ?? -1);
const hasEcho = (look: Look): boolean =>
  look("rest") === undefined && (echo(look) || look("identifier") !== undefined || look("sequence") !== undefined);

/** RFC 792, RFC 4443: one shape. An ICMPv6 number is no echo of ICMP, and the other way round. */
const icmp = (names: Names) =>
  [
    ["type", 8, "number", { names }],
    ["code", 8, "number"],
    ["checksum", 16, "hex"],
    ["identifier", 16, "number", { part: "rest", when: hasEcho }],
    ["sequence", 16, "number", { part: "rest", when: hasEcho }],
    ["rest", 32, "hex", { when: (look: Look) => !hasEcho(look) }],
  ] as const;

/** GTP-U has its third word with any of E, S, PN; other versions and GTP' are not read that far. */
const gtpuLong = (look: Look): boolean => look("version") === 1 && look("pt") === 1 && set("e", "s", "pn")(look);

/** GRE of version 1 that carries an IP packet or a frame is read as version 0. */
const greVersion0 = (look: Look): boolean =>
  look("version") === 0 ||
  (look("version") === 1 && Object.values(TUNNEL_ETHERTYPES).includes(look("protocol_type") ?? 0));

const hasMetadata = (look: Look): boolean => look("type") === ETHERTYPE_ESP_METADATA;

export const LAYOUTS = {
  /** IEEE 802.3 clause 3.2; a type below 0x600 is a length. */
  ethernet: [
    ["destination", 48, "mac"],
    ["source", 48, "mac"],
    ["type", 16, "hex", ethertype],
    // The metadata of inline ESP actions, in front of what the frame carries (docs/esp.md).
    ["syndrome", 8, "hex", { when: hasMetadata }],
    ["content", 40, "bytes", { when: hasMetadata }],
    ["carried", 16, "hex", { ...ethertype, when: hasMetadata }],
  ],
  /** IEEE 802.1Q clause 9.3: from the TCI on; its TPID is the type of the header before it. */
  vlan: [
    ["pcp", 3, "number", { part: "tci" }],
    ["dei", 1, "flag", { part: "tci" }],
    ["vid", 12, "number", { part: "tci" }],
    ["type", 16, "hex", ethertype],
  ],
  /** BSD null and loop, LINKTYPE_NULL and LINKTYPE_LOOP: big-endian; a null header may be the other way round. */
  loopback: [["family", 32, "number", { names: FAMILY_NAMES }]],
  /** LINKTYPE_LINUX_SLL. */
  linux_cooked: [
    ["packet_type", 16, "number", { names: COOKED_NAMES }],
    ["arphrd_type", 16, "number", { names: ARPHRD_NAMES }],
    ["address_length", 16, "number"],
    ["address", 64, "bytes"],
    ["protocol", 16, "hex", ethertype],
  ],
  /** LINKTYPE_LINUX_SLL2. */
  linux_cooked_v2: [
    ["protocol", 16, "hex", ethertype],
    ["reserved", 16, "hex", { part: "protocol" }],
    ["interface", 32, "number"],
    ["arphrd_type", 16, "number", { names: ARPHRD_NAMES }],
    ["packet_type", 8, "number", { names: COOKED_NAMES }],
    ["address_length", 8, "number"],
    ["address", 64, "bytes"],
  ],
  /** RFC 826. */
  arp: [
    ["hardware_type", 16, "number", { names: ARPHRD_NAMES }],
    ["protocol_type", 16, "hex", ethertype],
    ["hardware_length", 8, "number", { part: "lengths" }],
    ["protocol_length", 8, "number", { part: "lengths" }],
    ["operation", 16, "number", { names: ARP_OPERATION_NAMES }],
    ["sender_hardware", (look) => 8 * (look("hardware_length") ?? 0), "address", { part: "addresses" }],
    ["sender_protocol", (look) => 8 * (look("protocol_length") ?? 0), "address", { part: "addresses" }],
    ["target_hardware", (look) => 8 * (look("hardware_length") ?? 0), "address", { part: "addresses" }],
    ["target_protocol", (look) => 8 * (look("protocol_length") ?? 0), "address", { part: "addresses" }],
  ],
  /** RFC 791 section 3.1; RFC 2474, RFC 3168. */
  ipv4: [
    ["version", 4, "number"],
    ["ihl", 4, "number", { part: "version", counts: words }],
    ["dscp", 6, "number", { part: "tos" }],
    ["ecn", 2, "number", { part: "tos" }],
    ["total_length", 16, "number"],
    ["identification", 16, "hex"],
    ["flags", 3, "flags", { part: "fragment", bits: IPV4_FLAGS }],
    ["fragment_offset", 13, "number", { part: "fragment", counts: (value) => 8 * value }],
    ["ttl", 8, "number"],
    ["protocol", 8, "number", protocol],
    ["checksum", 16, "hex"],
    ["source", 32, "ipv4"],
    ["destination", 32, "ipv4"],
    ["options", "rest", "ipv4_options"],
  ],
  /** RFC 8200 section 3. */
  ipv6: [
    ["version", 4, "number"],
    ["dscp", 6, "number", { part: "version" }],
    ["ecn", 2, "number", { part: "version" }],
    ["flow_label", 20, "hex", { part: "version" }],
    ["payload_length", 16, "number"],
    ["next_header", 8, "number", protocol],
    ["hop_limit", 8, "number"],
    ["source", 128, "ipv6"],
    ["destination", 128, "ipv6"],
  ],
  /** RFC 8200 section 4.3. */
  ipv6_hop_by_hop: [
    ["next_header", 8, "number", protocol],
    ["length", 8, "number", { counts: beyondFirst }],
    ["options", "rest", "ipv6_options"],
  ],
  /** RFC 8200 section 4.4, RFC 8754 section 2. */
  ipv6_routing: [
    ["next_header", 8, "number", protocol],
    ["length", 8, "number", { counts: beyondFirst }],
    ["type", 8, "number", { part: "options", names: ROUTING_NAMES }],
    ["segments_left", 8, "number", { part: "options" }],
    ["data", "rest", "route", { part: "options" }],
  ],
  /** RFC 8200 section 4.6. */
  ipv6_destination: [
    ["next_header", 8, "number", protocol],
    ["length", 8, "number", { counts: beyondFirst }],
    ["options", "rest", "ipv6_options"],
  ],
  /** RFC 8200 section 4.5. */
  ipv6_fragment: [
    ["next_header", 8, "number", protocol],
    ["reserved", 8, "hex", { part: "length" }],
    ["fragment_offset", 13, "number", { part: "options", counts: (value) => 8 * value }],
    ["reserved2", 2, "number", { part: "options" }],
    ["m", 1, "flag", { part: "options" }],
    ["identification", 32, "hex", { part: "options" }],
  ],
  /** RFC 4302 section 2. */
  ah: [
    ["next_header", 8, "number", protocol],
    ["length", 8, "number", { counts: (value) => 4 * value + 8 }],
    ["reserved", 16, "hex", { part: "options" }],
    ["spi", 32, "hex", { part: "options" }],
    ["sequence", 32, "number", { part: "options" }],
    ["icv", "rest", "bytes", { part: "options" }],
  ],
  /** RFC 9293 section 3.1. */
  tcp: [
    ["source_port", 16, "number"],
    ["destination_port", 16, "number"],
    ["sequence", 32, "number"],
    ["acknowledgement", 32, "number"],
    ["data_offset", 4, "number", { part: "flags", counts: words }],
    ["reserved", 3, "number", { part: "flags" }],
    ["flags", 9, "flags", { bits: TCP_FLAGS }],
    ["window", 16, "number"],
    ["checksum", 16, "hex"],
    ["urgent", 16, "number"],
    ["options", "rest", "tcp_options"],
  ],
  /** RFC 768. */
  udp: [
    ["source_port", 16, "number"],
    ["destination_port", 16, "number", { names: UDP_PORT_NAMES }],
    ["length", 16, "number"],
    ["checksum", 16, "hex"],
  ],
  icmp: icmp(ICMP_NAMES),
  icmpv6: icmp(ICMPV6_NAMES),
  /** RFC 7348 section 5. */
  vxlan: [
    ["flags", 8, "hex"],
    ["reserved", 24, "hex", { part: "flags" }],
    ["vni", 24, "number"],
    ["reserved2", 8, "hex", { part: "vni" }],
  ],
  /** RFC 9260 section 3.1; the checksum is the CRC32c with its lowest byte first. */
  sctp: [
    ["source_port", 16, "number"],
    ["destination_port", 16, "number"],
    ["verification_tag", 32, "hex"],
    ["checksum", 32, "hex"],
  ],
  /** RFC 2784, RFC 2890, RFC 1701 (R, s, recur), RFC 2637 (A, version 1). */
  gre: [
    ["c", 1, "flag", { part: "flags" }],
    ["r", 1, "flag", { part: "flags" }],
    ["k", 1, "flag", { part: "flags" }],
    ["s", 1, "flag", { part: "flags" }],
    ["strict_source_route", 1, "flag", { part: "flags" }],
    ["recursion_control", 3, "number", { part: "flags" }],
    ["a", 1, "flag", { part: "flags" }],
    ["flags", 4, "number"],
    ["version", 3, "number", { part: "flags" }],
    ["protocol_type", 16, "hex", ethertype],
    ["checksum", 16, "hex", { part: "options", when: set("c", "r") }],
    ["offset", 16, "number", { part: "options", when: set("c", "r") }],
    ["key", 32, "hex", { part: "options", when: set("k") }],
    ["sequence", 32, "number", { part: "options", when: set("s") }],
    ["acknowledgement", 32, "number", { part: "options", when: (look) => !greVersion0(look) && look("a") === 1 }],
    ["routing", "rest", "bytes", { part: "options", when: (look) => greVersion0(look) && look("r") === 1 }],
  ],
  /** draft-ietf-nvo3-vxlan-gpe. */
  vxlan_gpe: [
    ["flags", 8, "hex"],
    ["reserved", 16, "hex", { part: "flags" }],
    ["next_protocol", 8, "number", { names: GPE_NAMES }],
    ["vni", 24, "number"],
    ["reserved2", 8, "hex", { part: "vni" }],
  ],
  /** RFC 8926 section 3.4; `opt_len` in words of 4 bytes. */
  geneve: [
    ["version", 2, "number"],
    ["opt_len", 6, "number", { part: "version", counts: words }],
    ["oam", 1, "flag"],
    ["critical", 1, "flag", { part: "oam" }],
    ["reserved", 6, "hex", { part: "oam" }],
    ["protocol_type", 16, "hex", ethertype],
    ["vni", 24, "number"],
    ["reserved2", 8, "hex", { part: "vni" }],
    ["options", "rest", "geneve_options"],
  ],
  /** 3GPP TS 29.281 section 5.1. */
  gtpu: [
    ["version", 3, "number"],
    ["pt", 1, "flag", { part: "version" }],
    ["reserved", 1, "number", { part: "version" }],
    ["e", 1, "flag", { part: "version" }],
    ["s", 1, "flag", { part: "version" }],
    ["pn", 1, "flag", { part: "version" }],
    ["message_type", 8, "number", { names: GTPU_MESSAGE_NAMES }],
    ["length", 16, "number"],
    ["teid", 32, "hex"],
    ["sequence", 16, "number", { when: gtpuLong }],
    ["n_pdu", 8, "number", { when: gtpuLong }],
    ["next_extension", 8, "hex", { when: gtpuLong, names: GTPU_EXTENSION_NAMES }],
  ],
  /** 3GPP TS 29.281 section 5.2; `length` in words of 4 bytes. */
  gtpu_extension: [
    ["length", 8, "number", { counts: words }],
    ["content", "rest", "bytes"],
    ["next_extension", 8, "hex", { names: GTPU_EXTENSION_NAMES }],
  ],
  /** RFC 3032 section 2.1, RFC 5462. */
  mpls: [
    ["label", 20, "number"],
    ["exp", 3, "number", { part: "label" }],
    ["s_bos", 1, "flag", { part: "label" }],
    ["ttl", 8, "number"],
  ],
  /** RFC 4303 section 2. */
  esp: [
    ["spi", 32, "hex"],
    ["sequence", 32, "number"],
  ],
  /** InfiniBand architecture 1.4, section 9.2; F and B are FECN and BECN of annex A17. */
  bth: [
    ["opcode", 8, "hex"],
    ["se", 1, "flag"],
    ["m", 1, "flag", { part: "se" }],
    ["pad_count", 2, "number", { part: "se" }],
    ["tver", 4, "number", { part: "se" }],
    ["p_key", 16, "hex"],
    ["f", 1, "flag"],
    ["b", 1, "flag", { part: "f" }],
    ["reserved", 6, "hex", { part: "f" }],
    ["dst_qp", 24, "hex"],
    ["a", 1, "flag"],
    ["reserved2", 7, "hex", { part: "a" }],
    ["psn", 24, "number"],
  ],
  /** IEEE 802.1AE clause 9.3: from behind its EtherType. */
  macsec: [
    ["version", 1, "number", { part: "tci" }],
    ["es", 1, "flag", { part: "tci" }],
    ["sc", 1, "flag", { part: "tci" }],
    ["scb", 1, "flag", { part: "tci" }],
    ["e", 1, "flag", { part: "tci" }],
    ["c", 1, "flag", { part: "tci" }],
    ["an", 2, "number", { part: "tci" }],
    ["reserved", 2, "number", { part: "short_length" }],
    ["short_length", 6, "number"],
    ["packet_number", 32, "number"],
    ["sci", 64, "hex", { when: set("sc") }],
  ],
  /** RFC 8300 section 2; `length` in words of 4 bytes. */
  nsh: [
    ["version", 2, "number"],
    ["o", 1, "flag", { part: "version" }],
    ["reserved", 1, "number", { part: "version" }],
    ["ttl", 6, "number", { part: "version" }],
    ["length", 6, "number", { part: "version", counts: words }],
    ["reserved2", 4, "number", { part: "md_type" }],
    ["md_type", 4, "number"],
    ["next_protocol", 8, "number", { names: GPE_NAMES }],
    ["spi", 24, "number"],
    ["si", 8, "number"],
    ["context", "rest", "bytes"],
  ],
} as const satisfies Record<Exclude<HeaderName, "none" | "ip">, readonly FieldLayout[]>;

/** Headers that lie in frames: `none` and `ip` do not, `ip` only names a version that is neither. */
export type LaidOutHeader = keyof typeof LAYOUTS;

/** The fields of a header; none of `ip`. */
export function layoutOf(header: HeaderName): readonly FieldLayout[] {
  return (LAYOUTS as Partial<Record<HeaderName, readonly FieldLayout[]>>)[header] ?? [];
}
