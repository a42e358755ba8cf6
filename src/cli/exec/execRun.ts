/** One run of `flowsteer exec`: devices, their host, a program, and what is reported of it. */
import { join, parse } from "node:path";
import type { LoadedScenario } from "../../scenario/index.js";
import type { OpenFile } from "../input/chunks.js";
import { writeOutput } from "../output/wholeFile.js";
import { notesText } from "../report/report.js";
import { CommandRefusal, refusalLines } from "../refusal.js";
import { counted, painter } from "../text.js";
import { AnnotatedFile } from "./report/annotatedFile.js";
import { Arrivals } from "./arrivals.js";
import { DeviceRecord } from "./report/deviceRecord.js";
import type { ExecLine, ExplanationLine } from "./report/execLines.js";
import { FrameWatch, type LostGroup, type SharedWatch } from "./report/frameWatch.js";
import { ExecHost, type HostListener } from "./host.js";
import type { Library } from "./library.js";
import { environmentOf, runProgram, type Program } from "./program.js";
import { Refusals, refusalText } from "./report/refusals.js";
import { deviceText, explanationsText, repeatedText, sessionLine, sessionText } from "./report/reportText.js";
import type { SessionReport } from "./report/reports.js";
import { WhereCalled } from "./report/whereCalled.js";

/** Writes the record while the program runs. */
const RECORD_SIGNAL = "SIGUSR1";

export interface ExecPlan {
  /** The first one gets the frames of the capture. */
  readonly devices: readonly LoadedScenario[];
  /** The path of the host's socket; null for a private one. */
  readonly socket: string | null;
  /** Where scenarios of the devices are written; `-` is standard output. */
  readonly record: string | null;
  readonly capture: { readonly files: readonly OpenFile[]; readonly port: number; readonly rate: number | null } | null;
  /** Whether the clock of the devices stands still while a program runs. */
  readonly isVirtual: boolean;
  readonly annotate: string | null;
  readonly why: boolean;
  readonly json: boolean;
  /** Prints refusals and errors only. */
  readonly quiet: boolean;
}

/** @returns the exit status of the program */
export async function runOnDevices(plan: ExecPlan, program: Program, library: Library): Promise<number> {
  const run = await ExecRun.open(plan);
  return run.run(program, library);
}

