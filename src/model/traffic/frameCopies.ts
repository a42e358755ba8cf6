/**
 * Copies of frames out of the core's memory. Short ones share a buffer: to make an `ArrayBuffer`
 * takes longer than to steer a short frame.
 *
 *     buffer of 16,384 bytes:  | frame | frame | frame | ...      each at a multiple of 8
 *
 * A frame that the program keeps also keeps the buffer.
 */
const ROOM = 16384;
/** The longest frame that shares a buffer, in bytes. */
const SHORT = 2048;

export class FrameCopies {
  #bytes = new Uint8Array(0);
  #used = 0;

  /** A copy of `length` bytes of `memory`, from `address` on. */
  copy(memory: Uint8Array, address: number, length: number): Uint8Array {
    if (length > SHORT) return memory.slice(address, address + length);
    // A buffer that the program transferred has length 0.
    if (this.#used + length > this.#bytes.length) {
      this.#bytes = new Uint8Array(ROOM);
      this.#used = 0;
    }
    const copy = new Uint8Array(this.#bytes.buffer, this.#used, length);
    copy.set(new Uint8Array(memory.buffer, address, length));
    this.#used += (length + 7) & ~7;
    return copy;
  }
}
