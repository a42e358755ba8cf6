/** Why frames of a run missed or were dropped, in a sentence. Frames with the same explanation share that of the first. */
import type { EndedFrame, ExplanationGroups } from "../../explain/index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import { isLost } from "../input/lostFrames.js";

type Explain = Parameters<ExplanationGroups["add"]>[1];

export class LossReasons {
  readonly #loaded: LoadedScenario;
  /** The port of the frames that are explained. */
  #port = 1;
  #groups: ExplanationGroups | null = null;
  #explain: Explain = () => null;

  /**
   * Null where a frame cannot be explained after it was steered: outcomes depend on meters, connections or receive buffers, or
   * rules change between frames.
   */
  static of(loaded: LoadedScenario): LossReasons | null {
    const changes = loaded.frames.some(({ sync, before }) => sync === true || before !== undefined);
    return loaded.device.stateful || !loaded.sumsAlone || changes ? null : new LossReasons(loaded);
  }

  private constructor(loaded: LoadedScenario) {
    this.#loaded = loaded;
  }

  /**
   * Gives the reasons of frames that missed or were dropped, by their numbers. No frame of the device may be under way.
   * @param port the port at which they arrived
   */
  async of(frames: readonly EndedFrame[], port: number): Promise<ReadonlyMap<number, string>> {
    this.#port = port;
    const reasons = new Map<number, string>();
    const lost = frames.filter(({ outcome }) => isLost(outcome));
    if (lost.length === 0) return reasons;
    const groups = (this.#groups ??= await this.#open());
    await groups.add(lost, this.#explain, ({ number }, { examples: [first], explanation }) => {
      if (explanation === null) return;
      const { sentence, mistake } = explanation;
      const as = first === undefined || first === number ? "" : ` (as frame ${first})`;
      const name = mistake === null ? "" : `; looks like ${mistake.name}`;
      reasons.set(number, `why${as}: ${sentence}${name}`);
    });
    return reasons;
  }

  /** A run in which no frame is lost loads none of this. */
  async #open(): Promise<ExplanationGroups> {
    const { ExplanationGroups: Groups } = await import("../../explain/index.js");
    const { openEndExplainer } = await import("../commands/explainCalls.js");
    const { device } = this.#loaded;
    const explain = await openEndExplainer(device);
    this.#explain = (frame) => explain({ ...frame, queue: null, metadata: 0, port: this.#port, time: null });
    return Groups.open(device);
  }
}
