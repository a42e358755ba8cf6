/**
 * UDP (RFC 768).
 *
 *     | source port 2 | destination port 2 | length 2 | checksum 2 |
 */
import { Header } from "../../src/abi/headers";
import { PRESENT_UDP, LAYER_OK, LAYER_UDP_PORTS, OK_L4 } from "../../src/abi/key";
import {
  PORT_ESP,
  PORT_GENEVE,
  PORT_GTPU,
  PORT_MPLS,
  PORT_ROCE,
  PORT_VXLAN,
  PORT_VXLAN_GPE,
} from "../../src/abi/protocols";
import { invalidate } from "../epoch";
import { CHECK_L4, verifyUdp } from "./checksum";
import { be16, Cursor, has, Key, note } from "./cursor";
import { Upper } from "./upper";

const SIZE: usize = 8;

/** No port: no header is recognised by it. */
export const NO_PORT: u32 = 0xffffffff;
/** The first port of a device without VXLAN ports: that of no datagram. */
const NO_VXLAN: u32 = 0x10000;

/** The UDP ports that announce VXLAN. The initial values are those of a device that declares none. */
namespace Vxlan {
  export let port: u32 = PORT_VXLAN;
  /** Three more ports, 16 bits each from the lowest; 0 ends them. */
  export let others: u64 = 0;
  /** All ports that announce a header lie between these two. */
  export let lowest: u32 = PORT_GTPU;
  export let span: u32 = PORT_MPLS - PORT_GTPU;
}

/** Declares the UDP ports of VXLAN of this device, other known ports excepted; 0 for none. */
export function declareVxlanPorts(first: u32, second: u32, third: u32, fourth: u32): void {
  invalidate();
  Vxlan.port = first == 0 ? NO_VXLAN : first;
  Vxlan.others = (<u64>second) | ((<u64>third) << 16) | ((<u64>fourth) << 32);
  let lowest: u32 = PORT_GTPU;
  let highest: u32 = PORT_MPLS;
  for (let rest = (Vxlan.others << 16) | (<u64>first); rest != 0; rest >>= 16) {
    const port = (<u32>rest) & 0xffff;
    lowest = min(lowest, port);
    highest = max(highest, port);
  }
  Vxlan.lowest = lowest;
  Vxlan.span = highest - lowest;
}

/** Whether this is the first UDP port of VXLAN. */
// @ts-ignore: decorator
@inline
export function isFirstVxlan(port: u32): bool {
  return port == Vxlan.port;
}

/** Whether this is another UDP port of VXLAN than the first. */
export function isOtherVxlan(port: u32): bool {
  for (let rest = Vxlan.others; rest != 0; rest >>= 16) {
    if (((<u32>rest) & 0xffff) == port) return true;
  }
  return false;
}

/** The port that selects the next header; NO_PORT if the header cannot be read. */
// @ts-ignore: decorator
@inline
export function udp(): u32 {
  const at = Cursor.at;
  if (!has(Header.udp, SIZE)) return NO_PORT;
  note(Header.udp, at);
  const layer = Key.layer;
  store<u32>(layer, load<u32>(at), LAYER_UDP_PORTS);
  Cursor.present |= PRESENT_UDP;
  const length = <usize>be16(at + 4);
  if (length >= SIZE && length <= Cursor.wireEnd - at && Upper.lengthKnown) {
    store<u8>(layer, <u8>(load<u8>(layer, LAYER_OK) | OK_L4), LAYER_OK);
    if (Cursor.checks & CHECK_L4) verifyUdp(at);
  }
  Cursor.at = at + SIZE;
  return selectingPort(at);
}

/**
 * The port of the UDP header at `at` that selects the next header. SPEC: it is the destination
 * port, or 4500 of the source if no header is known by the destination port (docs/parsing.md).
 */
export function selectingPort(at: usize): u32 {
  const port = be16(at + 2);
  return be16(at) == PORT_ESP && !leadsOn(port) ? PORT_ESP : port;
}

/**
 * Whether the parser may read a header after UDP to this port: the known ports lie between these
 * two.
 */
// @ts-ignore: decorator
@inline
export function mayLeadOn(port: u32): bool {
  return port - Vxlan.lowest <= Vxlan.span;
}

/** Whether the parser reads a header after UDP to this port, in the outer packet. */
// @ts-ignore: decorator
@inline
export function leadsOn(port: u32): bool {
  return mayLeadOn(port) && isKnown(port);
}

function isKnown(port: u32): bool {
  switch (port) {
    case PORT_GTPU:
    case PORT_ESP:
    case PORT_VXLAN_GPE:
    case PORT_ROCE:
    case PORT_GENEVE:
    case PORT_MPLS:
      return true;
    default:
      return isFirstVxlan(port) || isOtherVxlan(port);
  }
}
