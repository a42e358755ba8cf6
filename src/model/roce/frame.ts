/**
 * Makes RoCE v2 frames (InfiniBand architecture, annex A17) from the packets of queue pairs.
 *
 *     | Ethernet 14 | IPv4 20 or IPv6 40 | UDP 8 | BTH 12 | more headers | payload | 0 to 3 | ICRC 4 |
 */
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6, PORT_ROCE, PROTOCOL_UDP } from "../../abi/protocols.js";
import { writeBytes } from "../../packet/bytes.js";
import { internetChecksum } from "../../packet/checksum.js";
import { ICRC_LENGTH, invariantCrc } from "../../packet/icrc.js";
import type { Route } from "../queue/addressHandle.js";
import { lengthOf } from "../queue/scatter.js";
import { isIpv4Mapped, mappedIpv4 } from "../base/port/gids.js";

export const UDP_LENGTH = 8;
export const BTH_LENGTH = 12;
/** The lowest UDP source port. */
const FIRST_SOURCE_PORT = 0xc000;

/** The contents of a packet, without its route. */
export interface OutgoingPacket {
  readonly opcode: number;
  readonly source_qpn: number;
  readonly remote_qpn: number;
  readonly pkey: number;
  readonly psn: number;
  readonly solicited: boolean;
  /** Whether the packet requests an acknowledgement. */
  readonly ackRequest: boolean;
  /** Headers after the BTH. */
  readonly headers: readonly Uint8Array[];
  readonly payload: readonly Uint8Array[];
}

const ETHERNET_LENGTH = 14;
const IPV4_LENGTH = 20;
const IPV6_LENGTH = 40;

/** The complete frame, from Ethernet to ICRC. */
export function roceFrame(route: Route, packet: OutgoingPacket): Uint8Array {
  const ipv4 = isIpv4Mapped(route.dgid);
  const udp = ETHERNET_LENGTH + (ipv4 ? IPV4_LENGTH : IPV6_LENGTH);
  const contents = lengthOf(packet.payload);
  const padding = -contents & 3;
  const length = UDP_LENGTH + BTH_LENGTH + lengthOf(packet.headers) + contents + padding + ICRC_LENGTH;
  const frame = new Uint8Array(udp + length);
  const view = new DataView(frame.buffer);
  writeBytes(frame, 0, route.dmac);
  writeBytes(frame, 6, route.port.mac);
  view.setUint16(12, ipv4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
  const ip = frame.subarray(ETHERNET_LENGTH);
  if (ipv4) writeIpv4(view, ip, route, length);
  else writeIpv6(view, ip, route, length);
  view.setUint16(udp, sourcePort(route, packet));
  view.setUint16(udp + 2, PORT_ROCE);
  // SPEC: RoCE v2 sends no UDP checksum, over IPv6 neither: the ICRC protects the packet.
  view.setUint16(udp + 4, length);
  writeTransport(view, frame, udp + UDP_LENGTH, packet, padding);
  const icrc = frame.length - ICRC_LENGTH;
  view.setUint32(icrc, invariantCrc(frame.subarray(ETHERNET_LENGTH, icrc)));
  return frame;
}

/** The BTH, the headers after it and the payload. */
function writeTransport(view: DataView, frame: Uint8Array, bth: number, packet: OutgoingPacket, padding: number): void {
  const { opcode, solicited, pkey, remote_qpn, ackRequest, psn, headers, payload } = packet;
  frame[bth] = opcode;
  // SPEC: without path migration, the bit M (migrated) is set.
  frame[bth + 1] = (solicited ? 0x80 : 0) | 0x40 | (padding << 4);
  view.setUint16(bth + 2, pkey);
  view.setUint32(bth + 4, remote_qpn);
  view.setUint32(bth + 8, psn & 0xffffff);
  if (ackRequest) frame[bth + 8] = 0x80;
  let at = bth + BTH_LENGTH;
  for (const parts of [headers, payload]) {
    for (const part of parts) {
      writeBytes(frame, at, part);
      at += part.length;
    }
  }
}

/** RFC 791: without options, not fragmented. */
function writeIpv4(
  view: DataView,
  ip: Uint8Array,
  { sgid, dgid, hopLimit, trafficClass }: Route,
  length: number,
): void {
  const at = ip.byteOffset;
  view.setUint16(at, (0x45 << 8) | trafficClass);
  view.setUint16(at + 2, IPV4_LENGTH + length);
  view.setUint16(at + 6, 0x4000);
  view.setUint16(at + 8, (hopLimit << 8) | PROTOCOL_UDP);
  writeBytes(ip, 12, mappedIpv4(sgid));
  writeBytes(ip, 16, mappedIpv4(dgid));
  view.setUint16(at + 10, internetChecksum(ip.subarray(0, IPV4_LENGTH)));
}

/** RFC 8200. */
function writeIpv6(view: DataView, ip: Uint8Array, route: Route, length: number): void {
  const { sgid, dgid, hopLimit, trafficClass, flowLabel } = route;
  const at = ip.byteOffset;
  view.setUint32(at, 0x6000_0000 + trafficClass * 2 ** 20 + flowLabel);
  view.setUint16(at + 4, length);
  view.setUint16(at + 6, (PROTOCOL_UDP << 8) | hopLimit);
  writeBytes(ip, 8, sgid);
  writeBytes(ip, 24, dgid);
}

/**
 * The UDP source port. SPEC: its lower 14 bits are those of the flow label, XORed with the upper
 * six. Without a flow label, a number derived from both queue pair numbers replaces it, so all
 * packets between them have one port.
 */
function sourcePort({ flowLabel }: Route, { source_qpn, remote_qpn }: OutgoingPacket): number {
  const label = flowLabel === 0 ? labelOf(source_qpn, remote_qpn) : flowLabel;
  return sourcePortOf(label);
}

/** The UDP source port of a flow label of 20 bits. */
export function sourcePortOf(label: number): number {
  return FIRST_SOURCE_PORT | ((label & 0x3fff) ^ (label >>> 14));
}

function labelOf(source: number, remote: number): number {
  // 48 bits at most, which a double holds.
  const label = source * remote;
  return (label & 0xfffff) ^ (Math.floor(label / 2 ** 20) & 0xfffff) ^ Math.floor(label / 2 ** 40);
}
