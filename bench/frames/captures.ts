/**
 * Big captures through the command. tcpdump reads the same file and writes the frames that its
 * filter passes.
 */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectEqual, type TimedCase, type Workload } from "../harness.js";
import { FILTER, GIGABYTE, writeCapture, type CaptureFile } from "./bigCapture.js";
import { CAPTURE_GOAL, CAPTURE_MEMORY_GOAL, WHY_ALL_GOAL } from "./goals.js";
import { root, runProcess, runWell } from "./processes.js";

const QUICK_BYTES = 2e6;
const ROUNDS = 5;
const COMMAND = join(root, "dist/cli.js");
const PEAK_MEMORY = join(root, "bench/frames/peakMemory.mjs");

/** Signals that end the bench early. */
const ENDINGS = ["SIGINT", "SIGTERM"] as const;

/** The reason why captures are not measured here; undefined if they are. */
export async function withoutCaptures(): Promise<string | undefined> {
  if (!existsSync(COMMAND)) return "the package is not built: npm run build:quick";
  try {
    await runProcess("tcpdump", ["--version"]);
    return undefined;
  } catch {
    return "tcpdump is not installed";
  }
}

/** One workload, wall time. Its files are deleted at the end, also after an interrupt. */
export async function* captures(quick: boolean): AsyncGenerator<Workload> {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-captures-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const end = (_: string, signal: number): void => {
    remove();
    process.exit(128 + signal);
  };
  for (const signal of ENDINGS) process.once(signal, end);
  try {
    const file = join(folder, "in.pcap");
    const capture = writeCapture(file, quick ? QUICK_BYTES : GIGABYTE);
    yield workload(new Files(folder, file, capture));
    yield lostWorkload(new LostFiles(folder, file, capture));
  } finally {
    for (const signal of ENDINGS) process.off(signal, end);
    remove();
  }
}

class Files {
  readonly capture: CaptureFile;
  readonly file: string;
  readonly #scenario: string;
  readonly #passed: string;
  /** Of all runs of the command, in bytes. */
  peak = 0;

  constructor(folder: string, file: string, capture: CaptureFile) {
    this.capture = capture;
    this.file = file;
    this.#scenario = join(folder, "rules.json");
    this.#passed = join(folder, "out.pcap");
    writeFileSync(this.#scenario, JSON.stringify(capture.scenario));
  }

  /**
   * Steers the file. The scenario has the expected counts of every rule: the command fails if they
   * differ.
   */
  async steer(workers: number): Promise<number> {
    const options = ["--workers", String(workers)];
    const args = ["--import", PEAK_MEMORY, COMMAND, "run", this.#scenario, this.file, ...options];
    const { seconds, out, more } = await runWell(process.execPath, args);
    expectEqual("frames of the report", numberOf(out, /^(\S+) frames, /m), this.capture.frames);
    this.peak = Math.max(this.peak, 1024 * Number(more));
    return seconds;
  }

  async filter(): Promise<number> {
    rmSync(this.#passed, { force: true });
    const { seconds } = await runWell("tcpdump", ["-r", this.file, "-w", this.#passed, FILTER]);
    expectEqual("bytes that tcpdump passes", statSync(this.#passed).size, this.capture.passedBytes);
    return seconds;
  }
}

/** The same capture and half of the rules: the services at port 443 have none, and no rule takes the rest. */
class LostFiles {
  readonly file: string;
  readonly frames: number;
  readonly #scenario: string;
  /** Frames that no rule takes, as the report of `run` has them. */
  #lost = 0;

  constructor(folder: string, file: string, { frames, scenario }: CaptureFile) {
    this.file = file;
    this.frames = frames;
    this.#scenario = join(folder, "some-rules.json");
    const { rules, expect: _, ...others } = scenario as { rules: { name: string }[]; expect: unknown };
    const some = rules.filter(({ name }) => !name.endsWith(" 443") && name !== "rest");
    writeFileSync(this.#scenario, JSON.stringify({ ...others, rules: some }));
  }

  async run(): Promise<number> {
    const { seconds, out } = await runWell(process.execPath, [COMMAND, "run", this.#scenario, this.file]);
    expectEqual("frames of the report", numberOf(out, /^(\S+) frames, /m), this.frames);
    this.#lost = numberOf(out, /^miss +(\S+)/m);
    return seconds;
  }

  async why(): Promise<number> {
    const { seconds, out } = await runWell(process.execPath, [COMMAND, "why", this.#scenario, this.file, "--all"]);
    expectEqual("frames of the groups", numberOf(out, /^(\S+) frames from /m), this.frames);
    const lost = numberOf(out.replaceAll("\n", " "), /; (\S+) of them/);
    if (this.#lost > 0) expectEqual("lost frames", lost, this.#lost);
    return seconds;
  }
}

function lostWorkload(files: LostFiles): Workload {
  const size = Math.round(statSync(files.file).size / 1e6).toLocaleString("en");
  const peer = "flowsteer run";
  const cases: TimedCase[] = [
    { name: "flowsteer why --all", seconds: () => files.why(), targets: { [peer]: { goal: WHY_ALL_GOAL } } },
    { name: peer, peer: true, seconds: () => files.run() },
  ];
  return {
    name: `why half of the frames of a capture of ${size} MB are lost, wall time`,
    unit: "frame",
    units: files.frames,
    // Both check their answers whenever they run.
    check: () => undefined,
    cases,
    rounds: ROUNDS,
  };
}

function numberOf(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1]?.replaceAll(",", ""));
}

function workload(files: Files): Workload {
  const { frames, passed } = files.capture;
  const size = statSync(files.file).size;
  const name = `a capture of ${Math.round(size / 1e6).toLocaleString("en")} MB, 1,000 rules, wall time`;
  const peer = `tcpdump -r in -w out ${FILTER}`;
  const cases: TimedCase[] = [
    { name: "flowsteer run", seconds: () => files.steer(1), targets: { [peer]: { goal: CAPTURE_GOAL } } },
    { name: "flowsteer run --workers 2", seconds: () => files.steer(2) },
    { name: peer, peer: true, seconds: () => files.filter() },
  ];
  return {
    name,
    unit: "frame",
    units: frames,
    // Both check their answers whenever they run.
    check: () => undefined,
    cases,
    rounds: ROUNDS,
    facts: {
      [`${name}, share that tcpdump passes, %`]: Math.round((100 * passed) / frames),
      get [`${name}, peak memory, bytes (at most ${CAPTURE_MEMORY_GOAL.toLocaleString("en")})`]() {
        return files.peak;
      },
    },
  };
}
