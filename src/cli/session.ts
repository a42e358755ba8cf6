/** A scenario that is run: where its frames come from, and what is said of them. */
import {
  cannotRun,
  outcomeRecord,
  type Failure,
  type FrameInput,
  type LoadedScenario,
  type Sum,
} from "../formats/index.js";
import type { Outcome } from "../model/outcome.js";
import type { CaptureFiles, FrameToFile } from "./captureFiles.js";
import { readCaptures } from "./captures.js";
import { Output } from "./output.js";
import { failuresText, notesText, reportText } from "./report.js";
import type { RowFile } from "./rows.js";
import { painter, printable } from "./text.js";

/** What is wanted beside the report, or in its place. */
export interface Wishes {
  /** A line of JSON a frame. */
  json: boolean;
  /** A row a frame. */
  rows: RowFile | null;
  /** Captures by destination. */
  files: CaptureFiles | null;
}

/** A frame with what is known of it before it is run. */
type Input = FrameInput & FrameToFile & { number: number };

export class Session {
  readonly notes: string[] = [];
  readonly #loaded: LoadedScenario;
  readonly #wishes: Wishes;
  readonly #output = new Output();
  readonly #skipped = new Map<string, Sum>();
  #recordedMessages = false;

  constructor(loaded: LoadedScenario, wishes: Wishes) {
    this.#loaded = loaded;
    this.#wishes = wishes;
  }

  async runCaptures(files: readonly string[], port: number, limit: number): Promise<void> {
    for await (const frames of readCaptures({ files, limit }, this.notes)) {
      const inputs: Input[] = [];
      for (const { number, bytes, linkType, wireLength, time } of frames) {
        const why = cannotRun(linkType, bytes.length);
        if (why === null) inputs.push({ number, bytes, linkType, time, port, wireLength });
        else this.#skip(why, wireLength);
      }
      await this.#record(inputs, this.#loaded.run(inputs));
    }
    for (const [why, { frames }] of this.#skipped) this.notes.push(`not parsed: ${why}: ${frames} skipped`);
  }

  async runOwn(port: number | undefined, limit: number): Promise<void> {
    const inputs = this.#loaded.frames.slice(0, limit).map((frame, i) => ({
      ...frame,
      ...(port === undefined || frame.send !== undefined ? {} : { port }),
      number: i + 1,
      time: frame.time ?? 0n,
      linkType: frame.linkType ?? 1,
      wireLength: frame.wireLength ?? frame.bytes.length,
    }));
    await this.#record(inputs, this.#loaded.run(inputs));
  }

  async #record(inputs: readonly Input[], outcomes: readonly Outcome[]): Promise<void> {
    const { json, rows, files } = this.#wishes;
    if (json) await this.#recordMessages();
    for (const [i, input] of inputs.entries()) {
      const outcome = outcomes[i] as Outcome;
      files?.add(input, outcome);
      if (json) await this.#output.write(`${JSON.stringify(outcomeRecord(input.number, input, outcome))}\n`);
      if (rows !== null && rows.add(rowFrame(input), outcome.tag, rows.endOf(outcome))) await rows.flush();
    }
    files?.flush();
  }

  /** Messages are sent before the first frame. */
  async #recordMessages(): Promise<void> {
    if (this.#recordedMessages) return;
    this.#recordedMessages = true;
    for (const record of this.#loaded.messages) await this.#output.write(`${JSON.stringify(record)}\n`);
  }

  #skip(why: string, wireLength: number): void {
    const sum = this.#skipped.get(why) ?? { frames: 0, bytes: 0 };
    this.#skipped.set(why, { frames: sum.frames + 1, bytes: sum.bytes + wireLength });
  }

  /** Reports; gives the exit code. */
  async finish(file: string, sources: string, checkExpectations: boolean): Promise<number> {
    const { json, rows, files } = this.#wishes;
    const written = files?.close() ?? [];
    await rows?.end();
    if (!json && rows === null) {
      await this.#output.write(reportText(painter(process.stdout), this.#loaded, sources, this.#skipped));
      const lines = written.map(({ path, frames }) => `wrote ${printable(path)}: ${frames}\n`).join("");
      if (lines !== "") await this.#output.write(`\n${lines}`);
    }
    await this.#output.flush();
    const paintErrors = painter(process.stderr);
    process.stderr.write(notesText(paintErrors, this.notes));
    const failures = this.#failures(checkExpectations);
    if (failures.length > 0) {
      process.stderr.write(failuresText(paintErrors, file, failures));
      return 1;
    }
    if (checkExpectations && this.#loaded.scenario.expect !== undefined && !json && rows === null) {
      await this.#output.write("\nAll expectations are met.\n");
      await this.#output.flush();
    }
    return 0;
  }

  #failures(checkExpectations: boolean): Failure[] {
    return [...this.#loaded.disagreements, ...(checkExpectations ? this.#loaded.failures() : [])];
  }
}

function rowFrame(input: Input): Parameters<RowFile["add"]>[0] {
  const { number, time, port = 1, send, bytes, linkType, wireLength } = input;
  return { number, time, port: send === undefined ? port : null, length: bytes.length, wireLength, linkType };
}
