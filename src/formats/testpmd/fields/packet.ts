/** Headers that packets have without tunnels. */
import { ones } from "../../../base/bits.js";
import { ONE_KNOWN, ports, refused, to, type ItemKind } from "./kind.js";

const ETH: ItemKind = {
  fields: {
    dst: { ...to("{}.dmac", 48, 0, ones(48)), kind: "mac" },
    src: { ...to("{}.smac", 48, 48, ones(48)), kind: "mac" },
    type: {
      bits: 16,
      special: "etherType",
      at: 96,
      becomes: "`ethertype`; 0x8100 and 0x88a8 are `cvlan_tag` and `svlan_tag`",
    },
    has_vlan: { bits: 1, special: "hasVlan", becomes: "a VLAN tag is there: `first_vid` any" },
  },
  present: { "inner.dmac": "any" },
  layer: "l2",
  becomes: "every frame; inside a tunnel an Ethernet header",
  length: 14,
};

const VLAN: ItemKind = {
  fields: {
    tci: {
      bits: 16,
      preset: 0xfffn,
      at: 0,
      to: [
        { to: "{}.first_prio", from: 13, bits: 3 },
        { to: "{}.first_cfi", from: 12, bits: 1 },
        { to: "{}.first_vid", from: 0, bits: 12 },
      ],
    },
    pcp: { ...to("{}.first_prio", 3, 0), partOf: { field: "tci", low: 13 } },
    dei: { ...to("{}.first_cfi", 1, 3), partOf: { field: "tci", low: 12 } },
    vid: { ...to("{}.first_vid", 12, 4), partOf: { field: "tci", low: 0 } },
    inner_type: { bits: 16, special: "innerType", at: 16, becomes: "`ethertype`, or the kind of the second tag" },
    has_more_vlan: { bits: 1, special: "hasMoreVlan", becomes: "a second tag is there" },
  },
  present: { "{}.first_vid": "any" },
  layer: "vlan",
  loose: true,
  becomes: "a VLAN tag; the second item is the second tag",
  length: 4,
};

const IPV4: ItemKind = {
  fields: {
    version_ihl: {
      bits: 8,
      at: 0,
      to: [
        { to: "{}.ip_version", from: 4, bits: 4 },
        { to: "{}.ipv4_ihl", from: 0, bits: 4 },
      ],
    },
    tos: {
      bits: 8,
      at: 8,
      to: [
        { to: "{}.ip_dscp", from: 2, bits: 6 },
        { to: "{}.ip_ecn", from: 0, bits: 2 },
      ],
    },
    packet_id: refused(16, "no match field has the identification of IPv4", { at: 32 }),
    fragment_offset: {
      bits: 16,
      special: "ipv4Fragment",
      at: 48,
      becomes: "`frag` where all of the offset and MF are compared, `ext.outer_ipv4_flags` for the flags",
    },
    ttl: to("{}.ip_ttl_hoplimit", 8, 64),
    proto: to("{}.ip_protocol", 8, 72),
    src: { ...to("{}.ipv4_src", 32, 96, ones(32)), kind: "ipv4" },
    dst: { ...to("{}.ipv4_dst", 32, 128, ones(32)), kind: "ipv4" },
  },
  present: { "{}.ip_version": 4n },
  layer: "ipv4",
  becomes: "IPv4; the one inside another IP packet is inner",
  length: 20,
};

const IPV6: ItemKind = {
  fields: {
    tc: {
      bits: 8,
      at: 4,
      to: [
        { to: "{}.ip_dscp", from: 2, bits: 6 },
        { to: "{}.ip_ecn", from: 0, bits: 2 },
      ],
    },
    flow: to("misc.{}_ipv6_flow_label", 20, 12),
    proto: to("{}.ip_protocol", 8, 48),
    hop: to("{}.ip_ttl_hoplimit", 8, 56),
    src: { ...to("{}.ipv6_src", 128, 64, ones(128)), kind: "ipv6" },
    dst: { ...to("{}.ipv6_dst", 128, 192, ones(128)), kind: "ipv6" },
    has_frag_ext: { bits: 1, special: "hasFragment", becomes: "`frag`" },
  },
  present: { "{}.ip_version": 6n },
  layer: "ipv6",
  becomes: "IPv6; the one inside another IP packet is inner",
  length: 40,
};

