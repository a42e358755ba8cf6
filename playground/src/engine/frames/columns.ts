/** What is kept of each frame of a capture: 26 bytes, in columns that grow. */
import type { FrameColumns } from "flowsteer";
import { wireLengthOf } from "flowsteer/run";

/** Frames that the first columns hold. */
const FIRST = 1 << 14;
/** A frame without a time. Times are kept modulo 2^64, as the clock of a device has them. */
const NO_TIME = -(2n ** 63n);

export class CaptureColumns {
  count = 0;
  /** Bytes from the start of the file. Captures of 4 GiB and more are cut there. */
  #offsets = new Uint32Array(FIRST);
  #lengths = new Uint32Array(FIRST);
  #wireLengths = new Uint32Array(FIRST);
  #times = new BigInt64Array(FIRST);
  #linkTypes = new Uint16Array(FIRST);

  /**
   * Adds frames.
   * @param base the offset in the file of the bytes that the rows are in
   */
  add(rows: FrameColumns, base: number): void {
    while (this.count + rows.count > this.#offsets.length) this.#grow();
    for (let row = 0; row < rows.count; row++) {
      const at = this.count++;
      this.#offsets[at] = base + (rows.offsets[row] ?? 0);
      this.#lengths[at] = rows.lengths[row] ?? 0;
      this.#wireLengths[at] = wireLengthOf(rows, row);
      this.#linkTypes[at] = rows.linkTypes[row] ?? 0;
      this.#times[at] = rows.time(row) ?? NO_TIME;
    }
  }

  /** Frees what is too much. */
  end(): void {
    this.#resize(this.count);
  }

  offset(frame: number): number {
    return this.#offsets[frame - 1] ?? 0;
  }

  length(frame: number): number {
    return this.#lengths[frame - 1] ?? 0;
  }

  wireLength(frame: number): number {
    return this.#wireLengths[frame - 1] ?? 0;
  }

  linkType(frame: number): number {
    return this.#linkTypes[frame - 1] ?? 0;
  }

  /** Nanoseconds since 1970; null where the file has no time. */
  time(frame: number): bigint | null {
    const time = this.#times[frame - 1] ?? NO_TIME;
    return time === NO_TIME ? null : BigInt.asUintN(64, time);
  }

  #grow(): void {
    this.#resize(2 * this.#offsets.length);
  }

  #resize(length: number): void {
    this.#offsets = moved(this.#offsets, new Uint32Array(length));
    this.#lengths = moved(this.#lengths, new Uint32Array(length));
    this.#wireLengths = moved(this.#wireLengths, new Uint32Array(length));
    this.#linkTypes = moved(this.#linkTypes, new Uint16Array(length));
    const times = new BigInt64Array(length);
    times.set(this.#times.subarray(0, this.count));
    this.#times = times;
  }
}

function moved<T extends Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from.subarray(0, Math.min(from.length, to.length)));
  return to;
}
