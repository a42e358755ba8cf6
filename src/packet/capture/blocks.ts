/** Blocks of a pcapng file, written one after the other into an array that is long enough for them. */
import type { EncodedComment } from "./comment.js";
import { BLOCK, BLOCK_HEADER, BYTE_ORDER_MAGIC, OPTION, optionOf, padded, PCAPNG_MAJOR, SECTION } from "./pcapng.js";
import { viewOf } from "./record.js";

export class Blocks {
  littleEndian: boolean;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #length = 0;

  /** @param most the most bytes that are written */
  constructor(most: number, littleEndian: boolean) {
    this.#bytes = new Uint8Array(most);
    this.#view = viewOf(this.#bytes);
    this.littleEndian = littleEndian;
  }

  get length(): number {
    return this.#length;
  }

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Begins a block. Gives its offset, for `close`. */
  open(type: number): number {
    const begin = this.#length;
    this.word(type);
    this.word(0);
    return begin;
  }

  /** Ends a block: its length comes to both its ends. */
  close(begin: number): void {
    const length = this.#length + BLOCK_HEADER.trailer - begin;
    this.#view.setUint32(begin + BLOCK_HEADER.length, length, this.littleEndian);
    this.word(length);
  }

  /** The header of a section of unknown length. */
  section(): void {
    const begin = this.open(BLOCK.sectionHeader);
    this.word(BYTE_ORDER_MAGIC);
    this.#view.setUint16(begin + SECTION.major, PCAPNG_MAJOR, this.littleEndian);
    this.#length = begin + SECTION.options;
    this.forgetSectionLength(begin);
    this.close(begin);
  }

  /** Makes the length of a section unknown. */
  forgetSectionLength(begin: number): void {
    this.#view.setBigInt64(begin + SECTION.sectionLength, -1n, this.littleEndian);
  }

  /** An interface description. `checkBits` is the length of a frame check sequence after each frame; null where it is unknown. */
  device(linkType: number, snapLength: number, nanoseconds: boolean, checkBits: number | null): void {
    const begin = this.open(BLOCK.interfaceDescription);
    this.word(0);
    this.#view.setUint16(this.#length - 4, linkType, this.littleEndian);
    this.word(snapLength);
    if (nanoseconds) this.#byteOption(OPTION.timeResolution, 9);
    if (checkBits !== null) this.#byteOption(OPTION.checkLength, checkBits);
    if (nanoseconds || checkBits !== null) this.word(OPTION.end);
    this.close(begin);
  }

  #byteOption(code: number, value: number): void {
    const option = optionOf(code, Uint8Array.of(value), this.littleEndian);
    this.copy(option, 0, option.length);
  }

  /** Begins an enhanced packet block; the bytes of the frame come next. */
  packet(interfaceId: number, high: number, low: number, captured: number, wireLength: number): number {
    const begin = this.open(BLOCK.enhancedPacket);
    this.word(interfaceId);
    this.word(high);
    this.word(low);
    this.word(captured);
    this.word(wireLength);
    return begin;
  }

  word(value: number): void {
    this.#view.setUint32(this.#length, value, this.littleEndian);
    this.#length += 4;
  }

  copy(from: Uint8Array, at: number, length: number): void {
    this.#bytes.set(from.subarray(at, at + length), this.#length);
    this.#length += length;
  }

  /** The bytes of a frame, padded to words. */
  frame(from: Uint8Array, at: number, length: number): void {
    this.copy(from, at, length);
    this.#length += padded(length) - length;
  }

  comment({ little, big }: EncodedComment): void {
    const option = this.littleEndian ? little : big;
    this.copy(option, 0, option.length);
  }
}
