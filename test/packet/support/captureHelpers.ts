import { CaptureDecoder, type CapturedFrame, type CaptureEnd } from "../../../src/packet/capture/read.js";

/**
 * All frames of a file that is pushed in chunks of one size; their bytes are copied out of the
 * chunk.
 */
export function decodeAll(file: Uint8Array, size = file.length): { frames: CapturedFrame[]; end: CaptureEnd } {
  const decoder = new CaptureDecoder();
  const frames: CapturedFrame[] = [];
  for (let at = 0; at < file.length; at += size) {
    // The chunk is wiped once its frames are copied, so that a frame that still needs it fails.
    const chunk = file.slice(at, at + size);
    for (const frame of decoder.push(chunk)) frames.push({ ...frame, bytes: frame.bytes.slice() });
    chunk.fill(0xee);
  }
  return { frames, end: decoder.finish() };
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** A little-endian number of `size` bytes. */
export function le(value: number | bigint, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => Number((BigInt(value) >> BigInt(8 * i)) & 0xffn));
}

/** A block of a little-endian pcapng file: type, length, the parts padded to 4, length. */
export function block(type: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const body = concat(...parts);
  const length = le(12 + body.length + (-body.length & 3), 4);
  return concat(le(type, 4), length, body, new Uint8Array(-body.length & 3), length);
}

export function option(code: number, value: Uint8Array): Uint8Array {
  return concat(le(code, 2), le(value.length, 2), value, new Uint8Array(-value.length & 3));
}

export const section = (): Uint8Array => block(0x0a0d0d0a, le(0x1a2b3c4d, 4), le(1, 2), le(0, 2), le(-1n, 8));

export function describeInterface(linkType: number, snapLength: number, ...options: Uint8Array[]): Uint8Array {
  return block(1, le(linkType, 2), le(0, 2), le(snapLength, 4), ...options);
}

export function enhancedPacket(
  interfaceId: number,
  ticks: bigint,
  bytes: Uint8Array,
  captured = bytes.length,
): Uint8Array {
  const time = [le(ticks >> 32n, 4), le(ticks & 0xffffffffn, 4)];
  return block(6, le(interfaceId, 4), ...time, le(captured, 4), le(bytes.length + 1000, 4), bytes);
}

/**
 * The same file as written on a host of the other byte order; only options of interfaces are
 * supported.
 */
export function swapByteOrder(file: Uint8Array): Uint8Array {
  const out = file.slice();
  const from = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const swap = (at: number, ...sizes: number[]): void => {
    for (const size of sizes) {
      out.subarray(at, at + size).reverse();
      at += size;
    }
  };
  if (file[0] !== 0x0a) {
    const littleEndian = file[0] !== 0xa1;
    swap(0, 4, 2, 2, 4, 4, 4, 4);
    for (let at = 24; at < file.length; at += 16 + from.getUint32(at + 8, littleEndian)) swap(at, 4, 4, 4, 4);
    return out;
  }
  let littleEndian = false;
  for (let at = 0; at < file.length;) {
    const type = from.getUint32(at, littleEndian);
    if (type === 0x0a0d0d0a) littleEndian = file[at + 8] === 0x4d;
    const body = at + 8;
    const end = at + from.getUint32(at + 4, littleEndian) - 4;
    swap(at, 4, 4);
    swap(end, 4);
    if (type === 0x0a0d0d0a) swap(body, 4, 2, 2, 8);
    if (type === 6) swap(body, 4, 4, 4, 4, 4);
    if (type === 3) swap(body, 4);
    if (type === 2) swap(body, 2, 2, 4, 4, 4, 4);
    at = end + 4;
    if (type !== 1) continue;
    swap(body, 2, 2, 4);
    for (let option = body + 8; option < end;) {
      const code = from.getUint16(option, littleEndian);
      const size = from.getUint16(option + 2, littleEndian);
      swap(option, 2, 2);
      if (code === 14) swap(option + 4, 8);
      option += 4 + size + (-size & 3);
    }
  }
  return out;
}
