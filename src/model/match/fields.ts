/**
 * The fields of the key by name: where each lies, how people write it, and which header must be there.
 *
 * Names and places are those of the match-params table, with whole addresses; `ext.*` are ours. A masked field matches
 * only where its header is present (parsing rulings, Presence); `here` is null for the fields that are always present.
 */
import {
  EXT,
  EXT_GRE_FLAGS,
  EXT_HERE_INNER,
  EXT_HERE_OUTER,
  EXT_HERE_TUNNEL,
  EXT_INNER_ESP_SEQ,
  EXT_INNER_IPV4_FLAGS,
  EXT_INNER_MPLS_OVER_GRE,
  EXT_INNER_MPLS_OVER_UDP,
  EXT_INNER_SCTP_PORTS,
  EXT_OUTER_ESP_SEQ,
  EXT_OUTER_IPV4_FLAGS,
  EXT_OUTER_SCTP_PORTS,
  EXT_PORT,
  EXT_SIDE,
  GROUP_SIZE,
  HERE_BTH,
  HERE_ESP,
  HERE_ETH,
  HERE_ETHERTYPE,
  HERE_GENEVE,
  HERE_GENEVE_OPTION_0,
  HERE_GRE,
  HERE_GRE_KEY,
  HERE_GTPU,
  HERE_GTPU_DW_2,
  HERE_GTPU_EXTENSION,
  HERE_ICMP,
  HERE_ICMPV6,
  HERE_INNER_MPLS_OVER_GRE,
  HERE_INNER_MPLS_OVER_UDP,
  HERE_IPV4,
  HERE_IPV6,
  HERE_L3,
  HERE_MACSEC,
  HERE_MACSEC_SCI,
  HERE_MPLS,
  HERE_MPLS_OVER_GRE,
  HERE_MPLS_OVER_UDP,
  HERE_PROTOCOL,
  HERE_SAMPLE,
  HERE_SCTP,
  HERE_TCP,
  HERE_TUNNEL_DWORD,
  HERE_UDP,
  HERE_VLAN,
  HERE_VLAN2,
  HERE_VXLAN,
  HERE_VXLAN_GPE,
  INNER,
  MISC,
  MISC2,
  MISC3,
  MISC4,
  MISC5,
  OUTER,
} from "../../abi/key.js";
import { nearest } from "../../nearest.js";

/** How a field is written. */
export type FieldKind = "number" | "mac" | "ipv4" | "ipv6";

/** A header's presence bit: the key byte of its word, and the bit. */
export interface Presence {
  word: number;
  bit: number;
}

export interface Field {
  readonly name: string;
  /** First bit in the key, counted from the most significant bit of byte 0. */
  readonly bit: number;
  /** Bits. */
  readonly width: number;
  readonly kind: FieldKind;
  readonly here: Presence | null;
  /** Whether a frame's key ever holds it; ids of samples stand in device bytes alone. */
  readonly filled: boolean;
  /** It tells of the way of the frame: who brought it, what rules have noted. `parse` knows nothing of that. */
  readonly ofWay: boolean;
  /** IP version that the name implies: `ipv4_src` asks for IPv4. */
  readonly version: 0 | 4 | 6;
}

/** [name, first bit in the group, width, presence bit (0: always), kind] */
type Row = readonly [name: string, bit: number, width: number, here: number, kind?: FieldKind];

