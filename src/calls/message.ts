/** Messages as bytes: little-endian, without padding. */
import { refuse } from "../errors.js";

/** The length of memory that is not there. */
export const NO_LENGTH = 0xffff_ffff;

const TEXT = new TextDecoder();
const BYTES = new TextEncoder();

/** Reads a message. What ends early or is too long is refused. */
export class MessageReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Bytes that have not been read. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  i32(): number {
    return this.#view.getInt32(this.#take(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  /** An integer of 64 bits, as a number where that is exact. */
  wide(): number | bigint {
    const at = this.#take(8);
    const upper = this.#view.getUint32(at + 4, true);
    return upper < 2 ** 21 ? upper * 2 ** 32 + this.#view.getUint32(at, true) : this.#view.getBigUint64(at, true);
  }

  /** Bytes of this length, in the memory of the message. */
  raw(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Bytes with their length, copied; null for a null pointer. */
  bytes(): Uint8Array | null {
    const length = this.u32();
    return length === NO_LENGTH ? null : this.raw(length).slice();
  }

  text(): string | null {
    const bytes = this.bytes();
    return bytes === null ? null : TEXT.decode(bytes);
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.left) {
      const hint = `the message ends ${length - this.left} bytes early`;
      refuse({ code: "EINVAL", reason: "too_short", path: "message", value: this.#bytes.length, hint });
    }
    this.#at += length;
    return at;
  }
}

/** Writes a message into memory that grows. */
export class MessageWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
  }

  u16(value: number): void {
    const at = this.#grow(2);
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
  }

  wide(value: number | bigint): void {
    const at = this.#grow(8);
    this.#view.setBigUint64(at, BigInt.asUintN(64, BigInt(value)), true);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  bytes(bytes: Uint8Array): void {
    this.u32(bytes.length);
    this.raw(bytes);
  }

  text(text: string): void {
    this.bytes(BYTES.encode(text));
  }

  /** What was written, preceded by its length in 4 bytes. */
  framed(): Uint8Array {
    const framed = new Uint8Array(4 + this.#length);
    new DataView(framed.buffer).setUint32(0, this.#length, true);
    framed.set(this.#bytes.subarray(0, this.#length), 4);
    return framed;
  }

  #grow(length: number): number {
    const at = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#length);
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }
}
