/** Types that the decoder and the readers of both formats share: frames, interfaces, steps. */

/** One captured frame. */
export interface CapturedFrame {
  /** The number of the frame in the file, from 1 on. */
  number: number;
  /** Nanoseconds since the epoch, rounded down; null where the file has no time (simple packet block). */
  time: bigint | null;
  /** The LINKTYPE_ number of its interface. */
  linkType: number;
  /** Its length on the wire in bytes. */
  wireLength: number;
  /**
   * The captured bytes, often fewer than the wire length. This is a view that is valid until the
   * next push: copy it to keep it.
   */
  bytes: Uint8Array;
  /** The index of its interface in the section; 0 in pcap. */
  interfaceId: number;
}

/** An interface of the capturing host, as the file describes it. */
export interface CaptureInterface {
  linkType: number;
  /** The snapshot length: the largest number of bytes captured of a frame; 0 means no limit. */
  snapLength: number;
  name: string | null;
  ticksPerSecond: bigint;
  /** Seconds to add to each time stamp. */
  timeOffset: bigint;
}

/** Converts the two time words of a record to nanoseconds since the epoch; null for a record without a time. */
export type FrameClock = (high: number, low: number) => bigint | null;

const ROWS = 4096;

/**
 * Frames of a file in columns, one row per frame. The columns are reused, so no object is created
 * per frame. All bytes lie in one buffer.
 */
export class FrameColumns {
  bytes: Uint8Array = new Uint8Array();
  count = 0;
  /** The offset of the frame in `bytes`. */
  readonly offsets = new Uint32Array(ROWS);
  /** The number of captured bytes. */
  readonly lengths = new Uint32Array(ROWS);
  /** The wire length as the file gives it; it may be below the captured length. */
  readonly wireLengths = new Uint32Array(ROWS);
  readonly linkTypes = new Uint32Array(ROWS);
  readonly interfaceIds = new Uint32Array(ROWS);
  /** The place of the frame among those that were read, from 0 on: rows may have been left out since. */
  readonly places = new Uint32Array(ROWS);
  readonly #high = new Uint32Array(ROWS);
  readonly #low = new Uint32Array(ROWS);
  readonly #clocks: FrameClock[] = [];

  get full(): boolean {
    return this.count === ROWS;
  }

  /** Adds a row. */
  add(
    offset: number,
    length: number,
    wireLength: number,
    linkType: number,
    interfaceId: number,
    clock: FrameClock,
    high: number,
    low: number,
  ): void {
    const row = this.count++;
    this.offsets[row] = offset;
    this.lengths[row] = length;
    this.wireLengths[row] = wireLength;
    this.linkTypes[row] = linkType;
    this.interfaceIds[row] = interfaceId;
    this.places[row] = row;
    this.#clocks[row] = clock;
    this.#high[row] = high;
    this.#low[row] = low;
  }

  /** Keeps one row only, as the first and as if nothing had been read before it. */
  keep(row: number): void {
    this.#move(row, 0);
    this.places[0] = 0;
    this.count = 1;
  }

  /** Leaves out the rows for which the function gives false; the others stay in order. */
  filter(keeps: (row: number) => boolean): void {
    let kept = 0;
    for (let row = 0; row < this.count; row++) {
      if (!keeps(row)) continue;
      if (kept < row) this.#move(row, kept);
      kept++;
    }
    this.count = kept;
  }

  #move(row: number, to: number): void {
    const { offsets, lengths, wireLengths, linkTypes, interfaceIds, places } = this;
    offsets[to] = offsets[row] ?? 0;
    lengths[to] = lengths[row] ?? 0;
    wireLengths[to] = wireLengths[row] ?? 0;
    linkTypes[to] = linkTypes[row] ?? 0;
    interfaceIds[to] = interfaceIds[row] ?? 0;
    places[to] = places[row] ?? 0;
    this.#high[to] = this.#high[row] ?? 0;
    this.#low[to] = this.#low[row] ?? 0;
    this.#clocks[to] = this.#clocks[row] as FrameClock;
  }

  /** Nanoseconds since the epoch; null where the record has no time. */
  time(row: number): bigint | null {
    return (this.#clocks[row] as FrameClock)(this.#high[row] ?? 0, this.#low[row] ?? 0);
  }

  /** The bytes of a frame, not copied; always a plain Uint8Array, even if `bytes` is a Buffer. */
  frame(row: number): Uint8Array {
    const { buffer, byteOffset } = this.bytes;
    return new Uint8Array(buffer, byteOffset + (this.offsets[row] ?? 0), this.lengths[row]);
  }
}

/** The place and the reason where reading stopped before the end of the file. */
export interface CaptureBreak {
  /** The file offset of the record that is cut off, or of the field that violates the format. */
  offset: number;
  /** The record that is cut off, or its field that violates the format. */
  what: string;
  /**
   * The length of the record in bytes, or the value that the field should have (for a limit, the
   * nearest valid one).
   */
  wanted: number;
  /** The bytes available, or the value of the field. */
  had: number;
}

/**
 * The result of a reader at the current position.
 *
 * A reader requests exactly the bytes that it will consume: `bytes` of a record or skip is at least
 * that of the need before it. Only a skip may reach past the available bytes.
 */
export type Step =
  | { kind: "need"; bytes: number; what: string }
  /** Skips `bytes` of a record whose length is `recordLength`. */
  | { kind: "skip"; bytes: number; what: string; recordLength: number }
  /** The record, or the last of several consecutive records, ends after `bytes`. */
  | { kind: "record"; bytes: number }
  /** `at` is the offset of the field in the record. */
  | { kind: "broken"; at: number; what: string; wanted: number; had: number };

/**
 * A reader of one format. It reads one or more records at a time; the file header is the first
 * record.
 */
export interface RecordReader {
  readonly format: "pcap" | "pcapng";
  /** The number of frames read so far. */
  readonly frames: number;
  /** The interfaces described so far in the current section. */
  readonly interfaces: readonly CaptureInterface[];
  /**
   * Reads at `at`; the view ends where the available bytes end. A frame is added to `rows`, which
   * have room for it, with its offset in the view.
   */
  read(view: DataView, at: number, rows: FrameColumns): Step;
}

/** The longest frame in bytes: four times the largest snapshot length of libpcap. */
export const MAX_CAPTURE_LENGTH = 4 * 262144;

export function need(bytes: number, what: string): Step {
  return { kind: "need", bytes, what };
}

const RECORD = { kind: "record" as const, bytes: 0 };

/** One shared step object, so that none is created per frame. */
export function record(bytes: number): Step {
  RECORD.bytes = bytes;
  return RECORD;
}

export function broken(at: number, what: string, wanted: number, had: number): Step {
  return { kind: "broken", at, what, wanted, had };
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes of a part of a view, not copied. */
export function viewedBytes(view: DataView, at: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + at, length);
}
