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

function reflectedCrc(polynomial: number, parts: readonly Uint8Array[]): number {
  let crc = 0xffffffff;
  for (const part of parts) {
    for (const byte of part) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0);
    }
  }
  crc = ~crc;
  return ((crc << 24) | ((crc & 0xff00) << 8) | ((crc >>> 8) & 0xff00) | (crc >>> 24)) >>> 0;
}
