/** The frames of a capture file. What is kept of them are columns; their bytes stay in the file. */
import { CaptureDecoder, FrameColumns } from "flowsteer";
import { cannotRun, type FrameInput, type LoadedScenario } from "flowsteer/scenario";
import type { CaptureInfo, Progress } from "../api.js";
import { Steering } from "../steer/captureSteering.js";
import type { Outcomes } from "../steer/outcomes.js";
import type { Pace } from "../work/lane.js";
import { CaptureColumns } from "./columns.js";
import { openFile, piecesOf, type CaptureFile } from "./fileBytes.js";
import type { FrameHead, Frames, SeeBytes } from "./frames.js";

/** Bytes between two frames that are rather read than left out. */
const GAP = 1 << 16;
/** Bytes that are read at once for frames near to each other. */
const MAX_READ = 1 << 20;
/** Frames between two rests. */
const PIECE = 256;

/** Frames from `from` to `end` - 1. */
export interface FrameRange {
  readonly from: number;
  readonly end: number;
}

/** Frames of the file in columns, which are reused: `number` is the number of the first. */
interface Rows {
  readonly columns: FrameColumns;
  readonly number: number;
  /** The bytes of the file in which the frames end, and the length of the file up to its last whole record. */
  readonly bytes: Uint8Array;
  readonly complete: number;
}

export class CaptureFrames implements Frames {
  readonly capture: CaptureInfo;
  readonly #file: Blob;
  readonly #columns: CaptureColumns;

  private constructor(file: Blob, columns: CaptureColumns, capture: CaptureInfo) {
    this.#file = file;
    this.#columns = columns;
    this.capture = capture;
  }

  /** @throws Error the file is no capture */
  static async read(file: Blob, name: string, pace: Pace, progress: Progress): Promise<CaptureFrames> {
    const opened = await openFile(file, pace, progress);
    const columns = new CaptureColumns();
    const decoder = new CaptureDecoder();
    const skipped = new Map<string, number>();
    const reading = (done: number): void => progress(done, opened.bytes.size, "Reading");
    for await (const { columns: rows, base } of rowsOf(opened.bytes, decoder, pace, reading)) {
      columns.add(rows, base);
      for (let row = 0; row < rows.count; row++) {
        const why = cannotRun(rows.linkTypes[row] ?? 0, rows.lengths[row] ?? 0);
        if (why !== null) skipped.set(why, (skipped.get(why) ?? 0) + 1);
      }
    }
    const broken = brokenAt(decoder, opened);
    columns.end();
    return new CaptureFrames(opened.bytes, columns, {
      name,
      bytes: file.size,
      frames: columns.count,
      broken,
      skipped: [...skipped].map(([why, frames]) => ({ why, frames })),
    });
  }

  get count(): number {
    return this.#columns.count;
  }

  /** The unpacked file. */
  get file(): Blob {
    return this.#file;
  }

  head(frame: number): FrameHead {
    const columns = this.#columns;
    return {
      time: columns.time(frame),
      length: columns.length(frame),
      wireLength: columns.wireLength(frame),
      linkType: columns.linkType(frame),
      name: null,
    };
  }

  nameOf(): null {
    return null;
  }

  async input(frame: number): Promise<FrameInput> {
    const [bytes] = await this.bytes([frame]);
    if (bytes === undefined) throw new RangeError(`there is no frame ${frame}`);
    const { time, linkType, wireLength } = this.head(frame);
    return { bytes, time, linkType, wireLength, number: frame };
  }

  async bytes(frames: readonly number[]): Promise<Uint8Array[]> {
    const columns = this.#columns;
    const all: Uint8Array[] = [];
    for (let first = 0; first < frames.length;) {
      const begin = columns.offset(frames[first] ?? 0);
      let end = begin;
      let next = first;
      for (; next < frames.length; next++) {
        const frame = frames[next] ?? 0;
        const offset = columns.offset(frame);
        const far = offset < begin || offset > end + GAP || offset + columns.length(frame) > begin + MAX_READ;
        if (next > first && far) break;
        end = offset + columns.length(frame);
      }
      const bytes = new Uint8Array(await this.#file.slice(begin, end).arrayBuffer());
      for (const frame of frames.slice(first, next)) {
        const at = columns.offset(frame) - begin;
        all.push(bytes.slice(at, at + columns.length(frame)));
      }
      first = next;
    }
    return all;
  }

  async scan(pace: Pace, see: SeeBytes, flush: () => void): Promise<void> {
    for await (const { columns, number } of this.rows(pace)) {
      for (let row = 0; row < columns.count; row++) {
        const linkType = columns.linkTypes[row] ?? 0;
        if (cannotRun(linkType, columns.lengths[row] ?? 0) === null) see(number + row, columns.frame(row), linkType);
        if (row % PIECE === 0) await pace.rest();
      }
      flush();
    }
  }

  /** All frames, some at a time. */
  async *rows(pace: Pace, progress: (done: number) => void = () => undefined): AsyncGenerator<Rows, void> {
    let number = 1;
    for await (const rows of rowsOf(this.#file, new CaptureDecoder(), pace, progress)) {
      const { columns } = rows;
      yield { ...rows, number };
      number += columns.count;
    }
  }

  /**
   * Steers frames from `from` to `end` - 1.
   * @param outcomes gets their outcomes; null where they are not needed
   */
  async steer(
    loaded: LoadedScenario,
    outcomes: Outcomes | null,
    pace: Pace,
    progress: Progress,
    { from, end }: FrameRange = { from: 1, end: this.count + 1 },
  ): Promise<void> {
    const steering = new Steering(loaded, outcomes, pace);
    const size = this.#file.size;
    for await (const { columns, number } of this.rows(pace, (done) => progress(done, size, "Steering frames"))) {
      const [first, last] = [Math.max(from - number, 0), Math.min(columns.count, end - number)];
      if (first < last) await steering.run(columns, number, first, last);
      if (number + columns.count >= end) break;
    }
    steering.end();
  }
}

interface FileRows extends Omit<Rows, "number"> {
  /** The offset in the file of the bytes that the columns are in. */
  readonly base: number;
}

async function* rowsOf(
  file: Blob,
  decoder: CaptureDecoder,
  pace: Pace,
  progress: (done: number) => void,
): AsyncGenerator<FileRows, void> {
  const columns = new FrameColumns();
  for await (const [piece, offset] of piecesOf(file, pace)) {
    progress(offset);
    for (let at = 0; at < piece.length;) {
      const begin = at;
      at = decoder.read(piece, at, columns);
      const complete = decoder.completeBytes;
      // A record that began in an earlier piece lies in a buffer of its own, which ends where the record ends.
      const base = columns.bytes === piece ? offset : complete - columns.bytes.length;
      yield { columns, base, bytes: piece.subarray(begin, at), complete };
      await pace.rest();
    }
  }
}

function brokenAt(decoder: CaptureDecoder, { broken }: CaptureFile): string | null {
  const { broken: place } = decoder.finish();
  if (place === null) return broken;
  const { what, wanted, had, offset } = place;
  return broken ?? `breaks off at byte ${offset}: ${what}: needs ${wanted}, has ${had}`;
}
