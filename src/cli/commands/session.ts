/** A run of a scenario: reads its frames, steers them, and writes what the options ask for. */
import type { ImportedRules } from "../../import/index.js";
import {
  type OutcomeClass,
  CaptureRun,
  type FrameShare,
  type RowEnd,
  type RowFile,
  type RowFrame,
  type SeeFrame,
} from "../../run/index.js";
import { cannotRun, outcomeRecord, type FrameInput, type LoadedScenario } from "../../scenario/index.js";
import type { Outcome } from "../../index.js";
import type { AnnotatedCapture } from "../output/annotated.js";
import type { CaptureFiles, FrameToFile } from "../output/captureFiles.js";
import type { FrameRange } from "../commandLine.js";
import {
  CaptureLog,
  framesOf,
  noFrame,
  readColumns,
  type CaptureInput,
  type CaptureRows,
  type SkippedSum,
} from "../input/captures.js";
import { Interruption, type StopSignal } from "../interruption.js";
import { Output } from "../output/output.js";

/** Outputs besides the report, or in its place. */
export interface RunOutputs {
  /** A line of JSON for each frame. */
  json: boolean;
  /** A row for each frame. */
  rows: RowFile | null;
  /** Captures by destination. */
  files: CaptureFiles | null;
  /** The capture with a comment at each frame. */
  annotated: AnnotatedCapture | null;
  /** No report, notes and progress. */
  quiet: boolean;
  /** Rules of another program; null for a scenario. */
  imported: ImportedRules | null;
}

/** What the end of a run reads: of frames that were steered here, or on other machines. */
export interface SteeredRun {
  readonly loaded: LoadedScenario;
  readonly outputs: Pick<RunOutputs, "json" | "quiet" | "imported"> & {
    readonly rows: Pick<RowFile, "end"> | null;
    readonly files: Pick<CaptureFiles, "close"> | null;
    readonly annotated: Pick<AnnotatedCapture, "end" | "isStandardOutput"> | null;
  };
  readonly output: Output;
  readonly log: CaptureLog;
  readonly skipped: ReadonlyMap<string, SkippedSum>;
  readonly interrupted: StopSignal | null;
}

/** A frame before it is steered. */
type Input = FrameInput & FrameToFile & { number: number };

/** What a run reads. */
export type SessionInput = Pick<CaptureInput, "files" | "first" | "limit" | "only"> & {
  /** Steers only the frames of a share. @default null, all */
  readonly share?: FrameShare | null;
  /** Whether a signal ends the run early. @default true */
  readonly interruptible?: boolean;
};

export class Session implements SteeredRun {
  readonly loaded: LoadedScenario;
  readonly outputs: RunOutputs;
  readonly output: Output;
  /** What the end of the run says about the captures, and other notes. */
  readonly log = new CaptureLog();
  /** Frames that were read and not steered, by cause. */
  readonly skipped = new Map<string, SkippedSum>();
  /** The signal that ended the run early. */
  interrupted: StopSignal | null = null;
  #recordedMessages = false;

  /** @param output gets lines of JSON; the default is standard output */
  constructor(loaded: LoadedScenario, outputs: RunOutputs, output = new Output()) {
    this.output = output;
    this.loaded = loaded;
    this.outputs = outputs;
  }

