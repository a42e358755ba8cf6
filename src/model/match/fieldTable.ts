/**
 * The table of the key's fields: name, place, width, presence bit, and how people write the value.
 *
 * Places come from src/abi/key.ts, which the core reads too. Names are those of the device format;
 * fields of `ext` are ours. A masked field matches only frames that have its header.
 */
import * as key from "../../abi/key.js";
import { partsOf, type FieldPart } from "./fieldParts.js";

/** How a field is written. */
export type FieldKind = "number" | "mac" | "ipv4" | "ipv6";

/** A header's presence bit: the key byte of its word, and the bit. */
export interface Presence {
  word: number;
  bit: number;
}

export interface Field<N extends string = string> {
  readonly name: N;
  /** First bit in the key; bit 0 is the most significant bit of byte 0. */
  readonly bit: number;
  /** Width in bits. */
  readonly width: number;
  readonly kind: FieldKind;
  /** Its place by dwords, first ones first. */
  readonly parts: readonly FieldPart[];
  /** Null for the fields that are always present. */
  readonly here: Presence | null;
  /** Whether a key can hold it: sample ids exist in device bytes only. */
  readonly filled: boolean;
  /** Whether it comes from the port or from rules (registers), not from the parser. */
  readonly ofWay: boolean;
  /** The IP version that the name implies: `ipv4_src` requires IPv4. */
  readonly version: 0 | 4 | 6;
}

/** A field before its group is known: bits count from byte 0 of the key, or of the layer. */
interface Row<N extends string = string> {
  readonly name: N;
  readonly bit: number;
  readonly width: number;
  /** Presence bit, 0 for none. */
  readonly here: number;
  readonly kind: FieldKind;
}

/** A field of `width` bits that starts with the first bit of a byte. */
function row<N extends string>(name: N, byte: number, width: number, here = 0, kind: FieldKind = "number"): Row<N> {
  return { name, bit: byte * 8, width, here, kind };
}

/** The field that `mask` covers in a big-endian number of `size` bytes. */
function bits<N extends string>(name: N, byte: number, mask: number, here = 0, size = 1): Row<N> {
  const above = Math.clz32(mask);
  const below = 31 - Math.clz32(mask & -mask);
  return { name, bit: byte * 8 + above - (32 - 8 * size), width: 32 - above - below, here, kind: "number" };
}

/** Consecutive fields that start with the first bit of a byte. */
function packed<N extends string>(
  byte: number,
  here: number,
  ...parts: (readonly [name: N, width: number])[]
): Row<N>[] {
  let bit = byte * 8;
  return parts.map(([name, width]) => ({ name, bit: (bit += width) - width, width, here, kind: "number" }));
}

/** The control information of a VLAN tag. */
function tci<N extends string>(name: N, byte: number, here: number): Row<`${N}_${"prio" | "cfi" | "vid"}`>[] {
  return packed(byte, here, [`${name}_prio`, 3], [`${name}_cfi`, 1], [`${name}_vid`, 12]);
}

/** An MPLS label stack entry. */
function mpls<N extends string>(
  name: N,
  byte: number,
  here: number,
): Row<`${N}_${"label" | "exp" | "s_bos" | "ttl"}`>[] {
  return packed(byte, here, [`${name}_label`, 20], [`${name}_exp`, 3], [`${name}_s_bos`, 1], [`${name}_ttl`, 8]);
}

/** Two ports of 16 bits. */
function ports<N extends string>(name: N, byte: number, here: number): Row<`${N}_${"sport" | "dport"}`>[] {
  return packed(byte, here, [`${name}_sport`, 16], [`${name}_dport`, 16]);
}

/** A row for each of the numbers. */
function numbered<D extends number, N extends string>(numbers: readonly D[], make: (n: D) => Row<N>): Row<N>[] {
  return numbers.map(make);
}

