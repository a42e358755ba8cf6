/**
 * Why the header of a match field is absent from a frame: one sentence without a full stop, which
 * follows the parser header by header (docs/parsing.md) and names the first one that differs.
 */
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_TUNNEL,
  PRESENT_ESP,
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_GENEVE_OPTION_0,
  PRESENT_GRE,
  PRESENT_GRE_KEY,
  PRESENT_GTPU_DW_2,
  PRESENT_GTPU_EXTENSION,
  PRESENT_INNER_MPLS_OVER_GRE,
  PRESENT_INNER_MPLS_OVER_UDP,
  PRESENT_IPV4,
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_MACSEC,
  PRESENT_MACSEC_SCI,
  PRESENT_MPLS,
  PRESENT_MPLS_OVER_GRE,
  PRESENT_PROTOCOL,
  PRESENT_SAMPLE,
  PRESENT_TUNNEL_DWORD,
  PRESENT_UDP,
  PRESENT_VLAN,
  PRESENT_VLAN2,
} from "../../../abi/key.js";
import { PORT_MPLS } from "../../../abi/protocols.js";
import { isOneOf, OVER_UDP, titleOf, UPPER } from "../../../headers/headers.js";
import { headerOfBit } from "../../../headers/presence.js";
import type { Field } from "../../../model/match/fields.js";
import { presenceWord } from "../../match/terms.js";
import { ethertypeOf, has, INNER_LEVEL, OUTER_LEVEL, udpPorts, type FrameFacts, type Level } from "./facts.js";
import { isMpls, noEsp, noEthernet, noNetwork, noProtocol, noTag, noUdp, noUpper, stopOr } from "./layers.js";
import { ethertypeText } from "./numbers.js";
import * as tunnels from "./tunnels.js";

/** Why the header of a field is absent. The field is not present in `facts.key`. */
export function absence(facts: FrameFacts, field: Field): string {
  const { here, version } = field;
  if (here === null) return "";
  if (here.word === EXT_PRESENT_TUNNEL) return noTunnelPart(facts, here.bit);
  const level = here.word === EXT_PRESENT_INNER ? INNER_LEVEL : OUTER_LEVEL;
  if (level === INNER_LEVEL && presenceWord(facts.key, EXT_PRESENT_INNER) === 0) return tunnels.noInnerPacket(facts);
  if (version === 4) return noNetwork(facts, level, "IPv4");
  return noHeader(facts, level, here.bit);
}

/** Why a header of a level is absent, by its presence bit. */
function noHeader(facts: FrameFacts, level: Level, bit: number): string {
  switch (bit) {
    case PRESENT_ETH:
    case PRESENT_ETHERTYPE:
      return noEthernet(facts, level);
    case PRESENT_VLAN:
      return noTag(facts, level, false);
    case PRESENT_VLAN2:
      return noTag(facts, level, true);
    case PRESENT_L3:
      return noNetwork(facts, level, "IP");
    case PRESENT_IPV4:
      return noNetwork(facts, level, "IPv4");
    case PRESENT_IPV6:
      return noNetwork(facts, level, "IPv6");
    case PRESENT_PROTOCOL:
      return noProtocol(facts, level);
    case PRESENT_ESP:
      return noEsp(facts, level);
    case PRESENT_MPLS:
      return noMpls(facts, level);
    case PRESENT_INNER_MPLS_OVER_UDP:
      return noInnerMplsOverUdp(facts);
    case PRESENT_INNER_MPLS_OVER_GRE:
      return noInnerMplsOverGre(facts);
    default: {
      const header = headerOfBit(level === INNER_LEVEL ? "inner" : "outer", bit)?.header;
      return isOneOf(UPPER, header) ? noUpper(facts, level, header) : stopOr(facts, "the header was not read");
    }
  }
}

/** Why a tunnel header, or a part of one, is absent, by its presence bit. */
function noTunnelPart(facts: FrameFacts, bit: number): string {
  switch (bit) {
    case PRESENT_GRE:
      return tunnels.noGre(facts);
    case PRESENT_GRE_KEY:
      return tunnels.noGreKey(facts);
    case PRESENT_GENEVE_OPTION_0:
      return tunnels.noGeneveOption(facts);
    case PRESENT_GTPU_DW_2:
      return tunnels.noGtpuWord(facts);
    case PRESENT_GTPU_EXTENSION:
      return tunnels.noGtpuExtension(facts);
    case PRESENT_MPLS_OVER_GRE:
      return tunnels.noMplsOverGre(facts);
    case PRESENT_MACSEC:
      return tunnels.noMacsec(facts);
    case PRESENT_MACSEC_SCI:
      return has(facts, TUNNELS, PRESENT_MACSEC)
        ? "the MACsec tag does not name its channel: its SC bit is 0"
        : tunnels.noMacsec(facts);
    default: {
      const header = headerOfBit("tunnel", bit)?.header;
      if (isOneOf(OVER_UDP, header)) return tunnels.noTunnel(facts, header);
      return bit >= PRESENT_SAMPLE ? noSample(facts, Math.log2(bit / PRESENT_SAMPLE)) : noWord(facts, bit);
    }
  }
}

const TUNNELS: Level = { ...OUTER_LEVEL, word: EXT_PRESENT_TUNNEL };

function noWord(facts: FrameFacts, bit: number): string {
  return tunnels.noTunnelWord(facts, Math.log2(bit / PRESENT_TUNNEL_DWORD));
}

/** The own label stack of a level. */
function noMpls(facts: FrameFacts, level: Level): string {
  if (!has(facts, level, PRESENT_ETHERTYPE)) return noEthernet(facts, level);
  const ethertype = ethertypeOf(facts, level);
  if (isMpls(ethertype)) return stopOr(facts, "no label was read");
  return `${level.packet} is ${ethertypeText(ethertype)}, not MPLS (0x8847, 0x8848)`;
}

function noInnerMplsOverUdp(facts: FrameFacts): string {
  if (!has(facts, INNER_LEVEL, PRESENT_UDP)) return noUdp(facts, INNER_LEVEL);
  const { destination } = udpPorts(facts, INNER_LEVEL);
  if (destination === PORT_MPLS) return "the inner packet ends before the MPLS label";
  return `inner UDP port ${destination} is not ${PORT_MPLS}, so no MPLS label was read`;
}

function noInnerMplsOverGre(facts: FrameFacts): string {
  const gre = noUpper({ ...facts, stopped: null }, INNER_LEVEL, "gre");
  return gre.endsWith("not GRE") ? gre : "the inner GRE header carries no MPLS label, or is cut";
}

/** Programmable sample `id`. */
function noSample({ parser }: FrameFacts, id: number): string {
  const sample = parser.samples.find((one) => one.id === id);
  if (sample === undefined) return `the device declares no sample ${id} (parser.samples of createDevice)`;
  const { header, level = "outer", offset, port } = sample;
  const start = header === "payload" ? `payload of the ${level} packet` : `${level} ${titleOf(header)}`;
  const only = port === undefined ? "" : ` of packets to UDP port ${port}`;
  return `sample ${id} is 4 bytes at offset ${offset} of the ${start}${only}, which the frame does not have`;
}
