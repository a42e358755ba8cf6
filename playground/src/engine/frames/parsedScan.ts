/** Parses all frames, some at a time. */
import type { Device, ParsedHeaders } from "flowsteer";
import type { Progress } from "../api.js";
import type { Pace } from "../work/lane.js";
import type { Frames } from "./frames.js";

/** Frames that are parsed at once. */
const BATCH = 64;

/** @param see called for each frame that can be steered, in order */
export async function scanParsed(
  frames: Frames,
  device: Device,
  pace: Pace,
  progress: Progress,
  see: (frame: number, bytes: Uint8Array, parsed: ParsedHeaders) => void,
): Promise<void> {
  let batch: { readonly frame: number; readonly bytes: Uint8Array }[] = [];
  let batchType = 1;
  const look = (): void => {
    const parsed = device.parseHeaders(
      batch.map(({ bytes }) => bytes),
      { linkType: batchType },
    );
    for (const [i, { frame, bytes }] of batch.entries()) {
      const headers = parsed[i];
      if (headers !== undefined) see(frame, bytes, headers);
    }
    batch = [];
  };
  await frames.scan(
    pace,
    (frame, bytes, linkType) => {
      if (batch.length > 0 && linkType !== batchType) look();
      batchType = linkType;
      batch.push({ frame, bytes });
      if (batch.length === BATCH) {
        look();
        progress(frame, frames.count, "Searching");
      }
    },
    look,
  );
}
