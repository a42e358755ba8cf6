/** Fields of flower filters and of pedit, and the fields of the device that they are. */

/** How a value is written: `whole` without a mask, `byte` in tc's own reading of a TOS or a TTL. */
type ValueKind = "mac" | "byte" | "masked" | "whole";

export interface FlowerKey {
  /** `{}` is outer or inner. */
  readonly field: string;
  readonly value: ValueKind;
  /** What a value is, in messages. */
  readonly what: string;
}

const of = (field: string, value: ValueKind, what: string): FlowerKey => ({ field, value, what });

/** Keys that are one match field. */
export const FLOWER_KEYS = {
  dst_mac: of("{}.dmac", "mac", ""),
  src_mac: of("{}.smac", "mac", ""),
  vlan_id: of("{}.first_vid", "whole", "a VLAN"),
  vlan_prio: of("{}.first_prio", "whole", "a VLAN priority"),
  cvlan_id: of("misc.{}_second_vid", "whole", "a VLAN"),
  cvlan_prio: of("misc.{}_second_prio", "whole", "a priority"),
  mpls_label: of("misc2.{}_first_mpls_label", "whole", "mpls_label"),
  mpls_tc: of("misc2.{}_first_mpls_exp", "whole", "mpls_exp"),
  mpls_bos: of("misc2.{}_first_mpls_s_bos", "whole", "mpls_s_bos"),
  mpls_ttl: of("misc2.{}_first_mpls_ttl", "whole", "mpls_ttl"),
  ip_ttl: of("{}.ip_ttl_hoplimit", "byte", "ip_ttl"),
  spi: of("misc.{}_esp_spi", "masked", "spi"),
} as const satisfies Readonly<Record<string, FlowerKey>>;

/** The fields of `src_port` and `dst_port`, by IP protocol and without their ends. */
export const PORT_FIELDS: Readonly<Record<number, string>> = { 6: "{}.tcp", 17: "{}.udp", 132: "ext.{}_sctp" };
/** Those of `type` and `code`. */
export const ICMP_FIELDS: Readonly<Record<number, string>> = { 1: "misc3.icmp", 58: "misc3.icmpv6" };

export const ETHERTYPES: Readonly<Record<string, number>> = {
  ip: 0x0800,
  ipv4: 0x0800,
  ipv6: 0x86dd,
  ip6: 0x86dd,
  arp: 0x0806,
  rarp: 0x8035,
  "802.1q": 0x8100,
  "802.1ad": 0x88a8,
  mpls_uc: 0x8847,
  mpls_mc: 0x8848,
  lldp: 0x88cc,
  teb: 0x6558,
  ppp_disc: 0x8863,
  ppp_ses: 0x8864,
  loop: 0x0060,
  pae: 0x888e,
  ptp: 0x88f7,
};

export const IP_PROTOCOLS: Readonly<Record<string, number>> = {
  tcp: 6,
  udp: 17,
  sctp: 132,
  icmp: 1,
  icmpv6: 58,
  l2tp: 115,
  vrrp: 112,
};

export type PeditHeader = "eth" | "ip" | "ip6" | "tcp" | "udp";

type Place = readonly [field: string, at: number, width: number];

/** Fields of the device in each header: first bit and width. */
export const PEDIT_FIELDS: Readonly<Record<PeditHeader, readonly Place[]>> = {
  eth: [
    ["dmac", 0, 48],
    ["smac", 48, 48],
    ["ethertype", 96, 16],
  ],
  ip: [
    ["ip_dscp", 8, 6],
    ["ip_ecn", 14, 2],
    ["ip_ttl_hoplimit", 64, 8],
    ["ipv4_src", 96, 32],
    ["ipv4_dst", 128, 32],
  ],
  ip6: [
    ["ip_dscp", 4, 6],
    ["ip_ecn", 10, 2],
    ["ip_ttl_hoplimit", 56, 8],
    ["ipv6_src", 64, 128],
    ["ipv6_dst", 192, 128],
  ],
  tcp: [
    ["tcp_sport", 0, 16],
    ["tcp_dport", 16, 16],
    ["tcp_flags", 103, 9],
  ],
  udp: [
    ["udp_sport", 0, 16],
    ["udp_dport", 16, 16],
  ],
};

type Named = readonly [at: number, width: number] | readonly [at: number, width: number, kind: "mac" | "ipv4" | "ipv6"];

/** Names of tc: first bit, width, and what a value is. */
export const PEDIT_NAMES: Readonly<Record<PeditHeader, Readonly<Record<string, Named>>>> = {
  eth: { dst: [0, 48, "mac"], src: [48, 48, "mac"], type: [96, 16] },
  ip: { tos: [8, 8], dsfield: [8, 8], ttl: [64, 8], protocol: [72, 8], src: [96, 32, "ipv4"], dst: [128, 32, "ipv4"] },
  ip6: {
    traffic_class: [4, 8],
    payload_len: [32, 16],
    nexthdr: [48, 8],
    hoplimit: [56, 8],
    src: [64, 128, "ipv6"],
    dst: [192, 128, "ipv6"],
  },
  tcp: { sport: [0, 16], dport: [16, 16], flags: [104, 8] },
  udp: { sport: [0, 16], dport: [16, 16] },
};

/** Names of pedit that hold a field of the outer packet, each with the bits of the name after the field. */
export function mungesOf(field: string): { header: PeditHeader; name: string; shift: number; isPart: boolean }[] {
  return (Object.keys(PEDIT_FIELDS) as PeditHeader[]).flatMap((header) => {
    const [, at = 0, width = 0] = PEDIT_FIELDS[header].find(([one]) => `outer.${one}` === field) ?? [];
    const found = Object.entries(PEDIT_NAMES[header]).findLast(
      ([, [start, size]]) => width > 0 && start <= at && at + width <= start + size,
    );
    if (found === undefined) return [];
    const [name, [start, size]] = found;
    return [{ header, name, shift: start + size - at - width, isPart: size !== width }];
  });
}
