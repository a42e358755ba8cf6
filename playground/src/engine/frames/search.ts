/** What frames are searched by: words and fields. What was found stays found while the frames, and how they are parsed, do. */
import type { Progress } from "../api.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";
import type { FrameFields } from "./fieldColumns.js";
import { FrameWords } from "./words.js";

export class Search {
  readonly words: FrameWords;
  readonly #frames: Run["frames"];
  readonly #parser: string;
  #columns: FrameFields | null = null;

  constructor({ frames, loaded }: Run) {
    this.#frames = frames;
    this.#parser = parserOf(loaded);
    this.words = new FrameWords(frames);
  }

  /** This search where it serves another run too. */
  of({ frames, loaded }: Run): Search | undefined {
    return frames === this.#frames && parserOf(loaded) === this.#parser ? this : undefined;
  }

  /** Whether a frame passes conditions on its fields. */
  async fields(text: string, run: Run, pace: Pace, progress: Progress): Promise<(frame: number) => boolean> {
    return (await this.columns()).passing(text, run, pace, progress);
  }

  async columns(): Promise<FrameFields> {
    const { FrameFields: Columns } = await import("./fieldColumns.js");
    return (this.#columns ??= new Columns(this.#frames));
  }
}

function parserOf({ scenario }: Run["loaded"]): string {
  return JSON.stringify(scenario.device?.parser ?? null);
}