/** Groups outer and inner. */
const LAYER: readonly Row[] = [
  ["smac", 0, 48, HERE_ETH, "mac"],
  ["ethertype", 48, 16, HERE_ETHERTYPE],
  ["dmac", 64, 48, HERE_ETH, "mac"],
  ["first_prio", 112, 3, HERE_VLAN],
  ["first_cfi", 115, 1, HERE_VLAN],
  ["first_vid", 116, 12, HERE_VLAN],
  ["ip_protocol", 128, 8, HERE_PROTOCOL],
  ["ip_dscp", 136, 6, HERE_L3],
  ["ip_ecn", 142, 2, HERE_L3],
  ["cvlan_tag", 144, 1, 0],
  ["svlan_tag", 145, 1, 0],
  ["frag", 146, 1, 0],
  ["ip_version", 147, 4, HERE_L3],
  ["tcp_flags", 151, 9, HERE_TCP],
  ["tcp_sport", 160, 16, HERE_TCP],
  ["tcp_dport", 176, 16, HERE_TCP],
  ["ipv4_ihl", 208, 4, HERE_IPV4],
  ["l3_ok", 212, 1, 0],
  ["l4_ok", 213, 1, 0],
  ["ipv4_checksum_ok", 214, 1, 0],
  ["l4_checksum_ok", 215, 1, 0],
  ["ip_ttl_hoplimit", 216, 8, HERE_L3],
  ["udp_sport", 224, 16, HERE_UDP],
  ["udp_dport", 240, 16, HERE_UDP],
  ["ipv4_src", 352, 32, HERE_L3, "ipv4"],
  ["ipv4_dst", 480, 32, HERE_L3, "ipv4"],
  ["ipv6_src", 256, 128, HERE_IPV6, "ipv6"],
  ["ipv6_dst", 384, 128, HERE_IPV6, "ipv6"],
];

const MISC_OUTER: readonly Row[] = [
  ["outer_second_prio", 64, 3, HERE_VLAN2],
  ["outer_second_cfi", 67, 1, HERE_VLAN2],
  ["outer_second_vid", 68, 12, HERE_VLAN2],
  ["outer_second_cvlan_tag", 96, 1, 0],
  ["outer_second_svlan_tag", 98, 1, 0],
  ["outer_ipv6_flow_label", 236, 20, HERE_IPV6],
  ["outer_esp_spi", 384, 32, HERE_ESP],
];

const MISC_INNER: readonly Row[] = [
  ["inner_second_prio", 80, 3, HERE_VLAN2],
  ["inner_second_cfi", 83, 1, HERE_VLAN2],
  ["inner_second_vid", 84, 12, HERE_VLAN2],
  ["inner_second_cvlan_tag", 97, 1, 0],
  ["inner_second_svlan_tag", 99, 1, 0],
  ["inner_ipv6_flow_label", 268, 20, HERE_IPV6],
  ["inner_esp_spi", 352, 32, HERE_ESP],
];

const MISC_TUNNEL: readonly Row[] = [
  ["gre_c_present", 0, 1, 0],
  ["bth_a", 1, 1, HERE_BTH],
  ["gre_k_present", 2, 1, 0],
  ["gre_s_present", 3, 1, 0],
  ["gre_protocol", 112, 16, HERE_GRE],
  ["gre_key", 128, 32, HERE_GRE_KEY],
  ["vxlan_vni", 160, 24, HERE_VXLAN],
  ["bth_opcode", 184, 8, HERE_BTH],
  ["geneve_vni", 192, 24, HERE_GENEVE],
  ["geneve_tlv_option_0_exist", 222, 1, 0],
  ["geneve_oam", 223, 1, HERE_GENEVE],
  ["geneve_opt_len", 298, 6, HERE_GENEVE],
  ["geneve_protocol_type", 304, 16, HERE_GENEVE],
  ["bth_dst_qp", 328, 24, HERE_BTH],
];

/** Where a frame comes from (docs/rules.md, The way of a frame). */
const MISC_WAY: readonly Row[] = [
  ["source_vhca_port", 4, 4, 0],
  ["source_sqn", 8, 24, 0],
  ["source_eswitch_owner_vhca_id", 32, 16, 0],
  ["source_port", 48, 16, 0],
  ["outer_emd_tag", 100, 1, 0],
];