  /** Steers captures in order. A signal ends that early; frames read by then are steered. */
  async runCaptures({ share = null, interruptible = true, ...input }: SessionInput, port: number): Promise<void> {
    const { json, files: captures, annotated, quiet } = this.outputs;
    const interruption = interruptible ? new Interruption() : undefined;
    const sums = !json && captures === null && this.loaded.sumsAlone ? new CaptureRun(this.loaded, port) : null;
    try {
      for await (const all of readColumns({ ...input, quiet, interruption }, this.log)) {
        // Rows beyond the limit belong to no share.
        if (share !== null) all.columns.count = all.count;
        share?.keep(all.columns);
        const rows = share === null ? all : { ...all, count: all.columns.count };
        await (sums === null ? this.#runFrames(rows, port) : this.#runRows(sums, rows, port));
        await annotated?.write(rows, port);
      }
    } finally {
      interruption?.end();
    }
    sums?.flush();
    this.interrupted = interruption?.signal ?? null;
  }

  async runOwn(port: number | undefined, { limit, only }: FrameRange): Promise<void> {
    const { frames } = this.loaded;
    if (only !== undefined && only > frames.length) throw noFrame(only, frames.length);
    const first = only === undefined ? 0 : only - 1;
    const inputs = frames.slice(first, only ?? limit).map((frame, i) => ({
      ...frame,
      ...(port === undefined || frame.send !== undefined ? {} : { port }),
      number: first + i + 1,
      time: frame.time ?? null,
      linkType: frame.linkType ?? 1,
      wireLength: frame.wireLength ?? frame.bytes.length,
    }));
    const outcomes = this.loaded.run(inputs);
    await this.#record(inputs, outcomes);
    const { annotated } = this.outputs;
    for (const [i, input] of inputs.entries()) await annotated?.writeFrame(input, outcomes[i] as Outcome);
  }

  /** Makes an outcome object for each frame. */
  async #runFrames(rows: CaptureRows, port: number): Promise<void> {
    const inputs: Input[] = [];
    for (const { number, bytes, linkType, wireLength, time } of framesOf(rows)) {
      const why = cannotRun(linkType, bytes.length);
      if (why === null) inputs.push({ number, bytes, linkType, time, port, wireLength });
      else this.#skip(number - rows.number, number, why, wireLength);
    }
    const outcomes = this.loaded.run(inputs);
    const { annotated } = this.outputs;
    for (const [i, { number, bytes }] of inputs.entries()) {
      annotated?.seeOutcome(number - rows.number, bytes, outcomes[i] as Outcome);
    }
    await this.#record(inputs, outcomes);
  }

  readonly #ends = new WeakMap<OutcomeClass, RowEnd>();

  /** Makes one outcome object for each outcome class. */
  async #runRows(sums: CaptureRun, { columns, count, number }: CaptureRows, port: number): Promise<void> {
    const { rows, annotated } = this.outputs;
    let due = false;
    const frame: RowFrame = { number: 0, time: 0n, port, length: 0, wireLength: 0, linkType: 0 };
    const seeRow =
      (file: RowFile): SeeFrame =>
      (row, own, wireLength, tag, outcomeClass) => {
        let end = this.#ends.get(outcomeClass);
        if (end === undefined) this.#ends.set(outcomeClass, (end = file.endOf(outcomeClass.outcome)));
        frame.number = own;
        frame.time = columns.time(row);
        frame.length = columns.lengths[row] ?? 0;
        frame.wireLength = wireLength;
        frame.linkType = columns.linkTypes[row] ?? 0;
        due = file.add(frame, tag, end) || due;
      };
    const skip = (row: number, wireLength: number): void => {
      const why = cannotRun(columns.linkTypes[row] ?? 0, columns.lengths[row] ?? 0) ?? "";
      this.#skip(row, number + (columns.places[row] ?? 0), why, wireLength);
    };
    const sees: readonly SeeFrame[] = [
      ...(rows === null ? [] : [seeRow(rows)]),
      ...(annotated === null ? [] : [annotated.see]),
    ];
    const seeAll: SeeFrame = (...seen) => sees.forEach((see) => see(...seen));
    sums.run(columns, count, number, skip, sees.length > 1 ? seeAll : (sees[0] ?? null));
    if (due) await rows?.flush();
  }

  async #record(inputs: readonly Input[], outcomes: readonly Outcome[]): Promise<void> {
    const { json, rows, files } = this.outputs;
    if (json) await this.#recordMessages();
    for (const [i, input] of inputs.entries()) {
      const outcome = outcomes[i] as Outcome;
      files?.add(input, outcome);
      if (json) await this.output.write(`${JSON.stringify(outcomeRecord(input.number, input, outcome))}\n`);
      if (rows !== null && rows.add(rowFrame(input), outcome.tag, rows.endOf(outcome))) await rows.flush();
    }
    files?.flush();
  }

  /** Writes the records of messages, which are sent before the first frame. */
  async #recordMessages(): Promise<void> {
    if (this.#recordedMessages) return;
    this.#recordedMessages = true;
    for (const record of this.loaded.messages) await this.output.write(`${JSON.stringify(record)}\n`);
  }

  #skip(row: number, number: number, why: string, wireLength: number): void {
    this.outputs.annotated?.skip(row, why);
    const { frames, bytes, first } = this.skipped.get(why) ?? { frames: 0, bytes: 0, first: number };
    this.skipped.set(why, { frames: frames + 1, bytes: bytes + wireLength, first });
  }
}

function rowFrame(input: Input): RowFrame {
  const { number, time, port = 1, send, bytes, linkType, wireLength } = input;
  return { number, time, port: send === undefined ? port : null, length: bytes.length, wireLength, linkType };
}