class ExecRun {
  readonly #plan: ExecPlan;
  readonly #shared: SharedWatch;
  readonly #watches: readonly FrameWatch[];
  readonly #records: readonly DeviceRecord[];
  readonly #paint = painter(process.stderr);
  readonly #refusals = new Refusals(new WhereCalled(), (refusal) => {
    const { pid, call, code, message, place } = refusal;
    this.#print({ kind: "refused", pid, call, code, message, place }, () => refusalText(this.#paint, refusal));
  });
  readonly #sessions: SessionReport[] = [];
  /** Sessions that have not ended. */
  #open = 0;
  #onIdle: (() => void) | null = null;
  /** Whether a signal has had the record written. */
  #recorded = false;

  static async open(plan: ExecPlan): Promise<ExecRun> {
    const annotated = plan.annotate === null ? null : new AnnotatedFile(plan.annotate);
    const shared: SharedWatch = { frames: 0, linkType: 1, annotated };
    const explained = plan.why || annotated !== null;
    const watches = await Promise.all(plan.devices.map((loaded) => FrameWatch.open(loaded, { shared, explained })));
    const recorded = plan.record === null ? [] : plan.devices;
    const records = await Promise.all(recorded.map(({ device }) => DeviceRecord.open(device)));
    return new ExecRun(plan, shared, watches, records);
  }

  private constructor(
    plan: ExecPlan,
    shared: SharedWatch,
    watches: readonly FrameWatch[],
    records: readonly DeviceRecord[],
  ) {
    this.#plan = plan;
    this.#shared = shared;
    this.#watches = watches;
    this.#records = records;
  }

  async run(program: Program, library: Library): Promise<number> {
    const { devices, socket, isVirtual } = this.#plan;
    const [loaded, ...others] = devices as readonly [LoadedScenario, ...LoadedScenario[]];
    const options = { ...(socket === null ? {} : { path: socket }), others, isVirtual, listener: this.#listener() };
    const host = await ExecHost.open(loaded, options);
    const arrivals = this.#arrivals(loaded, host);
    const onSignal = (): void => this.#recordNow();
    // Without a record the signal ends the process, as it does elsewhere.
    if (this.#records.length > 0) process.on(RECORD_SIGNAL, onSignal);
    let status: number;
    try {
      if (host.clock === null) arrivals?.begin();
      else host.clock.timed = arrivals;
      status = await runProgram(program, environmentOf(library, host.path));
      if (socket !== null) await this.#idle();
    } finally {
      // A capture that cannot be read ends nothing else.
      try {
        await arrivals?.end();
      } finally {
        await host.close();
        process.off(RECORD_SIGNAL, onSignal);
        for (const watch of this.#watches) watch.end();
        for (const record of this.#records) record.end();
      }
    }
    await this.#report(status, arrivals);
    return status;
  }

  #listener(): HostListener {
    return {
      started: () => {
        this.#open++;
      },
      refused: (call) => this.#refusals.add(call),
      destroying: () => this.#records.forEach((record) => record.beforeDestruction()),
      ending: () => this.#records.forEach((record) => record.beforeEnd()),
      ended: (session) => {
        this.#sessions.push(session);
        if (--this.#open <= 0) this.#onIdle?.();
      },
    };
  }

  /** Programs that have joined may run longer than this one. */
  async #idle(): Promise<void> {
    if (this.#open <= 0) return;
    await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #arrivals(loaded: LoadedScenario, host: ExecHost): Arrivals | null {
    const { capture } = this.#plan;
    if (capture === null) return null;
    const { files, rate, port } = capture;
    return new Arrivals(loaded, {
      files,
      rate,
      arrive: ({ bytes, linkType }) => {
        this.#shared.linkType = linkType;
        host.receive(port, bytes, linkType);
        this.#shared.linkType = 1;
      },
    });
  }

  #recordNow(): void {
    if (this.#recorded) return;
    for (const record of this.#records) record.take();
    try {
      this.#writeRecords();
    } catch (error) {
      // The program goes on; the end tries again.
      if (!(error instanceof CommandRefusal)) throw error;
      process.stderr.write(refusalLines(this.#paint, error));
    }
  }

  #writeRecords(): void {
    for (const [n, record] of this.#records.entries()) {
      const path = numbered(this.#plan.record ?? "", n);
      if (path === "-") process.stdout.write(record.text);
      else writeOutput(path, record.text);
      this.#note([...record.notes, ...(path === "-" ? [] : [`wrote ${path}`])]);
    }
    this.#recorded = true;
  }

  async #report(status: number, arrivals: Arrivals | null): Promise<void> {
    const refused = await this.#refusals.end();
    const sessions = this.#sessions.map((session) => sessionLine(session));
    for (const line of sessions) this.#print(line, () => `\n${sessionText(this.#paint, line)}`);
    const devices = this.#watches.map(({ line }) => line);
    for (const watch of this.#watches) {
      const { line } = watch;
      if (!this.#plan.json && line.arrived.frames + line.sent.frames > 0)
        this.#say(`\n${deviceText(this.#paint, line)}`);
      if (this.#plan.why) this.#explain(watch);
    }
    const captured = arrivals === null ? null : arrivals.frames;
    const summary = { kind: "summary", status, devices, refused, captured } as const;
    this.#print(summary, () => textAfter("\n", repeatedText(this.#paint, refused)));
    if (sessions.length === 0) this.#note(["the program made no call of libibverbs or libmlx5"]);
    if (arrivals !== null) this.#note([...arrivals.log.notes, capturedText(arrivals)]);
    if (!this.#recorded) this.#writeRecords();
    const written = this.#shared.annotated?.end();
    if (written !== undefined) this.#note([`wrote ${written.path}: ${counted(written.frames, "frame")}`]);
  }

  #explain(watch: FrameWatch): void {
    if (!this.#plan.json) this.#say(textAfter("\n", explanationsText(this.#paint, watch)));
    else for (const group of watch.lost) this.#print(explanationLine(watch, group), () => "");
  }

  #print(line: ExecLine, text: () => string): void {
    if (this.#plan.json) process.stderr.write(`${JSON.stringify(line)}\n`);
    else this.#say(text());
  }

  #say(text: string): void {
    if (!this.#plan.quiet) process.stderr.write(text);
  }

  #note(notes: readonly string[]): void {
    if (!this.#plan.json) this.#say(notesText(this.#paint, notes));
  }
}

function textAfter(before: string, text: string): string {
  return text === "" ? "" : before + text;
}

function capturedText({ frames, complete }: Arrivals): string {
  const arrived = `${counted(frames, "frame")} of the capture arrived`;
  if (complete) return arrived;
  return frames === 0
    ? "no frame of the capture arrived: no program made a rule or flow and posted a receive buffer"
    : `${arrived}, then the program ended`;
}

function explanationLine({ loaded }: FrameWatch, group: LostGroup): ExplanationLine {
  const { frames, bytes, examples, explanation, outcome } = group;
  const { verdict, reason } = outcome;
  return { kind: "explanation", device: loaded.device.name, frames, bytes, examples, verdict, reason, explanation };
}

/** `rules.json`, `rules-2.json`, ... */
function numbered(path: string, n: number): string {
  if (n === 0) return path;
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${n + 1}${ext}`);
}