/** One MPLS entry: label 20, exp 3, s_bos 1, ttl 8. */
function mpls(name: string, bit: number, here: number): Row[] {
  return [
    [`${name}_label`, bit, 20, here],
    [`${name}_exp`, bit + 20, 3, here],
    [`${name}_s_bos`, bit + 23, 1, here],
    [`${name}_ttl`, bit + 24, 8, here],
  ];
}

const MISC2_OUTER = mpls("outer_first_mpls", 0, HERE_MPLS);
const MISC2_INNER = mpls("inner_first_mpls", 32, HERE_MPLS);
const MISC2_TUNNEL: readonly Row[] = [
  ...mpls("outer_first_mpls_over_gre", 64, HERE_MPLS_OVER_GRE),
  ...mpls("outer_first_mpls_over_udp", 96, HERE_MPLS_OVER_UDP),
];

/** Metadata registers. */
const MISC2_WAY: readonly Row[] = [
  ...[7, 6, 5, 4, 3, 2, 1, 0].map((n, i): Row => [`metadata_reg_c_${n}`, 128 + 32 * i, 32, 0]),
  ["metadata_reg_a", 384, 32, 0],
];

const MISC3_OUTER: readonly Row[] = [
  ["outer_tcp_seq_num", 32, 32, HERE_TCP],
  ["outer_tcp_ack_num", 96, 32, HERE_TCP],
  ["icmp_header_data", 192, 32, HERE_ICMP],
  ["icmpv6_header_data", 224, 32, HERE_ICMPV6],
  ["icmp_type", 256, 8, HERE_ICMP],
  ["icmp_code", 264, 8, HERE_ICMP],
  ["icmpv6_type", 272, 8, HERE_ICMPV6],
  ["icmpv6_code", 280, 8, HERE_ICMPV6],
];

const MISC3_INNER: readonly Row[] = [
  ["inner_tcp_seq_num", 0, 32, HERE_TCP],
  ["inner_tcp_ack_num", 64, 32, HERE_TCP],
];

const MISC3_TUNNEL: readonly Row[] = [
  ["outer_vxlan_gpe_vni", 136, 24, HERE_VXLAN_GPE],
  ["outer_vxlan_gpe_next_protocol", 160, 8, HERE_VXLAN_GPE],
  ["outer_vxlan_gpe_flags", 168, 8, HERE_VXLAN_GPE],
  ["geneve_tlv_option_0_data", 288, 32, HERE_GENEVE_OPTION_0],
  ["gtpu_teid", 320, 32, HERE_GTPU],
  ["gtpu_msg_type", 352, 8, HERE_GTPU],
  ["gtpu_msg_flags", 360, 8, HERE_GTPU],
  ["gtpu_dw_2", 384, 32, HERE_GTPU_DW_2],
  ["gtpu_first_ext_dw_0", 416, 32, HERE_GTPU_EXTENSION],
  ["gtpu_dw_0", 448, 32, HERE_GTPU],
];

const SAMPLES = [0, 1, 2, 3, 4, 5, 6, 7];
/** In a key, sample n lies at place n. Ids belong to device bytes only (samples.ts). */
const MISC4_TUNNEL = SAMPLES.map((n): Row => [`prog_sample_field_value_${n}`, 64 * n, 32, HERE_SAMPLE << n]);
const MISC4_IDS = SAMPLES.map((n): Row => [`prog_sample_field_id_${n}`, 64 * n + 32, 32, 0]);

const MISC5_TUNNEL: readonly Row[] = [
  ["macsec_tag_0", 0, 32, HERE_MACSEC],
  ["macsec_tag_1", 32, 32, HERE_MACSEC],
  ["macsec_tag_2", 64, 32, HERE_MACSEC_SCI],
  ["macsec_tag_3", 96, 32, HERE_MACSEC_SCI],
  ["tunnel_header_0", 128, 32, HERE_TUNNEL_DWORD],
  ["tunnel_header_1", 160, 32, HERE_TUNNEL_DWORD << 1],
  ["tunnel_header_2", 192, 32, HERE_TUNNEL_DWORD << 2],
  ["tunnel_header_3", 224, 32, HERE_TUNNEL_DWORD << 3],
];

