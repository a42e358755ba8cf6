/**
 * What display filters of Wireshark call headers and their fields, where the names are not ours. `scripts/golden-filters.mjs`
 * holds them to tshark 4.0.
 */
import type { LAYOUTS, LaidOutHeader } from "../layout.js";

type FieldOf<Header extends LaidOutHeader> = (typeof LAYOUTS)[Header][number][0];

/** Names of a header's fields: those that are left out are ours, after the prefix. */
export interface FilterNames<Field extends string = string> {
  readonly prefix: string;
  /** The name of the header itself, where it is not the prefix. */
  readonly protocol?: string;
  /** Fields with another name, and flags (`flags.syn`). */
  readonly fields?: Readonly<Partial<Record<Field | `flags.${string}`, string>>>;
  /** Fields that count words or less there too, but here bytes: what their value stands for. */
  readonly bytes?: readonly Field[];
}

const ports = { source_port: "srcport", destination_port: "dstport" } as const;
const ends = { source: "src", destination: "dst" } as const;
const dsfield = { dscp: "dsfield.dscp", ecn: "dsfield.ecn" } as const;
const extension = { next_header: "nxt", length: "len" } as const;

export const FILTER_NAMES = {
  ethernet: { prefix: "eth", fields: ends },
  vlan: { prefix: "vlan", fields: { pcp: "priority", vid: "id", type: "etype" } },
  loopback: { prefix: "null" },
  linux_cooked: {
    prefix: "sll",
    fields: { packet_type: "pkttype", arphrd_type: "hatype", address_length: "halen", protocol: "etype" },
  },
  linux_cooked_v2: {
    prefix: "sll",
    fields: {
      packet_type: "pkttype",
      arphrd_type: "hatype",
      address_length: "halen",
      protocol: "etype",
      interface: "ifindex",
    },
  },
  arp: {
    prefix: "arp",
    fields: {
      hardware_type: "hw.type",
      protocol_type: "proto.type",
      hardware_length: "hw.size",
      protocol_length: "proto.size",
      operation: "opcode",
      sender_hardware: "src.hw_mac",
      sender_protocol: "src.proto_ipv4",
      target_hardware: "dst.hw_mac",
      target_protocol: "dst.proto_ipv4",
    },
  },
  ipv4: {
    prefix: "ip",
    fields: {
      ...ends,
      ...dsfield,
      ihl: "hdr_len",
      total_length: "len",
      identification: "id",
      fragment_offset: "frag_offset",
      protocol: "proto",
      "flags.reserved": "flags.rb",
    },
    bytes: ["ihl"],
  },
  ipv6: {
    prefix: "ipv6",
    fields: {
      ...ends,
      dscp: "tclass.dscp",
      ecn: "tclass.ecn",
      flow_label: "flow",
      payload_length: "plen",
      next_header: "nxt",
      hop_limit: "hlim",
    },
  },
  ipv6_hop_by_hop: { prefix: "ipv6.hopopts", fields: extension },
  ipv6_routing: { prefix: "ipv6.routing", fields: { ...extension, segments_left: "segleft" } },
  ipv6_destination: { prefix: "ipv6.dstopts", fields: extension },
  ipv6_fragment: {
    prefix: "ipv6.fraghdr",
    fields: { next_header: "nxt", fragment_offset: "offset", m: "more", identification: "ident" },
  },
  ah: { prefix: "ah" },
  tcp: {
    prefix: "tcp",
    fields: {
      ...ports,
      sequence: "seq_raw",
      acknowledgement: "ack_raw",
      data_offset: "hdr_len",
      window: "window_size_value",
      urgent: "urgent_pointer",
      "flags.ns": "flags.ae",
      "flags.psh": "flags.push",
      "flags.rst": "flags.reset",
    },
    bytes: ["data_offset"],
  },
  udp: { prefix: "udp", fields: ports },
  icmp: { prefix: "icmp", fields: { identifier: "ident", sequence: "seq" } },
  icmpv6: { prefix: "icmpv6", fields: { identifier: "echo.identifier", sequence: "echo.sequence_number" } },
  // Wireshark's flags are 16 bits.
  vxlan: { prefix: "vxlan", fields: { flags: "flags_byte" } },
  sctp: { prefix: "sctp", fields: ports },
  gre: {
    prefix: "gre",
    fields: {
      c: "flags.checksum",
      r: "flags.routing",
      k: "flags.key",
      s: "flags.sequence_number",
      a: "flags.ack",
      strict_source_route: "flags.strict_source_route",
      recursion_control: "flags.recursion_control",
      flags: "flags.reserved",
      version: "flags.version",
      protocol_type: "proto",
      sequence: "sequence_number",
      acknowledgement: "ack_number",
    },
  },
  vxlan_gpe: {
    prefix: "vxlan",
    protocol: "vxlan_gpe",
    fields: { flags: "flags_byte", next_protocol: "next_proto" },
  },
  geneve: {
    prefix: "geneve",
    fields: { opt_len: "opt_len", oam: "flags.oam", critical: "flags.critical", protocol_type: "proto_type" },
  },
  gtpu: {
    prefix: "gtp",
    fields: {
      version: "flags.version",
      pt: "flags.payload",
      e: "flags.e",
      s: "flags.s",
      pn: "flags.pn",
      message_type: "message",
      sequence: "seq_number",
      n_pdu: "npdu_number",
      next_extension: "next",
    },
  },
  gtpu_extension: { prefix: "gtp.ext_hdr", fields: { next_extension: "next" } },
  mpls: { prefix: "mpls", fields: { s_bos: "bottom" } },
  esp: { prefix: "esp" },
  bth: {
    prefix: "infiniband.bth",
    protocol: "infiniband",
    fields: { pad_count: "padcnt", dst_qp: "destqp" },
  },
  macsec: {
    prefix: "macsec",
    fields: {
      version: "TCI.V",
      es: "TCI.ES",
      sc: "TCI.SC",
      scb: "TCI.SCB",
      e: "TCI.E",
      c: "TCI.C",
      an: "AN",
      short_length: "SL",
      packet_number: "PN",
    },
  },
  nsh: { prefix: "nsh", fields: { o: "Obit", md_type: "mdtype", next_protocol: "nextproto" } },
} as const satisfies { readonly [Header in LaidOutHeader]: FilterNames<FieldOf<Header>> };
