/** A device as it is when a frame comes: what came before it has been steered. */
import type { CoreSource } from "flowsteer";
import { cannotRun, loadScenario, type FrameInput, type LoadedScenario } from "flowsteer/scenario";
import type { CaptureFrames } from "../frames/captureFrames.js";
import type { DocumentFrames } from "../frames/documentFrames.js";
import type { Pace } from "../work/lane.js";

/** Frames of a document that are steered at a time. */
const PIECE = 64;

/** A frame, and the device as it is when it comes. */
export interface Arrival {
  readonly loaded: LoadedScenario;
  readonly input: FrameInput;
}

/** A device that is moved from frame to frame. Going back loads the rules again. */
export class Position {
  readonly #text: string;
  readonly #core: CoreSource;
  readonly #frames: DocumentFrames | CaptureFrames;
  #loaded: LoadedScenario | null = null;
  /** The first frame that has not been steered. */
  #next = 1;
  /** Whether what comes before that frame has been done. */
  #prepared = false;

  constructor(text: string, core: CoreSource, frames: DocumentFrames | CaptureFrames) {
    this.#text = text;
    this.#core = core;
    this.#frames = frames;
  }

  /** @returns null for a frame that cannot be steered */
  async at(frame: number, pace: Pace): Promise<Arrival | null> {
    if (frame < 1 || frame > this.#frames.count) return null;
    const input = await this.#frames.input(frame);
    pace.check();
    if (cannotRun(input.linkType ?? 1, input.bytes.length) !== null) return null;
    if (this.#loaded !== null && frame < this.#next && this.#depends(this.#loaded)) this.#loaded = null;
    const loaded = (this.#loaded ??= await this.#load(pace));
    if (!this.#depends(loaded)) return { loaded, input };
    await this.#move(loaded, frame, pace);
    if (!this.#prepared) loaded.prepare(input);
    this.#prepared = true;
    return { loaded, input };
  }

  /** The device before the first frame. */
  async fresh(pace: Pace): Promise<LoadedScenario> {
    if (this.#loaded !== null && this.#next === 1 && !this.#prepared) return this.#loaded;
    return this.#load(pace);
  }

  async #load(pace: Pace): Promise<LoadedScenario> {
    const loaded = await loadScenario(this.#text, { core: this.#core });
    pace.check();
    this.#next = 1;
    this.#prepared = false;
    return loaded;
  }

  /** Whether what a frame does depends on the frames before it. Those of a document are few. */
  #depends(loaded: LoadedScenario): boolean {
    return this.#frames.capture === null || isStateful(loaded);
  }

  async #move(loaded: LoadedScenario, frame: number, pace: Pace): Promise<void> {
    if (this.#frames.capture !== null) {
      if (frame === this.#next) return;
      // Half of a move would leave the device between two frames.
      this.#loaded = null;
      await this.#frames.steer(loaded, null, pace, () => undefined, { from: this.#next, end: frame });
      this.#loaded = loaded;
    } else {
      for (; this.#next < frame;) {
        const end = Math.min(frame, this.#next + PIECE);
        const some = this.#frames.inputs.slice(this.#next - 1, end - 1);
        const [first, ...others] = some;
        // Its steps have been taken.
        if (first !== undefined)
          steer(loaded, this.#prepared ? [{ ...first, before: [], sync: false }, ...others] : some);
        this.#next = end;
        this.#prepared = false;
        await pace.rest();
      }
    }
    if (frame !== this.#next) this.#prepared = false;
    this.#next = frame;
  }
}

function steer(loaded: LoadedScenario, inputs: readonly FrameInput[]): void {
  loaded.run(inputs.filter(({ linkType = 1, bytes }) => cannotRun(linkType, bytes.length) === null));
}

/** Whether outcomes depend on earlier frames: by meters, connections, samplers, ESP or receive buffers. */
function isStateful({ device, sumsAlone, scenario }: LoadedScenario): boolean {
  return device.stateful || !sumsAlone || hasKey(scenario, ["flow_sampler", "esp"]);
}

function hasKey(value: unknown, keys: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, one]) => keys.includes(key) || hasKey(one, keys));
}
