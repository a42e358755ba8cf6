/**
 * Where steering entries hold match fields: the bits of an entry's tag by its lookup type, or by its
 * definer. Facts of rdma-core 65.0 (providers/mlx5/dr_ste_v0.c, dr_ste_v1.c).
 *
 *     outer.tcp_sport@64            the field begins at bit 64 of the tag; bit 0 is the most significant bit of byte 0
 *     outer.smac[47:16]@0           bits 47 to 16 of the field
 *     outer.tcp_flags@248+8         the 8 low bits of the field
 *     outer.ip_version{4:107,6:106} bit 107 is set for 4, bit 106 for 6
 *     misc.source_port@16!38        the function's gvmi; on the receive side bit 38 is set unless it is the wire
 *     A | B                         an entry holds the fields of A, or those of B
 *
 * Fields without a group belong to the layer that the list of types names; `~` is the layer's name,
 * as in `misc.~second_vid`.
 */
export interface TagLayout {
  /** Types whose fields have their full names. */
  readonly types?: readonly number[];
  readonly outer?: readonly number[];
  readonly inner?: readonly number[];
  readonly fields: string;
}

/** Of format 0: lookup types. */
export const LOOKUP_TYPES_0: readonly TagLayout[] = [
  { types: [0x05], fields: "misc.source_port@16!38 misc.source_sqn@40" },
  {
    outer: [0x06, 0x1b],
    inner: [0x07],
    fields:
      "dmac[47:16]@0 dmac[15:0]@32 ethertype@48 first_prio@76 first_cfi@79 cvlan_tag@80 svlan_tag@81 first_vid@84 frag@96 ip_version{4:101,6:100} misc.~second_prio@108 misc.~second_cfi@111 misc.~second_cvlan_tag@112 misc.~second_svlan_tag@113 misc.~second_vid@116",
  },
  {
    outer: [0x08, 0x1c],
    inner: [0x09],
    fields:
      "smac[47:16]@0 smac[15:0]@32 ethertype@48 first_prio@76 first_cfi@79 cvlan_tag@80 svlan_tag@81 first_vid@84 frag@96 ip_version{4:101,6:100} misc.~second_prio@108 misc.~second_cfi@111 misc.~second_cvlan_tag@112 misc.~second_svlan_tag@113 misc.~second_vid@116",
  },
  {
    inner: [0x0a],
    fields:
      "dmac[47:16]@0 dmac[15:0]@32 ethertype@48 misc.vxlan_vni@64 frag@96 ip_version{4:101,6:100} first_prio@104 first_cfi@107 cvlan_tag@112 svlan_tag@113 first_vid@116",
  },
  {
    outer: [0x0d, 0x1e],
    inner: [0x0e],
    fields: "ipv6_dst[127:96]@0 ipv6_dst[95:64]@32 ipv6_dst[63:32]@64 ipv6_dst[31:0]@96",
  },
  {
    outer: [0x0f, 0x1f],
    inner: [0x10],
    fields: "ipv6_src[127:96]@0 ipv6_src[95:64]@32 ipv6_src[63:32]@64 ipv6_src[31:0]@96",
  },
  {
    outer: [0x11, 0x20],
    inner: [0x12],
    fields:
      "ipv6_dst[31:0]@0 ipv6_src[31:0]@32 tcp_sport@64 udp_sport@64 tcp_dport@80 udp_dport@80 frag@96 ip_ecn@101 tcp_flags@103 ip_dscp@112 ip_protocol@120",
  },
  {
    outer: [0x13, 0x21],
    inner: [0x14],
    fields:
      "frag@0 ip_protocol@8 tcp_dport@16 udp_dport@16 ip_ecn@37 tcp_flags@39 tcp_sport@48 udp_sport@48 ip_ttl_hoplimit@80 ip_dscp@88 misc.~ipv6_flow_label@108",
  },
  {
    outer: [0x15, 0x25],
    inner: [0x24],
    fields: "misc2.~first_mpls_label@0 misc2.~first_mpls_exp@20 misc2.~first_mpls_s_bos@23 misc2.~first_mpls_ttl@24",
  },
  {
    types: [0x16],
    fields:
      "misc.gre_c_present@0 misc.gre_k_present@2 misc.gre_s_present@3 misc.gre_protocol@16 misc.gre_key[31:8]@64 misc.gre_key[7:0]@88",
  },
  { types: [0x18], fields: "misc2.metadata_reg_a@0" },
  {
    types: [0x19],
    fields:
      "misc3.outer_vxlan_gpe_flags@0 misc3.outer_vxlan_gpe_next_protocol@24 misc3.outer_vxlan_gpe_vni@32 | misc.geneve_opt_len@2 misc.geneve_oam@8 misc.geneve_protocol_type@16 misc.geneve_vni@32 | misc3.gtpu_msg_flags@0 misc3.gtpu_msg_type@8 misc3.gtpu_teid@32",
  },
  { outer: [0x29, 0x2b], inner: [0x2a], fields: "ipv4_ihl@4 ip_ttl_hoplimit@64" },
  { types: [0x2c, 0x2e], fields: "misc3.outer_tcp_seq_num@32 misc3.outer_tcp_ack_num@64" },
  { types: [0x2d], fields: "misc3.inner_tcp_seq_num@32 misc3.inner_tcp_ack_num@64" },
  {
    types: [0x2f],
    fields: "misc2.metadata_reg_c_0@0 misc2.metadata_reg_c_1@32 misc2.metadata_reg_c_2@64 misc2.metadata_reg_c_3@96",
  },
  {
    types: [0x30],
    fields: "misc2.metadata_reg_c_4@0 misc2.metadata_reg_c_5@32 misc2.metadata_reg_c_6@64 misc2.metadata_reg_c_7@96",
  },
  { types: [0x34], fields: "misc5.tunnel_header_0@0 misc5.tunnel_header_1@32" },
  {
    outer: [0x36, 0x38],
    inner: [0x37],
    fields:
      "dmac[47:16]@0 dmac[15:0]@32 smac[47:16]@48 smac[15:0]@80 ip_version{4:101,6:100} first_prio@108 first_cfi@111 cvlan_tag@112 svlan_tag@113 first_vid@116",
  },
];

