/**
 * Short arrays that share buffers: to make an `ArrayBuffer` takes longer than to steer a short
 * frame.
 *
 *     buffer of 16,384 bytes:  | array | array | array | ...      each at a multiple of 8
 *
 * An array that a program keeps also keeps the buffer.
 */
const ROOM = 16384;
/** The longest array that shares a buffer, in bytes. */
const SHORT = 2048;

export class SharedBytes {
  #bytes = new Uint8Array(0);
  #used = 0;

  /** A new array of zeros. Only those of more than 2,048 bytes have a buffer of their own. */
  take(length: number): Uint8Array {
    if (length > SHORT) return new Uint8Array(length);
    // A buffer that the program transferred has length 0.
    if (this.#used + length >= this.#bytes.length) {
      this.#bytes = new Uint8Array(ROOM);
      this.#used = 0;
    }
    const taken = new Uint8Array(this.#bytes.buffer, this.#used, length);
    this.#used += (length + 7) & ~7;
    return taken;
  }

  /** A copy of `length` bytes of `memory`, from `address` on. */
  copy(memory: Uint8Array, address: number, length: number): Uint8Array {
    if (length > SHORT) return memory.slice(address, address + length);
    const copy = this.take(length);
    copy.set(new Uint8Array(memory.buffer, memory.byteOffset + address, length));
    return copy;
  }
}
