/**
 * `Batch`: writes frames into the core and reads their outcomes.
 *
 * `put` copies frames in until it returns -1, `steer` or `parse` runs them, and accessors read outcomes. Only those that
 * return objects allocate.
 */
import {
  FRAME_ADDRESS,
  FRAME_ARENA,
  FRAME_HEAD_ROOM,
  FRAME_LENGTH,
  FRAME_METADATA,
  FRAME_PACKED,
  FRAME_PORT,
  FRAME_SIZE,
  FRAME_SQN,
  FRAME_VPORT,
  FRAME_WIRE_LENGTH,
  HITS_PER_FRAME,
  MAX_BATCH,
  REGISTER_A,
  REGISTER_B,
  VPORT_UPLINK,
} from "../abi/engine.js";
import {
  DEST_ADDRESS,
  DEST_COPY,
  DEST_DATAGRAM,
  DEST_ESP,
  DEST_FLAGS,
  DEST_LENGTH,
  DEST_NEXT,
  DEST_QUEUE,
  DEST_REQUEST,
  DEST_SIZE,
  DEST_STATUS,
  DEST_TAG,
  OUTCOME_DESTINATIONS,
  OUTCOME_FLAGS,
  OUTCOME_HAS_TAG,
  OUTCOME_HITS,
  OUTCOME_KEY,
  OUTCOME_MISSED,
  OUTCOME_MISSED_FDB,
  OUTCOME_REASON,
  OUTCOME_SIZE,
  OUTCOME_TAG,
  OUTCOME_VERDICT,
  OUTCOME_WRITTEN,
  REASON_COUNT,
} from "../abi/outcome.js";
import { MAP_SIZE } from "../abi/headers.js";
import { EXT_REGISTER_B, KEY_SIZE, MISC2_REGISTER_A, MISC2_REGISTER_C_0 } from "../abi/key.js";
import type { Core } from "./core.js";

export class Batch {
  readonly core: Core;
  /** Frames in the batch. */
  count = 0;
  /** The most frames that it takes: MAX_BATCH, or up to MAX_ROWS when several cores steer them. */
  limit = MAX_BATCH;
  #next = 0;
  #end = 0;

  constructor(core: Core) {
    this.core = core;
    this.clear();
  }

  clear(): void {
    this.count = 0;
    this.#next = this.core.bytes;
    this.#end = this.core.bytes + this.core.bytesSize;
  }

  /**
   * Takes memory for a frame, so that the next `put` of an empty batch takes it.
   * @param length its bytes
   * @returns false when memory is full
   */
  openFrame(length: number): boolean {
    return this.core.openBytes(FRAME_HEAD_ROOM + length);
  }

  /**
   * Copies a frame into the batch.
   * @param wireLength in bytes; more than `bytes` when the capture cut the frame
   * @param port from 1
   * @param link a `Link` of src/abi/headers.ts
   * @param vport the function that sends it; VPORT_UPLINK for a frame from the wire
   * @param sqn the number of the queue pair that sends it
   * @param metadata the initial value of register A
   * @returns the row of the frame, or -1 when the batch is full until `clear`
   */
  put(
    bytes: Uint8Array,
    wireLength: number,
    port: number,
    link: number,
    vport: number = VPORT_UPLINK,
    sqn = 0,
    metadata = 0,
  ): number {
    const address = this.#place(FRAME_HEAD_ROOM, bytes.length);
    if (address === 0) return -1;
    this.core.u8.set(bytes, address);
    this.#next = (address + bytes.length + 15) & ~15;
    return this.#describe(address, bytes.length, wireLength, port | (link << 16), vport, sqn, metadata);
  }

  /** As `put`, for a frame from the wire, without head room: the core copies the frame before it changes it. */
  pack(bytes: Uint8Array, wireLength: number, port: number, link: number): number {
    const address = this.#place(0, bytes.length);
    if (address === 0) return -1;
    this.core.u8.set(bytes, address);
    this.#next = (address + bytes.length + 15) & ~15;
    return this.#describe(address, bytes.length, wireLength, packed(port, link), VPORT_UPLINK, 0, 0);
  }

