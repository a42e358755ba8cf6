/** Runs slices in processes of their own, and keeps the log. */
import { fork } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Random } from "../../oracle/generate/random.js";
import { parseInput } from "../input/input.js";
import { ROOT } from "../../support/root.js";
import type { Target } from "../target.js";
import type { Task, Told } from "./child.js";
import { writeFind } from "./finds.js";
import { append, type FindLine, type SliceLine } from "./log.js";
import type { Options } from "./options.js";
import { flavourOf, type Stage, stagesOf } from "./stages.js";
import { add, checkedUnits, newSums, type Sums, sumsSoFar } from "./sums.js";
import { lineText } from "./text.js";

/** Seconds of a slice; a short campaign has shorter ones, so that each target has its turn. */
const SLICE = 60;
/** An input that takes so many seconds never ends. */
const MAX_LENGTH = 300;
const LOOK = 5_000;

export class Campaign {
  readonly #options: Options;
  readonly #program: string;
  readonly #sums: Map<string, Sums>;
  readonly #seeds: Random;
  readonly #end: number;
  readonly #turns: readonly { target: Target; stage: Stage }[];
  readonly #slice: number;
  #next = 0;
  #found = 0;

  /** @param program the bundle, which runs a task as `node PROGRAM --task` */
  constructor(options: Options, program: string) {
    this.#options = options;
    this.#program = program;
    this.#sums = sumsSoFar();
    const slices = [...this.#sums.values()].reduce((sum, one) => sum + one.slices, 0);
    this.#seeds = Random.after(options.seed, slices);
    const seconds = options.hours * 3600;
    this.#end = performance.now() + seconds * 1000;
    this.#turns = options.targets.flatMap((target) =>
      stagesOf(target)
        .filter((stage) => options.stages.includes(stage))
        .map((stage) => ({ target, stage })),
    );
    this.#slice = Math.max(1, Math.min(SLICE, Math.floor((seconds * options.jobs) / this.#turns.length)));
  }

  /** @returns the number of finds */
  async run(): Promise<number> {
    await Promise.all(Array.from({ length: this.#options.jobs }, (_, job) => this.#work(job)));
    return this.#found;
  }

  async #work(job: number): Promise<void> {
    while (performance.now() < this.#end) {
      const turn = this.#nextTurn();
      if (turn === null) return;
      await this.#turn(job, turn.target, turn.stage);
    }
  }

  /** @returns null if every target has been counted as far as it shall be */
  #nextTurn(): { target: Target; stage: Stage } | null {
    for (let tried = 0; tried < this.#turns.length; tried++) {
      const turn = this.#turns[this.#next++ % this.#turns.length]!;
      if (checkedUnits(this.#sums.get(turn.target.name)) < this.#options.until) return turn;
    }
    return null;
  }

  async #turn(job: number, target: Target, stage: Stage): Promise<void> {
    const folder = join(ROOT, "build/campaign");
    mkdirSync(folder, { recursive: true });
    const current = join(folder, `current-${process.pid}-${job}`);
    const left = Math.max(1, Math.ceil((this.#end - performance.now()) / 1000));
    const seconds = Math.min(this.#slice, left);
    const task: Task = { target: target.name, stage, seed: this.#seeds.word(), seconds, current };
    const ended = await this.#process(task, (told) => this.#told(target, task, told));
    if (ended !== null) this.#broken(target, task, ended);
    rmSync(current, { force: true });
  }

  /** Runs a task. @returns why its process ended before its time; null if it did not */
  #process(task: Task, tell: (told: Told) => void): Promise<string | null> {
    return new Promise((resolve) => {
      const env = { ...process.env, NODE_OPTIONS: "" };
      const child = fork(this.#program, ["--task"], { execArgv: ["--enable-source-maps"], env });
      let why: string | null = "the process ended";
      const watch = setInterval(() => {
        if (!isStuck(task.current)) return;
        why = `no end after ${MAX_LENGTH} s`;
        child.kill("SIGKILL");
      }, LOOK);
      child.on("message", (told: Told) => {
        if (told.kind === "done") why = null;
        tell(told);
      });
      child.once("close", (code, signal) => {
        clearInterval(watch);
        // Whoever stops a campaign stops its slices: that is no find.
        if (signal === "SIGINT" || signal === "SIGTERM") why = null;
        resolve(why === null ? null : `${why} (${signal ?? code})`);
      });
      child.send(task);
    });
  }

  #told(target: Target, { stage, seed }: Task, told: Told): void {
    const at = new Date().toISOString();
    if (told.kind === "find") {
      const { file, alone, text } = told;
      this.#find({ kind: "find", at, target: target.name, stage, file, alone, text });
      return;
    }
    const { kind: _kind, ...done } = told;
    const line: SliceLine = { kind: "slice", at, target: target.name, stage, seed, ...done };
    append(line);
    const sums = this.#sums.get(target.name) ?? newSums();
    this.#sums.set(target.name, sums);
    add(sums, line);
    console.log(lineText(target, line, sums));
  }

  /** A process that ended by itself, or had to be ended: its last input is the find. */
  #broken(target: Target, { stage, current }: Task, why: string): void {
    let text: string;
    try {
      text = readFileSync(current, "utf8");
    } catch {
      throw new Error(`${target.name}, ${stage}: ${why}, before its first input`);
    }
    const flavour = flavourOf(target, stage);
    const find = { target: target.name, flavour, input: parseInput(text), text: why, signature: `${why} ${text}` };
    const at = new Date().toISOString();
    this.#find({ kind: "find", at, target: target.name, stage, file: writeFind(find), alone: true, text: why });
  }

  #find(line: FindLine): void {
    this.#found++;
    append(line);
    const [first = ""] = line.text.split("\n");
    console.log(`FOUND ${line.target}, ${line.stage}: ${first}\n      ${line.file.slice(0, 200)}`);
  }
}

/** Whether the input under way began long ago. */
function isStuck(current: string): boolean {
  const { mtimeMs } = statSync(current, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
  return Date.now() - mtimeMs > MAX_LENGTH * 1000;
}
