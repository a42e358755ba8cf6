/** Reads the frames of the captures on a command line, in order, with bounded memory. */
import { statSync } from "node:fs";
import { CaptureDecoder, FrameColumns, type CapturedFrame } from "../../index.js";
import { wireLengthOf } from "../../run/index.js";
import { chunksOf, chunksOfInput } from "./chunks.js";
import type { Interruption } from "../interruption.js";
import { Progress } from "./progress.js";
import { badUsage, refusalOf } from "../refusal.js";
import { grouped } from "../text.js";

/** A captured frame with its number over all captures. */
export interface NumberedFrame extends Omit<CapturedFrame, "number"> {
  /** The number of the frame over all captures, from 1. */
  number: number;
}

export interface CaptureInput {
  files: readonly string[];
  /** The most frames to read. */
  limit: number;
  /** What ends the reading early. */
  interruption?: Interruption;
}

/** Columns of frames; the first `count` of them are wanted. */
export interface CaptureRows {
  readonly columns: FrameColumns;
  readonly count: number;
  /** The number of the first frame over all captures, from 1. */
  readonly number: number;
}

/** The name of a capture in messages. */
export function captureName(file: string): string {
  return file === "-" ? "standard input" : file;
}

/**
 * Reads frames in batches, each valid until the next is requested. Remarks for the end of the
 * command go to `notes`.
 * @throws CommandRefusal a file that is no capture or cannot be read
 */
export async function* readCaptures(input: CaptureInput, notes: string[]): AsyncGenerator<NumberedFrame[], void> {
  for await (const rows of readColumns(input, notes)) yield framesOf(rows);
}

/** The rows of columns as objects. */
export function framesOf({ columns, count, number }: CaptureRows): NumberedFrame[] {
  return Array.from({ length: count }, (_, row) => ({
    number: number + row,
    time: columns.time(row),
    linkType: columns.linkTypes[row] ?? 0,
    wireLength: wireLengthOf(columns, row),
    bytes: columns.frame(row),
    interfaceId: columns.interfaceIds[row] ?? 0,
  }));
}

/** Reads frames into columns, which it reuses. */
export async function* readColumns(
  { files, limit, interruption }: CaptureInput,
  notes: string[],
): AsyncGenerator<CaptureRows, void> {
  if (files.filter((file) => file === "-").length > 1) {
    throw badUsage("-", "standard input can be read once; name it once");
  }
  const progress = new Progress(process.stderr, sizeOf(files));
  const columns = new FrameColumns();
  let read = 0;
  try {
    for (const file of files) {
      if (read >= limit || isInterrupted(interruption)) return;
      const decoder = new CaptureDecoder();
      try {
        const source = file === "-" ? chunksOfInput(interruption ?? null) : chunksOf(file, interruption ?? null);
        for await (const chunk of source) {
          for (let at = 0; at < chunk.length;) {
            at = decoder.read(chunk, at, columns);
            const count = Math.min(columns.count, limit - read);
            if (count > 0) yield { columns, count, number: read + 1 };
            read += count;
            if (read >= limit) return;
          }
          progress.read(chunk.length);
          progress.show(read);
        }
        if (isInterrupted(interruption)) return;
        const { broken, frames } = decoder.finish();
        if (broken !== null) notes.push(breakNote(captureName(file), broken, frames));
      } catch (error) {
        throw refusalOf(captureName(file), error);
      }
    }
  } finally {
    progress.clear();
  }
}

function isInterrupted(interruption: Interruption | undefined): boolean {
  return interruption !== undefined && interruption.signal !== null;
}

/** The size of all captures in bytes; undefined where one is a stream. */
function sizeOf(files: readonly string[]): number | undefined {
  let size = 0;
  for (const file of files) {
    const stat = file === "-" ? undefined : statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return undefined;
    size += stat.size;
  }
  return size;
}

function breakNote(
  file: string,
  { offset, what, wanted, had }: { offset: number; what: string; wanted: number; had: number },
  frames: number,
): string {
  const read = frames === 1 ? "the frame before it was read" : `the ${grouped(frames)} frames before it were read`;
  return `${file} breaks off at byte ${grouped(offset)}: ${what}: wanted ${grouped(wanted)}, had ${grouped(had)}; ${read}`;
}
