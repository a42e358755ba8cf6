/** The engine: one set of rules on a device, the frames, and what is asked about them. */
import { SteeringError, type CoreSource } from "flowsteer";
import type { Explanation, Target } from "flowsteer/explain";
import { cannotRun } from "flowsteer/scenario";
import { Comparison } from "./answers/changes.js";
import { metersOf, verdictsOf } from "./answers/meters.js";
import { totalsOf } from "./answers/totals.js";
import type {
  Answer,
  Engine,
  FrameFilter,
  FrameOrder,
  FrameOutcome,
  FrameRow,
  FrameWay,
  Progress,
  RulesEffect,
  RulesRefusal,
  Survey,
} from "./api.js";
import type { Cores } from "./cores.js";
import type { CaptureFrames } from "./frames/captureFrames.js";
import { type FrameList } from "./frames/list.js";
import { narrow } from "./frames/narrow.js";
import { rowsOf } from "./frames/rows.js";
import { Search } from "./frames/search.js";
import { pipelineOf } from "./rules/pipeline.js";
import { refusalsOf, tooLong } from "./rules/refusals.js";
import { runRules, type Run } from "./steer/run.js";
import { Position } from "./way/position.js";
import { Lane, type Pace } from "./work/lane.js";
import { seldom } from "./work/reports.js";

/** Rules that were loaded, and everything that was found out about the frames under them. */
interface Good {
  readonly run: Run;
  readonly comparison: Comparison | null;
  readonly search: Search;
  readonly list: FrameList;
  readonly position: Position;
  /** The answer, without what is wrong with newer rules. */
  readonly answer: Answer;
}

const NOTHING: Answer = {
  refusals: [],
  pipeline: null,
  totals: null,
  frames: 0,
  unclaimed: 0,
  firstLost: null,
  capture: null,
  changed: null,
  changes: [],
  took: 0,
};
const SILENT: Progress = () => undefined;

export class Session implements Engine {
  readonly #cores: Cores;
  readonly #steering = new Lane();
  readonly #opening = new Lane();
  readonly #filtering = new Lane();
  readonly #ways = new Lane();
  readonly #writing = new Lane();
  readonly #trying = new Lane();
  readonly #surveying = new Lane();
  /** What is wanted: the newest rules, the capture, the rules to compare with. */
  #text: string | null = null;
  #capture: CaptureFrames | null = null;
  #compared: string | null = null;
  #filter: FrameFilter = {};
  #order: FrameOrder | null = null;
  #good: Good | null = null;

  constructor(cores: Cores) {
    this.#cores = cores;
  }

  load(rules: string, progress: Progress = SILENT): Promise<Answer | null> {
    this.#text = rules;
    return this.#answer(progress);
  }

