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

/** For each polynomial four tables of 256: what a byte adds to the CRC, with 0 to 3 bytes after it. */
const TABLES = new Map<number, Int32Array>();

function tablesOf(polynomial: number): Int32Array {
  let tables = TABLES.get(polynomial);
  if (tables !== undefined) return tables;
  TABLES.set(polynomial, (tables = new Int32Array(4 * 256)));
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

/** Four bytes a step, and those that are left one by one. */
function reflectedCrc(polynomial: number, parts: readonly Uint8Array[]): number {
  const tables = tablesOf(polynomial);
  const at = (index: number): number => tables[index] as number;
  let crc = 0xffffffff;
  for (const part of parts) {
    const fours = part.length & ~3;
    for (let i = 0; i < fours; i += 4) {
      const [a, b, c, d] = [part[i], part[i + 1], part[i + 2], part[i + 3]] as [number, number, number, number];
      crc ^= a | (b << 8) | (c << 16) | (d << 24);
      crc = at(768 + (crc & 0xff)) ^ at(512 + ((crc >>> 8) & 0xff)) ^ at(256 + ((crc >>> 16) & 0xff)) ^ at(crc >>> 24);
    }
    for (let i = fours; i < part.length; i++) crc = (crc >>> 8) ^ at((crc ^ (part[i] as number)) & 0xff);
  }
  crc = ~crc;
  return ((crc << 24) | ((crc & 0xff00) << 8) | ((crc >>> 8) & 0xff00) | (crc >>> 24)) >>> 0;
}
