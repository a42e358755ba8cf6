/** Match fields as fields of testpmd's items; `{}` is outer or inner. */
export interface ItemField {
  readonly match: string;
  readonly bits: number;
  /** The lowest bit of the match field, where the item has a part of it. */
  readonly from?: number;
  readonly kind?: "mac" | "ipv4" | "ipv6" | "hex";
}

const number = (match: string, bits: number, from = 0): ItemField => ({ match, bits, from });
const ports = (match: string): Readonly<Record<string, ItemField>> => ({
  src: number(`${match}_sport`, 16),
  dst: number(`${match}_dport`, 16),
});

/** The fields of each item that are bits of one match field. */
export const ITEMS: Readonly<Record<string, Readonly<Record<string, ItemField>>>> = {
  eth: {
    dst: { match: "{}.dmac", bits: 48, kind: "mac" },
    src: { match: "{}.smac", bits: 48, kind: "mac" },
  },
  vlan: {
    pcp: number("{}.first_prio", 3),
    dei: number("{}.first_cfi", 1),
    vid: number("{}.first_vid", 12),
  },
  "second vlan": {
    pcp: number("misc.{}_second_prio", 3),
    dei: number("misc.{}_second_cfi", 1),
    vid: number("misc.{}_second_vid", 12),
  },
  mpls: mpls("misc2.{}_first_mpls"),
  "mpls over udp": mpls("misc2.{}_first_mpls_over_udp"),
  "mpls over gre": mpls("misc2.{}_first_mpls_over_gre"),
  ipv4: {
    version_ihl: number("{}.ipv4_ihl", 4),
    ttl: number("{}.ip_ttl_hoplimit", 8),
    proto: number("{}.ip_protocol", 8),
    src: { match: "{}.ipv4_src", bits: 32, kind: "ipv4" },
    dst: { match: "{}.ipv4_dst", bits: 32, kind: "ipv4" },
  },
  ipv6: {
    flow: number("misc.{}_ipv6_flow_label", 20),
    hop: number("{}.ip_ttl_hoplimit", 8),
    proto: number("{}.ip_protocol", 8),
    src: { match: "{}.ipv6_src", bits: 128, kind: "ipv6" },
    dst: { match: "{}.ipv6_dst", bits: 128, kind: "ipv6" },
  },
  icmp: {
    type: number("misc3.icmp_type", 8),
    code: number("misc3.icmp_code", 8),
    ident: number("misc3.icmp_header_data", 16, 16),
    seq: number("misc3.icmp_header_data", 16),
  },
  icmp6: { type: number("misc3.icmpv6_type", 8), code: number("misc3.icmpv6_code", 8) },
  tcp: { ...ports("{}.tcp"), flags: number("{}.tcp_flags", 8) },
  udp: ports("{}.udp"),
  sctp: { src: number("ext.{}_sctp_sport", 16), dst: number("ext.{}_sctp_dport", 16) },
  esp: { spi: number("misc.{}_esp_spi", 32) },
  vxlan: { vni: number("misc.vxlan_vni", 24) },
  "vxlan-gpe": { vni: number("misc3.outer_vxlan_gpe_vni", 24) },
  gre: {
    protocol: number("misc.gre_protocol", 16),
    c_rsvd0_ver: number("ext.gre_c_ks_res0_ver", 16),
    c_bit: number("misc.gre_c_present", 1),
    k_bit: number("misc.gre_k_present", 1),
    s_bit: number("misc.gre_s_present", 1),
  },
  gre_key: { value: number("misc.gre_key", 32) },
  geneve: {
    vni: number("misc.geneve_vni", 24),
    protocol: number("misc.geneve_protocol_type", 16),
    optlen: number("misc.geneve_opt_len", 6),
  },
  gtpu: {
    v_pt_rsv_flags: number("misc3.gtpu_msg_flags", 8),
    msg_type: number("misc3.gtpu_msg_type", 8),
    teid: number("misc3.gtpu_teid", 32),
  },
};

function mpls(match: string): Readonly<Record<string, ItemField>> {
  return { label: number(`${match}_label`, 20), tc: number(`${match}_exp`, 3), s: number(`${match}_s_bos`, 1) };
}

/** The tunnels that a pattern can have, and the item before each. */
export const TUNNELS = ["vxlan", "vxlan-gpe", "gre", "geneve", "gtpu"] as const;
export const UPPER = ["tcp", "udp", "sctp", "icmp", "icmp6", "esp"] as const;

/** Fields of modify_field, by the names of fields of header changes. */
export const CHANGES: Readonly<Record<string, { readonly name: string; readonly bits: number; readonly level?: 2 }>> = {
  ...changes("outer"),
  ...changes("inner", 2),
  "outer.first_vid": { name: "vlan_id", bits: 12 },
  "misc3.gtpu_teid": { name: "gtp_teid", bits: 32 },
  "misc3.outer_tcp_seq_num": { name: "tcp_seq_num", bits: 32 },
  "misc3.outer_tcp_ack_num": { name: "tcp_ack_num", bits: 32 },
  "misc3.inner_tcp_seq_num": { name: "tcp_seq_num", bits: 32, level: 2 },
  "misc3.inner_tcp_ack_num": { name: "tcp_ack_num", bits: 32, level: 2 },
};

function changes(side: string, level?: 2): Record<string, { name: string; bits: number; level?: 2 }> {
  const names: Record<string, readonly [name: string, bits: number]> = {
    dmac: ["mac_dst", 48],
    smac: ["mac_src", 48],
    ethertype: ["mac_type", 16],
    ipv4_src: ["ipv4_src", 32],
    ipv4_dst: ["ipv4_dst", 32],
    ipv6_src: ["ipv6_src", 128],
    ipv6_dst: ["ipv6_dst", 128],
    tcp_sport: ["tcp_port_src", 16],
    tcp_dport: ["tcp_port_dst", 16],
    tcp_flags: ["tcp_flags", 9],
    udp_sport: ["udp_port_src", 16],
    udp_dport: ["udp_port_dst", 16],
  };
  return Object.fromEntries(
    Object.entries(names).map(([field, [name, bits]]) => [
      `${side}.${field}`,
      { name, bits, ...(level === undefined ? {} : { level }) },
    ]),
  );
}

/** Those that have other names in IPv4 and IPv6. */
export const IP_CHANGES: Readonly<Record<string, { readonly 4: string; readonly 6: string; readonly bits: number }>> = {
  ip_ttl_hoplimit: { 4: "ipv4_ttl", 6: "ipv6_hoplimit", bits: 8 },
  ip_dscp: { 4: "ipv4_dscp", 6: "ipv6_dscp", bits: 6 },
};
