// Field names of every header in wire order, with the end of each in bytes: a parse stop is named
// after one. The part after the last field is "options".

type Layout = readonly (readonly [name: string, end: number])[];

const EXTENSION: Layout = [
  ["next_header", 1],
  ["length", 2],
];

const ICMP: Layout = [
  ["type", 1],
  ["code", 2],
  ["checksum", 4],
  ["header_data", 8],
];

export const LAYOUT: Readonly<Record<string, Layout>> = {
  ethernet: [
    ["dmac", 6],
    ["smac", 12],
    ["ethertype", 14],
  ],
  vlan: [
    ["tci", 2],
    ["ethertype", 4],
  ],
  arp: [
    ["hardware_type", 2],
    ["protocol_type", 4],
    ["lengths", 6],
    ["operation", 8],
  ],
  linux_cooked: [
    ["packet_type", 2],
    ["arphrd_type", 4],
    ["address_length", 6],
    ["address", 14],
    ["protocol", 16],
  ],
  linux_cooked_v2: [
    ["protocol", 2],
    ["reserved", 4],
    ["interface", 8],
    ["arphrd_type", 10],
    ["packet_type", 11],
    ["address_length", 12],
    ["address", 20],
  ],
  loopback: [["family", 4]],
  macsec: [
    ["tci_an", 1],
    ["short_length", 2],
    ["packet_number", 6],
    ["sci", 14],
  ],
  nsh: [
    ["version", 2],
    ["md_type", 3],
    ["next_protocol", 4],
    ["spi", 7],
    ["si", 8],
  ],
  mpls: [["entry", 4]],
  ip: [["ip_version", 1]],
  ipv4: [
    ["ip_version", 1],
    ["tos", 2],
    ["total_length", 4],
    ["identification", 6],
    ["fragment", 8],
    ["ip_ttl_hoplimit", 9],
    ["ip_protocol", 10],
    ["checksum", 12],
    ["ipv4_src", 16],
    ["ipv4_dst", 20],
  ],
  ipv6: [
    ["ip_version", 1],
    ["flow_label", 4],
    ["payload_length", 6],
    ["next_header", 7],
    ["ip_ttl_hoplimit", 8],
    ["ipv6_src", 24],
    ["ipv6_dst", 40],
  ],
  ipv6_hop_by_hop: EXTENSION,
  ipv6_routing: EXTENSION,
  ipv6_destination: EXTENSION,
  ipv6_fragment: [
    ["next_header", 1],
    ["reserved", 2],
    ["fragment_offset", 4],
    ["identification", 8],
  ],
  ah: [...EXTENSION, ["reserved", 4], ["spi", 8], ["sequence", 12]],
  tcp: [
    ["tcp_sport", 2],
    ["tcp_dport", 4],
    ["tcp_seq_num", 8],
    ["tcp_ack_num", 12],
    ["data_offset", 13],
    ["tcp_flags", 14],
    ["window", 16],
    ["checksum", 18],
    ["urgent_pointer", 20],
  ],
  udp: [
    ["udp_sport", 2],
    ["udp_dport", 4],
    ["length", 6],
    ["checksum", 8],
  ],
  sctp: [
    ["sctp_sport", 2],
    ["sctp_dport", 4],
    ["verification_tag", 8],
    ["checksum", 12],
  ],
  icmp: ICMP,
  icmpv6: ICMP,
  esp: [
    ["esp_spi", 4],
    ["esp_seq", 8],
  ],
  bth: [
    ["bth_opcode", 1],
    ["flags", 2],
    ["partition_key", 4],
    ["reserved", 5],
    ["bth_dst_qp", 8],
    ["bth_a", 9],
    ["packet_sequence_number", 12],
  ],
  gre: [
    ["flags", 2],
    ["gre_protocol", 4],
  ],
  vxlan: [
    ["flags", 4],
    ["vxlan_vni", 7],
    ["reserved", 8],
  ],
  vxlan_gpe: [
    ["flags", 1],
    ["reserved", 3],
    ["next_protocol", 4],
    ["vni", 7],
    ["reserved", 8],
  ],
  geneve: [
    ["geneve_opt_len", 1],
    ["geneve_oam", 2],
    ["geneve_protocol_type", 4],
    ["geneve_vni", 7],
    ["reserved", 8],
  ],
  gtpu: [
    ["gtpu_msg_flags", 1],
    ["gtpu_msg_type", 2],
    ["length", 4],
    ["gtpu_teid", 8],
    ["gtpu_dw_2", 12],
  ],
  gtpu_extension: [
    ["length", 1],
    ["content", 4],
  ],
};
