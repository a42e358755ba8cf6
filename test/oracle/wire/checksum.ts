// Reference of checksums: ones-complement sums over the bytes in order, pseudo header included (RFC
// 1071, RFC 9293 section 3.1, RFC 768, RFC 8200 section 8.1). Data with a correct checksum sums up
// to 0xffff.

import { type Packet, type Step, number } from "./packet.js";

const TCP = 6;
const UDP = 17;

/** The 16-bit ones-complement sum; an odd last byte is the high half of a word. */
export function onesComplementSum(...parts: readonly (Uint8Array | readonly number[])[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let i = 0; i < part.length; i += 2) {
      sum += ((part[i] ?? 0) << 8) | (part[i + 1] ?? 0);
      sum = (sum & 0xffff) + (sum >>> 16);
    }
  }
  return sum;
}

/**
 * The pseudo header: addresses, then | 0 | protocol | length 2 | (IPv4) or | length 4 | 0 3 | next header | (IPv6,
 * RFC 8200 section 8.1).
 */
export function pseudoHeader(addresses: Uint8Array | readonly number[], protocol: number, length: number): number[] {
  const size = [length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff];
  const tail = addresses.length === 8 ? [0, protocol, ...size.slice(2)] : [...size, 0, 0, 0, protocol];
  return [...addresses, ...tail];
}

/** Whether the header checksum is correct (RFC 791 section 3.1), independent of other errors. */
export function ipv4HeaderRight(packet: Packet, at: number, length: number): boolean {
  return onesComplementSum(packet.bytes.subarray(at, at + length)) === 0xffff;
}

/** The segment ends where the IP payload ends. */
export function tcpRight(packet: Packet, step: Step): boolean {
  return segmentRight(packet, step, TCP, step.wireEnd - step.at);
}

/** The datagram ends where its own length says. */
export function udpRight(packet: Packet, step: Step): boolean {
  const right = segmentRight(packet, step, UDP, number(packet, step.at + 4, 2));
  if (number(packet, step.at + 6, 2) !== 0) return right;
  // 0: not computed, which only IPv4 allows (RFC 768; SPEC, RFC 8200 section 8.1).
  return step.network?.version === 4 && captured(step, number(packet, step.at + 4, 2));
}

function segmentRight(packet: Packet, step: Step, protocol: number, length: number): boolean {
  if (!captured(step, length) || step.network === undefined) return false;
  const segment = packet.bytes.subarray(step.at, step.at + length);
  return onesComplementSum(pseudoHeader(step.network.addresses, protocol, length), segment) === 0xffff;
}

/** Whether there is a checksum, and all of its data. */
function captured(step: Step, length: number): boolean {
  return step.network?.verifiable === true && step.at + length <= step.end;
}

/** Loose and strict source and record route (RFC 791 section 3.1). */
const SOURCE_ROUTES = [131, 137];

/**
 * Whether an IPv4 source route is in progress: a pointer inside its option means that hops are
 * left.
 */
export function sourceRouteUnderWay(options: Uint8Array): boolean {
  for (let at = 0; at < options.length;) {
    const type = options[at] ?? 0;
    if (type === 0) return false;
    if (type === 1) {
      at += 1;
      continue;
    }
    const length = options[at + 1] ?? 0;
    if (length < 2 || at + length > options.length) return false;
    if (SOURCE_ROUTES.includes(type) && length >= 3 && (options[at + 2] ?? 0) <= length) return true;
    at += length;
  }
  return false;
}