const TO_3 = [0, 1, 2, 3] as const;
/** As many as samples, and as registers C. */
const TO_7 = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** Groups outer and inner. */
const LAYER = [
  row("smac", key.LAYER_SMAC, 48, key.PRESENT_ETH, "mac"),
  row("ethertype", key.LAYER_ETHERTYPE, 16, key.PRESENT_ETHERTYPE),
  row("dmac", key.LAYER_DMAC, 48, key.PRESENT_ETH, "mac"),
  ...tci("first", key.LAYER_TCI, key.PRESENT_VLAN),
  row("ip_protocol", key.LAYER_PROTOCOL, 8, key.PRESENT_PROTOCOL),
  ...packed(key.LAYER_TOS, key.PRESENT_L3, ["ip_dscp", 6], ["ip_ecn", 2]),
  bits("cvlan_tag", key.LAYER_STATE, key.STATE_CVLAN),
  bits("svlan_tag", key.LAYER_STATE, key.STATE_SVLAN),
  bits("frag", key.LAYER_STATE, key.STATE_FRAG),
  bits("ip_version", key.LAYER_STATE, key.STATE_VERSION, key.PRESENT_L3),
  bits("tcp_flags", key.LAYER_STATE, key.STATE_TCP_FLAGS, key.PRESENT_TCP, 2),
  ...ports("tcp", key.LAYER_TCP_PORTS, key.PRESENT_TCP),
  bits("ipv4_ihl", key.LAYER_OK, key.OK_IHL, key.PRESENT_IPV4),
  bits("l3_ok", key.LAYER_OK, key.OK_L3),
  bits("l4_ok", key.LAYER_OK, key.OK_L4),
  bits("ipv4_checksum_ok", key.LAYER_OK, key.OK_IPV4_CHECKSUM),
  bits("l4_checksum_ok", key.LAYER_OK, key.OK_L4_CHECKSUM),
  row("ip_ttl_hoplimit", key.LAYER_TTL, 8, key.PRESENT_L3),
  ...ports("udp", key.LAYER_UDP_PORTS, key.PRESENT_UDP),
  row("ipv4_src", key.LAYER_SRC_IPV4, 32, key.PRESENT_L3, "ipv4"),
  row("ipv4_dst", key.LAYER_DST_IPV4, 32, key.PRESENT_L3, "ipv4"),
  row("ipv6_src", key.LAYER_SRC, 128, key.PRESENT_IPV6, "ipv6"),
  row("ipv6_dst", key.LAYER_DST, 128, key.PRESENT_IPV6, "ipv6"),
];

const MISC_OUTER = [
  ...tci("outer_second", key.MISC_OUTER_TCI2, key.PRESENT_VLAN2),
  bits("outer_second_cvlan_tag", key.MISC_TAGS2, key.TAGS2_OUTER_CVLAN),
  bits("outer_second_svlan_tag", key.MISC_TAGS2, key.TAGS2_OUTER_SVLAN),
  bits("outer_ipv6_flow_label", key.MISC_OUTER_FLOW_LABEL, key.FLOW_LABEL, key.PRESENT_IPV6, 4),
  row("outer_esp_spi", key.MISC_OUTER_ESP_SPI, 32, key.PRESENT_ESP),
];

const MISC_INNER = [
  ...tci("inner_second", key.MISC_INNER_TCI2, key.PRESENT_VLAN2),
  bits("inner_second_cvlan_tag", key.MISC_TAGS2, key.TAGS2_INNER_CVLAN),
  bits("inner_second_svlan_tag", key.MISC_TAGS2, key.TAGS2_INNER_SVLAN),
  bits("inner_ipv6_flow_label", key.MISC_INNER_FLOW_LABEL, key.FLOW_LABEL, key.PRESENT_IPV6, 4),
  row("inner_esp_spi", key.MISC_INNER_ESP_SPI, 32, key.PRESENT_ESP),
];

const MISC_TUNNEL = [
  bits("gre_c_present", key.MISC_BITS, key.BITS_GRE_C),
  bits("bth_a", key.MISC_BITS, key.BITS_BTH_A, key.PRESENT_BTH),
  bits("gre_k_present", key.MISC_BITS, key.BITS_GRE_K),
  bits("gre_s_present", key.MISC_BITS, key.BITS_GRE_S),
  row("gre_protocol", key.MISC_GRE_PROTOCOL, 16, key.PRESENT_GRE),
  row("gre_key", key.MISC_GRE_KEY, 32, key.PRESENT_GRE_KEY),
  row("vxlan_vni", key.MISC_VXLAN_VNI, 24, key.PRESENT_VXLAN),
  row("bth_opcode", key.MISC_BTH_OPCODE, 8, key.PRESENT_BTH),
  row("geneve_vni", key.MISC_GENEVE_VNI, 24, key.PRESENT_GENEVE),
  bits("geneve_tlv_option_0_exist", key.MISC_GENEVE_BITS, key.GENEVE_OPTION_0_EXISTS),
  bits("geneve_oam", key.MISC_GENEVE_BITS, key.GENEVE_OAM, key.PRESENT_GENEVE),
  bits("geneve_opt_len", key.MISC_GENEVE_OPT_LEN, key.GENEVE_OPT_LEN, key.PRESENT_GENEVE),
  row("geneve_protocol_type", key.MISC_GENEVE_PROTOCOL, 16, key.PRESENT_GENEVE),
  row("bth_dst_qp", key.MISC_BTH_DST_QP, 24, key.PRESENT_BTH),
];