type Source = "frame" | "way" | "none";

function rows(group: string, byte: number, word: number, list: readonly Row[], source: Source = "frame"): Field[] {
  return list.map(([name, bit, width, here, kind = "number"]) => ({
    name: `${group}.${name}`,
    bit: byte * 8 + bit,
    width,
    kind,
    here: here === 0 ? null : { word, bit: here },
    filled: source !== "none",
    ofWay: source === "way",
    version: kind === "ipv4" ? 4 : kind === "ipv6" ? 6 : 0,
  }));
}

const EXT_INNER: readonly Row[] = [
  ...mpls("inner_first_mpls_over_udp", (EXT_INNER_MPLS_OVER_UDP - EXT) * 8, HERE_INNER_MPLS_OVER_UDP),
  ...mpls("inner_first_mpls_over_gre", (EXT_INNER_MPLS_OVER_GRE - EXT) * 8, HERE_INNER_MPLS_OVER_GRE),
];

/** Rows of ext, placed by key byte. */
function extRows(
  word: number,
  list: readonly (readonly [name: string, byte: number, width: number, here: number])[],
  source?: Source,
): Field[] {
  const placed = list.map(([name, byte, width, here]): Row => [name, (byte - EXT) * 8, width, here]);
  return rows("ext", EXT, word, placed, source);
}

const EXT_FIELDS: readonly Field[] = [
  ...extRows(0, [["port", EXT_PORT, 16, 0]]),
  ...extRows(0, [["side", EXT_SIDE, 8, 0]], "way"),
  ...extRows(EXT_HERE_OUTER, [
    ["outer_ipv4_flags", EXT_OUTER_IPV4_FLAGS, 3, HERE_IPV4],
    ["outer_esp_seq", EXT_OUTER_ESP_SEQ, 32, HERE_ESP],
    ["outer_sctp_sport", EXT_OUTER_SCTP_PORTS, 16, HERE_SCTP],
    ["outer_sctp_dport", EXT_OUTER_SCTP_PORTS + 2, 16, HERE_SCTP],
  ]),
  ...extRows(EXT_HERE_INNER, [
    ["inner_ipv4_flags", EXT_INNER_IPV4_FLAGS, 3, HERE_IPV4],
    ["inner_esp_seq", EXT_INNER_ESP_SEQ, 32, HERE_ESP],
    ["inner_sctp_sport", EXT_INNER_SCTP_PORTS, 16, HERE_SCTP],
    ["inner_sctp_dport", EXT_INNER_SCTP_PORTS + 2, 16, HERE_SCTP],
  ]),
  ...rows("ext", EXT, EXT_HERE_INNER, EXT_INNER),
  ...extRows(EXT_HERE_TUNNEL, [["gre_c_ks_res0_ver", EXT_GRE_FLAGS, 16, HERE_GRE]]),
];

/** Every field, in the order of the key. */
export const FIELDS: readonly Field[] = [
  ...rows("outer", OUTER, EXT_HERE_OUTER, LAYER),
  ...rows("misc", MISC, EXT_HERE_OUTER, MISC_OUTER),
  ...rows("misc", MISC, EXT_HERE_INNER, MISC_INNER),
  ...rows("misc", MISC, EXT_HERE_TUNNEL, MISC_TUNNEL),
  ...rows("misc", MISC, 0, MISC_WAY, "way"),
  ...rows("inner", INNER, EXT_HERE_INNER, LAYER),
  ...rows("misc2", MISC2, EXT_HERE_OUTER, MISC2_OUTER),
  ...rows("misc2", MISC2, EXT_HERE_INNER, MISC2_INNER),
  ...rows("misc2", MISC2, EXT_HERE_TUNNEL, MISC2_TUNNEL),
  ...rows("misc2", MISC2, 0, MISC2_WAY, "way"),
  ...rows("misc3", MISC3, EXT_HERE_OUTER, MISC3_OUTER),
  ...rows("misc3", MISC3, EXT_HERE_INNER, MISC3_INNER),
  ...rows("misc3", MISC3, EXT_HERE_TUNNEL, MISC3_TUNNEL),
  ...rows("misc4", MISC4, EXT_HERE_TUNNEL, MISC4_TUNNEL),
  ...rows("misc4", MISC4, 0, MISC4_IDS, "none"),
  ...rows("misc5", MISC5, EXT_HERE_TUNNEL, MISC5_TUNNEL),
  ...EXT_FIELDS,
].sort((a, b) => a.bit - b.bit || b.width - a.width);

