/** Computes the invariant CRC at the end of RoCE packets. */
import { crc32 } from "./checksum.js";

/** Size of the field, in bytes. */
export const ICRC_LENGTH = 4;

const UDP_CHECKSUM = 6;
const UDP_LENGTH = 8;
/** FECN, BECN and six reserved bits. */
const BTH_VARIANT = 4;

/**
 * The invariant CRC of a RoCE v2 packet (InfiniBand architecture, annex A17), in the byte order of its field: the lowest byte
 * is first on the wire. Eight bytes of ones replace the headers of other links. Fields that may change in the network count as
 * ones too: traffic class, flow label, hop limit or TTL, checksums, and the byte of the BTH with FECN and BECN.
 *
 * @param packet from the first byte of the IP header, without extensions, up to the last byte before the field
 */
export function invariantCrc(packet: Uint8Array): number {
  const masked = packet.slice();
  const first = masked[0] ?? 0;
  let udp: number;
  if (first >> 4 === 4) {
    udp = 4 * (first & 15);
    for (const at of [1, 8, 10, 11]) masked[at] = 0xff;
  } else {
    udp = 40;
    masked[0] = first | 0x0f;
    for (const at of [1, 2, 3, 7]) masked[at] = 0xff;
  }
  for (const at of [UDP_CHECKSUM, UDP_CHECKSUM + 1, UDP_LENGTH + BTH_VARIANT]) masked[udp + at] = 0xff;
  return crc32(new Uint8Array(8).fill(0xff), masked);
}
