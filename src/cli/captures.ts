/** Frames of the captures on a command line, one after the other, in bounded memory. */
import { createReadStream, statSync } from "node:fs";
import { readCapture, type CapturedFrame } from "../packet/capture.js";
import { Progress } from "./progress.js";
import { badUsage, refusalOf } from "./refusal.js";
import { grouped } from "./text.js";

const CHUNK = 1 << 20;

/** A captured frame with its number over all captures. */
export interface NumberedFrame extends Omit<CapturedFrame, "number"> {
  /** From 1 on, over all captures of the command. */
  number: number;
}

export interface CaptureInput {
  files: readonly string[];
  /** The most frames to read. */
  limit: number;
}

/** How people call a capture. */
export function captureName(file: string): string {
  return file === "-" ? "standard input" : file;
}

/**
 * Batches of frames, valid until the next is asked for. What the command should tell at its end goes to `notes`.
 * @throws CommandRefusal for what is no capture or cannot be read
 */
export async function* readCaptures(
  { files, limit }: CaptureInput,
  notes: string[],
): AsyncGenerator<NumberedFrame[], void> {
  if (files.filter((file) => file === "-").length > 1) {
    throw badUsage("-", "standard input can be read once; name it once");
  }
  const progress = new Progress(process.stderr, sizeOf(files));
  let number = 0;
  try {
    for (const file of files) {
      if (number >= limit) return;
      try {
        const batches = readCapture(progress.count(file === "-" ? process.stdin : openFile(file)));
        for (let next = await batches.next(); ; next = await batches.next()) {
          if (next.done === true) {
            const { broken, frames } = next.value;
            if (broken !== null) notes.push(breakNote(captureName(file), broken, frames));
            break;
          }
          const taken = next.value.slice(0, limit - number);
          // A record may say less for the wire than it holds: what it holds was there.
          yield taken.map((frame) => ({
            ...frame,
            number: ++number,
            wireLength: Math.max(frame.wireLength, frame.bytes.length),
          }));
          progress.show(number);
          if (number >= limit) {
            await batches.return({ format: "pcap", frames: number, broken: null });
            return;
          }
        }
      } catch (error) {
        throw refusalOf(captureName(file), error);
      }
    }
  } finally {
    progress.clear();
  }
}

function openFile(file: string): AsyncIterable<Uint8Array> {
  return createReadStream(file, { highWaterMark: CHUNK });
}

/** Bytes of all captures, undefined where a stream is among them. */
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
