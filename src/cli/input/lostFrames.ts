/** Steers frames of captures, and gives those that no rule took: they missed, were dropped, or were left to a driver. */
import { CaptureRun, type OutcomeClass } from "../../run/index.js";
import { cannotRun, type LoadedScenario } from "../../scenario/index.js";
import { isUnclaimed, Spreads, type EndedFrame, type SpreadPart } from "../../explain/index.js";
import type { Outcome } from "../../index.js";
import { framesOf, type CaptureRows } from "./captures.js";

/** Whether frames of an outcome are lost or left to a driver, and where those are counted that a queue got. */
interface End {
  readonly isNotTaken: boolean;
  readonly part: SpreadPart | null;
}

export class LostFrames {
  /** Frames that were not steered, by cause. */
  readonly skipped = new Map<string, number>();
  /** The frames that queues got. */
  readonly spreads = new Spreads();
  readonly #loaded: LoadedScenario;
  readonly #port: number;
  readonly #bursts: CaptureRun | null;
  readonly #ends = new WeakMap<OutcomeClass, End>();

  constructor(loaded: LoadedScenario, port: number) {
    this.#loaded = loaded;
    this.#port = port;
    this.#bursts = loaded.sumsAlone ? new CaptureRun(loaded, port) : null;
  }

  /**
   * Steers rows `first` to `end` - 1.
   * @returns those; their bytes are those of the rows
   */
  run(rows: CaptureRows, first = 0, end = rows.count): EndedFrame[] {
    return this.#bursts === null ? this.#runFrames(rows, first, end) : this.#runRows(this.#bursts, rows, first, end);
  }

  /** Adds the sums to those of the scenario. */
  end(): void {
    this.#bursts?.flush();
  }

  #runRows(bursts: CaptureRun, { columns, number }: CaptureRows, first: number, end: number): EndedFrame[] {
    const lost: EndedFrame[] = [];
    const { lengths, linkTypes } = columns;
    const skip = (row: number): void => this.#skip(cannotRun(linkTypes[row] ?? 0, lengths[row] ?? 0));
    const see = (row: number, own: number, wireLength: number, _tag: number | null, one: OutcomeClass): void => {
      let end = this.#ends.get(one);
      if (end === undefined) this.#ends.set(one, (end = this.#endOf(one.outcome)));
      const { isNotTaken: isLost, part } = end;
      const isSample = part?.count() === true;
      if (!isLost && !isSample) return;
      const frame = { number: own, bytes: columns.frame(row), linkType: linkTypes[row] ?? 0, wireLength };
      if (isSample) part.keep({ ...frame, port: this.#port });
      if (isLost) lost.push({ ...frame, outcome: one.outcome });
    };
    bursts.run(columns, end, number, skip, see, first);
    return lost;
  }

  /** Makes an outcome object for each frame. */
  #runFrames(rows: CaptureRows, first: number, end: number): EndedFrame[] {
    const frames = framesOf(rows, first, end).filter(({ linkType, bytes }) => {
      const why = cannotRun(linkType, bytes.length);
      if (why !== null) this.#skip(why);
      return why === null;
    });
    const outcomes = this.#loaded.run(
      frames.map(({ number, bytes, linkType, wireLength, time }) => {
        return { number, bytes, linkType, wireLength, time, port: this.#port };
      }),
    );
    return frames.flatMap(({ number, bytes, linkType, wireLength }, i) => {
      const outcome = outcomes[i] as Outcome;
      const { isNotTaken: isLost, part } = this.#endOf(outcome);
      const frame = { number, bytes, linkType, wireLength };
      if (part?.count() === true) part.keep({ ...frame, port: this.#port });
      return isLost ? [{ ...frame, outcome }] : [];
    });
  }

  #endOf(outcome: Outcome): End {
    return { isNotTaken: isNotTaken(outcome.verdict, outcome.rules), part: this.spreads.partOf(outcome) };
  }

  #skip(why: string | null): void {
    if (why !== null) this.skipped.set(why, (this.skipped.get(why) ?? 0) + 1);
  }
}

/** Whether a frame missed, was dropped, or was received by a driver because no rule took it. */
export function isNotTaken(
  verdict: Outcome["verdict"],
  rules: readonly (string | { readonly name: string })[],
): boolean {
  return isLost({ verdict }) || isUnclaimed(rules.map((rule) => (typeof rule === "string" ? rule : rule.name)));
}

export function isLost({ verdict }: Pick<Outcome, "verdict">): boolean {
  return verdict === "miss" || verdict === "drop";
}
