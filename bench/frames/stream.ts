/**
 * Frames for the headers of a trace, back to back in memory as in a file, 64 bytes each: Ethernet,
 * IPv4, and TCP, UDP, ICMP or another protocol. Every length and checksum is right.
 */
import { HEADER_WORDS } from "../classify/ruleSets.js";

export const FRAME_BYTES = 64;
const ICMP = 1;
const TCP = 6;
const UDP = 17;
const IP = 14;
const UPPER = 34;
const PACKET_BYTES = FRAME_BYTES - IP;
const SEGMENT_BYTES = FRAME_BYTES - UPPER;

/** Ethernet, IPv4 without the computed header fields, and no payload. */
const TEMPLATE = Uint8Array.of(
  ...[0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x02, 0x08, 0x00],
  ...[0x45, 0, 0, PACKET_BYTES, 0x12, 0x34, 0x40, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
);

/** Headers as in a trace: | src | dst | source port high, destination port low | protocol |. */
export function framesOf(headers: Uint32Array): Uint8Array {
  const count = headers.length / HEADER_WORDS;
  const bytes = new Uint8Array(count * FRAME_BYTES);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < count; i++) {
    const at = i * FRAME_BYTES;
    const from = i * HEADER_WORDS;
    bytes.set(TEMPLATE, at);
    const protocol = headers[from + 3]!;
    bytes[at + IP + 9] = protocol;
    view.setUint32(at + IP + 12, headers[from]!);
    view.setUint32(at + IP + 16, headers[from + 1]!);
    view.setUint16(at + IP + 10, checksum(view, at + IP, 20, 0));
    writeSegment(view, at, protocol, headers[from + 2]!);
  }
  return bytes;
}

/** The same frames as separate arrays. */
export function separate(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / FRAME_BYTES }, (_, i) =>
    bytes.subarray(i * FRAME_BYTES, (i + 1) * FRAME_BYTES),
  );
}

function writeSegment(view: DataView, frame: number, protocol: number, ports: number): void {
  const at = frame + UPPER;
  if (protocol === ICMP) {
    // An echo request.
    view.setUint8(at, 8);
    view.setUint16(at + 2, checksum(view, at, SEGMENT_BYTES, 0));
    return;
  }
  if (protocol !== TCP && protocol !== UDP) return;
  view.setUint32(at, ports);
  if (protocol === TCP) view.setUint32(at + 12, 0x50102000);
  else view.setUint16(at + 4, SEGMENT_BYTES);
  // The pseudo header: addresses, protocol and length.
  const pseudo = sum(view, frame + IP + 12, 8) + protocol + SEGMENT_BYTES;
  const right = checksum(view, at, SEGMENT_BYTES, pseudo);
  view.setUint16(at + (protocol === TCP ? 16 : 6), protocol === UDP && right === 0 ? 0xffff : right);
}

/** The Internet checksum (RFC 1071) of an even number of bytes, and of what is summed already. */
function checksum(view: DataView, at: number, length: number, summed: number): number {
  let all = sum(view, at, length) + summed;
  while (all > 0xffff) all = (all & 0xffff) + (all >>> 16);
  return ~all & 0xffff;
}

function sum(view: DataView, at: number, length: number): number {
  let all = 0;
  for (let i = at; i < at + length; i += 2) all += view.getUint16(i);
  return all;
}