/** The origin of a frame (docs/rules.md, "The path of a frame"). */
const MISC_WAY = [
  bits("source_vhca_port", key.MISC_BITS, key.BITS_SOURCE_VHCA_PORT),
  row("source_sqn", key.MISC_SOURCE_SQN, 24),
  row("source_eswitch_owner_vhca_id", key.MISC_SOURCE_ESWITCH, 16),
  row("source_port", key.MISC_SOURCE_PORT, 16),
  bits("outer_emd_tag", key.MISC_TAGS2, key.TAGS2_OUTER_EMD),
];

const MISC2_OUTER = mpls("outer_first_mpls", key.MISC2_OUTER_MPLS, key.PRESENT_MPLS);
const MISC2_INNER = mpls("inner_first_mpls", key.MISC2_INNER_MPLS, key.PRESENT_MPLS);
const MISC2_TUNNEL = [
  ...mpls("outer_first_mpls_over_gre", key.MISC2_MPLS_OVER_GRE, key.PRESENT_MPLS_OVER_GRE),
  ...mpls("outer_first_mpls_over_udp", key.MISC2_MPLS_OVER_UDP, key.PRESENT_MPLS_OVER_UDP),
];

/** Metadata registers: C7 is the first. */
const MISC2_WAY = [
  ...numbered(TO_7, (n) => row(`metadata_reg_c_${n}`, key.MISC2_REGISTER_C_0 - 4 * n, 32)),
  row("metadata_reg_a", key.MISC2_REGISTER_A, 32),
];

const MISC3_OUTER = [
  row("outer_tcp_seq_num", key.MISC3_OUTER_SEQ, 32, key.PRESENT_TCP),
  row("outer_tcp_ack_num", key.MISC3_OUTER_ACK, 32, key.PRESENT_TCP),
  row("icmp_header_data", key.MISC3_ICMP_DATA, 32, key.PRESENT_ICMP),
  row("icmpv6_header_data", key.MISC3_ICMPV6_DATA, 32, key.PRESENT_ICMPV6),
  ...packed(key.MISC3_ICMP_TYPE, key.PRESENT_ICMP, ["icmp_type", 8], ["icmp_code", 8]),
  ...packed(key.MISC3_ICMPV6_TYPE, key.PRESENT_ICMPV6, ["icmpv6_type", 8], ["icmpv6_code", 8]),
];

const MISC3_INNER = [
  row("inner_tcp_seq_num", key.MISC3_INNER_SEQ, 32, key.PRESENT_TCP),
  row("inner_tcp_ack_num", key.MISC3_INNER_ACK, 32, key.PRESENT_TCP),
];

const MISC3_TUNNEL = [
  row("outer_vxlan_gpe_vni", key.MISC3_GPE_VNI, 24, key.PRESENT_VXLAN_GPE),
  row("outer_vxlan_gpe_next_protocol", key.MISC3_GPE_NEXT_PROTOCOL, 8, key.PRESENT_VXLAN_GPE),
  row("outer_vxlan_gpe_flags", key.MISC3_GPE_FLAGS, 8, key.PRESENT_VXLAN_GPE),
  row("geneve_tlv_option_0_data", key.MISC3_GENEVE_OPTION_0_DATA, 32, key.PRESENT_GENEVE_OPTION_0),
  row("gtpu_teid", key.MISC3_GTPU_TEID, 32, key.PRESENT_GTPU),
  row("gtpu_msg_type", key.MISC3_GTPU_MSG_TYPE, 8, key.PRESENT_GTPU),
  row("gtpu_msg_flags", key.MISC3_GTPU_MSG_FLAGS, 8, key.PRESENT_GTPU),
  row("gtpu_dw_2", key.MISC3_GTPU_DW_2, 32, key.PRESENT_GTPU_DW_2),
  row("gtpu_first_ext_dw_0", key.MISC3_GTPU_FIRST_EXT_DW_0, 32, key.PRESENT_GTPU_EXTENSION),
  row("gtpu_dw_0", key.MISC3_GTPU_DW_0, 32, key.PRESENT_GTPU),
];

/** In a key, sample n is at place n. Only device bytes have ids (samples.ts). */
const MISC4_TUNNEL = numbered(TO_7, (n) =>
  row(`prog_sample_field_value_${n}`, key.MISC4 + n * key.MISC4_SAMPLE_SIZE, 32, key.PRESENT_SAMPLE << n),
);
const MISC4_IDS = numbered(TO_7, (n) =>
  row(`prog_sample_field_id_${n}`, key.MISC4 + n * key.MISC4_SAMPLE_SIZE + key.MISC4_SAMPLE_ID, 32),
);