  /** The address for a frame of `length` bytes in the next row; 0 when the batch is full. */
  #place(headRoom: number, length: number): number {
    const address = this.#next + headRoom;
    if (this.count < this.core.rows && this.count < this.limit && address + length <= this.#end) return address;
    return this.#placeInMore(headRoom, length);
  }

  /** The same with larger areas. Frames that are there keep their addresses. */
  #placeInMore(headRoom: number, length: number): number {
    const { core } = this;
    if (this.count >= this.limit || !core.openRows(this.count + 1)) return 0;
    if (this.#next + headRoom + length > this.#end) {
      const isCurrent = this.#end === core.bytes + core.bytesSize;
      if (isCurrent && (core.bytesSize === FRAME_ARENA || !core.openBytes(core.bytesSize + 1))) return 0;
      if (!core.openBytes(headRoom + length)) return 0;
      this.#next = core.bytes;
      this.#end = core.bytes + core.bytesSize;
    }
    return this.#next + headRoom;
  }

  /** All FRAME_ARENA bytes for frames that the caller writes and `add` takes; undefined when memory is full. */
  get bytes(): Uint8Array | undefined {
    if (!this.core.openBytes(FRAME_ARENA)) return undefined;
    const { u8, bytes } = this.core;
    return u8.subarray(bytes, bytes + FRAME_ARENA);
  }

  /** Adds a frame from the wire that is at `offset` of `bytes` already. @returns its row, or -1 when all rows are taken */
  add(offset: number, length: number, wireLength: number, port: number, link: number): number {
    if (this.count >= this.limit || !this.core.openRows(this.count + 1) || !this.core.openBytes(FRAME_ARENA)) return -1;
    return this.#describe(this.core.bytes + offset, length, wireLength, packed(port, link), VPORT_UPLINK, 0, 0);
  }

  #describe(
    address: number,
    length: number,
    wireLength: number,
    portLinkFlags: number,
    vport: number,
    sqn: number,
    metadata: number,
  ): number {
    const { u32, frames } = this.core;
    const at = (frames + this.count * FRAME_SIZE) >> 2;
    u32[at + (FRAME_ADDRESS >> 2)] = address;
    u32[at + (FRAME_LENGTH >> 2)] = length;
    u32[at + (FRAME_WIRE_LENGTH >> 2)] = wireLength;
    u32[at + (FRAME_PORT >> 2)] = portLinkFlags;
    u32[at + (FRAME_VPORT >> 2)] = vport;
    u32[at + (FRAME_SQN >> 2)] = sqn;
    u32[at + (FRAME_METADATA >> 2)] = metadata;
    return this.count++;
  }

  /** The time of a frame, of the last one by default, in nanoseconds. */
  stamp(time: bigint, row = this.count - 1): void {
    const { u32, times } = this.core;
    const at = (times >> 2) + 2 * row;
    u32[at] = Number(time & 0xffffffffn);
    u32[at + 1] = Number((time >> 32n) & 0xffffffffn);
  }

  /** Makes rows the first ones, which a core steers. */
  moveUp(first: number, count: number): void {
    const { u8, frames, times } = this.core;
    u8.copyWithin(frames, frames + first * FRAME_SIZE, frames + (first + count) * FRAME_SIZE);
    u8.copyWithin(times, times + first * 8, times + (first + count) * 8);
  }

  /** The bytes of a frame that was put, before the batch is steered. */
  frame(i: number): Uint8Array {
    const address = this.#descriptor(i, FRAME_ADDRESS);
    return this.core.u8.subarray(address, address + this.#descriptor(i, FRAME_LENGTH));
  }

  wireLength(i: number): number {
    return this.#descriptor(i, FRAME_WIRE_LENGTH);
  }

  port(i: number): number {
    return this.#descriptor(i, FRAME_PORT) & 0xffff;
  }

  /** A `Link`. */
  link(i: number): number {
    return (this.#descriptor(i, FRAME_PORT) >>> 16) & 0xff;
  }

  /** The time that a frame was stamped with. */
  time(i: number): bigint {
    return this.core.u64(this.core.times + 8 * i);
  }

  #descriptor(i: number, field: number): number {
    return this.core.u32[(this.core.frames + i * FRAME_SIZE + field) >> 2] ?? 0;
  }

  /** From bytes to outcome, beginning at the table `root`. */
  steer(root: number): void {
    this.core.steered += this.count;
    this.core.exports.steer(root, this.count);
  }

  /** The same for frames that the queue `sender` sent and the port loops back: for the rules of `root` alone. */
  loopBack(root: number, sender: number): void {
    this.core.exports.loopBack(root, this.count, sender);
  }

  /** Keys and frame maps only. */
  parse(wanted: number): void {
    this.core.exports.parse(this.count, wanted);
  }

  key(i: number): Uint8Array {
    const at = this.core.keys + i * KEY_SIZE;
    return this.core.u8.subarray(at, at + KEY_SIZE);
  }

  map(i: number): DataView {
    return new DataView(this.core.exports.memory.buffer, this.core.maps + i * MAP_SIZE, MAP_SIZE);
  }

  // A caller who reads much of one outcome passes `core.u32`, whose look-up takes longer than a read.

  verdict(i: number, words = this.core.u32): number {
    return ((words[this.#outcome(i)] ?? 0) >>> (8 * OUTCOME_VERDICT)) & 0xff;
  }

  reason(i: number, words = this.core.u32): number {
    return (words[this.#outcome(i)] ?? 0) >>> (8 * OUTCOME_REASON);
  }

  /** The tag, or -1. */
  tag(i: number, words = this.core.u32): number {
    const at = this.#outcome(i);
    const flags = (words[at] ?? 0) >>> (8 * OUTCOME_FLAGS);
    return flags & OUTCOME_HAS_TAG ? (words[at + (OUTCOME_TAG >> 2)] ?? 0) : -1;
  }

  /** The outcome of frame `i`, as a word of memory. */
  #outcome(i: number): number {
    return (this.core.outcomes + i * OUTCOME_SIZE) >> 2;
  }

  /** Where a frame with reason `no_rule` or `table_miss` missed: a table, or 1 + vport of a function without tables. */
  missed(i: number): number {
    return this.core.u32[(this.core.outcomes + i * OUTCOME_SIZE + OUTCOME_MISSED) >> 2] ?? 0;
  }

  /** The address of the FDB table that the frame missed before that; 0 for none. */
  missedFdb(i: number): number {
    return this.core.u32[(this.core.outcomes + i * OUTCOME_SIZE + OUTCOME_MISSED_FDB) >> 2] ?? 0;
  }

  /** How many rules the frame hit. */
  hits(i: number, words = this.core.u32): number {
    return (words[this.#outcome(i) + (OUTCOME_HITS >> 2)] ?? 0) & 0xffff;
  }

  /** The id of the n-th rule that it hit. */
  hit(i: number, n: number, words = this.core.u32): number {
    return words[(this.core.hits >> 2) + i * HITS_PER_FRAME + n] ?? 0;
  }

  /** How many destinations it has, copies included. */
  destinations(i: number, words = this.core.u32): number {
    return (words[this.#outcome(i) + (OUTCOME_HITS >> 2)] ?? 0) >>> (8 * (OUTCOME_DESTINATIONS - OUTCOME_HITS));
  }

  /** The address of its first destination, in words: what the accessors below take. */
  firstDestination(i: number): number {
    return (this.core.destinations + i * DEST_SIZE) >> 2;
  }

  /** That of the one after it, while `destinations` says that there is one. */
  nextDestination(at: number): number {
    return this.#word(at, DEST_NEXT) >>> 2;
  }

  /** Metadata registers that hold what a rule wrote: a bit each, in the order of REGISTERS. */
  written(i: number, words = this.core.u32): number {
    return (words[this.#outcome(i) + (OUTCOME_WRITTEN >> 2)] ?? 0) & 0xffff;
  }

  /** The value of metadata register `n` of the branch that gave the verdict. */
  register(i: number, n: number): number {
    const { u32, outcomes } = this.core;
    const at = (u32[(outcomes + i * OUTCOME_SIZE + OUTCOME_KEY) >> 2] ?? 0) + registerByte(n);
    const word = u32[at >> 2] ?? 0;
    return ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
  }

  /** The queue of a destination, as the core knows it, or the number of its port. */
  queueOf(at: number, words = this.core.u32): number {
    return words[at + (DEST_QUEUE >> 2)] ?? 0;
  }

  /** DEST_* flags of a destination. */
  flagsOf(at: number): number {
    return this.#word(at, DEST_FLAGS);
  }

  /** The address of the bytes that arrive there; `lengthAt` says how many they are. */
  addressOf(at: number): number {
    return this.#word(at, DEST_ADDRESS);
  }

  /** The bytes that arrive there: a view that the next batch overwrites. */
  frameAt(at: number): Uint8Array {
    const address = this.addressOf(at);
    return this.core.u8.subarray(address, address + this.#word(at, DEST_LENGTH));
  }

  /** How many they are. */
  lengthAt(at: number): number {
    return this.#word(at, DEST_LENGTH);
  }

  /** Whether the frame went on, and this is a copy. */
  isCopy(at: number): boolean {
    return (this.#word(at, DEST_FLAGS) & DEST_COPY) !== 0;
  }

  /** The tag of the rule that delivered it, 0 without one. */
  tagOf(at: number, words = this.core.u32): number {
    return words[at + (DEST_TAG >> 2)] ?? 0;
  }

  /** Why it did not take the frame; Reason.none where it did. */
  statusOf(at: number, words = this.core.u32): number {
    return words[at + (DEST_STATUS >> 2)] ?? 0;
  }

  arrivalAt(at: number): BatchDestination {
    return {
      request: this.#word(at, DEST_REQUEST),
      status: this.#word(at, DEST_STATUS),
      esp: espOf(this.#word(at, DEST_FLAGS)),
      isDatagram: (this.#word(at, DEST_FLAGS) & DEST_DATAGRAM) !== 0,
      frame: this.frameAt(at),
    };
  }

  #word(at: number, offset: number): number {
    return this.core.u32[at + (offset >> 2)] ?? 0;
  }

  /** Frames that ended for each reason since the start, by number. */
  reasons(): bigint[] {
    this.core.collectCounters();
    return Array.from({ length: REASON_COUNT }, (_, reason) => this.core.u64(this.core.reasons + reason * 8));
  }
}

/** Port, link type and flags of a packed frame, as its descriptor has them. */
function packed(port: number, link: number): number {
  return (FRAME_PACKED << 24) | port | (link << 16);
}

/** What an inline ESP action says in the flags of a destination: ESP_GOOD, ESP_BAD_ICV, ESP_BAD_TRAILER. */
export function espOf(flags: number): number {
  return (flags >>> DEST_ESP) & 3;
}

/** The key byte of a metadata register: C7 down to C0, then A; B is ours. */
function registerByte(n: number): number {
  if (n === REGISTER_A) return MISC2_REGISTER_A;
  return n === REGISTER_B ? EXT_REGISTER_B : MISC2_REGISTER_C_0 - 4 * n;
}

/** A frame at one of its destinations; `frame` is a view that the next batch overwrites. */
export interface BatchDestination {
  /** Which receive request took it, counted from 0 over the life of the queue, modulo 2^32. */
  request: number;
  status: number;
  /** ESP_GOOD, or why an inline ESP action could not decrypt it. */
  esp: number;
  /** Whether it is a datagram for the queue pair, which the core has checked. */
  isDatagram: boolean;
  frame: Uint8Array;
}