const BY_NAME: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [field.name, field]));

/** Those that begin in each group of the key, made when a mask first asks about it. No field reaches from one group into another. */
const OF_GROUP: (readonly Field[])[] = [];

/** The fields of a group of the key, in its order. */
export function fieldsOf(group: number): readonly Field[] {
  return (OF_GROUP[group] ??= FIELDS.filter(({ bit }) => Math.floor(bit / (GROUP_SIZE * 8)) === group));
}

/** The field of this name. */
export function fieldNamed(name: string): Field | undefined {
  return BY_NAME.get(name);
}

/** The names that a misspelt one may have meant, for hints. */
export function nearestFields(name: string): string[] {
  const bare = name.split(".").at(-1) ?? name;
  const names = FIELDS.filter((field) => field.filled).map((field) => field.name);
  const same = names.filter((known) => known.split(".")[1] === bare);
  if (same.length > 0) return same;
  const holding = names.filter((known) => known.includes(bare) && bare.length > 2);
  if (holding.length > 0 && holding.length < 6) return holding;
  const near = nearest(name, names);
  return near === undefined ? [] : [near];
}

/** The name of the field that holds a bit of the key, the narrowest one; the bit itself where it is reserved. */
export function fieldAtBit(bit: number): string {
  const holding = FIELDS.filter((field) => field.bit <= bit && bit < field.bit + field.width);
  return holding.sort((a, b) => a.width - b.width)[0]?.name ?? `bit ${bit} (reserved)`;
}

/** Reads a field of a key as a number; whole addresses as bigint. */
export function readField(key: Uint8Array, field: Field): bigint {
  let value = 0n;
  const first = field.bit >> 3;
  const end = (field.bit + field.width + 7) >> 3;
  for (let byte = first; byte < end; byte++) value = (value << 8n) | BigInt(key[byte] ?? 0);
  const below = end * 8 - (field.bit + field.width);
  return (value >> BigInt(below)) & ((1n << BigInt(field.width)) - 1n);
}

/** Writes a field of a key, leaving its neighbours. */
export function writeField(key: Uint8Array, field: Field, value: bigint): void {
  const first = field.bit >> 3;
  const end = (field.bit + field.width + 7) >> 3;
  const below = BigInt(end * 8 - (field.bit + field.width));
  let bits = value << below;
  let mask = ((1n << BigInt(field.width)) - 1n) << below;
  for (let byte = end - 1; byte >= first; byte--) {
    key[byte] = ((key[byte] ?? 0) & ~Number(mask & 0xffn)) | Number(bits & mask & 0xffn);
    bits >>= 8n;
    mask >>= 8n;
  }
}

/** Whether the header of a field is there, by the presence words of a parsed key. */
export function isPresent(key: Uint8Array, field: Field): boolean {
  if (field.here === null) return true;
  const { word, bit } = field.here;
  const bits =
    (((key[word] ?? 0) << 24) | ((key[word + 1] ?? 0) << 16) | ((key[word + 2] ?? 0) << 8) | (key[word + 3] ?? 0)) >>>
    0;
  if ((bits & bit) === 0) return false;
  if (field.version === 4) return (bits & HERE_IPV4) !== 0;
  return true;
}
