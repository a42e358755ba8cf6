/**
 * The parser: bytes to key, header by header.
 *
 *     link layer -> network -> upper layer -> tunnel -+-> network -> upper layer
 *                                                     +-> Ethernet, one level down
 * In: a frame descriptor and the required fields (classify/requiredFields.ts). Out: the required
 * groups of the key, and the frame map. All other groups go to a scratch key, so no header function
 * tests which groups are required. Frequent headers are inlined: a call costs more than most of
 * them do. Rare headers are in `rareNetwork` and `rareUpper`.
 */
import {
  FRAME_ADDRESS,
  FRAME_LENGTH,
  FRAME_LINK,
  FRAME_METADATA,
  FRAME_PORT,
  FRAME_SQN,
  FRAME_VPORT,
  FRAME_WIRE_LENGTH,
  VPORT_UPLINK,
} from "../../src/abi/engine";
import {
  LEVEL_INNER,
  LEVEL_OUTER,
  Link,
  MAP_INNER_PAYLOAD,
  MAP_INNER_PAYLOAD_END,
  MAP_PAYLOAD,
  MAP_PAYLOAD_END,
} from "../../src/abi/headers";
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_OUTER,
  EXT_PRESENT_TUNNEL,
  EXT_PORT,
  GROUP_EXT,
  GROUP_INNER,
  GROUP_MISC,
  GROUP_MISC2,
  GROUP_MISC3,
  GROUP_MISC4,
  GROUP_MISC5,
  GROUP_OUTER,
  GROUP_SIZE,
  INNER,
  MISC2_REGISTER_A,
  MISC_BITS,
  MISC_SOURCE_PORT,
  OUTER,
  DIRECTION_VPORT,
  DIRECTION_WIRE,
  NEEDS_INNER,
} from "../../src/abi/key";
import {
  ETHERTYPE_ARP,
  ETHERTYPE_ETHERNET,
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  ETHERTYPE_MACSEC,
  ETHERTYPE_NSH,
  PORT_ESP,
  PORT_GENEVE,
  PORT_GTPU,
  PORT_MPLS,
  PORT_ROCE,
  PORT_VXLAN_GPE,
  PROTOCOL_ESP,
  PROTOCOL_GRE,
  PROTOCOL_ICMP,
  PROTOCOL_ICMPV6,
  PROTOCOL_IPV4,
  PROTOCOL_IPV6,
  PROTOCOL_SCTP,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
} from "../../src/abi/protocols";
import { SCRATCH_KEY } from "../memory";
import { arp } from "./arp";
import { bth } from "./bth";
import { innerChecks, outerChecks } from "./checksum";
import { Cursor, Key } from "./cursor";
import { esp, espInUdp } from "./esp";
import { ethernet, isMpls } from "./ethernet";
import { geneve } from "./geneve";
import { gre, innerGre } from "./gre";
import { gtpu } from "./gtpu";
import { icmp, icmpv6 } from "./icmp";
import { rawIp } from "./ip";
import { ipv4 } from "./ipv4";
import { ipv6 } from "./ipv6";
import { linuxCooked, linuxCooked2, loopback } from "./link";
import { macsec } from "./macsec";
import { mplsOverEthernet, mplsOverInnerUdp, mplsOverUdp } from "./mpls";
import { nsh } from "./nsh";
import { parseFast } from "./fastPath";
import { fillSamples } from "./sample";
import { sctp } from "./sctp";
import { tcp } from "./tcp";
import { isFirstVxlan, isOtherVxlan, mayLeadOn, udp } from "./udp";
import { NO_PROTOCOL } from "./upper";
import { vxlan } from "./vxlan";
import { vxlanGpe } from "./vxlanGpe";

/**
 * All frames of a batch have the same required groups. The other groups go to the scratch key, for
 * all of them.
 */
export function openBatch(): void {
  Key.outer = SCRATCH_KEY + OUTER;
  Key.inner = SCRATCH_KEY + INNER;
  Key.misc = SCRATCH_KEY;
  Key.misc2 = SCRATCH_KEY;
  Key.misc3 = SCRATCH_KEY;
  Key.misc5 = SCRATCH_KEY;
}

// @ts-ignore: decorator
@inline
export function parseFrame(descriptor: usize, key: usize, map: usize, wanted: u32): void {
  if (!parseFast(descriptor, key, map, wanted)) parseAny(descriptor, key, map, wanted);
}

