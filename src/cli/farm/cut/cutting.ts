/** Finds where captures can be cut: an index job. */
import { CaptureLog, readColumns } from "../../input/captures.js";
import type { OpenFile } from "../../input/chunks.js";
import { isPacked } from "../../input/unpack.js";
import type { ByteRange } from "../../../index.js";
import { readPart } from "./captures.js";
import type { CaptureIndex, CaptureRef, Cut, IndexJob, Piece } from "../jobs.js";
import { breaksInCapture, inCapture, placesOf } from "./places.js";

const NOTHING: readonly ByteRange[] = [];

/** Reads a capture once and gives its cuts. A packed capture has none: it is one piece. */
export async function indexOf({
  capture,
  pieceBytes,
  limit,
  from,
  context: described,
}: IndexJob): Promise<CaptureIndex> {
  const log = new CaptureLog();
  const packed = await isPackedCapture(capture);
  const cuts: Cut[] = [{ offset: from, frames: 0, context: described }];
  let last = cuts[0] as Cut;
  let end = last;
  const whole = { capture, from, to: capture.size, context: described };
  const placeOf = placesOf(whole);
  for await (const rows of readColumns({ files: [fileOf(whole)], limit: limit ?? Infinity, quiet: true }, log)) {
    const { complete, number, count, context } = rows;
    const offset = packed ? capture.size : placeOf(complete);
    end = { offset, frames: number + count - 1, context: NOTHING };
    if (packed || offset - last.offset < pieceBytes || end.frames === last.frames) continue;
    last = { ...end, context: inCapture(context, placeOf) };
    cuts.push(last);
  }
  if (end.frames > last.frames) cuts.push(end);
  const breaks = breaksInCapture(log.breaks, placeOf);
  return { frames: end.frames, cuts: end.frames === 0 ? [] : cuts, breaks, refused: null };
}

/** The pieces between cuts, and the frames before each. */
export function piecesOf(capture: CaptureRef, { cuts }: CaptureIndex): { piece: Piece; frames: number }[] {
  return cuts.slice(1).map(({ offset: to }, i) => {
    const { offset: from, frames, context } = cuts[i] as Cut;
    return { piece: { capture, from, to, context }, frames };
  });
}

/** A piece as a file: what describes its section, then its bytes. */
export function fileOf({ capture, from, to, context }: Piece): OpenFile {
  return {
    name: capture.name,
    size: to - from,
    read: async function* () {
      for (const { offset, length } of context) yield* readPart(capture, offset, offset + length);
      yield* readPart(capture, from, to);
    },
  };
}

/** Whether the bytes of a capture are compressed. */
export async function isPackedCapture(capture: CaptureRef): Promise<boolean> {
  const head: number[] = [];
  for await (const chunk of readPart(capture, 0, Math.min(4, capture.size))) head.push(...chunk);
  return isPacked(Uint8Array.from(head));
}
