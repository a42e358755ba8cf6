/** Why a frame lacks a tunnel header, a part of one, or the packet inside a tunnel. */
import {
  EXT_GRE_FLAGS,
  GENEVE_OPTION_0_EXISTS,
  MISC3_GPE_NEXT_PROTOCOL,
  MISC3_GTPU_MSG_FLAGS,
  MISC3_GTPU_MSG_TYPE,
  MISC5_TUNNEL_HEADER,
  MISC_GENEVE_BITS,
  MISC_GENEVE_PROTOCOL,
  MISC_GRE_PROTOCOL,
  PRESENT_ETHERTYPE,
  PRESENT_GENEVE,
  PRESENT_GRE,
  PRESENT_GTPU,
  PRESENT_PROTOCOL,
  PRESENT_TUNNEL_DWORD,
  PRESENT_UDP,
  PRESENT_VXLAN,
  PRESENT_VXLAN_GPE,
} from "../../../abi/key.js";
import {
  ETHERTYPE_MACSEC,
  PORT_GENEVE,
  PORT_GTPU,
  PORT_MPLS,
  PORT_VXLAN_GPE,
  PROTOCOL_ESP,
  PROTOCOL_GRE,
  PROTOCOL_IPV4,
  PROTOCOL_IPV6,
  PROTOCOL_UDP,
} from "../../../abi/protocols.js";
import { TUNNEL_ETHERTYPES } from "../../../headers/announcers.js";
import { HEADERS, UDP_TUNNELS, type OVER_UDP } from "../../../headers/headers.js";
import {
  ethertypeOf,
  half,
  has,
  hasTunnel,
  INNER_LEVEL,
  isFragment,
  OUTER_LEVEL,
  protocolOf,
  udpPorts,
  type FrameFacts,
} from "./facts.js";
import { isMpls, noEthernet, noProtocol, noUdp, noUpper, stopOr } from "./layers.js";
import { ethertypeText, hex4, protocolText } from "./numbers.js";

/** A header after UDP to a port. */
export function noTunnel(facts: FrameFacts, header: (typeof OVER_UDP)[number]): string {
  const { name } = HEADERS[header];
  const ports = facts.parser.udpPorts[header];
  const so = `, so no ${name} header was read`;
  if (!has(facts, OUTER_LEVEL, PRESENT_UDP)) return noUdp(facts, OUTER_LEVEL) + so;
  const { source, destination } = udpPorts(facts, OUTER_LEVEL);
  if (ports.includes(destination)) return stopOr(facts, `no ${name} header was read`);
  if (ports.length === 0) return `the device has no UDP port for ${name} (parser.vxlanPorts)${so}`;
  const swapped = ports.includes(source) ? ` (${source} is its source port)` : "";
  const nested =
    has(facts, INNER_LEVEL, PRESENT_UDP) && ports.includes(udpPorts(facts, INNER_LEVEL).destination)
      ? "; a tunnel inside a tunnel is payload"
      : "";
  return `UDP port ${destination} is not ${ports.join(" or ")}${swapped}${so}${nested}`;
}

export function noGre(facts: FrameFacts): string {
  return noUpper(facts, OUTER_LEVEL, "gre");
}

export function noGreKey(facts: FrameFacts): string {
  if (!hasTunnel(facts, PRESENT_GRE)) return noGre(facts);
  if ((half(facts, EXT_GRE_FLAGS) & 0x2000) === 0) return "the GRE header has no key: its K bit is 0";
  return stopOr(facts, "the GRE key was not read");
}

export function noMplsOverGre(facts: FrameFacts): string {
  if (!hasTunnel(facts, PRESENT_GRE)) return noGre(facts);
  return greVersion(facts) ?? greType(facts, "MPLS (0x8847, 0x8848)", isMpls);
}

