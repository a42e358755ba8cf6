// The fields that the reference parser knows, and how many bits each has (match-params table; whole addresses by the
// parsing rulings; `ext` is ours).

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
  [`misc3.${level}_tcp_seq_num`]: 32,
  [`misc3.${level}_tcp_ack_num`]: 32,
  [`ext.${level}_ipv4_flags`]: 3,
});

/** Field name -> width in bits. */
export const FIELD_WIDTHS: ReadonlyMap<string, number> = new Map([
  ...["outer", "inner"].flatMap((level) => [
    ...Object.entries(EACH_LEVEL).map(([name, width]): [string, number] => [`${level}.${name}`, width]),
    ...Object.entries(GROUPED(level)),
  ]),
  ["misc.vxlan_vni", 24],
  ["misc3.icmp_type", 8],
  ["misc3.icmp_code", 8],
  ["misc3.icmp_header_data", 32],
  ["misc3.icmpv6_type", 8],
  ["misc3.icmpv6_code", 8],
  ["misc3.icmpv6_header_data", 32],
  ["misc5.tunnel_header_0", 32],
  ["misc5.tunnel_header_1", 32],
  ["ext.port", 8],
]);