/** Items of DPDK 23.03 for an echo of ICMPv6. */
function icmp6Echo(type: bigint): ItemKind {
  return {
    fields: {
      ident: { bits: 16, to: [{ to: "misc3.icmpv6_header_data", into: 16 }] },
      seq: { bits: 16, to: [{ to: "misc3.icmpv6_header_data" }] },
    },
    present: { "misc3.icmpv6_type": type },
    layer: "l4",
    outerOnly: true,
    becomes: `ICMPv6 of type ${type}`,
  };
}

export const PACKET_ITEMS: Readonly<Record<string, ItemKind>> = {
  eth: ETH,
  vlan: VLAN,
  ipv4: IPV4,
  ipv6: IPV6,
  ipv6_frag_ext: {
    fields: {
      next_hdr: to("{}.ip_protocol", 8),
      frag_data: { bits: 16, special: "ipv6Fragment", becomes: "`frag`, where spec 1 to last 0xfff9 is asked" },
      packet_id: refused(32, "no match field has the identification of a fragment"),
    },
    present: { "{}.frag": 1n },
    layer: "option",
    becomes: "`frag`",
  },
  icmp: {
    fields: {
      type: to("misc3.icmp_type", 8, 0, ones(8)),
      code: to("misc3.icmp_code", 8, 8, ones(8)),
      ident: { bits: 16, to: [{ to: "misc3.icmp_header_data", into: 16 }] },
      seq: { bits: 16, to: [{ to: "misc3.icmp_header_data" }] },
    },
    present: { "misc3.icmp_type": "any" },
    layer: "l4",
    outerOnly: true,
    becomes: "ICMP",
  },
  icmp6: {
    fields: {
      type: to("misc3.icmpv6_type", 8, 0, ones(8)),
      code: to("misc3.icmpv6_code", 8, 8, ones(8)),
    },
    present: { "misc3.icmpv6_type": "any" },
    layer: "l4",
    outerOnly: true,
    becomes: "ICMPv6",
  },
  icmp6_echo_request: icmp6Echo(128n),
  icmp6_echo_reply: icmp6Echo(129n),
  icmp6_nd_ns: {
    fields: { target_addr: refused(128, ONE_KNOWN, { kind: "ipv6" }) },
    present: { "misc3.icmpv6_type": 135n },
    layer: "l4",
    outerOnly: true,
    becomes: "ICMPv6 of type 135",
  },
  icmp6_nd_na: {
    fields: { target_addr: refused(128, ONE_KNOWN, { kind: "ipv6" }) },
    present: { "misc3.icmpv6_type": 136n },
    layer: "l4",
    outerOnly: true,
    becomes: "ICMPv6 of type 136",
  },
  udp: {
    fields: ports("{}.udp"),
    present: { "{}.udp_sport": "any" },
    layer: "l4",
    becomes: "UDP",
    length: 8,
  },
  tcp: {
    fields: { ...ports("{}.tcp"), flags: { bits: 8, to: [{ to: "{}.tcp_flags" }], at: 104 } },
    present: { "{}.tcp_sport": "any" },
    layer: "l4",
    becomes: "TCP",
    length: 20,
  },
  sctp: {
    fields: {
      src: to("ext.{}_sctp_sport", 16, 0, ones(16)),
      dst: to("ext.{}_sctp_dport", 16, 16, ones(16)),
      tag: refused(32, "no match field has the verification tag of SCTP"),
      cksum: refused(32, "no match field has the checksum of SCTP"),
    },
    present: { "ext.{}_sctp_sport": "any" },
    layer: "l4",
    becomes: "SCTP",
  },
  // Of DPDK 23.07.
  ib_bth: {
    fields: {
      opcode: to("misc.bth_opcode", 8, 0, ones(8)),
      pkey: refused(16, "no match field has the partition key of RoCE", { at: 16 }),
      dst_qp: to("misc.bth_dst_qp", 24, 40, ones(24)),
      psn: refused(24, "no match field has the packet sequence number of RoCE", { at: 72 }),
    },
    present: { "misc.bth_opcode": "any" },
    layer: "l4",
    outerOnly: true,
    port: 4791,
    becomes: "the base transport header of RoCE v2",
  },
  esp: {
    fields: { spi: to("misc.{}_esp_spi", 32, 0, ones(32)) },
    present: { "misc.{}_esp_spi": "any" },
    layer: "l4",
    // RFC 3948.
    port: 4500,
    becomes: "ESP",
    length: 8,
  },
};
