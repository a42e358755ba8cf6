/** Reads received RoCE v2 frames: finds the transport headers and checks the ICRC. */
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6, PROTOCOL_UDP } from "../../abi/protocols.js";
import { readNumber } from "../../packet/bytes.js";
import { ICRC_LENGTH, invariantCrc } from "../../packet/icrc.js";
import { isVlanTpid } from "../../packet/vlan.js";
import { BTH_LENGTH, UDP_LENGTH } from "./frame.js";

export interface ArrivedPacket {
  readonly opcode: number;
  readonly psn: number;
  /** Whether the packet requests an acknowledgement. */
  readonly ackRequest: boolean;
  /** Whether the sender asked for an event. */
  readonly solicited: boolean;
  /** The bytes after the BTH, without padding. */
  readonly content: Uint8Array;
}

/** Why a frame is not a valid packet; these are names of counters. */
export type PacketFault = "malformed" | "rx_icrc_encapsulated";

const ETHERTYPE_AT = 12;
const TAG_LENGTH = 4;
const IPV6_LENGTH = 40;
/** The bit M (more fragments) and the fragment offset. */
const FRAGMENT = 0x3fff;

/**
 * Reads a frame that starts with Ethernet.
 * @returns the packet, or why there is none
 */
export function readPacket(frame: Uint8Array): ArrivedPacket | PacketFault {
  const found = datagramIn(frame);
  if (found === null) return "malformed";
  const { packet, headers } = found;
  const end = packet.length - ICRC_LENGTH;
  const bth = headers + UDP_LENGTH;
  const flags = packet[bth + 1] ?? 0;
  const content = packet.subarray(bth + BTH_LENGTH, end - ((flags >> 4) & 3));
  // The transport version must be 0.
  if (end < bth + BTH_LENGTH + ((flags >> 4) & 3) || (flags & 0xf) !== 0) return "malformed";
  if (readNumber(packet, 8 * end, 32) !== invariantCrc(packet.subarray(0, end))) return "rx_icrc_encapsulated";
  return {
    opcode: packet[bth] ?? 0,
    psn: readNumber(packet, 8 * (bth + 9), 24),
    ackRequest: ((packet[bth + 8] ?? 0) & 0x80) !== 0,
    solicited: (flags & 0x80) !== 0,
    content,
  };
}

/**
 * The IP packet without link padding, and the length of its header in bytes; null when it holds no
 * complete UDP datagram.
 */
export function datagramIn(frame: Uint8Array): { packet: Uint8Array; headers: number } | null {
  const word = (bytes: Uint8Array, at: number): number => readNumber(bytes, 8 * at, 16);
  let at = ETHERTYPE_AT;
  while (isVlanTpid(word(frame, at))) at += TAG_LENGTH;
  const ip = frame.subarray(at + 2);
  const ipv4 = word(frame, at) === ETHERTYPE_IPV4;
  if (!ipv4 && word(frame, at) !== ETHERTYPE_IPV6) return null;
  const headers = ipv4 ? 4 * ((ip[0] ?? 0) & 0xf) : IPV6_LENGTH;
  const length = ipv4 ? word(ip, 2) : IPV6_LENGTH + word(ip, 4);
  const whole = !ipv4 || (word(ip, 6) & FRAGMENT) === 0;
  const protocol = ip[ipv4 ? 9 : 6];
  if (!whole || protocol !== PROTOCOL_UDP || length > ip.length || length < headers + UDP_LENGTH) return null;
  return word(ip, headers + 4) === length - headers ? { packet: ip.subarray(0, length), headers } : null;
}
