// The fields of the reference parser, with their widths in bits (test/vectors/match-params.json,
// with complete addresses; `ext` is ours).

const EACH_LEVEL: Record<string, number> = {
  smac: 48,
  dmac: 48,
  ethertype: 16,
  first_prio: 3,
  first_cfi: 1,
  first_vid: 12,
  cvlan_tag: 1,
  svlan_tag: 1,
  ip_version: 4,
  ipv4_ihl: 4,
  ip_dscp: 6,
  ip_ecn: 2,
  ip_ttl_hoplimit: 8,
  ip_protocol: 8,
  frag: 1,
  l3_ok: 1,
  l4_ok: 1,
  ipv4_checksum_ok: 1,
  l4_checksum_ok: 1,
  ipv4_src: 32,
  ipv4_dst: 32,
  ipv6_src: 128,
  ipv6_dst: 128,
  tcp_sport: 16,
  tcp_dport: 16,
  tcp_flags: 9,
  udp_sport: 16,
  udp_dport: 16,
};

const GROUPED = (level: string): Record<string, number> => ({
  [`misc.${level}_second_prio`]: 3,
  [`misc.${level}_second_cfi`]: 1,
  [`misc.${level}_second_vid`]: 12,
  [`misc.${level}_second_cvlan_tag`]: 1,
  [`misc.${level}_second_svlan_tag`]: 1,
  [`misc.${level}_ipv6_flow_label`]: 20,
  [`misc.${level}_esp_spi`]: 32,
  [`misc3.${level}_tcp_seq_num`]: 32,
  [`misc3.${level}_tcp_ack_num`]: 32,
  [`ext.${level}_ipv4_flags`]: 3,
  [`ext.${level}_esp_seq`]: 32,
  [`ext.${level}_sctp_sport`]: 16,
  [`ext.${level}_sctp_dport`]: 16,
});

const MPLS = (name: string): Record<string, number> => ({
  [`${name}_label`]: 20,
  [`${name}_exp`]: 3,
  [`${name}_s_bos`]: 1,
  [`${name}_ttl`]: 8,
});

const MISC: Record<string, number> = {
  gre_c_present: 1,
  gre_k_present: 1,
  gre_s_present: 1,
  gre_protocol: 16,
  gre_key: 32,
  vxlan_vni: 24,
  bth_a: 1,
  bth_opcode: 8,
  bth_dst_qp: 24,
  geneve_vni: 24,
  geneve_oam: 1,
  geneve_opt_len: 6,
  geneve_protocol_type: 16,
  geneve_tlv_option_0_exist: 1,
};

const MISC3: Record<string, number> = {
  outer_vxlan_gpe_vni: 24,
  outer_vxlan_gpe_next_protocol: 8,
  outer_vxlan_gpe_flags: 8,
  icmp_type: 8,
  icmp_code: 8,
  icmp_header_data: 32,
  icmpv6_type: 8,
  icmpv6_code: 8,
  icmpv6_header_data: 32,
  geneve_tlv_option_0_data: 32,
  gtpu_teid: 32,
  gtpu_msg_type: 8,
  gtpu_msg_flags: 8,
  gtpu_dw_0: 32,
  gtpu_dw_2: 32,
  gtpu_first_ext_dw_0: 32,
};

const group = (name: string, fields: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(fields).map(([field, width]) => [`${name}.${field}`, width]));

const numbered = (name: string, count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}_${n}`, 32]));

/** Field name -> width in bits. */
export const FIELD_WIDTHS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    ...group("outer", EACH_LEVEL),
    ...GROUPED("outer"),
    ...group("inner", EACH_LEVEL),
    ...GROUPED("inner"),
    ...group("misc", MISC),
    ...MPLS("misc2.outer_first_mpls"),
    ...MPLS("misc2.inner_first_mpls"),
    ...MPLS("misc2.outer_first_mpls_over_gre"),
    ...MPLS("misc2.outer_first_mpls_over_udp"),
    ...MPLS("ext.inner_first_mpls_over_gre"),
    ...MPLS("ext.inner_first_mpls_over_udp"),
    ...group("misc3", MISC3),
    ...numbered("misc4.prog_sample_field_value", 8),
    ...numbered("misc5.macsec_tag", 4),
    ...numbered("misc5.tunnel_header", 4),
    "ext.port": 8,
    "ext.gre_c_ks_res0_ver": 16,
  }),
);