/** PPTP and unknown versions of GRE carry nothing that the parser reads; null for version 0. */
function greVersion(facts: FrameFacts): string | null {
  const version = half(facts, EXT_GRE_FLAGS) & 7;
  const type = half(facts, MISC_GRE_PROTOCOL);
  if (version === 0 || (version === 1 && carriesPacket(type))) return null;
  return `the GRE header has version ${version}, and nothing is read after it`;
}

function greType(facts: FrameFacts, name: string, fits: (type: number) => boolean): string {
  const type = half(facts, MISC_GRE_PROTOCOL);
  if (!fits(type)) return `GRE carries ${ethertypeText(type)}, not ${name}`;
  return stopOr(facts, `no ${name} was read after GRE`);
}

function carriesPacket(type: number): boolean {
  return Object.values(TUNNEL_ETHERTYPES).includes(type);
}

/** The data of the declared option. */
export function noGeneveOption(facts: FrameFacts): string {
  if (!hasTunnel(facts, PRESENT_GENEVE)) return noTunnel(facts, "geneve");
  const version = geneveVersion(facts);
  if (version !== 0) return `the Geneve header has version ${version}, whose options are not read`;
  if (((facts.key[MISC_GENEVE_BITS] as number) & GENEVE_OPTION_0_EXISTS) !== 0) return "the Geneve option has no data";
  const option = facts.parser.geneveOption;
  if (option === undefined) return "the device declares no Geneve option (parser.geneveOption0 of createDevice)";
  return `the Geneve header has no option of class ${hex4(option.class)} and type ${option.type}`;
}

function geneveVersion({ key }: FrameFacts): number {
  return (key[MISC5_TUNNEL_HEADER] as number) >> 6;
}

/** The third dword of the header. */
export function noGtpuWord(facts: FrameFacts): string {
  if (!hasTunnel(facts, PRESENT_GTPU)) return noTunnel(facts, "gtpu");
  return gtpuVersion(facts) ?? gtpuFlags(facts, 7, "none of its flags E, S and PN is set, so it has no third word");
}

export function noGtpuExtension(facts: FrameFacts): string {
  if (!hasTunnel(facts, PRESENT_GTPU)) return noTunnel(facts, "gtpu");
  return gtpuVersion(facts) ?? gtpuFlags(facts, 4, "its flag E is not set, so it has no extension header");
}

function gtpuVersion({ key }: FrameFacts): string | null {
  const flags = key[MISC3_GTPU_MSG_FLAGS] as number;
  if ((flags & 0xf0) === 0x30) return null;
  return `the GTP-U header is not of version 1 (gtpu_msg_flags ${hex4(flags).replace("0x00", "0x")}), and nothing is read after it`;
}

function gtpuFlags(facts: FrameFacts, mask: number, unset: string): string {
  const flags = facts.key[MISC3_GTPU_MSG_FLAGS] as number;
  if ((flags & mask) === 0) return `the GTP-U header is short: ${unset}`;
  return stopOr(facts, "the type of the next extension header of GTP-U is 0");
}

/** Word `n` of the first tunnel header. */
export function noTunnelWord(facts: FrameFacts, n: number): string {
  if (hasTunnel(facts, PRESENT_TUNNEL_DWORD)) {
    const words = [1, 2, 3].find((i) => !hasTunnel(facts, PRESENT_TUNNEL_DWORD << i)) ?? 4;
    return stopOr(facts, `the tunnel header has ${words} word${words === 1 ? "" : "s"}, so it has no word ${n}`);
  }
  const bare = [PROTOCOL_IPV4, PROTOCOL_IPV6, PROTOCOL_ESP].includes(protocolOf(facts, OUTER_LEVEL));
  if (bare) return `${protocolText(protocolOf(facts, OUTER_LEVEL))} has no tunnel header`;
  return noInnerPacket(facts);
}

export function noMacsec(facts: FrameFacts): string {
  if (!has(facts, OUTER_LEVEL, PRESENT_ETHERTYPE)) return noEthernet(facts, OUTER_LEVEL);
  const ethertype = ethertypeOf(facts, OUTER_LEVEL);
  if (ethertype !== ETHERTYPE_MACSEC) return `the frame is ${ethertypeText(ethertype)}, not MACsec (0x88e5)`;
  return stopOr(facts, "no MACsec tag was read");
}

