/** Names of protocol numbers, as lists of frames have them. */
type Names = Readonly<Record<number, string>>;

/** TCP flags, from the lowest bit. */
export const FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"] as const;

export const PROTOCOLS: Names = {
  0: "hop-by-hop",
  1: "ICMP",
  2: "IGMP",
  4: "IPv4",
  6: "TCP",
  17: "UDP",
  41: "IPv6",
  43: "routing",
  44: "fragment",
  47: "GRE",
  50: "ESP",
  51: "AH",
  58: "ICMPv6",
  59: "nothing",
  60: "options",
  89: "OSPF",
  103: "PIM",
  112: "VRRP",
  132: "SCTP",
};

export const ETHERTYPES: Names = {
  0x0800: "IPv4",
  0x0806: "ARP",
  0x6558: "Ethernet",
  0x8100: "VLAN",
  0x86dd: "IPv6",
  0x8809: "LACP",
  0x8847: "MPLS",
  0x8848: "MPLS",
  0x8863: "PPPoE",
  0x8864: "PPPoE",
  0x888e: "EAPOL",
  0x88a8: "VLAN",
  0x88cc: "LLDP",
  0x88e5: "MACsec",
  0x88f7: "PTP",
};

export const ARP: Names = { 1: "request", 2: "reply" };

export const ICMP: Names = {
  0: "echo reply",
  3: "unreachable",
  5: "redirect",
  8: "echo request",
  11: "time exceeded",
};

export const ICMPV6: Names = {
  1: "unreachable",
  2: "packet too big",
  3: "time exceeded",
  128: "echo request",
  129: "echo reply",
  133: "router solicitation",
  134: "router advertisement",
  135: "neighbour solicitation",
  136: "neighbour advertisement",
};
