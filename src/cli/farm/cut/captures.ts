/** Captures that several machines read: files of a shared file system by their paths, others by HTTP. */
import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { badUsage, withFile } from "../../refusal.js";
import { chunksOf } from "../../input/chunks.js";
import { describeRemote, isRemote, readRemote } from "./http.js";
import type { CaptureRef } from "../jobs.js";

/**
 * The capture of a name on the command line.
 * @throws CommandRefusal it cannot be read, or not by other machines
 */
export async function describeCapture(name: string): Promise<CaptureRef> {
  if (name === "-") throw badUsage("-", "other machines cannot read standard input; write it to a file first");
  if (isRemote(name)) return describeRemote(name);
  return withFile(name, async () => describeFile(name, resolve(name)));
}

async function describeFile(name: string, place: string): Promise<CaptureRef> {
  const found = await stat(place, { bigint: true });
  if (!found.isFile()) throw badUsage(name, "not a regular file; other machines cannot read it");
  return { name, place, size: Number(found.size), state: String(found.mtimeNs) };
}

/**
 * Bytes `from` to `to` - 1 of a capture, in pieces. A piece is valid until the next is requested.
 * @throws Error it cannot be read, or has changed
 */
export async function* readPart(capture: CaptureRef, from: number, to: number): AsyncGenerator<Uint8Array, void> {
  if (from === to) return;
  if (isRemote(capture.place)) {
    yield* readRemote(capture, from, to);
    return;
  }
  const { size, state } = await describeFile(capture.name, capture.place);
  if (size !== capture.size || state !== capture.state)
    throw new Error(`${capture.place} is not the file that the run has seen: it has another size or time of change`);
  yield* chunksOf(await open(capture.place), null, { from, to });
}
