/** Steers frames of a capture as they are read. */
import type { FrameColumns } from "flowsteer";
import { CaptureRun, wireLengthOf, type OutcomeClass, type SeeFrame } from "flowsteer/run";
import { cannotRun, type FrameInput, type LoadedScenario } from "flowsteer/scenario";
import type { Pace } from "../work/lane.js";
import type { Outcomes } from "./outcomes.js";

/** Frames that are steered at a time where each needs an object. */
const PIECE = 256;

export class Steering {
  readonly #loaded: LoadedScenario;
  readonly #outcomes: Outcomes | null;
  readonly #pace: Pace;
  /** Null where a queue of the scenario reads what arrives: each frame needs an outcome object then. */
  readonly #bursts: CaptureRun | null;
  readonly #numbers = new WeakMap<OutcomeClass, number>();

  /** @param outcomes gets the outcomes; null where they are not needed */
  constructor(loaded: LoadedScenario, outcomes: Outcomes | null, pace: Pace) {
    this.#loaded = loaded;
    this.#outcomes = outcomes;
    this.#pace = pace;
    this.#bursts = loaded.sumsAlone ? new CaptureRun(loaded, 1) : null;
  }

  /**
   * Steers rows `first` to `end` - 1.
   * @param number the number of row 0
   */
  async run(columns: FrameColumns, number: number, first: number, end: number): Promise<void> {
    const skip = (row: number): void => this.#skip(columns, row, number);
    if (this.#bursts === null) await this.#runFrames(columns, number, first, end, skip);
    else this.#bursts.run(columns, end, number, skip, this.#outcomes === null ? null : this.#see, first);
  }

  /** Adds the sums to those of the scenario. */
  end(): void {
    this.#bursts?.flush();
  }

  readonly #see: SeeFrame = (_row, frame, _wireLength, tag, outcomeClass) => {
    if (this.#outcomes === null) return;
    let number = this.#numbers.get(outcomeClass);
    if (number === undefined) {
      number = this.#outcomes.classOf(outcomeClass.outcome);
      this.#numbers.set(outcomeClass, number);
    }
    this.#outcomes.set(frame, number, tag);
  };

  #skip({ linkTypes, lengths }: FrameColumns, row: number, number: number): void {
    const why = cannotRun(linkTypes[row] ?? 0, lengths[row] ?? 0) ?? "";
    this.#outcomes?.set(number + row, this.#outcomes.skipped(why));
  }

  async #runFrames(
    columns: FrameColumns,
    number: number,
    begin: number,
    end: number,
    skip: (row: number) => void,
  ): Promise<void> {
    for (let first = begin; first < end; first += PIECE) {
      const inputs: (FrameInput & { number: number })[] = [];
      for (let row = first; row < Math.min(first + PIECE, end); row++) {
        const linkType = columns.linkTypes[row] ?? 0;
        if (cannotRun(linkType, columns.lengths[row] ?? 0) !== null) skip(row);
        else {
          const [bytes, time, wireLength] = [columns.frame(row), columns.time(row), wireLengthOf(columns, row)];
          inputs.push({ number: number + row, bytes, linkType, time, wireLength });
        }
      }
      for (const [i, outcome] of this.#loaded.run(inputs).entries()) {
        this.#outcomes?.set(inputs[i]?.number ?? 0, this.#outcomes.classOf(outcome), outcome.tag);
      }
      await this.#pace.rest();
    }
  }
}
