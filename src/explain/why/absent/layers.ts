/** Why a frame lacks a header of the link layer, the network layer or the upper layer of a level. */
import {
  PRESENT_ESP,
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_IPV4,
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_PROTOCOL,
  PRESENT_UDP,
  PRESENT_VLAN,
} from "../../../abi/key.js";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  ETHERTYPE_MACSEC,
  ETHERTYPE_MPLS,
  ETHERTYPE_MPLS_UPSTREAM,
  PORT_ESP,
} from "../../../abi/protocols.js";
import { HEADERS, type HeadersWith } from "../../../headers/headers.js";
import {
  ethertypeOf,
  has,
  isFragment,
  OUTER_LEVEL,
  protocolOf,
  udpPorts,
  type FrameFacts,
  type Level,
} from "./facts.js";
import { ethertypeText, hex4, protocolText } from "./numbers.js";
import { stopText } from "./stop.js";

/** The stop, or a sentence for a parse that did not stop. */
export function stopOr({ stopped }: FrameFacts, otherwise: string): string {
  return stopped === null ? otherwise : stopText(stopped);
}

export function noEthernet(facts: FrameFacts, level: Level): string {
  if (level === OUTER_LEVEL) return stopOr(facts, "the capture has no Ethernet headers");
  return stopOr(facts, "the tunnel carries an IP packet without an Ethernet header");
}

/** The first VLAN tag, or the second one. */
export function noTag(facts: FrameFacts, level: Level, second: boolean): string {
  if (!has(facts, level, PRESENT_ETH)) return noEthernet(facts, level);
  if (!has(facts, level, PRESENT_ETHERTYPE)) return stopOr(facts, "the VLAN tag is cut");
  const ethertype = ethertypeOf(facts, level);
  if (ethertype >= 0x9100 && ethertype <= 0x9300 && (ethertype & 0xff) === 0) {
    return `EtherType ${hex4(ethertype)} is not read as a VLAN tag: the TPIDs of tags are 0x8100 and 0x88a8`;
  }
  if (second && has(facts, level, PRESENT_VLAN)) return `${level.packet} has one VLAN tag, not two`;
  return `${level.packet} has no VLAN tag: the MAC addresses are followed by ${ethertypeText(ethertype)}`;
}

/** "IP", "IPv4" or "IPv6". */
export function noNetwork(facts: FrameFacts, level: Level, wanted: "IP" | "IPv4" | "IPv6"): string {
  if (has(facts, level, PRESENT_IPV4)) return `${level.packet} is IPv4, not ${wanted}`;
  if (has(facts, level, PRESENT_IPV6)) return `${level.packet} is IPv6, not ${wanted}`;
  if (!has(facts, level, PRESENT_ETHERTYPE)) return stopOr(facts, `${level.packet} is neither IPv4 nor IPv6`);
  const ethertype = ethertypeOf(facts, level);
  if (ethertype === ETHERTYPE_IPV4 || ethertype === ETHERTYPE_IPV6) return stopOr(facts, "the IP header was not read");
  if (isMpls(ethertype)) return stopOr(facts, `what the MPLS labels of ${level.packet} carry is not ${wanted}`);
  if (ethertype === ETHERTYPE_MACSEC) {
    return `${level.packet} is MACsec (EtherType 0x88e5), and nothing is read after its tag`;
  }
  if (ethertype < 0x0600) return `${level.packet} has the 802.3 length ${ethertype} in place of an EtherType`;
  return `${level.packet} is ${ethertypeText(ethertype)}, not ${wanted}`;
}

export function isMpls(ethertype: number): boolean {
  return ethertype === ETHERTYPE_MPLS || ethertype === ETHERTYPE_MPLS_UPSTREAM;
}

/** The number of the upper layer: it is known unless an IPv6 extension header was cut. */
export function noProtocol(facts: FrameFacts, level: Level): string {
  if (!has(facts, level, PRESENT_L3)) return noNetwork(facts, level, "IP");
  return stopOr(facts, `the protocol of ${level.packet} is not known`);
}

/** A header that an IP protocol announces. */
export function noUpper(
  facts: FrameFacts,
  level: Level,
  header: HeadersWith<{ announced: { protocol: number } }>,
): string {
  const { name, announced } = HEADERS[header];
  if (!has(facts, level, PRESENT_PROTOCOL)) return noProtocol(facts, level);
  const found = protocolOf(facts, level);
  if (found !== announced.protocol) return `${level.packet} is ${protocolText(found)}, not ${name}`;
  const packet = level === OUTER_LEVEL ? "a later fragment" : "a later fragment inside a tunnel";
  const fragment = isFragment(facts, level) ? `${packet} has no ${name} header: it is in the first fragment` : null;
  return stopOr(facts, fragment ?? `no ${name} header was read`);
}

export function noUdp(facts: FrameFacts, level: Level): string {
  return noUpper(facts, level, "udp");
}

/** ESP over IP, or in UDP from or to port 4500. */
export function noEsp(facts: FrameFacts, level: Level): string {
  if (has(facts, level, PRESENT_ESP)) return `no field of ${level.packet}`;
  if (!has(facts, level, PRESENT_UDP)) return noUpper(facts, level, "esp");
  const { source, destination } = udpPorts(facts, level);
  if (destination !== PORT_ESP && source !== PORT_ESP) {
    return `${level.packet} is UDP to port ${destination}, not ESP: ip_protocol is not 50, and no port is 4500`;
  }
  return stopOr(facts, `the payload of UDP port ${PORT_ESP} is a keep-alive or IKE, not ESP`);
}