const MISC5_TUNNEL = [
  ...numbered(TO_3, (n) =>
    row(`macsec_tag_${n}`, key.MISC5_MACSEC_TAG + 4 * n, 32, n < 2 ? key.PRESENT_MACSEC : key.PRESENT_MACSEC_SCI),
  ),
  ...numbered(TO_3, (n) =>
    row(`tunnel_header_${n}`, key.MISC5_TUNNEL_HEADER + 4 * n, 32, key.PRESENT_TUNNEL_DWORD << n),
  ),
];

const EXT_OUTER = [
  row("outer_ipv4_flags", key.EXT_OUTER_IPV4_FLAGS, 3, key.PRESENT_IPV4),
  row("outer_esp_seq", key.EXT_OUTER_ESP_SEQ, 32, key.PRESENT_ESP),
  ...ports("outer_sctp", key.EXT_OUTER_SCTP_PORTS, key.PRESENT_SCTP),
];

const EXT_INNER = [
  row("inner_ipv4_flags", key.EXT_INNER_IPV4_FLAGS, 3, key.PRESENT_IPV4),
  row("inner_esp_seq", key.EXT_INNER_ESP_SEQ, 32, key.PRESENT_ESP),
  ...ports("inner_sctp", key.EXT_INNER_SCTP_PORTS, key.PRESENT_SCTP),
  ...mpls("inner_first_mpls_over_udp", key.EXT_INNER_MPLS_OVER_UDP, key.PRESENT_INNER_MPLS_OVER_UDP),
  ...mpls("inner_first_mpls_over_gre", key.EXT_INNER_MPLS_OVER_GRE, key.PRESENT_INNER_MPLS_OVER_GRE),
];

type Source = "frame" | "way" | "none";

/**
 * The fields of a group. `word` is the key byte of their presence word; bits of rows count from
 * byte `base`.
 */
function fields<G extends string, N extends string>(
  group: G,
  word: number,
  list: readonly Row<N>[],
  source: Source = "frame",
  base = 0,
): Field<`${G}.${N}`>[] {
  return list.map(({ name, bit, width, here, kind }) => ({
    name: `${group}.${name}`,
    bit: base * 8 + bit,
    width,
    kind,
    parts: partsOf(base * 8 + bit, width),
    here: here === 0 ? null : { word, bit: here },
    filled: source !== "none",
    ofWay: source === "way",
    version: kind === "ipv4" ? 4 : kind === "ipv6" ? 6 : 0,
  }));
}

/** Every field, in key order. */
const ALL = [
  ...fields("outer", key.EXT_PRESENT_OUTER, LAYER, "frame", key.OUTER),
  ...fields("misc", key.EXT_PRESENT_OUTER, MISC_OUTER),
  ...fields("misc", key.EXT_PRESENT_INNER, MISC_INNER),
  ...fields("misc", key.EXT_PRESENT_TUNNEL, MISC_TUNNEL),
  ...fields("misc", 0, MISC_WAY, "way"),
  ...fields("inner", key.EXT_PRESENT_INNER, LAYER, "frame", key.INNER),
  ...fields("misc2", key.EXT_PRESENT_OUTER, MISC2_OUTER),
  ...fields("misc2", key.EXT_PRESENT_INNER, MISC2_INNER),
  ...fields("misc2", key.EXT_PRESENT_TUNNEL, MISC2_TUNNEL),
  ...fields("misc2", 0, MISC2_WAY, "way"),
  ...fields("misc3", key.EXT_PRESENT_OUTER, MISC3_OUTER),
  ...fields("misc3", key.EXT_PRESENT_INNER, MISC3_INNER),
  ...fields("misc3", key.EXT_PRESENT_TUNNEL, MISC3_TUNNEL),
  ...fields("misc4", key.EXT_PRESENT_TUNNEL, MISC4_TUNNEL),
  ...fields("misc4", 0, MISC4_IDS, "none"),
  ...fields("misc5", key.EXT_PRESENT_TUNNEL, MISC5_TUNNEL),
  ...fields("ext", 0, [row("port", key.EXT_PORT, 16)]),
  ...fields("ext", 0, [row("direction", key.EXT_DIRECTION, 8)], "way"),
  ...fields("ext", key.EXT_PRESENT_OUTER, EXT_OUTER),
  ...fields("ext", key.EXT_PRESENT_INNER, EXT_INNER),
  ...fields("ext", key.EXT_PRESENT_TUNNEL, [row("gre_c_ks_res0_ver", key.EXT_GRE_FLAGS, 16, key.PRESENT_GRE)]),
].sort((a, b) => a.bit - b.bit || b.width - a.width);

/** The name of a field: `outer.tcp_dport`. */
export type FieldName = (typeof ALL)[number]["name"];

export const FIELDS: readonly Field<FieldName>[] = ALL;
