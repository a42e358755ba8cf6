/** The position of the plain parser in a frame, its list of headers, and how it reads numbers. */
import { LEVEL_OUTER, Stop } from "../../src/abi/headers.js";
import * as at from "./record.js";

export function be16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 8) | bytes[offset + 1]!;
}

export function be32(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!;
}

/** The ones' complement sum of big-endian 16-bit words (RFC 1071), not yet folded: high and low bytes apart. */
export function sum(bytes: Uint8Array, offset: number, length: number): number {
  let high = 0;
  let low = 0;
  const even = offset + (length & ~1);
  for (let i = offset; i < even; i += 2) {
    high += bytes[i]!;
    low += bytes[i + 1]!;
  }
  if (length & 1) high += bytes[even]!;
  return high * 256 + low;
}

/** Whether a sum that includes the checksum is correct. */
export function isRight(total: number): boolean {
  while (total > 0xffff) total = (total & 0xffff) + (total >>> 16);
  return total === 0xffff;
}

export class Cursor {
  /** LIST_WORDS words a frame. */
  readonly lists: Int32Array;

  protected bytes: Uint8Array = new Uint8Array(0);
  protected frame = 0;
  protected at = 0;
  /** The frames here are captured completely: readable bytes and bytes on the wire end together. */
  protected end = 0;
  protected level = LEVEL_OUTER;
  #list = 0;

  constructor(frames: number) {
    this.lists = new Int32Array(frames * at.LIST_WORDS);
  }

  /** Stands at the first byte of a frame, whose list is the i-th. */
  protected start(bytes: Uint8Array, start: number, length: number, i: number): void {
    const { lists } = this;
    const list = i * at.LIST_WORDS;
    this.bytes = bytes;
    this.frame = start;
    this.at = start;
    this.end = start + length;
    this.#list = list;
    for (let word = list; word < list + at.LIST_FIRST; word++) lists[word] = 0;
  }

  protected note(kind: number, offset: number): void {
    const { lists } = this;
    const list = this.#list;
    const count = lists[list]!;
    if (count >= at.LIST_ENTRIES) return;
    lists[list + at.LIST_FIRST + 2 * count] = kind | (this.level << 8);
    lists[list + at.LIST_FIRST + 2 * count + 1] = offset - this.frame;
    lists[list] = count + 1;
  }

  /** The payload after the headers of a level; `word` is its position in the list. */
  protected notePayload(word: number): void {
    this.lists[this.#list + word] = this.at - this.frame;
    this.lists[this.#list + word + 1] = this.end - this.frame;
  }

  /** Missing bytes are beyond the packet or the frame: there are no cut captures here. */
  protected has(kind: number, bytes: number): boolean {
    if (this.end - this.at >= bytes) return true;
    return this.stop(kind, Stop.beyond_packet, bytes);
  }

  protected stop(kind: number, why: number, wanted: number): false {
    const stop = this.#list + at.LIST_STOP;
    const { lists } = this;
    lists[stop] = kind;
    lists[stop + 1] = why;
    lists[stop + 2] = this.at - this.frame;
    lists[stop + 3] = wanted;
    lists[stop + 4] = this.end - this.at;
    return false;
  }
}
