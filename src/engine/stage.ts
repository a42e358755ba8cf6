/**
 * The rows of a batch before it is said which core steers them: frames, and their descriptors, which are those of any core, for each core
 * takes a frame to the same place of its own memory.
 */
import {
  FRAME_ADDRESS,
  FRAME_ARENA,
  FRAME_LENGTH,
  FRAME_PACKED,
  FRAME_PORT,
  FRAME_SIZE,
  FRAME_VPORT,
  FRAME_WIRE_LENGTH,
  VPORT_UPLINK,
} from "../abi/engine.js";
import type { Core } from "./core.js";

const WORDS = FRAME_SIZE / 4;

export class Stage {
  /** Rows. */
  count = 0;
  /** Rows that it takes: as many as it was made for, or fewer. */
  limit: number;
  readonly bytes: Uint8Array;
  readonly #descriptors: Uint32Array;
  readonly #times: BigUint64Array;
  /** Where the area of frames begins in a core. */
  readonly #base: number;
  #next = 0;

  constructor(rows: number, base: number) {
    this.limit = rows;
    this.#base = base;
    this.bytes = new Uint8Array(new SharedArrayBuffer(FRAME_ARENA));
    this.#descriptors = new Uint32Array(new SharedArrayBuffer(rows * FRAME_SIZE));
    this.#times = new BigUint64Array(rows);
  }

  get buffers(): { bytes: SharedArrayBuffer; descriptors: SharedArrayBuffer } {
    return {
      bytes: this.bytes.buffer as unknown as SharedArrayBuffer,
      descriptors: this.#descriptors.buffer as unknown as SharedArrayBuffer,
    };
  }

  clear(): void {
    this.count = 0;
    this.#next = 0;
  }

  /** Copies a frame in; its row, -1 where it has no room until `clear`. `link` is a `Link`. */
  put(frame: Uint8Array, wireLength: number, port: number, link: number): number {
    const offset = this.#next;
    const end = offset + frame.length;
    if (this.count >= this.limit || end > FRAME_ARENA) return -1;
    this.bytes.set(frame, offset);
    this.#next = (end + 15) & ~15;
    return this.add(offset, frame.length, wireLength, port, link);
  }

  /** Adds a frame that lies at `offset` in `bytes`; its row, -1 where all are taken. */
  add(offset: number, length: number, wireLength: number, port: number, link: number): number {
    if (this.count >= this.limit) return -1;
    const words = this.#descriptors;
    const at = this.count * WORDS;
    words[at + FRAME_ADDRESS / 4] = this.#base + offset;
    words[at + FRAME_LENGTH / 4] = length;
    words[at + FRAME_WIRE_LENGTH / 4] = wireLength;
    words[at + FRAME_PORT / 4] = port | (link << 16) | (FRAME_PACKED << 24);
    words[at + FRAME_VPORT / 4] = VPORT_UPLINK;
    return this.count++;
  }

  /** The time of a row, in nanoseconds. */
  stamp(time: bigint, row: number): void {
    this.#times[row] = time;
  }

  /** The bytes of a row. */
  frame(row: number): Uint8Array {
    const offset = this.#word(row, FRAME_ADDRESS) - this.#base;
    return this.bytes.subarray(offset, offset + this.#word(row, FRAME_LENGTH));
  }

  wireLength(row: number): number {
    return this.#word(row, FRAME_WIRE_LENGTH);
  }

  /** A `Link`. */
  link(row: number): number {
    return (this.#word(row, FRAME_PORT) >>> 16) & 0xff;
  }

  time(row: number): bigint {
    return this.#times[row] as bigint;
  }

  /** Brings rows into a core, with their times where it asks for them. */
  load(core: Core, first: number, count: number, timed: boolean): void {
    const rows = this.#descriptors.subarray(first * WORDS, (first + count) * WORDS);
    core.u32.set(rows, core.frames / 4);
    const { low, high } = spanOf(rows);
    core.u8.set(this.bytes.subarray(low - this.#base, high - this.#base), low);
    if (!timed) return;
    const times = this.#times.subarray(first, first + count);
    core.u32.set(new Uint32Array(times.buffer, times.byteOffset, 2 * count), core.times / 4);
  }

  #word(row: number, field: number): number {
    return this.#descriptors[row * WORDS + field / 4] as number;
  }
}

/** Where the frames of these descriptors lie: the address of the first byte, and that behind the last one. */
export function spanOf(rows: Uint32Array): { low: number; high: number } {
  let low = rows[FRAME_ADDRESS / 4] as number;
  let high = low;
  for (let at = 0; at < rows.length; at += WORDS) {
    const address = rows[at + FRAME_ADDRESS / 4] as number;
    low = Math.min(low, address);
    high = Math.max(high, address + (rows[at + FRAME_LENGTH / 4] as number));
  }
  return { low, high };
}
