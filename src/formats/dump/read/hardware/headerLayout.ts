/**
 * The header layout of hardware steering: what the device knows of a frame, in words of 32 bits. Definers
 * choose words and bytes of it that the entries of a matcher hold. Facts of DPDK 25.11
 * (drivers/net/mlx5/hws/mlx5dr_definer.h) and of the public steering dump tool, in the notation of
 * `layouts.ts`; bit 0 is the most significant bit of the word.
 */
import { once } from "../../../../base/once.js";
import { runOf, type Run } from "../steps.js";

interface Row {
  /** The word of the outer packet, and of the inner one; of words that belong to no layer, one. */
  readonly words: readonly number[];
  readonly fields: string;
}

const ROWS: readonly Row[] = [
  { words: [0, 4], fields: "dmac[47:16]@0" },
  { words: [1, 5], fields: "dmac[15:0]@0 ethertype@16" },
  {
    words: [2, 6],
    fields:
      "frag@3 ip_version{4:11,6:10} ip_protocol{6:13,17:12} cvlan_tag@14 svlan_tag@15 first_prio@16 first_cfi@19 first_vid@20",
  },
  // Four bits: 1 is TCP, 2 is UDP; the device gives nothing the number of both upper bits.
  {
    words: [3, 7],
    fields:
      "ip_protocol{6:3,17:2,255:0+1} l3_ok@12 l4_ok@13 misc.~second_cvlan_tag@14 misc.~second_svlan_tag@15 misc.~second_prio@16 misc.~second_cfi@19 misc.~second_vid@20",
  },
  { words: [8, 10], fields: "smac[47:16]@0" },
  {
    words: [9, 11],
    fields: "smac[15:0]@0 ip_version{4:25,6:24} ip_protocol{6:27,17:26} cvlan_tag@28 svlan_tag@29 frag@30",
  },
  {
    words: [14, 19],
    fields: "ip_version@0 ipv4_ihl@4 ip_dscp@8 ip_ecn@14 ip_ttl_hoplimit@16 ip_protocol@24",
  },
  { words: [15, 20], fields: "ext.~ipv4_flags@16" },
  { words: [17, 22], fields: "misc.~ipv6_flow_label@12" },
  { words: [25, 27], fields: "l4_ok@4 l3_ok@5 frag@6 tcp_flags@7" },
  {
    words: [28],
    fields:
      "outer.ip_version{4:9,6:8} outer.ip_protocol{6:11,17:10} outer.cvlan_tag@12 outer.svlan_tag@13 misc.source_port@16",
  },
  { words: [29], fields: "misc.source_sqn@8" },
  { words: [30], fields: "misc.bth_opcode@0 misc.bth_dst_qp@8" },
  {
    words: [33],
    fields:
      "inner.ipv4_checksum_ok@0 inner.l4_checksum_ok@1 outer.ipv4_checksum_ok@2 outer.l4_checksum_ok@3 inner.l3_ok@4 inner.l4_ok@5 outer.l3_ok@6 outer.l4_ok@7",
  },
  { words: [64, 66], fields: "ipv4_src@0" },
  { words: [65, 67], fields: "ipv4_dst@0" },
  { words: [68, 72], fields: "ipv6_dst[127:96]@0" },
  { words: [69, 73], fields: "ipv6_dst[95:64]@0" },
  { words: [70, 74], fields: "ipv6_dst[63:32]@0" },
  { words: [71, 75], fields: "ipv6_dst[31:0]@0" },
  { words: [76, 80], fields: "ipv6_src[127:96]@0" },
  { words: [77, 81], fields: "ipv6_src[95:64]@0" },
  { words: [78, 82], fields: "ipv6_src[63:32]@0" },
  { words: [79, 83], fields: "ipv6_src[31:0]@0" },
  ...[0, 1, 2, 3].map((n) => ({ words: [97 + n], fields: `misc5.tunnel_header_${n}@0` })),
  {
    words: [101, 106],
    fields: "misc2.~first_mpls_label@0 misc2.~first_mpls_exp@20 misc2.~first_mpls_s_bos@23 misc2.~first_mpls_ttl@24",
  },
  { words: [120], fields: "misc.outer_esp_spi@0" },
  { words: [121], fields: "ext.outer_esp_seq@0" },
  { words: [124], fields: "misc2.metadata_reg_a@0" },
  ...[6, 7, 4, 5, 2, 3, 0, 1].map((n, place) => ({ words: [142 + place], fields: `misc2.metadata_reg_c_${n}@0` })),
  ...[0, 1, 2, 3].map((n) => ({ words: [162 + n], fields: `misc5.macsec_tag_${n}@0` })),
];

/** Words with the ports of TCP or UDP, of the outer and of the inner packet. */
export const PORTS: readonly number[] = [24, 26];
/** Words whose fields depend on the protocol of the packet. */
const BY_PROTOCOL: readonly { readonly word: number; readonly protocol: number; readonly fields: string }[] = [
  ...["outer", "inner"].flatMap((layer, inner) =>
    [
      { protocol: 6, name: "tcp" },
      { protocol: 17, name: "udp" },
    ].map(({ protocol, name }) => {
      return { word: 24 + 2 * inner, protocol, fields: `${layer}.${name}_sport@0 ${layer}.${name}_dport@16` };
    }),
  ),
  { word: 94, protocol: 6, fields: "misc3.outer_tcp_seq_num@0" },
  { word: 95, protocol: 6, fields: "misc3.outer_tcp_ack_num@0" },
  { word: 94, protocol: 1, fields: "misc3.icmp_type@0 misc3.icmp_code@8" },
  { word: 95, protocol: 1, fields: "misc3.icmp_header_data@0" },
  { word: 94, protocol: 58, fields: "misc3.icmpv6_type@0 misc3.icmpv6_code@8" },
  { word: 95, protocol: 58, fields: "misc3.icmpv6_header_data@0" },
];

const LAYOUT = once(() => {
  const all = new Map<number, readonly Run[]>();
  for (const { words, fields } of ROWS) {
    const layers = words.length === 2 ? (["outer", "inner"] as const) : [null];
    for (const [n, layer] of layers.entries()) {
      all.set(
        words[n] as number,
        fields.split(" ").map((token) => runOf(token, layer)),
      );
    }
  }
  return all;
});

const LAYOUT_BY_PROTOCOL = once(() => {
  const runs = BY_PROTOCOL.map(
    ({ word, protocol, fields }) =>
      [`${word} ${protocol}`, fields.split(" ").map((token) => runOf(token, null))] as const,
  );
  return new Map<string, readonly Run[]>(runs);
});

/** What a word holds; of frames of a protocol, where that matters. */
export function fieldsOf(word: number, protocol: number | undefined): readonly Run[] {
  return LAYOUT().get(word) ?? LAYOUT_BY_PROTOCOL().get(`${word} ${protocol ?? ""}`) ?? [];
}

/** Whether the fields of a word depend on the protocol. */
export function dependsOnProtocol(word: number): boolean {
  return BY_PROTOCOL.some((row) => row.word === word);
}

/** The field of a word of GTP-U, whose place the capabilities of the device say (4002). */
export const GTPU_WORDS = ["gtpu_dw_0", "gtpu_teid", "gtpu_dw_2", "gtpu_first_ext_dw_0"].map((name) =>
  once(() => [runOf(`misc3.${name}@0`, null)] as const),
);
