/**
 * Datagrams for UD queue pairs (InfiniBand architecture 1.4, 9.8.3 and annex A17): finds the packet in
 * a frame, and checks it before it takes a receive buffer.
 *
 *     | Ethernet 14, tags | IP | UDP 8 | BTH 12 | DETH: Q_Key 4, 0 1, source QP 3 | immediate data 0 or 4 | payload | pad 0 to 3 | ICRC 4 |
 */
import { DEST_DATAGRAM, DEST_FLAGS, Reason } from "../../src/abi/outcome";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  PORT_ROCE,
  PROTOCOL_UDP,
  TPID_CVLAN,
  TPID_SVLAN,
} from "../../src/abi/protocols";
import { RECEIVE_Q_KEY, RECEIVE_QP_NUMBER } from "../../src/abi/queue";
import { take } from "./queue";

const ETHERTYPE_AT: usize = 12;
const IPV4_LENGTH: u32 = 20;
const IPV6_LENGTH: u32 = 40;
const FRAGMENT: u32 = 0x3fff;
const UDP_LENGTH: u32 = 8;
const BTH_LENGTH: u32 = 12;
const DETH_LENGTH: u32 = 8;
const IMMEDIATE_LENGTH: u32 = 4;
const ICRC_LENGTH: u32 = 4;
/** The byte of the BTH with FECN, BECN and reserved bits. */
const BTH_VARIANT: u32 = 4;
const SEND_ONLY: u32 = 0x64;
const SEND_ONLY_WITH_IMMEDIATE: u32 = 0x65;
/** The destination of datagrams to groups. */
const MULTICAST_QPN: u32 = 0xff_ffff;
/** Bytes before the payload in a receive buffer: the global routing header. */
const GRH_LENGTH: u32 = 40;

/** CRC-32 of Ethernet, reflected, four bits at a time. */
const CRC_TABLE: usize = memory.data<u32>([
  0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320,
  0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
]);

/**
 * Offers a frame to a UD queue pair, as `take`. A frame that is no RoCE packet for its number or for a
 * group arrives whole; a datagram marks the destination.
 */
export function takeDatagram(queue: usize, destination: usize, frame: usize, length: u32): u32 {
  const end = frame + length;
  let at = frame + ETHERTYPE_AT;
  while (at + 2 <= end && isTpid(be16(at))) at += 4;
  const ip = at + 2;
  if (ip + IPV4_LENGTH > end) return take(queue, length);
  const ipv4 = be16(at) == ETHERTYPE_IPV4;
  if (!ipv4 && be16(at) != ETHERTYPE_IPV6) return take(queue, length);
  const headers: u32 = ipv4 ? (load<u8>(ip) & 15) << 2 : IPV6_LENGTH;
  const protocol = ipv4 ? load<u8>(ip, 9) : load<u8>(ip, 6);
  const udp = ip + headers;
  const bth = udp + UDP_LENGTH;
  if (protocol != PROTOCOL_UDP || bth + BTH_LENGTH > end) return take(queue, length);
  if ((ipv4 && (be16(ip + 6) & FRAGMENT) != 0) || be16(udp + 2) != PORT_ROCE) return take(queue, length);
  const number = be32(bth + 5) >>> 8;
  if (number != load<u32>(queue, RECEIVE_QP_NUMBER) && number != MULTICAST_QPN) return take(queue, length);
  const total = ipv4 ? be16(ip + 2) : IPV6_LENGTH + be16(ip + 4);
  const payload = payloadOf(bth, total - headers - UDP_LENGTH);
  if (payload < 0 || ip + total > end || be16(udp + 4) != total - headers) return Reason.bad_datagram;
  if (load<u32>(ip + total - ICRC_LENGTH) != invariantCrc(ip, ipv4, headers, total - ICRC_LENGTH)) {
    return Reason.bad_datagram;
  }
  if (be32(bth + BTH_LENGTH) != load<u32>(queue, RECEIVE_Q_KEY)) return Reason.wrong_qkey;
  store<u32>(destination, load<u32>(destination, DEST_FLAGS) | DEST_DATAGRAM, DEST_FLAGS);
  return take(queue, GRH_LENGTH + payload);
}

// @ts-ignore: decorator
@inline
function be16(address: usize): u32 {
  return bswap<u16>(load<u16>(address));
}

// @ts-ignore: decorator
@inline
function be32(address: usize): u32 {
  return bswap<u32>(load<u32>(address));
}

// @ts-ignore: decorator
@inline
function isTpid(ethertype: u32): bool {
  return ethertype == TPID_CVLAN || ethertype == TPID_SVLAN;
}

/** The length of the payload of a datagram whose BTH begins `length` bytes; negative if it is none. */
function payloadOf(bth: usize, length: i32): i32 {
  const opcode: u32 = load<u8>(bth);
  const flags: u32 = load<u8>(bth, 1);
  if ((opcode != SEND_ONLY && opcode != SEND_ONLY_WITH_IMMEDIATE) || (flags & 15) != 0) return -1;
  const immediate = opcode == SEND_ONLY ? 0 : IMMEDIATE_LENGTH;
  return length - BTH_LENGTH - DETH_LENGTH - immediate - ((flags >> 4) & 3) - ICRC_LENGTH;
}

/** As src/packet/icrc.ts: bytes that may change in the network count as ones. */
function invariantCrc(ip: usize, ipv4: bool, headers: u32, length: u32): u32 {
  let crc: u32 = 0xffff_ffff;
  for (let i = 0; i < 8; i++) crc = withByte(crc, 0xff);
  const masked = headers + UDP_LENGTH + BTH_VARIANT + 1;
  for (let i: u32 = 0; i < masked; i++) {
    crc = withByte(crc, load<u8>(ip + i) | (ipv4 ? onesOfIpv4(i) : onesOfIpv6(i)) | onesOfUpper(i - headers));
  }
  for (let i = masked; i < length; i++) crc = withByte(crc, load<u8>(ip + i));
  return ~crc;
}

function withByte(crc: u32, byte: u32): u32 {
  crc ^= byte;
  crc = (crc >>> 4) ^ load<u32>(CRC_TABLE + ((<usize>(crc & 15)) << 2));
  return (crc >>> 4) ^ load<u32>(CRC_TABLE + ((<usize>(crc & 15)) << 2));
}

/** Traffic class, TTL, checksum. */
function onesOfIpv4(at: u32): u32 {
  return at == 1 || at == 8 || at == 10 || at == 11 ? 0xff : 0;
}

/** Traffic class, flow label, hop limit. */
function onesOfIpv6(at: u32): u32 {
  return at == 0 ? 0x0f : at <= 3 || at == 7 ? 0xff : 0;
}

/** The UDP checksum, and the byte of the BTH; `at` counts from the UDP header. */
function onesOfUpper(at: u32): u32 {
  return at == 6 || at == 7 || at == UDP_LENGTH + BTH_VARIANT ? 0xff : 0;
}
