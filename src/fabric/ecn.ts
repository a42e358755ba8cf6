/** Explicit Congestion Notification (RFC 3168): the two low bits of the traffic class of IPv4 and IPv6. */
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6, TPID_CVLAN, TPID_SVLAN } from "../abi/protocols.js";

/** Congestion experienced. 0 is a packet whose transport does not know ECN; 1 and 2 are ones that do. */
const CE = 3;
const MACS = 12;
const VLAN_TAG = 4;

/**
 * The frame with its outer IP packet marked CE; the frame itself where its transport does not know ECN, where it is
 * marked already, or where no IP packet follows the Ethernet header and its VLAN tags.
 */
export function markedCe(frame: Uint8Array): Uint8Array {
  let at = MACS;
  while (isTag(wordAt(frame, at))) at += VLAN_TAG;
  const type = wordAt(frame, at);
  const ip = at + 2;
  const version = (frame[ip] ?? 0) >> 4;
  if (type === ETHERTYPE_IPV4 && version === 4 && frame.length >= ip + 20) return markedIpv4(frame, ip);
  if (type === ETHERTYPE_IPV6 && version === 6 && frame.length >= ip + 40) return markedIpv6(frame, ip);
  return frame;
}

function markedIpv4(frame: Uint8Array, ip: number): Uint8Array {
  const was = wordAt(frame, ip);
  if (!isCapable(was & CE)) return frame;
  const copy = new Uint8Array(frame);
  copy[ip + 1] = (was & 0xff) | CE;
  // RFC 1624: HC' = ~(~HC + ~m + m').
  const sum = (wordAt(frame, ip + 10) ^ 0xffff) + (was ^ 0xffff) + (was | CE);
  const folded = (sum & 0xffff) + (sum >>> 16);
  const checksum = ((folded & 0xffff) + (folded >>> 16)) ^ 0xffff;
  copy[ip + 10] = checksum >> 8;
  copy[ip + 11] = checksum & 0xff;
  return copy;
}

/** | version 4 | traffic class 8 | flow label 20 | */
function markedIpv6(frame: Uint8Array, ip: number): Uint8Array {
  const byte = frame[ip + 1] as number;
  if (!isCapable((byte >> 4) & CE)) return frame;
  const copy = new Uint8Array(frame);
  copy[ip + 1] = byte | (CE << 4);
  return copy;
}

function isCapable(ecn: number): boolean {
  return ecn !== 0 && ecn !== CE;
}

function isTag(type: number): boolean {
  return type === TPID_CVLAN || type === TPID_SVLAN;
}

function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
