/** Reads the frames of the captures on a command line, in order, with bounded memory. */
import { CaptureDecoder, FrameColumns, type ByteRange, type CaptureBreak, type CapturedFrame } from "../../index.js";
import type { Sum } from "../../scenario/index.js";
import { wireLengthOf } from "../../run/index.js";
import type { OpenFile } from "./chunks.js";
import type { Interruption } from "../interruption.js";
import { Progress } from "./progress.js";
import { badUsage, CommandRefusal, refusalOf } from "../refusal.js";
import { counted, grouped } from "../text.js";
import { NoUnpacker, PackedBreak, unpacked } from "./unpack.js";

/** A captured frame with its number over all captures. */
export interface NumberedFrame extends Omit<CapturedFrame, "number"> {
  /** The number of the frame over all captures, from 1. */
  number: number;
}

/** The place where a capture ends before its last record does. */
export interface BrokenCapture extends Omit<CaptureBreak, "wanted" | "had"> {
  file: string;
  /** Null for compressed data that is cut off or damaged; its offset is that in the compressed file. */
  wanted: number | null;
  had: number | null;
}

/** Where a capture broke off. */
export interface BreakFound {
  readonly place: BrokenCapture;
  /** Why, in words. */
  readonly text: string;
  /** The frames of this file that were read before. */
  readonly frames: number;
}

/** How far a capture was read. */
export interface ReadEnd {
  /** The number of bytes up to its last complete record. */
  readonly complete: number;
  /** The parts of the file that describe the section at its end. */
  readonly context: readonly ByteRange[];
}

/** What the end of the command says about the captures. */
export class CaptureLog {
  readonly notes: string[] = [];
  readonly broken: BrokenCapture[] = [];
  readonly breaks: BreakFound[] = [];
  /** The captures that were read to their end, or to their break. */
  readonly ends: ReadEnd[] = [];
  /** Parts of captures that could not be steered, in words. */
  readonly failed: string[] = [];

  add(found: BreakFound): void {
    const { place, text, frames } = found;
    const read = frames === 1 ? "the frame before it was read" : `the ${grouped(frames)} frames before it were read`;
    this.breaks.push(found);
    this.broken.push(place);
    this.notes.push(`${place.file} breaks off at byte ${grouped(place.offset)}: ${text}; ${read}`);
  }
}

/** Frames that were read and not steered. */
export interface SkippedSum extends Sum {
  /** The number of the first of them. */
  readonly first: number;
}

/** Notes of frames that were not steered, by cause. */
export function skippedNotes(skipped: ReadonlyMap<string, Sum>): string[] {
  return [...skipped].map(([why, { frames }]) => `not parsed: ${why}: ${frames} skipped`);
}

export interface CaptureInput {
  files: readonly OpenFile[];
  /** The number of the first frame. @default 1 */
  first?: number;
  /** The most frames to read. */
  limit: number;
  /** The number of the only frame that is wanted. */
  only?: number | undefined;
  /** Whether to show no progress. */
  quiet: boolean;
  /** What ends the reading early. */
  interruption?: Interruption | undefined;
}

/** Columns of frames; the first `count` of them are wanted. There may be none. */
export interface CaptureRows {
  readonly columns: FrameColumns;
  readonly count: number;
  /** The number of the first frame over all captures, from 1. */
  readonly number: number;
  /** The next bytes of the file, in which the frames end, after `passed` frames that are not wanted. */
  readonly bytes: Uint8Array;
  /** The number of bytes of the file up to its last complete record. */
  readonly complete: number;
  /** The parts of the file that describe the section of what comes next. */
  readonly context: readonly ByteRange[];
  readonly passed: number;
  /** The file, from 0. */
  readonly file: number;
}

/** Refuses standard input as two inputs. */
export function checkInputOnce(paths: readonly string[]): void {
  if (paths.filter((path) => path === "-").length < 2) return;
  throw badUsage("-", "standard input can be named only once");
}

