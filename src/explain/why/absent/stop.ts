/** Says where parsing stopped and why (docs/parsing.md, "Rules for every header"). */
import type { HeaderName, ParseStop } from "../../../packet/parsedFrame.js";

/** Headers as sentences name them. */
const TITLES: Readonly<Record<HeaderName, string>> = {
  none: "header",
  ethernet: "Ethernet header",
  vlan: "VLAN tag",
  loopback: "loopback header",
  linux_cooked: "Linux cooked header",
  linux_cooked_v2: "Linux cooked header",
  arp: "ARP header",
  ipv4: "IPv4 header",
  ipv6: "IPv6 header",
  ipv6_hop_by_hop: "IPv6 hop-by-hop header",
  ipv6_routing: "IPv6 routing header",
  ipv6_destination: "IPv6 destination options header",
  ipv6_fragment: "IPv6 fragment header",
  ah: "AH header",
  tcp: "TCP header",
  udp: "UDP header",
  icmp: "ICMP header",
  icmpv6: "ICMPv6 header",
  vxlan: "VXLAN header",
  ip: "IP header",
  sctp: "SCTP header",
  gre: "GRE header",
  vxlan_gpe: "VXLAN-GPE header",
  geneve: "Geneve header",
  gtpu: "GTP-U header",
  gtpu_extension: "GTP-U extension header",
  mpls: "MPLS label",
  esp: "ESP header",
  bth: "BTH of RoCE",
  macsec: "MACsec tag",
};

export function titleOf(header: HeaderName): string {
  return TITLES[header];
}

/** One sentence without a full stop: "IPv4 header cut: 12 of 20 bytes (captured: 26 bytes)". */
export function stopText({ header, offset, wanted, had, reason }: ParseStop): string {
  const title = TITLES[header];
  switch (reason) {
    case "beyond_packet":
      return `${title} cut: ${had} of ${wanted} bytes, because its packet ends there`;
    case "bad_version":
      return header === "ipv6"
        ? "the IPv6 header has another version than 6"
        : `the ${title} has another version than 4`;
    case "bad_header_length":
      return header === "ipv4"
        ? "the IPv4 header gives a length below 20 bytes (ipv4_ihl below 5)"
        : `the ${title} gives the length 0`;
    default:
      return `${title} cut: ${had} of ${wanted} bytes (captured: ${offset + had} bytes)`;
  }
}