/** The packet inside the first tunnel, of which no header was read. */
export function noInnerPacket(facts: FrameFacts): string {
  if (!has(facts, OUTER_LEVEL, PRESENT_PROTOCOL)) return `${noProtocol(facts, OUTER_LEVEL)}, so there is no tunnel`;
  const protocol = protocolOf(facts, OUTER_LEVEL);
  switch (protocol) {
    case PROTOCOL_UDP:
      return noInnerOfUdp(facts);
    case PROTOCOL_GRE:
      return noInnerOfGre(facts);
    case PROTOCOL_IPV4:
    case PROTOCOL_IPV6:
      return stopOr(facts, laterFragment(facts) ?? "the packet in IP was not read");
    case PROTOCOL_ESP:
      return "the frame is ESP, which hides the packet inside";
    default:
      return `the frame is ${protocolText(protocol)}, not a tunnel, so it has no inner packet`;
  }
}

function laterFragment(facts: FrameFacts): string | null {
  return isFragment(facts, OUTER_LEVEL)
    ? "a later fragment has no inner packet: it begins in the first fragment"
    : null;
}

function noInnerOfGre(facts: FrameFacts): string {
  if (!hasTunnel(facts, PRESENT_GRE)) return noGre(facts);
  return greVersion(facts) ?? greType(facts, "a packet", (type) => carriesPacket(type) || isMpls(type));
}

function tunnelPorts({ parser: { udpPorts } }: FrameFacts): string {
  const known = UDP_TUNNELS.filter((header) => udpPorts[header].length > 0);
  return known.map((header) => `${HEADERS[header].name} ${udpPorts[header].join(", ")}`).join(", ");
}

function noInnerOfUdp(facts: FrameFacts): string {
  if (!has(facts, OUTER_LEVEL, PRESENT_UDP)) return laterFragment(facts) ?? noUdp(facts, OUTER_LEVEL);
  const { destination } = udpPorts(facts, OUTER_LEVEL);
  const { key, parser } = facts;
  if (parser.vxlanPorts.includes(destination)) {
    return stopOr(facts, hasTunnel(facts, PRESENT_VXLAN) ? "nothing follows the VXLAN header" : noPacket(destination));
  }
  switch (destination) {
    case PORT_VXLAN_GPE: {
      const next = key[MISC3_GPE_NEXT_PROTOCOL] as number;
      if (!hasTunnel(facts, PRESENT_VXLAN_GPE) || (next >= 1 && next <= 3)) break;
      return `the next protocol ${next} of VXLAN-GPE is not IPv4 (1), IPv6 (2) or Ethernet (3)`;
    }
    case PORT_GENEVE: {
      if (!hasTunnel(facts, PRESENT_GENEVE)) break;
      const version = geneveVersion(facts);
      if (version !== 0) return `the Geneve header has version ${version}, and nothing is read after it`;
      const type = half(facts, MISC_GENEVE_PROTOCOL);
      if (!carriesPacket(type)) return `Geneve carries ${ethertypeText(type)}, not IPv4, IPv6 or Ethernet`;
      break;
    }
    case PORT_GTPU: {
      if (!hasTunnel(facts, PRESENT_GTPU)) break;
      const message = key[MISC3_GTPU_MSG_TYPE] as number;
      const version = gtpuVersion(facts);
      if (version !== null) return version;
      if (message !== 255) return `the GTP-U message type ${message} is not 255 (G-PDU), so it carries no packet`;
      break;
    }
    case PORT_MPLS:
      break;
    default:
      return `UDP port ${destination} is not that of a tunnel (${tunnelPorts(facts)}), so no inner packet was read`;
  }
  return stopOr(facts, noPacket(destination));
}

function noPacket(port: number): string {
  return `what follows UDP port ${port} is no packet`;
}