/** Of format 1: lookup types. */
export const LOOKUP_TYPES_1: readonly TagLayout[] = [
  {
    inner: [0x0002],
    fields:
      "misc.vxlan_vni@0 dmac[47:16]@32 dmac[15:0]@64 ethertype@80 frag@99 ip_version{4:107,6:106} cvlan_tag@110 svlan_tag@111 first_prio@112 first_cfi@115 first_vid@116",
  },
  {
    outer: [0x0003],
    inner: [0x0004],
    fields:
      "frag@3 ip_version{4:11,6:10} cvlan_tag@14 svlan_tag@15 first_prio@16 first_cfi@19 first_vid@20 dmac[47:16]@32 dmac[15:0]@64 ethertype@80 misc.~second_cvlan_tag@110 misc.~second_svlan_tag@111 misc.~second_prio@112 misc.~second_cfi@115 misc.~second_vid@116",
  },
  {
    outer: [0x0005],
    inner: [0x0006],
    fields:
      "frag@3 ip_version{4:11,6:10} cvlan_tag@14 svlan_tag@15 first_prio@16 first_cfi@19 first_vid@20 smac[47:16]@32 smac[15:0]@64 ethertype@80 misc.~second_cvlan_tag@110 misc.~second_svlan_tag@111 misc.~second_prio@112 misc.~second_cfi@115 misc.~second_vid@116",
  },
  {
    outer: [0x0007],
    inner: [0x0008],
    fields:
      "ipv6_src[31:0]@0 ipv6_dst[31:0]@32 tcp_sport@64 udp_sport@64 tcp_dport@80 udp_dport@80 frag@102 tcp_flags@103 ip_dscp@112 ip_ecn@118 ip_protocol@120",
  },
  {
    outer: [0x0009],
    inner: [0x000a],
    fields:
      "ip_dscp@8 ip_ecn@14 ip_ttl_hoplimit@16 ip_protocol@24 tcp_sport@32 udp_sport@32 tcp_dport@48 udp_dport@48 misc.~ipv6_flow_label@76 frag@102 tcp_flags@103",
  },
  {
    outer: [0x000b],
    inner: [0x000c],
    fields:
      "dmac[47:16]@0 smac[47:16]@32 dmac[15:0]@64 ip_version{4:91,6:90} cvlan_tag@94 svlan_tag@95 first_prio@96 first_cfi@99 first_vid@100 smac[15:0]@112",
  },
  { outer: [0x000d], inner: [0x000f], fields: "ipv4_ihl@68 ip_ttl_hoplimit@72" },
  {
    types: [0x000e],
    fields:
      "misc3.outer_vxlan_gpe_flags@0 misc3.outer_vxlan_gpe_next_protocol@24 misc3.outer_vxlan_gpe_vni@32 | misc.geneve_opt_len@2 misc.geneve_oam@8 misc.geneve_protocol_type@16 misc.geneve_vni@32 | misc3.gtpu_msg_flags@0 misc3.gtpu_msg_type@8 misc3.gtpu_teid@32 | misc5.tunnel_header_0@0 misc5.tunnel_header_1@32",
  },
  { types: [0x0103], fields: "misc.bth_opcode@0 misc.bth_dst_qp@8 misc.bth_a@34" },
  { types: [0x0104], fields: "misc.source_port@16!15 misc.source_sqn@40" },
  {
    outer: [0x0107],
    inner: [0x0108],
    fields: "ipv6_dst[127:96]@0 ipv6_dst[95:64]@32 ipv6_dst[63:32]@64 ipv6_dst[31:0]@96",
  },
  {
    outer: [0x0109],
    inner: [0x010a],
    fields: "ipv6_src[127:96]@0 ipv6_src[95:64]@32 ipv6_src[63:32]@64 ipv6_src[31:0]@96",
  },
  {
    outer: [0x010b],
    inner: [0x010c],
    fields: "misc2.~first_mpls_label@32 misc2.~first_mpls_exp@52 misc2.~first_mpls_s_bos@55 misc2.~first_mpls_ttl@56",
  },
  {
    types: [0x010d],
    fields:
      "misc.gre_c_present@0 misc.gre_k_present@2 misc.gre_s_present@3 misc.gre_protocol@16 misc.gre_key[31:8]@64 misc.gre_key[7:0]@88",
  },
  { types: [0x010e], fields: "misc2.metadata_reg_a@0" },
  {
    types: [0x010f],
    fields: "misc2.metadata_reg_c_0@0 misc2.metadata_reg_c_1@32 misc2.metadata_reg_c_2@64 misc2.metadata_reg_c_3@96",
  },
  {
    types: [0x0110],
    fields: "misc2.metadata_reg_c_4@0 misc2.metadata_reg_c_5@32 misc2.metadata_reg_c_6@64 misc2.metadata_reg_c_7@96",
  },
  {
    types: [0x0113],
    fields:
      "misc3.outer_tcp_ack_num@32 misc3.outer_tcp_seq_num@64 | misc3.icmp_header_data@32 misc3.icmpv6_header_data@32 misc3.icmp_type@64 misc3.icmpv6_type@64 misc3.icmp_code@72 misc3.icmpv6_code@72 | misc3.inner_tcp_ack_num@32 misc3.inner_tcp_seq_num@64",
  },
  {
    types: [0x0117],
    fields: "misc5.tunnel_header_0@0 misc5.tunnel_header_1@32 misc5.tunnel_header_2@64 misc5.tunnel_header_3@96",
  },
];

