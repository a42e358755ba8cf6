/** What the two codecs and the decoder say to each other. */

/** One captured frame. */
export interface CapturedFrame {
  /** Place in the file, from 1 on. */
  number: number;
  /** Nanoseconds since the epoch, rounded down; 0 where the file gives no time (simple packet block). */
  time: bigint;
  /** LINKTYPE_ number of its interface. */
  linkType: number;
  /** Its length on the wire. */
  wireLength: number;
  /** The bytes that were captured, often fewer: a view, valid until the next push unless copied. */
  bytes: Uint8Array;
  /** Index into the interfaces of its section; 0 in pcap. */
  interfaceId: number;
}

/** An interface that the file describes. */
export interface CaptureInterface {
  linkType: number;
  /** The most bytes captured of a frame; 0 is no limit. */
  snapLength: number;
  name: string | null;
  ticksPerSecond: bigint;
  /** Seconds to add to every time stamp. */
  timeOffset: bigint;
}

/** What the two words that a record has for its time are, in nanoseconds since the epoch. */
export type FrameClock = (high: number, low: number) => bigint;

const ROWS = 4096;

/** Frames of a file as columns, a value a row: read again and again without an object a frame. Their bytes lie in one buffer. */
export class FrameColumns {
  bytes: Uint8Array = new Uint8Array();
  count = 0;
  /** Where in `bytes` they begin. */
  readonly offsets = new Uint32Array(ROWS);
  /** Bytes captured. */
  readonly lengths = new Uint32Array(ROWS);
  /** As the file says: it may be less than was captured. */
  readonly wireLengths = new Uint32Array(ROWS);
  readonly linkTypes = new Uint32Array(ROWS);
  readonly interfaceIds = new Uint32Array(ROWS);
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
    this.#clocks[row] = clock;
    this.#high[row] = high;
    this.#low[row] = low;
  }

  /** Nanoseconds since the epoch. */
  time(row: number): bigint {
    return (this.#clocks[row] as FrameClock)(this.#high[row] ?? 0, this.#low[row] ?? 0);
  }

  /** The bytes of a frame, not copied; a Uint8Array of its own kind, whatever `bytes` is. */
  frame(row: number): Uint8Array {
    const { buffer, byteOffset } = this.bytes;
    return new Uint8Array(buffer, byteOffset + (this.offsets[row] ?? 0), this.lengths[row]);
  }
}

/** Where and why reading ended before the file did. */
export interface CaptureBreak {
  /** File offset of the record that is broken. */
  offset: number;
  /** The record that is cut short, or its field that breaks the format. */
  what: string;
  /** Bytes of the record, or the value that the field should have had (for a limit, the nearest such value). */
  wanted: number;
  /** Bytes that are there, or the value that the field has. */
  had: number;
}

/**
 * What a reader makes of the bytes at the current place.
 *
 * A reader asks for as much as it will consume, never more: `bytes` of a record or skip is at least that of the
 * need before it. Only a skip may reach past the bytes that are there.
 */
export type Step =
  | { kind: "need"; bytes: number; what: string }
  /** Passes over `bytes` of a record that goes on to `recordLength`. */
  | { kind: "skip"; bytes: number; what: string; recordLength: number }
  /** The record ends after `bytes`, or several that follow each other do. */
  | { kind: "record"; bytes: number }
  | { kind: "broken"; what: string; wanted: number; had: number };

/** Reads one format, a record or several at a time; the file header is the first record. */
export interface RecordReader {
  readonly format: "pcap" | "pcapng";
  /** Frames read so far. */
  readonly frames: number;
  /** Interfaces described so far in the current section. */
  readonly interfaces: readonly CaptureInterface[];
  /** Reads at `at`; the view ends where the known bytes end. A frame is added to `rows`, which have room for it, by its place in the view. */
  read(view: DataView, at: number, rows: FrameColumns): Step;
}

/** No frame is longer: four times the largest snapshot length of libpcap. */
export const MAX_CAPTURE_LENGTH = 4 * 262144;

export function need(bytes: number, what: string): Step {
  return { kind: "need", bytes, what };
}

const RECORD = { kind: "record" as const, bytes: 0 };

/** The one step of its kind, so that none is made for every frame. */
export function record(bytes: number): Step {
  RECORD.bytes = bytes;
  return RECORD;
}

export function broken(what: string, wanted: number, had: number): Step {
  return { kind: "broken", what, wanted, had };
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes under part of a view, not copied. */
export function bytesOf(view: DataView, at: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + at, length);
}
