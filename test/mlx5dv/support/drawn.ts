/**
 * Fields of header changes, as drawn in IEEE 802.3, RFC 791, RFC 8200, RFC 9293, RFC 768 and 3GPP
 * TS 29.281.
 */

/** The header, width, and first bit in it; for `ip` the first bit in IPv4, then in IPv6. */
export type Drawn = readonly [header: string, width: number, bit: number, bit6?: number];

/** The name after OUT_ or IN_. */
const HEADERS: Readonly<Record<string, Drawn>> = {
  DMAC_47_16: ["ethernet", 32, 0],
  DMAC_15_0: ["ethernet", 16, 8 * 4],
  SMAC_47_16: ["ethernet", 32, 8 * 6],
  SMAC_15_0: ["ethernet", 16, 8 * 10],
  ETHERTYPE: ["ethertype", 16, 0],
  IP_DSCP: ["ip", 6, 8, 4],
  IP_TTL: ["ipv4", 8, 8 * 8],
  SIPV4: ["ipv4", 32, 8 * 12],
  DIPV4: ["ipv4", 32, 8 * 16],
  IPV6_HOPLIMIT: ["ipv6", 8, 8 * 7],
  SIPV6_127_96: ["ipv6", 32, 8 * 8],
  SIPV6_95_64: ["ipv6", 32, 8 * 12],
  SIPV6_63_32: ["ipv6", 32, 8 * 16],
  SIPV6_31_0: ["ipv6", 32, 8 * 20],
  DIPV6_127_96: ["ipv6", 32, 8 * 24],
  DIPV6_95_64: ["ipv6", 32, 8 * 28],
  DIPV6_63_32: ["ipv6", 32, 8 * 32],
  DIPV6_31_0: ["ipv6", 32, 8 * 36],
  TCP_SPORT: ["tcp", 16, 0],
  TCP_DPORT: ["tcp", 16, 8 * 2],
  TCP_SEQ_NUM: ["tcp", 32, 8 * 4],
  TCP_ACK_NUM: ["tcp", 32, 8 * 8],
  TCP_FLAGS: ["tcp", 9, 8 * 12 + 7],
  UDP_SPORT: ["udp", 16, 0],
  UDP_DPORT: ["udp", 16, 8 * 2],
};

/** Of the outer packet only. */
const OUTER: Readonly<Record<string, Drawn>> = {
  OUT_FIRST_VID: ["vlan", 16, 0],
  OUT_IP_ECN: ["ip", 2, 8 + 6, 4 + 6],
  GTPU_TEID: ["gtpu", 32, 8 * 4],
};

export const REGISTER_NAMES: readonly string[] = ["C_0", "C_1", "C_2", "C_3", "C_4", "C_5", "C_6", "C_7", "A", "B"].map(
  (name) => `METADATA_REG_${name}`,
);

/** Every field of a header, by name, and its level. */
export const DRAWN: ReadonlyMap<string, readonly [level: "outer" | "inner", drawn: Drawn]> = new Map<
  string,
  readonly ["outer" | "inner", Drawn]
>([
  ...Object.entries(HEADERS).map(([name, drawn]) => [`OUT_${name}`, ["outer", drawn]] as const),
  ...Object.entries(HEADERS).map(([name, drawn]) => [`IN_${name}`, ["inner", drawn]] as const),
  ...Object.entries(OUTER).map(([name, drawn]) => [name, ["outer", drawn]] as const),
]);
