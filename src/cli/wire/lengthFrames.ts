/** Frames in a stream of bytes, each after its length in four bytes, big-endian: the stream sockets of QEMU. */
import { MAX_FRAME } from "./wire.js";

const HEADER = 4;

/** A frame with its length before it. */
export function withLength(frame: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER + frame.length);
  bytes.writeUInt32BE(frame.length);
  bytes.set(frame, HEADER);
  return bytes;
}

export class LengthFrames {
  /** The beginning of a frame whose end has not come. */
  #held: Buffer = Buffer.alloc(0);

  /** Gives the frames that these bytes complete. @returns false for a length that no frame has: the stream is of no use */
  push(chunk: Buffer, take: (frame: Uint8Array) => void): boolean {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let at = 0;
    while (bytes.length - at >= HEADER) {
      const length = bytes.readUInt32BE(at);
      if (length === 0 || length > MAX_FRAME) return false;
      const end = at + HEADER + length;
      if (end > bytes.length) break;
      take(bytes.subarray(at + HEADER, end));
      at = end;
    }
    this.#held = bytes.subarray(at);
    return true;
  }
}
