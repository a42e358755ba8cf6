/** Which frames have a word in their number, name or summary. It does not depend on the rules. */
import type { Device } from "flowsteer";
import type { Progress } from "../api.js";
import type { Pace } from "../work/lane.js";
import type { Frames } from "./frames.js";
import { scanParsed } from "./parsedScan.js";
import { summaryOf } from "./summary.js";

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
    const columns = words.map((word) => [word, found.get(word) as Uint8Array] as const);
    await scanParsed(this.#frames, device, pace, progress, (frame, bytes, parsed) => {
      const text = `${frame} ${this.#frames.nameOf(frame) ?? ""} ${summaryOf(bytes, parsed)}`.toLowerCase();
      for (const [word, column] of columns) if (text.includes(word)) column[frame - 1] = 1;
    });
  }
}
