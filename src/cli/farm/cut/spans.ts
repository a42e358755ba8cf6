/**
 * Pieces that no index has cut: from any byte to any other. The worker looks for the first record from either on. Whether it
 * found the right ones shows when the pieces are put together: each must end where the next one begins.
 */
import { CaptureDecoder, FrameColumns, type ByteRange } from "../../../index.js";
import { findRecord, recordFinder, type RecordFinder } from "../../../run/index.js";
import type { CaptureLog } from "../../input/captures.js";
import { readPart } from "./captures.js";
import type { CaptureRef, Piece, ReadSpan } from "../jobs.js";
import { inCapture, placesOf } from "./places.js";

/** Bytes at the beginning of a capture that are read for its format and its interfaces. */
const HEAD = 2 ** 16;
/** Bytes that are searched for a record: more, if it was not found in fewer. */
const WINDOWS = [2 ** 16, 2 ** 20, 2 ** 24] as const;

/** What the beginning of a capture says. */
interface Head {
  readonly capture: CaptureRef;
  readonly finder: RecordFinder;
  /** The bytes that describe the section and its interfaces. */
  readonly context: readonly ByteRange[];
}

/** Finds the records of pieces. Keeps the beginning of the last capture. */
export class Spans {
  #head: Head | null = null;

  /** The piece from record to record; null where records cannot be found. */
  async exact({ capture, from, to }: Piece): Promise<Piece | null> {
    const head = await this.#headOf(capture);
    if (head === null) return null;
    const begin = await nextRecord(head, from);
    const end = await nextRecord(head, to);
    return begin === null || end === null
      ? null
      : { capture, from: begin, to: end, context: begin === 0 ? [] : head.context };
  }

  /** What was read of a piece of `exact`; null where it was not read to its end. */
  async read(piece: Piece, { ends: [end] }: CaptureLog): Promise<ReadSpan | null> {
    const head = await this.#headOf(piece.capture);
    if (head === null || end === undefined) return null;
    const placeOf = placesOf(piece);
    const context = inCapture(end.context, placeOf);
    const isAsAtHead = JSON.stringify(context) === JSON.stringify(head.context);
    return { begin: piece.from, end: placeOf(end.complete), context, isAsAtHead };
  }

  async #headOf(capture: CaptureRef): Promise<Head | null> {
    const { place, state } = this.#head?.capture ?? {};
    if (place !== capture.place || state !== capture.state) this.#head = await readHead(capture);
    return this.#head;
  }
}

async function readHead(capture: CaptureRef): Promise<Head | null> {
  const bytes = await bytesOf(capture, 0, HEAD);
  const finder = recordFinder(bytes);
  if (finder === null) return null;
  const decoder = new CaptureDecoder();
  const rows = new FrameColumns();
  for (let at = 0; at < bytes.length;) at = decoder.read(bytes, at, rows);
  return { capture, finder, context: inCapture(decoder.context, (at) => at) };
}

/** The first record from this place on; the end of the capture if there is none. Null where it cannot be found. */
async function nextRecord({ capture, finder }: Head, from: number): Promise<number | null> {
  if (from === 0 || from === capture.size) return from;
  for (const window of WINDOWS) {
    const bytes = await bytesOf(capture, from, from + window);
    const isEnd = from + bytes.length === capture.size;
    const found = findRecord(finder, bytes, from, isEnd);
    if (found !== null) return from + found;
    if (isEnd) return null;
  }
  return null;
}

async function bytesOf(capture: CaptureRef, from: number, to: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readPart(capture, from, Math.min(to, capture.size))) chunks.push(chunk.slice());
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}
