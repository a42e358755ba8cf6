/** Numbers that announce headers, as sentences name them. */
import * as protocols from "../../../abi/protocols.js";

const PROTOCOLS: ReadonlyMap<number, string> = new Map([
  [protocols.PROTOCOL_ICMP, "ICMP"],
  [2, "IGMP"],
  [protocols.PROTOCOL_IPV4, "IPv4 in IP"],
  [protocols.PROTOCOL_TCP, "TCP"],
  [protocols.PROTOCOL_UDP, "UDP"],
  [protocols.PROTOCOL_IPV6, "IPv6 in IP"],
  [protocols.PROTOCOL_GRE, "GRE"],
  [protocols.PROTOCOL_ESP, "ESP"],
  [protocols.PROTOCOL_AH, "AH"],
  [protocols.PROTOCOL_ICMPV6, "ICMPv6"],
  [protocols.PROTOCOL_NONE, "without a next header"],
  [89, "OSPF"],
  [112, "VRRP"],
  [protocols.PROTOCOL_SCTP, "SCTP"],
]);

const ETHERTYPES: ReadonlyMap<number, string> = new Map([
  [protocols.ETHERTYPE_IPV4, "IPv4"],
  [protocols.ETHERTYPE_ARP, "ARP"],
  [protocols.ETHERTYPE_ETHERNET, "Ethernet"],
  [protocols.ETHERTYPE_IPV6, "IPv6"],
  [protocols.ETHERTYPE_MPLS, "MPLS"],
  [protocols.ETHERTYPE_MPLS_UPSTREAM, "MPLS"],
  [protocols.ETHERTYPE_MACSEC, "MACsec"],
  [0x8863, "PPPoE"],
  [0x8864, "PPPoE"],
  [0x88cc, "LLDP"],
  [0x8915, "RoCE version 1"],
]);

/** "0x0800". */
export function hex4(value: number): string {
  return `0x${value.toString(16).padStart(4, "0")}`;
}

/** What a packet of an IP protocol is: "UDP (ip_protocol 17)", or "ip_protocol 99". */
export function protocolText(protocol: number): string {
  const name = PROTOCOLS.get(protocol);
  return name === undefined ? `ip_protocol ${protocol}` : `${name} (ip_protocol ${protocol})`;
}

/** What a frame of an EtherType is: "ARP (EtherType 0x0806)", or "EtherType 0x1234". */
export function ethertypeText(ethertype: number): string {
  const name = ETHERTYPES.get(ethertype);
  return name === undefined ? `EtherType ${hex4(ethertype)}` : `${name} (EtherType ${hex4(ethertype)})`;
}
