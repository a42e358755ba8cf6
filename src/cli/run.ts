/** flowsteer run: frames through the rules of a scenario. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import {
  cannotRun,
  loadScenario,
  outcomeRecord,
  type FrameInput,
  type LoadedScenario,
  type Sum,
} from "../formats/index.js";
import type { Outcome } from "../model/outcome.js";
import { CaptureFiles, type FrameToFile } from "./captureFiles.js";
import { captureName, readCaptures } from "./captures.js";
import { numberOption, readCommandLine } from "./commandLine.js";
import { Output } from "./output.js";
import { badUsage, CommandRefusal, withFile } from "./refusal.js";
import { failuresText, notesText, reportText } from "./report.js";
import { painter, printable } from "./text.js";

const OPTIONS = { json: "flag", out: "value", port: "value", limit: "value" } as const;

/** @returns the exit code: 0, or 1 where an expectation failed */
export async function run(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "run", OPTIONS);
  const [file, ...captures] = line.operands;
  if (file === undefined) throw badUsage("run", "name a scenario: flowsteer run SCENARIO CAPTURE...");
  const limit = numberOption(line, "limit", 0, Number.MAX_SAFE_INTEGER) ?? Infinity;
  const loaded = await withFile(file, async () => loadScenario(await readFile(file, "utf8")));
  const port = numberOption(line, "port", 1, loaded.device.ports, "the ports of the scenario's device");
  const { frames, messages, expect } = loaded.scenario;
  if (captures.length === 0 && frames === undefined && messages === undefined) {
    const hint = "name a capture behind the scenario: flowsteer run SCENARIO CAPTURE...";
    throw new CommandRefusal(file, { code: "EINVAL", call: "run", reason: "bad_usage", path: "no frames", hint });
  }
  const folder = line.values.get("out");
  const session = new Session(loaded, {
    json: line.flags.has("json"),
    files: folder === undefined ? null : new CaptureFiles(folder, captures),
  });

  if (captures.length > 0) await session.runCaptures(captures, port ?? 1, limit);
  else await session.runOwn(port, limit);
  const sources = captures.length === 0 ? "of its own" : `from ${captures.map((one) => captureName(one)).join(", ")}`;
  // Expectations are about the own frames of a document that has such.
  const expects = expect !== undefined;
  const applies = captures.length === 0 || frames === undefined;
  if (expects && !applies)
    session.notes.push(`expectations of ${basename(file)} are about its own frames: not checked`);
  return session.finish(file, printable(sources), applies);
}

interface Wishes {
  json: boolean;
  files: CaptureFiles | null;
}

class Session {
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
      const inputs: (FrameInput & FrameToFile & { number: number })[] = [];
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

  async #record(inputs: readonly (FrameToFile & { number: number })[], outcomes: readonly Outcome[]): Promise<void> {
    const { json, files } = this.#wishes;
    if (json) await this.#recordMessages();
    for (const [i, input] of inputs.entries()) {
      const outcome = outcomes[i] as Outcome;
      files?.add(input, outcome);
      if (json) await this.#output.write(`${JSON.stringify(outcomeRecord(input.number, input, outcome))}\n`);
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
    const paint = painter(process.stdout);
    const written = this.#wishes.files?.close() ?? [];
    if (!this.#wishes.json) {
      await this.#output.write(reportText(paint, this.#loaded, sources, this.#skipped));
      const lines = written.map(({ path, frames }) => `wrote ${printable(path)}: ${frames}\n`).join("");
      if (lines !== "") await this.#output.write(`\n${lines}`);
    }
    await this.#output.flush();
    const paintErrors = painter(process.stderr);
    process.stderr.write(notesText(paintErrors, this.notes));
    const failures = [...this.#loaded.disagreements, ...(checkExpectations ? this.#loaded.failures() : [])];
    if (failures.length === 0) {
      if (checkExpectations && this.#loaded.scenario.expect !== undefined && !this.#wishes.json) {
        await this.#output.write("\nAll expectations are met.\n");
        await this.#output.flush();
      }
      return 0;
    }
    process.stderr.write(failuresText(paintErrors, file, failures));
    return 1;
  }
}
