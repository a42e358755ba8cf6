/** Finds where captures can be cut: an index job. */
import { CaptureLog, readColumns } from "../input/captures.js";
import type { OpenFile } from "../input/chunks.js";
import { isPacked } from "../input/unpack.js";
import type { ByteRange } from "../../index.js";
import { readPart } from "./captures.js";
import type { CaptureIndex, CaptureRef, Cut, IndexJob, Piece } from "./jobs.js";

const NOTHING: readonly ByteRange[] = [];

/** Reads a capture once and gives its cuts. A packed capture has none: it is one piece. */
export async function indexOf({ capture, pieceBytes }: IndexJob): Promise<CaptureIndex> {
  const log = new CaptureLog();
  const packed = await startsPacked(capture);
  const cuts: Cut[] = [{ offset: 0, frames: 0, context: NOTHING }];
  let last = cuts[0] as Cut;
  let end = last;
  const whole = { capture, from: 0, to: capture.size, context: NOTHING };
  for await (const rows of readColumns({ files: [fileOf(whole)], limit: Infinity, quiet: true }, log)) {
    const { complete, number, count, context } = rows;
    end = { offset: packed ? capture.size : complete, frames: number + count - 1, context: NOTHING };
    if (packed || complete - last.offset < pieceBytes || end.frames === last.frames) continue;
    last = { ...end, context: joined(context) };
    cuts.push(last);
  }
  if (end.frames > last.frames) cuts.push(end);
  const { notes, broken } = log;
  return { frames: end.frames, cuts: end.frames === 0 ? [] : cuts, notes, broken, refused: null };
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

async function startsPacked(capture: CaptureRef): Promise<boolean> {
  const head: number[] = [];
  for await (const chunk of readPart(capture, 0, Math.min(4, capture.size))) head.push(...chunk);
  return isPacked(Uint8Array.from(head));
}

/** Ranges that follow each other as one. */
function joined(ranges: readonly ByteRange[]): ByteRange[] {
  const all: ByteRange[] = [];
  for (const { offset, length } of ranges) {
    const before = all.at(-1);
    if (before !== undefined && before.offset + before.length === offset)
      all[all.length - 1] = { offset: before.offset, length: before.length + length };
    else all.push({ offset, length });
  }
  return all;
}
