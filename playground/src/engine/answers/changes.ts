/** The same frames under other rules: which of them end in another way. */
import type { ChangeGroup, FrameEnd } from "../api.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";

/** Frames between two rests. */
const SOME = 8192;

export class Comparison {
  readonly before: Run;
  readonly after: Run;
  changed = 0;
  readonly #groups = new Map<string, { -readonly [K in keyof ChangeGroup]: ChangeGroup[K] }>();

  /** Ids by the numbers of the classes before and after. */
  readonly #pairs: (string | null)[][] = [];

  private constructor(before: Run, after: Run) {
    this.before = before;
    this.after = after;
  }

  /** @param before the same frames under the rules that are compared with */
  static async of(before: Run, after: Run, pace: Pace): Promise<Comparison> {
    const comparison = new Comparison(before, after);
    for (let frame = 1; frame <= after.frames.count; frame++) {
      comparison.#add(frame);
      if (frame % SOME === 0) await pace.rest();
    }
    return comparison;
  }

  /** Most frames first. */
  get groups(): ChangeGroup[] {
    return [...this.#groups.values()].sort((a, b) => b.frames - a.frames);
  }

  /** The id of the group of a frame; null if it ends as before. */
  changeOf(frame: number): string | null {
    const [before, after] = [this.before.outcomes.numberOf(frame), this.after.outcomes.numberOf(frame)];
    const pairs = (this.#pairs[before] ??= []);
    let id = pairs[after];
    if (id === undefined) pairs[after] = id = this.#change(before, after);
    return id;
  }

  #change(before: number, after: number): string | null {
    const [was, is] = [this.before.outcomes.classes[before - 1], this.after.outcomes.classes[after - 1]];
    return was === undefined || is === undefined || was.end === is.end ? null : `${was.end} ${is.end}`;
  }

  #add(frame: number): void {
    const id = this.changeOf(frame);
    if (id === null) return;
    this.changed++;
    const group = this.#groups.get(id);
    if (group !== undefined) {
      group.frames++;
      return;
    }
    const [before, after] = [this.before, this.after].map(({ outcomes }) => endOf(outcomes.of(frame)?.outcome));
    if (before !== undefined && after !== undefined)
      this.#groups.set(id, { id, before, after, frames: 1, first: frame });
  }
}

function endOf(outcome: FrameEnd | undefined): FrameEnd {
  const { verdict = null, reason = null, to = [], copies = [] } = outcome ?? {};
  return { verdict, reason, to, copies };
}
