/** Which bit of a header is which bit of the key: one table for constraints about repeated bits and for building frames. */
import { MISC5_TUNNEL_HEADER } from "../../abi/key.js";
import type { FieldName } from "../../model/match/fields.js";
import { layoutOf, type LaidOutHeader } from "../../packet/layout.js";
import { bits, type Level, type Term } from "./cells.js";

/** A header as the parser tells it apart: the second tag and each kind of first label have fields of their own. */
export type WireHeader = LaidOutHeader | "vlan2" | "mpls_over_gre" | "mpls_over_udp";

/** A field of the header, or its first bit, and the field of the key that it fills. */
type Row = readonly [wire: string | number, key: FieldName];

const label = (name: string): Row[] =>
  ["label", "exp", "s_bos", "ttl"].map((part) => [part, `${name}_${part}` as FieldName]);

const address = (level: Level): Readonly<Partial<Record<WireHeader, readonly Row[]>>> => ({
  ethernet: [["destination", `${level}.dmac`], ["source", `${level}.smac`]],
  vlan: [["pcp", `${level}.first_prio`], ["dei", `${level}.first_cfi`], ["vid", `${level}.first_vid`]],
  vlan2: [
    ["pcp", `misc.${level}_second_prio`],
    ["dei", `misc.${level}_second_cfi`],
    ["vid", `misc.${level}_second_vid`],
  ],
  mpls: label(`misc2.${level}_first_mpls`),
  ipv4: [
    ["ihl", `${level}.ipv4_ihl`],
    ["dscp", `${level}.ip_dscp`],
    ["ecn", `${level}.ip_ecn`],
    ["flags", `ext.${level}_ipv4_flags`],
    ["ttl", `${level}.ip_ttl_hoplimit`],
    ["protocol", `${level}.ip_protocol`],
    ["source", `${level}.ipv4_src`],
    ["destination", `${level}.ipv4_dst`],
  ],
  ipv6: [
    ["dscp", `${level}.ip_dscp`],
    ["ecn", `${level}.ip_ecn`],
    ["flow_label", `misc.${level}_ipv6_flow_label`],
    ["hop_limit", `${level}.ip_ttl_hoplimit`],
    ["source", `${level}.ipv6_src`],
    ["destination", `${level}.ipv6_dst`],
  ],
  tcp: [
    ["source_port", `${level}.tcp_sport`],
    ["destination_port", `${level}.tcp_dport`],
    ["sequence", `misc3.${level}_tcp_seq_num`],
    ["acknowledgement", `misc3.${level}_tcp_ack_num`],
    ["flags", `${level}.tcp_flags`],
  ],
  udp: [["source_port", `${level}.udp_sport`], ["destination_port", `${level}.udp_dport`]],
  sctp: [["source_port", `ext.${level}_sctp_sport`], ["destination_port", `ext.${level}_sctp_dport`]],
  esp: [["spi", `misc.${level}_esp_spi`], ["sequence", `ext.${level}_esp_seq`]],
}); // prettier-ignore

/** Headers with fields for the outer packet only. */
const OUTER_ONLY: Readonly<Partial<Record<WireHeader, readonly Row[]>>> = {
  icmp: [["type", "misc3.icmp_type"], ["code", "misc3.icmp_code"], [32, "misc3.icmp_header_data"]],
  icmpv6: [["type", "misc3.icmpv6_type"], ["code", "misc3.icmpv6_code"], [32, "misc3.icmpv6_header_data"]],
  bth: [["opcode", "misc.bth_opcode"], ["a", "misc.bth_a"], ["dst_qp", "misc.bth_dst_qp"]],
  macsec: [[16, "misc5.macsec_tag_1"], [48, "misc5.macsec_tag_2"], [80, "misc5.macsec_tag_3"]],
  vxlan: [["vni", "misc.vxlan_vni"]],
  vxlan_gpe: [
    ["flags", "misc3.outer_vxlan_gpe_flags"],
    ["next_protocol", "misc3.outer_vxlan_gpe_next_protocol"],
    ["vni", "misc3.outer_vxlan_gpe_vni"],
  ],
  geneve: [
    ["opt_len", "misc.geneve_opt_len"],
    ["oam", "misc.geneve_oam"],
    ["protocol_type", "misc.geneve_protocol_type"],
    ["vni", "misc.geneve_vni"],
  ],
  gtpu: [[0, "misc3.gtpu_dw_0"], [32, "misc3.gtpu_teid"], [64, "misc3.gtpu_dw_2"]],
  gtpu_extension: [[0, "misc3.gtpu_first_ext_dw_0"]],
  gre: [[0, "ext.gre_c_ks_res0_ver"], [16, "misc.gre_protocol"]],
  mpls_over_gre: label("misc2.outer_first_mpls_over_gre"),
  mpls_over_udp: label("misc2.outer_first_mpls_over_udp"),
}; // prettier-ignore

/** Labels of a tunnel inside the inner packet. */
const INNER_ONLY: Readonly<Partial<Record<WireHeader, readonly Row[]>>> = {
  mpls_over_gre: label("ext.inner_first_mpls_over_gre"),
  mpls_over_udp: label("ext.inner_first_mpls_over_udp"),
};

/** The layout of a header on the wire. */
export function layoutHeader(header: WireHeader): LaidOutHeader {
  if (header === "vlan2") return "vlan";
  return header === "mpls_over_gre" || header === "mpls_over_udp" ? "mpls" : header;
}

/** The first bit of a field in its header; all fields before it have a fixed width. */
export function wireBit(header: WireHeader, name: string): number {
  let at = 0;
  for (const [one, width] of layoutOf(layoutHeader(header))) {
    if (one === name) return at;
    at += typeof width === "number" ? width : 0;
  }
  throw new Error(`${header} has no ${name}`);
}

/** Terms of the key by bit of the header. */
export type WireBits = ReadonlyMap<number, Term>;

function wireBits(rows: Readonly<Partial<Record<WireHeader, readonly Row[]>>>): ReadonlyMap<WireHeader, WireBits> {
  const headers = Object.entries(rows) as [WireHeader, readonly Row[]][];
  return new Map(
    headers.map(([header, list]) => {
      const map = new Map<number, Term>();
      for (const [wire, key] of list) {
        const first = typeof wire === "number" ? wire : wireBit(header, wire);
        for (const [i, term] of bits(key).entries()) map.set(first + i, term);
      }
      if (header === "macsec") for (const [i, term] of bits("misc5.macsec_tag_0").slice(16).entries()) map.set(i, term);
      return [header, map];
    }),
  );
}

const BY_LEVEL = {
  outer: wireBits({ ...address("outer"), ...OUTER_ONLY }),
  inner: wireBits({ ...address("inner"), ...INNER_ONLY }),
};

/** Terms of the key that are bits of a header, by bit of the header. */
export function wireOf(level: Level, header: WireHeader): WireBits {
  return BY_LEVEL[level].get(header) ?? new Map<number, Term>();
}

/** A term of `misc5.tunnel_header_*`: a bit of the tunnel's header. */
export function tunnelBit(bit: number): Term {
  return MISC5_TUNNEL_HEADER * 8 + bit + 1;
}

export function tunnelBits(from: number, count: number): Term[] {
  return Array.from({ length: count }, (_, i) => tunnelBit(from + i));
}
