/** Which frames have a word in their number, name or summary. It does not depend on the rules. */
import type { Device } from "flowsteer";
import type { Progress } from "../api.js";
import type { Pace } from "../work/lane.js";
import type { Frames } from "./frames.js";
import { summaryOf } from "./summary.js";

/** Frames that are parsed at once. */
const BATCH = 64;

export class FrameWords {
  readonly #frames: Frames;
  /** By word and frame: whether it is there. */
  #found = new Map<string, Uint8Array>();

  constructor(frames: Frames) {
    this.#frames = frames;
  }

  /** Looks for words, and forgets others. */
  async find(
    words: readonly string[],
    device: Device,
    pace: Pace,
    progress: Progress,
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const found = new Map(
      words.flatMap((word) => (this.#found.has(word) ? [[word, this.#found.get(word)]] : [])) as [string, Uint8Array][],
    );
    const missing = words.filter((word) => !found.has(word));
    for (const word of missing) found.set(word, new Uint8Array(this.#frames.count));
    if (missing.length > 0) await this.#scan(missing, found, device, pace, progress);
    this.#found = found;
    return found;
  }

  async #scan(
    words: readonly string[],
    found: ReadonlyMap<string, Uint8Array>,
    device: Device,
    pace: Pace,
    progress: Progress,
  ): Promise<void> {
    const { count } = this.#frames;
    const columns = words.map((word) => [word, found.get(word) as Uint8Array] as const);
    let batch: { readonly frame: number; readonly bytes: Uint8Array }[] = [];
    let batchType = 1;
    const look = (): void => {
      const parsed = device.parseHeaders(
        batch.map(({ bytes }) => bytes),
        { linkType: batchType },
      );
      for (const [i, { frame, bytes }] of batch.entries()) {
        const headers = parsed[i];
        const summary = headers === undefined ? "" : summaryOf(bytes, headers);
        const text = `${frame} ${this.#frames.nameOf(frame) ?? ""} ${summary}`.toLowerCase();
        for (const [word, column] of columns) if (text.includes(word)) column[frame - 1] = 1;
      }
      batch = [];
    };
    await this.#frames.scan(
      pace,
      (frame, bytes, linkType) => {
        if (batch.length > 0 && linkType !== batchType) look();
        batchType = linkType;
        batch.push({ frame, bytes });
        if (batch.length === BATCH) {
          look();
          progress(frame, count, "Searching");
        }
      },
      look,
    );
  }
}