/** Definers, whose tags have 256 bits. */
export const DEFINERS: readonly TagLayout[] = [
  {
    types: [0],
    fields:
      "misc2.metadata_reg_c_0@0 misc2.metadata_reg_c_1@32 outer.dmac[47:16]@64 outer.dmac[15:0]@96 outer.ethertype@112 outer.frag@131 outer.ip_version{4:139,6:138} outer.cvlan_tag@142 outer.svlan_tag@143 outer.first_prio@144 outer.first_cfi@147 outer.first_vid@148 outer.smac[47:16]@192 outer.smac[15:0]@224 inner.ipv4_checksum_ok@240 inner.l4_checksum_ok@241 outer.ipv4_checksum_ok@242 outer.l4_checksum_ok@243 inner.l3_ok@244 inner.l4_ok@245 outer.l3_ok@246 outer.l4_ok@247",
  },
  {
    types: [2],
    fields:
      "misc2.metadata_reg_a@0 outer.ip_version{4:33,6:33+34} outer.ipv4_ihl@36 outer.ip_dscp@40 outer.ip_ecn@46 outer.ip_ttl_hoplimit@48 outer.ip_protocol@56 outer.tcp_sport@192 outer.udp_sport@192 outer.tcp_dport@208 outer.udp_dport@208 outer.frag@230 outer.tcp_flags@231 inner.ipv4_checksum_ok@248 inner.l4_checksum_ok@249 outer.ipv4_checksum_ok@250 outer.l4_checksum_ok@251 inner.l3_ok@252 inner.l4_ok@253 outer.l3_ok@254 outer.l4_ok@255",
  },
  {
    types: [6],
    fields:
      "outer.ipv6_dst[127:96]@0 outer.ipv6_dst[95:64]@32 outer.ipv6_dst[63:32]@64 outer.ipv6_dst[31:0]@96 outer.tcp_sport@192 outer.udp_sport@192 outer.tcp_dport@208 outer.udp_dport@208 outer.l4_ok@228 outer.l3_ok@229 outer.frag@230 outer.tcp_flags@231",
  },
  {
    types: [16],
    fields:
      "misc5.tunnel_header_0@0 misc5.tunnel_header_1@32 misc5.tunnel_header_2@64 misc5.tunnel_header_3@96 misc2.metadata_reg_a@160 outer.ip_version{4:201,6:200} outer.cvlan_tag@204 outer.svlan_tag@205 misc.source_port@208 outer.frag@225 misc.source_sqn@232",
  },
  {
    types: [22],
    fields:
      "outer.ipv6_src[31:0]@0 outer.ipv6_dst[31:0]@32 outer.tcp_sport@64 outer.udp_sport@64 outer.tcp_dport@80 outer.udp_dport@80 outer.frag@99 outer.ip_version{4:107,6:106} outer.ip_protocol{6:109,17:108} outer.cvlan_tag@110 outer.svlan_tag@111 outer.first_prio@112 outer.first_cfi@115 outer.first_vid@116 misc2.metadata_reg_c_0@128 outer.dmac[47:16]@160 outer.smac[47:16]@192 outer.smac[15:0]@224 outer.dmac[15:0]@240",
  },
  {
    types: [24],
    fields:
      "misc2.metadata_reg_c_2@0 misc2.metadata_reg_c_3@32 misc2.metadata_reg_c_0@64 misc2.metadata_reg_c_1@96 outer.ipv6_src[31:0]@128 outer.ipv6_dst[31:0]@160 outer.tcp_sport@192 outer.udp_sport@192 outer.tcp_dport@208 outer.udp_dport@208 inner.ip_protocol@224 inner.ip_version{4:233,6:232} inner.cvlan_tag@236 inner.svlan_tag@237 inner.frag@238 outer.ip_protocol@240 outer.ip_version{4:249,6:248} outer.cvlan_tag@252 outer.svlan_tag@253 outer.frag@254",
  },
  {
    types: [25],
    fields:
      "inner.ipv6_src[31:0]@0 inner.ipv6_dst[31:0]@32 inner.tcp_sport@64 inner.udp_sport@64 inner.tcp_dport@80 inner.udp_dport@80 misc5.tunnel_header_0@96 misc5.tunnel_header_1@128 inner.ip_version{4:195,6:194} inner.ip_protocol{6:197,17:196} inner.cvlan_tag@198 inner.svlan_tag@199 outer.ip_version{4:203,6:202} outer.ip_protocol{6:205,17:204} outer.cvlan_tag@206 outer.svlan_tag@207 outer.tcp_dport@208 outer.udp_dport@208",
  },
  {
    types: [26],
    fields:
      "outer.ipv6_src[127:96]@0 outer.ipv6_src[95:64]@32 outer.ipv6_src[63:32]@64 outer.ipv6_src[31:0]@96 outer.frag@131 outer.ip_version{4:,6:138} outer.cvlan_tag@142 outer.svlan_tag@143 outer.first_prio@144 outer.first_cfi@147 outer.first_vid@148 outer.l3_ok@172 outer.l4_ok@173 misc.outer_second_cvlan_tag@174 misc.outer_second_svlan_tag@175 misc.outer_second_prio@176 misc.outer_second_cfi@179 misc.outer_second_vid@180 outer.smac[47:16]@192 outer.smac[15:0]@224 outer.ip_protocol@240 outer.tcp_flags@248+8",
  },
  {
    types: [28],
    fields:
      "inner.tcp_sport@0 inner.udp_sport@0 inner.tcp_dport@16 inner.udp_dport@16 misc3.gtpu_teid@32 inner.ipv6_src[31:0]@64 inner.ipv6_dst[31:0]@96 outer.ipv6_src[31:0]@128 outer.ipv6_dst[31:0]@160 outer.tcp_sport@192 outer.udp_sport@192 outer.tcp_dport@208 outer.udp_dport@208 inner.ip_protocol@224 inner.ip_version{4:233,6:232} inner.cvlan_tag@236 inner.svlan_tag@237 inner.frag@238 outer.ip_protocol@240 outer.ip_version{4:249,6:248} outer.cvlan_tag@252 outer.svlan_tag@253 outer.frag@254",
  },
  {
    types: [33],
    fields:
      "outer.ipv6_src[31:0]@0 outer.ipv6_dst[31:0]@32 outer.tcp_sport@64 outer.udp_sport@64 outer.tcp_dport@80 outer.udp_dport@80 outer.frag@99 outer.ip_version{4:107,6:106} outer.cvlan_tag@110 outer.svlan_tag@111 outer.first_prio@112 outer.first_cfi@115 outer.first_vid@116 outer.ipv4_ihl@228 inner.ipv4_checksum_ok@232 inner.l4_checksum_ok@233 outer.ipv4_checksum_ok@234 outer.l4_checksum_ok@235 inner.l3_ok@236 inner.l4_ok@237 outer.l3_ok@238 outer.l4_ok@239 outer.ip_ttl_hoplimit@240 outer.ip_protocol@248",
  },
];
