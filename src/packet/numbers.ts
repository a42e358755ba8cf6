/** Names of the numbers with which a header announces the next one (EtherTypes, IP protocols, ports), and of others, for text. */
import { ETHERTYPE_ETHERNET, ETHERTYPE_MPLS_UPSTREAM, PROTOCOL_NONE, TPID_SVLAN } from "../abi/protocols.js";
import { ETHERTYPES, GPE_PROTOCOLS, PROTOCOLS, UDP_PORTS, type Carried } from "../headers/announcers.js";

/** IEEE 802 clause 9.2.3: local experiments; what a payload of no known kind is announced by. */
export const ETHERTYPE_EXPERIMENTAL = 0x88b5;
/** RFC 3692: experiments. */
export const PROTOCOL_EXPERIMENTAL = 253;

/** Names of numbers, for people. */
export type Names = Readonly<Record<number, string>>;

function names(carried: Carried, others: Names = {}): Names {
  return { ...Object.fromEntries(Object.entries(carried).map(([name, number]) => [number, name])), ...others };
}

export const ETHERTYPE_NAMES: Names = names(ETHERTYPES, {
  [ETHERTYPE_ETHERNET]: "ethernet",
  0x8035: "rarp",
  0x8808: "pause",
  0x8809: "slow protocols",
  0x880b: "ppp",
  [ETHERTYPE_MPLS_UPSTREAM]: "mpls, upstream label",
  0x8863: "pppoe discovery",
  0x8864: "pppoe session",
  0x888e: "802.1x",
  [TPID_SVLAN]: "vlan, service tag",
  0x88b5: "experimental",
  0x88be: "erspan",
  0x88cc: "lldp",
  0x88f7: "ptp",
  0x8915: "roce v1",
  0x9000: "loopback",
});

export const PROTOCOL_NAMES: Names = names(PROTOCOLS, {
  2: "igmp",
  [PROTOCOL_NONE]: "no next header",
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
export const GPE_NAMES: Names = names(GPE_PROTOCOLS);
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