/** The rows of columns as objects. */
export function framesOf({ columns, count, number }: CaptureRows, first = 0, end = count): NumberedFrame[] {
  const frames: NumberedFrame[] = [];
  for (let row = first; row < end; row++) {
    frames.push({
      number: number + (columns.places[row] ?? 0),
      time: columns.time(row),
      linkType: columns.linkTypes[row] ?? 0,
      wireLength: wireLengthOf(columns, row),
      bytes: columns.frame(row),
      interfaceId: columns.interfaceIds[row] ?? 0,
    });
  }
  return frames;
}

/**
 * Reads frames into columns, which it reuses: they are valid until the next are requested.
 * @throws CommandRefusal a file that is no capture or cannot be read
 */
export async function* readColumns(
  { files, first = 1, limit, only, quiet, interruption }: CaptureInput,
  log: CaptureLog,
): AsyncGenerator<CaptureRows, void> {
  const progress = new Progress(process.stderr, quiet ? null : sizeOf(files));
  const columns = new FrameColumns();
  const last = Math.min(limit, only ?? Infinity);
  let read = 0;
  try {
    for (const [n, file] of files.entries()) {
      if (read >= last || isInterrupted(interruption)) return;
      const decoder = new CaptureDecoder();
      try {
        for await (const chunk of unpacked(counting(file, interruption, progress))) {
          for (let at = 0; at < chunk.length;) {
            const begin = at;
            at = decoder.read(chunk, at, columns);
            const count = Math.min(columns.count, last - read);
            const isLast = read + count === last;
            const wanted = only === undefined ? count : Number(isLast);
            const passed = count - wanted;
            if (wanted < count && isLast) columns.keep(passed);
            const bytes = chunk.subarray(begin, at);
            const { completeBytes: complete, context } = decoder;
            const number = first + read + passed;
            yield { columns, count: wanted, number, bytes, complete, context, passed, file: n };
            read += count;
            if (isLast) return;
          }
          progress.show(read);
        }
        if (isInterrupted(interruption)) return;
        noteEnd(log, file.name, decoder);
      } catch (error) {
        if (error instanceof PackedBreak) noteDamage(log, file.name, decoder, error);
        else throw refusalOfCapture(file.name, error);
      }
    }
    if (only !== undefined && !isInterrupted(interruption)) throw noFrame(only, read);
  } finally {
    progress.clear();
  }
}

/** The refusal of a number beyond the last frame. */
export function noFrame(only: number, frames: number): CommandRefusal {
  return badUsage(
    `--frame ${only}`,
    frames === 0 ? "there are no frames" : `there ${frames === 1 ? "is" : "are"} only ${counted(frames, "frame")}`,
  );
}

async function* counting(
  file: OpenFile,
  interruption: Interruption | undefined,
  progress: Progress,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of file.read(interruption ?? null)) {
    yield chunk;
    progress.read(chunk.length);
  }
}

function isInterrupted(interruption: Interruption | undefined): boolean {
  return interruption !== undefined && interruption.signal !== null;
}

/** The size of all captures in bytes; undefined where one is a stream. */
function sizeOf(files: readonly OpenFile[]): number | undefined {
  return files.reduce<number | undefined>(
    (sum, { size }) => (sum === undefined || size === undefined ? undefined : sum + size),
    0,
  );
}

function noteEnd(log: CaptureLog, file: string, decoder: CaptureDecoder): void {
  const { broken, frames } = decoder.finish();
  log.ends.push({ complete: decoder.completeBytes, context: decoder.context });
  if (broken === null) return;
  const { what, wanted, had } = broken;
  log.add({
    place: { file, ...broken },
    text: `${what}: wanted ${grouped(wanted)}, had ${grouped(had)}`,
    frames,
  });
}

/** Compressed data that is damaged breaks the capture at the same place. */
function noteDamage(log: CaptureLog, file: string, decoder: CaptureDecoder, damage: PackedBreak): void {
  const { offset, message } = damage;
  try {
    const place = { file, offset, what: message, wanted: null, had: null };
    log.add({ place, text: message, frames: decoder.finish().frames });
  } catch (error) {
    throw refusalOfCapture(file, error);
  }
}

function refusalOfCapture(file: string, error: unknown): unknown {
  if (!(error instanceof NoUnpacker)) return refusalOf(file, error);
  return new CommandRefusal(file, {
    code: "EOPNOTSUPP",
    call: "flowsteer",
    reason: "not_a_capture",
    hint: error.message,
  });
}