function parseAny(descriptor: usize, key: usize, map: usize, wanted: u32): void {
  const frame: usize = load<u32>(descriptor, FRAME_ADDRESS);
  open(key, wanted);
  Cursor.frame = frame;
  Cursor.at = frame;
  Cursor.end = frame + <usize>load<u32>(descriptor, FRAME_LENGTH);
  Cursor.wireEnd = frame + <usize>load<u32>(descriptor, FRAME_WIRE_LENGTH);
  Cursor.map = map;
  Cursor.tunnels = 0;
  v128.store(map, i64x2.splat(0));
  v128.store(map, i64x2.splat(0), 16);
  const vport = load<u32>(descriptor, FRAME_VPORT);
  const side: u32 = vport == VPORT_UPLINK ? DIRECTION_WIRE : DIRECTION_VPORT;
  store<u32>(key, (<u32>bswap<u16>(load<u16>(descriptor, FRAME_PORT))) | (side << 16), EXT_PORT);

  Cursor.level = LEVEL_OUTER;
  Cursor.present = 0;
  Cursor.checks = outerChecks(wanted);
  Key.layer = Key.outer;
  const carried = upper(network(linkLayer(load<u8>(descriptor, FRAME_LINK))));
  store<u32>(key, bswap(Cursor.present), EXT_PRESENT_OUTER);
  store<u32>(map, <u32>(Cursor.at - frame), MAP_PAYLOAD);
  store<u32>(map, <u32>(Cursor.end - frame), MAP_PAYLOAD_END);
  if (carried != 0 && wanted & NEEDS_INNER) inner(key, map, carried, wanted);
  if (wanted & ((1 << GROUP_MISC) | (1 << GROUP_MISC2))) source(descriptor, vport);
  if (wanted & (1 << GROUP_MISC4)) fillSamples(map);
  store<u32>(key, bswap(Cursor.tunnels), EXT_PRESENT_TUNNEL);
}

/** Fields from outside the headers: the source of the frame, and register A from its sender. */
function source(descriptor: usize, vport: u32): void {
  const port: u32 = load<u16>(descriptor, FRAME_PORT);
  const bits: u32 = load<u8>(Key.misc, MISC_BITS);
  // | GRE and BTH bits 4 | source_vhca_port 4 | source_sqn 24 |
  const first = ((bits | (port < 16 ? port : 0)) << 24) | (load<u32>(descriptor, FRAME_SQN) & 0xffffff);
  store<u32>(Key.misc, bswap(first), MISC_BITS);
  store<u16>(Key.misc, bswap<u16>(<u16>vport), MISC_SOURCE_PORT);
  store<u32>(Key.misc2, bswap(load<u32>(descriptor, FRAME_METADATA)), MISC2_REGISTER_A);
}

/**
 * SPEC: the packet inside a tunnel is one level down. Its own tunnels are payload, except a first
 * label (docs/parsing.md).
 */
function inner(key: usize, map: usize, carried: u32, wanted: u32): void {
  Cursor.level = LEVEL_INNER;
  Cursor.present = 0;
  Cursor.checks = innerChecks(wanted);
  Key.layer = Key.inner;
  innerUpper(network(carried == ETHERTYPE_ETHERNET ? ethernet() : carried));
  store<u32>(key, bswap(Cursor.present), EXT_PRESENT_INNER);
  store<u32>(map, <u32>(Cursor.at - Cursor.frame), MAP_INNER_PAYLOAD);
  store<u32>(map, <u32>(Cursor.end - Cursor.frame), MAP_INNER_PAYLOAD_END);
}

/** Zeroes the required groups: an absent field is 0, and its presence bit is clear. */
// @ts-ignore: decorator
@inline
function open(key: usize, wanted: u32): void {
  clear(key, GROUP_EXT);
  Key.ext = key;
  if (wanted & (1 << GROUP_OUTER)) Key.outer = clear(key, GROUP_OUTER) + OUTER;
  if (wanted & (1 << GROUP_INNER)) Key.inner = clear(key, GROUP_INNER) + INNER;
  if (wanted & (1 << GROUP_MISC)) Key.misc = clear(key, GROUP_MISC);
  if (wanted & (1 << GROUP_MISC2)) Key.misc2 = clear(key, GROUP_MISC2);
  if (wanted & (1 << GROUP_MISC3)) Key.misc3 = clear(key, GROUP_MISC3);
  if (wanted & (1 << GROUP_MISC4)) Key.misc4 = clear(key, GROUP_MISC4);
  if (wanted & (1 << GROUP_MISC5)) Key.misc5 = clear(key, GROUP_MISC5);
}

