/**
 * Reads capture files: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng),
 * detected by their magic number.
 *
 * Input is a file in chunks of any size. Output is its frames in file order, each with link type,
 * time and both lengths. The bytes are those that were captured, without preamble; a frame check
 * sequence stays if the capturing host kept it. No header is parsed here.
 *
 * Memory is bounded for every file: a decoder keeps one incomplete record. A file that is cut off
 * or violates its format gives all frames before the break, and the end reports the place. Only a
 * file with an unreadable header is refused.
 */

import { refuse, type SteeringError } from "../../errors.js";
import type { CaptureBreak, CapturedFrame, CaptureInterface, RecordReader, Step } from "./record.js";
import { viewedBytes, FrameColumns, need, viewOf } from "./record.js";
import { pcapReader } from "./pcap.js";
import { pcapngReader } from "./pcapng.js";

export { FrameColumns } from "./record.js";
export type { CaptureBreak, CapturedFrame, CaptureInterface } from "./record.js";

/** The end of a file, as it was read. */
export interface CaptureEnd {
  format: "pcap" | "pcapng";
  frames: number;
  /** Null when the file ends with a complete record. */
  broken: CaptureBreak | null;
}

/** A part of a file, in bytes. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** The bytes that `readCapture` passes to a decoder at once; they bound a batch to 4096 frames. */
const BATCH_BYTES = 65536;

/**
 * Decodes a file that is pushed in chunks. After a refusal each further call is refused; after a
 * break it reads no more.
 */
export class CaptureDecoder {
  #reader: RecordReader | null = null;
  #received = 0;
  /**
   * The current record: its offset in the file, its name, its length as far as known, and the bytes
   * skipped.
   */
  #record = { offset: 0, what: "magic", length: 4, skipped: 0 };
  /**
   * The bytes of the record that the reader needs to continue; the first `#heldLength` are valid.
   */
  #held: Uint8Array | null = null;
  #heldLength = 0;
  /** The number of bytes still to be skipped. */
  #skip = 0;
  #broken: CaptureBreak | null = null;
  #refusal: SteeringError | null = null;
  /** For `push`. */
  #rows: FrameColumns | null = null;
  #context: ByteRange[] = [];
  /** The interfaces that the records of `#context` have described. */
  #described: readonly CaptureInterface[] = [];
  #interfaces = 0;

  /** The interfaces that the current section has described so far. */
  get interfaces(): readonly CaptureInterface[] {
    return this.#reader?.interfaces ?? [];
  }

  /**
   * The parts of the file that describe the current section: the file header, or the section header
   * and the interface descriptions so far. With them first, another decoder reads the file from
   * `completeBytes` on.
   */
  get context(): readonly ByteRange[] {
    return this.#context;
  }

  /** The number of bytes of the file up to the end of its last complete record. */
  get completeBytes(): number {
    return this.#record.offset;
  }