  async openCapture(file: Blob, name: string, progress: Progress): Promise<Answer | null> {
    const frames = await this.#opening.run(async (pace) => {
      const { CaptureFrames: Frames } = await import("./frames/captureFrames.js");
      const read = await Frames.read(file, name, pace, seldom(progress));
      pace.check();
      return read;
    });
    if (frames === null) return null;
    const before = this.#capture;
    this.#capture = frames;
    let answer = await this.#answer(progress);
    // Newer rules are steered over the capture too.
    while (answer === null && this.#capture === frames && !this.#stopped) answer = await this.#newest;
    if (answer === null && this.#capture === frames) this.#capture = before;
    return answer;
  }

  closeCapture(): Promise<Answer | null> {
    this.#opening.stop();
    this.#capture = null;
    return this.#answer(SILENT);
  }

  stop(): void {
    this.#stopped = true;
    for (const lane of [this.#steering, this.#opening, this.#filtering, this.#ways, this.#writing]) lane.stop();
    for (const lane of [this.#trying, this.#surveying]) lane.stop();
  }

  ping(): void {}

  async filter(
    filter: FrameFilter,
    order: FrameOrder | null = null,
    progress: Progress = SILENT,
  ): Promise<number | null> {
    [this.#filter, this.#order] = [filter, order];
    return this.#filtering.run(async (pace) => {
      const good = this.#good;
      if (good === null) return 0;
      const list = await this.#list(good.run, good.comparison, good.search, pace, seldom(progress));
      pace.check();
      // Newer rules have narrowed their frames themselves.
      if (this.#good === good) this.#good = { ...good, list };
      return this.#good?.list.count ?? 0;
    });
  }

  rows(first: number, count: number, columns: readonly string[] = []): Promise<FrameRow[]> {
    const good = this.#good;
    if (good === null) return Promise.resolve([]);
    return rowsOf(good.run, good.comparison, good.list.at(first, count), columns);
  }

  rowsOf(frames: readonly number[]): Promise<FrameRow[]> {
    const good = this.#good;
    if (good === null) return Promise.resolve([]);
    const { count } = good.run.frames;
    const known = frames.filter((frame) => frame >= 1 && frame <= count);
    return rowsOf(good.run, good.comparison, known);
  }

  placeOf(frame: number): Promise<number> {
    return Promise.resolve(this.#good?.list.placeOf(frame) ?? -1);
  }

  survey(progress: Progress = SILENT): Promise<Survey | null> {
    return this.#surveying.run(async (pace) => {
      const run = this.#good?.run;
      if (run === undefined) return null;
      const { conversationsOf } = await import("./answers/conversations.js");
      const conversations = await conversationsOf(run, pace, seldom(progress));
      return { conversations, verdicts: await verdictsOf(run.frames, run.outcomes, pace) };
    });
  }

  async conversationOf(frame: number): Promise<string | null> {
    const run = this.#good?.run;
    if (run === undefined || frame > run.frames.count) return null;
    return (await import("./answers/conversations.js")).conversationFilter(run, frame);
  }

  way(frame: number): Promise<FrameWay | null> {
    return this.#ways.run(async (pace) => {
      const arrival = await this.#good?.position.at(frame, pace);
      if (arrival === undefined || arrival === null) return null;
      const { wayOf } = await import("./way/way.js");
      return wayOf(frame, arrival, this.#cores.traced);
    });
  }

  why(frame: number, target: Target): Promise<Explanation | null> {
    return this.#ways.run(async (pace) => {
      const arrival = await this.#good?.position.at(frame, pace);
      if (arrival === undefined || arrival === null) return null;
      const { whyOf } = await import("./way/why.js");
      return whyOf(arrival, target, this.#cores.traced);
    });
  }

  wayOf(bytes: Uint8Array, linkType: number): Promise<FrameWay | null> {
    return this.#ways.run(async (pace) => {
      if (this.#good === null || cannotRun(linkType, bytes.length) !== null) return null;
      const loaded = await this.#good.position.fresh(pace);
      const { wayOf } = await import("./way/way.js");
      return wayOf(0, { loaded, input: { bytes, linkType } }, this.#cores.traced);
    });
  }

  compareWith(rules: string | null, progress: Progress = SILENT): Promise<Answer | null> {
    this.#compared = rules;
    return this.#answer(progress);
  }

  before(frame: number): Promise<FrameOutcome | null> {
    return Promise.resolve(this.#good?.comparison?.before.outcomes.of(frame)?.outcome ?? null);
  }

  effectOf(rules: string, own: number | null): Promise<RulesEffect | null> {
    return this.#trying.run(async (pace) => {
      const { effectOf } = await import("./answers/effect.js");
      return this.#good === null ? null : effectOf(this.#good.run, rules, own, this.#core, pace);
    });
  }

  annotated(progress: Progress): Promise<Blob | null> {
    return this.#writing.run(async (pace) => {
      const { annotatedCapture } = await import("./out/annotated.js");
      return this.#good === null ? null : annotatedCapture(this.#good.run, pace, seldom(progress));
    });
  }

  captureOut(progress: Progress): Promise<Blob | null> {
    return this.#writing.run(async (pace) => {
      const { captureOut } = await import("./out/captureOut.js");
      return this.#good === null ? null : captureOut(this.#good.run, this.#core, pace, seldom(progress));
    });
  }

  async captureBytes(most: number): Promise<Uint8Array | null> {
    const file = this.#capture?.file;
    if (file === undefined || file.size > most) return null;
    return new Uint8Array(await file.arrayBuffer());
  }

  #stopped = false;
  #newest: Promise<Answer | null> = Promise.resolve(null);

  /** Brings everything up to what is wanted. */
  #answer(progress: Progress): Promise<Answer | null> {
    const began = performance.now();
    this.#stopped = false;
    this.#newest = this.#steering.run(async (pace) => {
      const refusals = await this.#renew(pace, seldom(progress));
      return { ...(this.#good?.answer ?? this.#bare), refusals, took: performance.now() - began };
    });
    return this.#newest;
  }

  /** @returns what is wrong with the newest rules */
  async #renew(pace: Pace, progress: Progress): Promise<readonly RulesRefusal[]> {
    const text = this.#text;
    if (text === null) {
      this.#good = null;
      return [];
    }
    const refusal = tooLong(text);
    if (refusal !== null) return [refusal];
    const core = this.#core;
    try {
      await this.#steer(await runRules(text, core, this.#capture, pace, progress), core, pace, progress);
      return [];
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
      const refusals = await refusalsOf(text, error, core);
      pace.check();
      const good = this.#good?.run;
      // The last good rules steer a capture that was opened or closed since.
      if (good !== undefined && good.frames.capture !== (this.#capture?.capture ?? null)) {
        await this.#steer(await runRules(good.text, core, this.#capture, pace, progress), core, pace, progress);
      }
      return refusals;
    }
  }

  async #steer(run: Run, core: CoreSource, pace: Pace, progress: Progress): Promise<void> {
    const { loaded, frames, outcomes, text } = run;
    const comparison = await this.#compare(run, core, pace, progress);
    const search = this.#good?.search.of(run) ?? new Search(run);
    const list = await this.#list(run, comparison, search, pace, progress);
    const meters = await metersOf(frames, outcomes, pace);
    // Expectations are about the frames of the document, where it has any.
    const own = frames.capture === null || loaded.scenario.frames === undefined;
    const answer: Answer = {
      ...NOTHING,
      pipeline: pipelineOf(loaded),
      totals: totalsOf(loaded, meters, own),
      frames: frames.count,
      unclaimed: outcomes.unclaimed,
      firstLost: outcomes.firstLost,
      capture: frames.capture,
      changed: comparison?.changed ?? null,
      changes: comparison?.groups ?? [],
    };
    pace.check();
    this.#good = { run, comparison, search, list, position: new Position(text, core, frames), answer };
  }

  /** The list as it is wanted. */
  async #list(
    run: Run,
    comparison: Comparison | null,
    search: Search,
    pace: Pace,
    progress: Progress,
  ): Promise<FrameList> {
    const [order, list] = [this.#order, await narrow(this.#filter, run, comparison, search, pace, progress)];
    if (order === null) return list;
    const { ordered } = await import("./frames/order.js");
    return ordered(list, order, await search.columns(), run, pace, progress);
  }

  /** The rules that are compared with, over the same frames; null where they are refused or not wanted. */
  async #compare(run: Run, core: CoreSource, pace: Pace, progress: Progress): Promise<Comparison | null> {
    const text = this.#compared;
    if (text === null) return null;
    const known = this.#good?.comparison?.before;
    try {
      const before =
        known?.text === text && known.frames === run.frames
          ? known
          : await runRules(text, core, run.frames, pace, progress);
      return await Comparison.of(before, run, pace);
    } catch (error) {
      if (error instanceof SteeringError) return null;
      throw error;
    }
  }

  /** What is said without good rules. */
  get #bare(): Answer {
    return { ...NOTHING, frames: this.#capture?.count ?? 0, capture: this.#capture?.capture ?? null };
  }

  get #core(): CoreSource {
    return this.#capture === null ? this.#cores.traced : this.#cores.release;
  }
}