// @ts-ignore: decorator
@inline
function clear(key: usize, group: usize): usize {
  const at = key + group * GROUP_SIZE;
  const zero = i64x2.splat(0);
  v128.store(at, zero);
  v128.store(at, zero, 16);
  v128.store(at, zero, 32);
  v128.store(at, zero, 48);
  return key;
}

/** The EtherType of the header after the link header. */
// @ts-ignore: decorator
@inline
function linkLayer(link: u32): u32 {
  switch (link) {
    case Link.ethernet:
      return ethernet();
    case Link.raw_ip:
      return rawIp();
    case Link.ipv4:
      return ETHERTYPE_IPV4;
    case Link.ipv6:
      return ETHERTYPE_IPV6;
    case Link.linux_cooked:
      return linuxCooked();
    case Link.linux_cooked_v2:
      return linuxCooked2();
    default:
      return loopback(link);
  }
}

/** The upper-layer protocol; NO_PROTOCOL if no upper layer can be read. */
// @ts-ignore: decorator
@inline
function network(ethertype: u32): u32 {
  if (ethertype != ETHERTYPE_IPV4 && ethertype != ETHERTYPE_IPV6) ethertype = rareNetwork(ethertype);
  if (ethertype == ETHERTYPE_IPV4) return ipv4();
  if (ethertype == ETHERTYPE_IPV6) return ipv6();
  return NO_PROTOCOL;
}

/**
 * Headers below IP, or instead of it. Returns the EtherType of the IP packet below a label stack.
 */
function rareNetwork(ethertype: u32): u32 {
  if (ethertype == ETHERTYPE_ARP) arp();
  else if (ethertype == ETHERTYPE_MACSEC) macsec();
  else if (ethertype == ETHERTYPE_NSH) nsh();
  else if (isMpls(ethertype)) return mplsOverEthernet();
  return 0;
}

/**
 * The upper layer of the outer packet. Returns the EtherType of a tunnel's payload, 0 without one.
 */
// @ts-ignore: decorator
@inline
function upper(protocol: u32): u32 {
  if (protocol == PROTOCOL_TCP) {
    tcp();
    return 0;
  }
  if (protocol != PROTOCOL_UDP) return rareUpper(protocol);
  const port = udp();
  if (isFirstVxlan(port)) return vxlan();
  return mayLeadOn(port) ? overUdp(port) : 0;
}

/** Tunnels over UDP except VXLAN of its first port, and the headers over UDP that are no tunnels. */
function overUdp(port: u32): u32 {
  switch (port) {
    case PORT_VXLAN_GPE:
      return vxlanGpe();
    case PORT_GENEVE:
      return geneve();
    case PORT_GTPU:
      return gtpu();
    case PORT_MPLS:
      return mplsOverUdp();
    case PORT_ESP:
      espInUdp();
      return 0;
    case PORT_ROCE:
      bth();
      return 0;
    default:
      return isOtherVxlan(port) ? vxlan() : 0;
  }
}

function rareUpper(protocol: u32): u32 {
  switch (protocol) {
    case PROTOCOL_GRE:
      return gre();
    case PROTOCOL_IPV4:
      return ETHERTYPE_IPV4;
    case PROTOCOL_IPV6:
      return ETHERTYPE_IPV6;
    default:
      upperWithoutPacket(protocol);
      return 0;
  }
}

/** The upper layer of the inner packet. */
// @ts-ignore: decorator
@inline
function innerUpper(protocol: u32): void {
  if (protocol == PROTOCOL_TCP) {
    tcp();
  } else if (protocol == PROTOCOL_UDP) {
    const port = udp();
    if (port == PORT_ESP) espInUdp();
    else if (port == PORT_ROCE) bth();
    else if (port == PORT_MPLS) mplsOverInnerUdp();
  } else if (protocol == PROTOCOL_GRE) {
    innerGre();
  } else {
    upperWithoutPacket(protocol);
  }
}

/** The rare upper layers, which carry no packet for the parser. */
function upperWithoutPacket(protocol: u32): void {
  switch (protocol) {
    case PROTOCOL_ICMP:
      icmp();
      break;
    case PROTOCOL_ICMPV6:
      icmpv6();
      break;
    case PROTOCOL_ESP:
      esp();
      break;
    case PROTOCOL_SCTP:
      sctp();
      break;
    default:
      break;
  }
}
