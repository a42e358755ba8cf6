/** Computes checksums of headers and segments: the Internet checksum, CRC-32 and CRC32c. */
import { writeBytes, writeNumber } from "./bytes.js";

/** The 16-bit ones-complement sum (RFC 1071); an odd last byte is the high half of a word. Right data sums up to 0xffff. */
export function onesComplementSum(...parts: readonly Uint8Array[]): number {
  let sum = 0;
  for (const part of parts) {
    const even = part.length & ~1;
    for (let i = 0; i < even; i += 2) sum += ((part[i] as number) << 8) | (part[i + 1] as number);
    if (even < part.length) sum += (part[even] as number) << 8;
    // Frames are far shorter than what a double would round.
    while (sum > 0xffff) sum = (sum % 0x10000) + Math.floor(sum / 0x10000);
  }
  return sum;
}

/**
 * The value of a checksum field.
 * @param parts the covered bytes, with 0 in the checksum field; all but the last have an even length
 */
export function internetChecksum(...parts: readonly Uint8Array[]): number {
  return 0xffff - onesComplementSum(...parts);
}

/**
 * The pseudo header that checksums of TCP, UDP and ICMPv6 cover (RFC 9293 section 3.1, RFC 8200 section 8.1):
 * addresses, then | 0 1 | protocol 1 | length 2 | of IPv4 or | length 4 | 0 3 | protocol 1 | of IPv6.
 */
export function pseudoHeader(
  source: Uint8Array,
  destination: Uint8Array,
  protocol: number,
  length: number,
): Uint8Array {
  const short = source.length === 4;
  const at = 2 * source.length;
  const bytes = new Uint8Array(at + (short ? 4 : 8));
  writeBytes(bytes, 0, source);
  writeBytes(bytes, source.length, destination);
  if (short) {
    bytes[at + 1] = protocol;
    writeNumber(bytes, 8 * at + 16, 16, length);
  } else {
    writeNumber(bytes, 8 * at, 32, length);
    bytes[at + 7] = protocol;
  }
  return bytes;
}

/** Polynomials, reflected: Castagnoli's (RFC 9260 appendix A) and that of Ethernet (IEEE 802.3 clause 3.2.9). */
const CASTAGNOLI = 0x82f63b78;
const ETHERNET = 0xedb88320;

/** The CRC32c in the byte order of its field: the lowest byte of the CRC is first on the wire. */
export function crc32c(...parts: readonly Uint8Array[]): number {
  return reflectedCrc(CASTAGNOLI, parts);
}

/** The CRC-32 of Ethernet, in the same byte order. */
export function crc32(...parts: readonly Uint8Array[]): number {
  return reflectedCrc(ETHERNET, parts);
}

/** For each polynomial eight tables of 256: what a byte adds to the CRC, with 0 to 7 bytes after it. */
const TABLES = new Map<number, Int32Array>();

function tablesOf(polynomial: number): Int32Array {
  let tables = TABLES.get(polynomial);
  if (tables !== undefined) return tables;
  TABLES.set(polynomial, (tables = new Int32Array(8 * 256)));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0);
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256] as number;
    tables[at] = (before >>> 8) ^ (tables[before & 0xff] as number);
  }
  return tables;
}

/** Eight bytes a step, and those that are left one by one. */
function reflectedCrc(polynomial: number, parts: readonly Uint8Array[]): number {
  const tables = tablesOf(polynomial);
  let crc = -1;
  for (const part of parts) crc = crcAfter(tables, crc, part);
  crc = ~crc;
  return ((crc << 24) | ((crc & 0xff00) << 8) | ((crc >>> 8) & 0xff00) | (crc >>> 24)) >>> 0;
}

function crcAfter(tables: Int32Array, before: number, bytes: Uint8Array): number {
  const at = (index: number): number => tables[index] as number;
  const byte = (i: number): number => bytes[i] as number;
  const eights = bytes.length & ~7;
  let crc = before;
  for (let i = 0; i < eights; i += 8) {
    crc ^= byte(i) | (byte(i + 1) << 8) | (byte(i + 2) << 16) | (byte(i + 3) << 24);
    const first = at(0x700 + (crc & 0xff)) ^ at(0x600 + ((crc >>> 8) & 0xff));
    const second = at(0x500 + ((crc >>> 16) & 0xff)) ^ at(0x400 + (crc >>> 24));
    const third = at(0x300 + byte(i + 4)) ^ at(0x200 + byte(i + 5));
    crc = first ^ second ^ third ^ at(0x100 + byte(i + 6)) ^ at(byte(i + 7));
  }
  for (let i = eights; i < bytes.length; i++) crc = (crc >>> 8) ^ at((crc ^ byte(i)) & 0xff);
  return crc;
}
