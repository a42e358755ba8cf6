/** Computes the invariant CRC at the end of RoCE packets. */
import { crc32 } from "./checksum.js";

/** Size of the field, in bytes. */
export const ICRC_LENGTH = 4;

const UDP_CHECKSUM = 6;
const UDP_LENGTH = 8;
/** FECN, BECN and six reserved bits. */
const BTH_VARIANT = 4;
/** Bytes that may change, from the beginning of their header on. */
const IPV4_VARIANT = [1, 8, 10, 11];
const IPV6_VARIANT = [1, 2, 3, 7];
const UDP_VARIANT = [UDP_CHECKSUM, UDP_CHECKSUM + 1, UDP_LENGTH + BTH_VARIANT];
const ONES = new Uint8Array(8).fill(0xff);

/**
 * The invariant CRC of a RoCE v2 packet (InfiniBand architecture, annex A17), in the byte order of its field: the lowest byte
 * is first on the wire. Eight bytes of ones replace the headers of other links. Fields that may change in the network count as
 * ones too: traffic class, flow label, hop limit or TTL, checksums, and the byte of the BTH with FECN and BECN.
 *
 * @param packet from the first byte of the IP header, without extensions, up to the last byte before the field
 */
export function invariantCrc(packet: Uint8Array): number {
  const first = packet[0] ?? 0;
  const ipv4 = first >> 4 === 4;
  const udp = ipv4 ? 4 * (first & 15) : 40;
  const masked = packet.slice(0, udp + UDP_LENGTH + BTH_VARIANT + 1);
  if (!ipv4) masked[0] = first | 0x0f;
  for (const at of ipv4 ? IPV4_VARIANT : IPV6_VARIANT) masked[at] = 0xff;
  for (const at of UDP_VARIANT) masked[udp + at] = 0xff;
  return crc32(ONES, masked, packet.subarray(masked.length));
}
