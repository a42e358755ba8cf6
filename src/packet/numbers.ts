/** Numbers by which one header tells what follows it: the parser's, and names of others for people to read. */
import type { HeaderName } from "./parsedFrame.js";

/** What a header can be followed by, and the number that says so. */
export type Carried = Readonly<Partial<Record<HeaderName, number>>>;

/** EtherTypes (IEEE 802, "ethertype" registry). */
export const ETHERTYPES: Carried = {
  ipv4: 0x0800,
  arp: 0x0806,
  vlan: 0x8100,
  ipv6: 0x86dd,
  mpls: 0x8847,
  macsec: 0x88e5,
};
/** IEEE 802.1Q clause 9.5: the TPID of a service tag. */
export const SERVICE_TAG = 0x88a8;
/** IEEE 802 clause 9.2.3: local experiments; what a payload of no known kind is announced by. */
export const ETHERTYPE_EXPERIMENTAL = 0x88b5;

/** Protocol types of GRE (RFC 2784, RFC 7637, RFC 4023) and Geneve (RFC 8926 section 3.4). */
export const TUNNEL_ETHERTYPES: Carried = { ipv4: 0x0800, ipv6: 0x86dd, ethernet: 0x6558 };

/** IP protocols and IPv6 next headers (IANA "protocol-numbers"). */
export const PROTOCOLS: Carried = {
  ipv6_hop_by_hop: 0,
  icmp: 1,
  ipv4: 4,
  tcp: 6,
  udp: 17,
  ipv6: 41,
  ipv6_routing: 43,
  ipv6_fragment: 44,
  gre: 47,
  esp: 50,
  ah: 51,
  icmpv6: 58,
  ipv6_destination: 60,
  sctp: 132,
};
export const NO_NEXT_HEADER = 59;
/** RFC 3692: experiments. */
export const PROTOCOL_EXPERIMENTAL = 253;

/** UDP destination ports. */
export const UDP_PORTS: Carried = {
  gtpu: 2152,
  esp: 4500,
  vxlan: 4789,
  vxlan_gpe: 4790,
  bth: 4791,
  geneve: 6081,
  mpls: 6635,
};

/** Next protocols of VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe). */
export const GPE_PROTOCOLS: Carried = { ipv4: 1, ipv6: 2, ethernet: 3 };

/** Address families of BSD null and loop headers; IPv6 has four, this one is NetBSD's and OpenBSD's. */
export const FAMILIES: Carried = { ipv4: 2, ipv6: 24 };

/** A GTP-U extension header's type stands in the header before it; this is the PDU session container (TS 29.281). */
export const GTPU_EXTENSIONS: Carried = { gtpu_extension: 0x85 };

/** Names of numbers, for people. */
export type Names = Readonly<Record<number, string>>;

function names(carried: Carried, others: Names = {}): Names {
  return { ...Object.fromEntries(Object.entries(carried).map(([name, number]) => [number, name])), ...others };
}

export const ETHERTYPE_NAMES: Names = names(ETHERTYPES, {
  0x6558: "ethernet",
  0x8035: "rarp",
  0x8100: "vlan",
  0x8808: "pause",
  0x8809: "slow protocols",
  0x880b: "ppp",
  0x8848: "mpls, upstream label",
  0x8863: "pppoe discovery",
  0x8864: "pppoe session",
  0x888e: "802.1x",
  0x88a8: "vlan, service tag",
  0x88b5: "experimental",
  0x88be: "erspan",
  0x88cc: "lldp",
  0x88f7: "ptp",
  0x8915: "roce v1",
  0x894f: "nsh",
  0x9000: "loopback",
});

export const PROTOCOL_NAMES: Names = names(PROTOCOLS, {
  2: "igmp",
  59: "no next header",
  88: "eigrp",
  89: "ospf",
  97: "etherip",
  103: "pim",
  112: "vrrp",
  115: "l2tp",
  135: "mobility",
  136: "udp-lite",
  137: "mpls",
  139: "hip",
  140: "shim6",
  143: "ethernet",
  253: "experimental",
  254: "experimental",
});

export const UDP_PORT_NAMES: Names = names(UDP_PORTS);
export const GPE_NAMES: Names = names(GPE_PROTOCOLS, { 4: "nsh" });
/** In both byte orders: a null header has that of the host that captured. */
export const FAMILY_NAMES: Names = Object.fromEntries(
  [2, 10, 24, 28, 30].flatMap((family) => {
    const name = family === 2 ? "ipv4" : "ipv6";
    return [
      [family, name],
      [family * 0x1000000, `${name}, little-endian`],
    ];
  }),
);
export const GTPU_EXTENSION_NAMES: Names = {
  0x00: "none",
  0x40: "udp port",
  0x85: "pdu session container",
  0xc0: "pdcp pdu number",
};
export const GTPU_MESSAGE_NAMES: Names = {
  1: "echo request",
  2: "echo response",
  26: "error indication",
  31: "supported extension headers",
  254: "end marker",
  255: "g-pdu",
};
export const ARP_OPERATION_NAMES: Names = { 1: "request", 2: "reply", 3: "rarp request", 4: "rarp reply" };
export const ARPHRD_NAMES: Names = { 1: "ethernet", 32: "infiniband", 512: "ppp", 772: "loopback", 778: "gre" };
export const COOKED_NAMES: Names = { 0: "to us", 1: "broadcast", 2: "multicast", 3: "to others", 4: "from us" };
export const ROUTING_NAMES: Names = { 0: "source route", 2: "mobility", 3: "rpl", 4: "segments" };

export const ICMP_NAMES: Names = {
  0: "echo reply",
  3: "unreachable",
  4: "source quench",
  5: "redirect",
  8: "echo request",
  9: "router advertisement",
  10: "router solicitation",
  11: "time exceeded",
  12: "parameter problem",
  13: "timestamp request",
  14: "timestamp reply",
};
export const ICMPV6_NAMES: Names = {
  1: "unreachable",
  2: "packet too big",
  3: "time exceeded",
  4: "parameter problem",
  128: "echo request",
  129: "echo reply",
  130: "multicast listener query",
  131: "multicast listener report",
  132: "multicast listener done",
  133: "router solicitation",
  134: "router advertisement",
  135: "neighbor solicitation",
  136: "neighbor advertisement",
  137: "redirect",
  143: "multicast listener report, version 2",
};