  /**
   * Takes the next bytes of the file.
   * @returns the frames that they complete, at most one for every 16 bytes
   * @throws SteeringError EINVAL if the file is not a capture, or its header violates the format
   */
  push(chunk: Uint8Array): CapturedFrame[] {
    checkBytes(chunk);
    const frames: CapturedFrame[] = [];
    const rows = (this.#rows ??= new FrameColumns());
    for (let at = 0; at < chunk.length;) {
      at = this.read(chunk, at, rows);
      this.#addFrames(rows, frames);
    }
    return frames;
  }

  /**
   * Takes the next bytes of the file as rows. It stops when `rows` are full or the next frame lies
   * in another buffer. The caller then takes the rows and calls again, until the result is the end
   * of the chunk.
   * @param at the offset in the chunk to start from
   * @returns the offset in the chunk to continue from
   * @throws SteeringError EINVAL if the file is not a capture, or its header violates the format
   */
  read(chunk: Uint8Array, at: number, rows: FrameColumns): number {
    if (this.#refusal !== null) throw this.#refusal;
    rows.count = 0;
    const begin = at;
    const view = viewOf(chunk);
    while (at < chunk.length && this.#broken === null && !rows.full) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else if (this.#held === null) {
        rows.bytes = chunk;
        at += this.#advance(view, at, rows);
      } else {
        // A record that began in an earlier chunk.
        rows.bytes = this.#held;
        at += this.#fill(this.#held, chunk.subarray(at), rows);
        if (rows.count > 0) break;
      }
    }
    if (this.#broken !== null) at = chunk.length;
    this.#received += at - begin;
    return at;
  }

  #addFrames(rows: FrameColumns, frames: CapturedFrame[]): void {
    const before = (this.#reader?.frames ?? 0) - rows.count;
    for (let row = 0; row < rows.count; row++) {
      frames.push({
        number: before + row + 1,
        time: rows.time(row),
        linkType: rows.linkTypes[row] ?? 0,
        wireLength: rows.wireLengths[row] ?? 0,
        bytes: rows.frame(row),
        interfaceId: rows.interfaceIds[row] ?? 0,
      });
    }
  }

  /**
   * Ends the file.
   * @returns the number of frames and interfaces, and the break if there was one
   */
  finish(): CaptureEnd {
    if (this.#refusal !== null) throw this.#refusal;
    if (this.#reader === null) this.#refuseMagic(undefined, "the file is shorter than any capture");
    const { offset, what, length } = this.#record;
    const had = this.#received - offset;
    if (this.#broken === null && had > 0) this.#break({ offset, what, wanted: length, had });
    return { format: this.#reader.format, frames: this.#reader.frames, broken: this.#broken };
  }

  /**
   * Adds bytes to the held ones and reads them when they are enough. Returns the number of bytes
   * taken.
   */
  #fill(held: Uint8Array, chunk: Uint8Array, rows: FrameColumns): number {
    const taken = Math.min(held.length - this.#heldLength, chunk.length);
    held.set(chunk.subarray(0, taken), this.#heldLength);
    this.#heldLength += taken;
    if (this.#heldLength === held.length) {
      this.#held = null;
      this.#advance(viewOf(held), 0, rows);
    }
    return taken;
  }

  /** Takes one step at `at`. Returns the number of bytes consumed there, held bytes included. */
  #advance(view: DataView, at: number, rows: FrameColumns): number {
    const available = view.byteLength - at;
    const record = this.#record;
    const step = this.#read(view, at, rows);
    switch (step.kind) {
      case "need":
        record.what = step.what;
        record.length = record.skipped + step.bytes;
        // The buffer is new each time: earlier frames may refer to the last one.
        this.#held = new Uint8Array(step.bytes);
        this.#held.set(viewedBytes(view, at, available));
        this.#heldLength = available;
        return available;
      case "skip":
        record.what = step.what;
        record.length = step.recordLength;
        record.skipped = step.bytes;
        this.#skip = Math.max(step.bytes - available, 0);
        return Math.min(step.bytes, available);
      case "record":
        this.#noteContext(step.bytes);
        record.offset += record.skipped + step.bytes;
        record.skipped = 0;
        return step.bytes;
      case "broken":
        this.#break({ offset: record.offset + step.at, what: step.what, wanted: step.wanted, had: step.had });
        return available;
    }
  }

  /** Notes the record of so many bytes if it describes a section or an interface. */
  #noteContext(length: number): void {
    const { interfaces } = this.#reader as RecordReader;
    if (interfaces === this.#described && interfaces.length === this.#interfaces) return;
    if (interfaces !== this.#described) this.#context = [];
    this.#described = interfaces;
    this.#interfaces = interfaces.length;
    this.#context.push({ offset: this.#record.offset, length });
  }

  #read(view: DataView, at: number, rows: FrameColumns): Step {
    if (this.#reader === null) {
      if (view.byteLength - at < 4) return need(4, "magic");
      const magic = view.getUint32(at, false);
      this.#reader = pcapReader(magic) ?? pcapngReader(magic) ?? this.#refuseMagic(magic, hintOf(magic));
    }
    return this.#reader.read(view, at, rows);
  }

  /** Ends the reading. A break in the file header is a refusal: there is nothing to read. */
  #break(at: CaptureBreak): void {
    this.#broken = at;
    if (this.#record.offset > 0) return;
    this.#refuse("bad_capture", at.offset, at.had, `${at.what}: wanted ${at.wanted}, had ${at.had}`);
  }

  #refuseMagic(magic: number | undefined, hint: string): never {
    this.#refuse(
      "not_a_capture",
      0,
      magic === undefined ? undefined : `0x${magic.toString(16).padStart(8, "0")}`,
      hint,
    );
  }

  #refuse(reason: "not_a_capture" | "bad_capture", offset: number, value: unknown, hint: string): never {
    try {
      refuse({ code: "EINVAL", call: "readCapture", reason, path: `byte ${offset}`, value, hint });
    } catch (refusal) {
      this.#refusal = refusal as SteeringError;
      throw refusal;
    }
  }
}

/**
 * Reads a capture file in batches of frames. A batch is valid until the next one is requested.
 * Memory is bounded, whether `source` is a whole file, a stream or an array of chunks.
 * @param source the bytes of the file
 * @returns the batches; the return value of the generator is the end of the file
 * @throws SteeringError EINVAL if the file is not a capture, or its header violates the format
 * @example
 * for await (const frames of readCapture(createReadStream("trace.pcap"))) {
 *   for (const { bytes } of frames) console.log(device.receive(1, bytes).verdict);
 * }
 */
export async function* readCapture(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | Uint8Array,
): AsyncGenerator<CapturedFrame[], CaptureEnd> {
  const decoder = new CaptureDecoder();
  for await (const chunk of source instanceof Uint8Array ? [source] : source) {
    checkBytes(chunk);
    for (let at = 0; at < chunk.length; at += BATCH_BYTES) {
      const frames = decoder.push(chunk.subarray(at, at + BATCH_BYTES));
      if (frames.length > 0) yield frames;
    }
  }
  return decoder.finish();
}

function checkBytes(chunk: unknown): void {
  if (!(chunk instanceof Uint8Array)) throw new TypeError("readCapture: a chunk of a file is a Uint8Array");
}

/** The hint for a file that is not a capture. */
function hintOf(magic: number): string {
  if (magic === 0xa1b2cd34 || magic === 0x34cdb2a1) return "the modified pcap of old Linux kernels: convert it to pcap";
  if (magic >>> 16 === 0x1f8b) return "a gzip file: unpack it first";
  return "a capture starts with a1b2c3d4, a1b23c4d (either byte order) or 0a0d0d0a";
}
