/**
 * Makes RoCE v2 frames (InfiniBand architecture, annex A17) from the packets of queue pairs.
 *
 *     | Ethernet 14 | IPv4 20 or IPv6 40 | UDP 8 | BTH 12 | more headers | payload | 0 to 3 | ICRC 4 |
 */
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6, PORT_ROCE, PROTOCOL_UDP } from "../../abi/protocols.js";
import { bytesOf, joined } from "../../packet/bytes.js";
import { internetChecksum } from "../../packet/checksum.js";
import { ICRC_LENGTH, invariantCrc } from "../../packet/icrc.js";
import type { Route } from "../queue/addressHandle.js";
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

const number = (value: number, length: number): Uint8Array => bytesOf(value, length);

/** The complete frame, from Ethernet to ICRC. */
export function roceFrame(route: Route, packet: OutgoingPacket): Uint8Array {
  const transport = transportOf(packet);
  const length = UDP_LENGTH + transport.length + ICRC_LENGTH;
  // SPEC: RoCE v2 sends no UDP checksum, over IPv6 neither: the ICRC protects the packet.
  const udp = joined(number(sourcePort(route, packet), 2), number(PORT_ROCE, 2), number(length, 2), number(0, 2));
  const ipv4 = isIpv4Mapped(route.dgid);
  const carried = joined(ipv4 ? ipv4Header(route, length) : ipv6Header(route, length), udp, transport);
  const type = number(ipv4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6, 2);
  return joined(route.dmac, route.port.mac, type, carried, number(invariantCrc(carried), ICRC_LENGTH));
}

/** The BTH, the headers after it, the payload, and padding to a multiple of four bytes. */
function transportOf(packet: OutgoingPacket): Uint8Array {
  const { opcode, solicited, pkey, remote_qpn, ackRequest, psn, headers, payload } = packet;
  const padding = -payload.reduce((sum, { length }) => sum + length, 0) & 3;
  // SPEC: without path migration, the bit M (migrated) is set.
  const flags = (solicited ? 0x80 : 0) | 0x40 | (padding << 4);
  return joined(
    Uint8Array.of(opcode, flags),
    number(pkey, 2),
    number(remote_qpn, 4),
    Uint8Array.of(ackRequest ? 0x80 : 0),
    number(psn, 3),
    ...headers,
    ...payload,
    new Uint8Array(padding),
  );
}

/** RFC 791: without options, not fragmented. */
function ipv4Header({ sgid, dgid, hopLimit, trafficClass }: Route, length: number): Uint8Array {
  const header = joined(
    Uint8Array.of(0x45, trafficClass),
    number(20 + length, 2),
    Uint8Array.of(0, 0, 0x40, 0, hopLimit, PROTOCOL_UDP, 0, 0),
    mappedIpv4(sgid),
    mappedIpv4(dgid),
  );
  header.set(number(internetChecksum(header), 2), 10);
  return header;
}

/** RFC 8200. */
function ipv6Header({ sgid, dgid, hopLimit, trafficClass, flowLabel }: Route, length: number): Uint8Array {
  const word = 0x6000_0000 + trafficClass * 2 ** 20 + flowLabel;
  return joined(number(word, 4), number(length, 2), Uint8Array.of(PROTOCOL_UDP, hopLimit), sgid, dgid);
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
  let label = BigInt(source) * BigInt(remote);
  label ^= label >> 20n;
  label ^= label >> 40n;
  return Number(label & 0xfffffn);
}
