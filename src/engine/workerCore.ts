/**
 * A worker of a pool beside the first one, from the side of the first: a core in a thread of its own whose memory is a copy of that of the
 * first core. Addresses are the same in both, so that whatever knows an object of the first core by its address reads records of this one.
 *
 * Everything but `load`, `takeOver`, `isDone` and `wait` happens while the thread has no task.
 */
import { MAX_FUNCTIONS, REASON_COUNT, SAMPLES_SIZE, STAGE_SIZE } from "../abi/engine.js";
import { claim, CONTROL_BYTES, failureIn, PAGE, Task, Word, type Start } from "./workerControl.js";
import { Core } from "./core.js";
import type { CoreExports } from "./coreExports.js";
import { Runner } from "./inlineWorker.js";
import { sharedMemory } from "./sharedModule.js";
import { startThread, type Thread } from "./thread.js";

/** How long the first worker looks whether a task is done before it sleeps, in milliseconds. */
const PATIENCE = 0.2;
/** A thread that has not been heard of for so long, in milliseconds, will not be. A batch takes less than one of them. */
const LOST = 60_000;
/** The counts of the flow cache: hits and misses. */
const CACHE_COUNTS = 2;

/** Counters: the address of each block, and how many it has. */
export type CounterBlocks = Map<number, number>;

export class Replica {
  /** Its memory; nothing else of it may be used. */
  readonly core: Core;
  readonly #first: Core;
  readonly #control: Int32Array;
  readonly #memory: WebAssembly.Memory;
  /** Does tasks in this thread that the other one has not begun. */
  readonly #runner: Runner;
  readonly #thread: Thread;
  #asked = 0;
  /** Whether counters hold what the first core has not. */
  #counted = false;

  private constructor(first: Core, { memory, control }: Start, runner: Runner, thread: Thread) {
    const areas = { areaAddress: (area: number) => first.exports.areaAddress(area), openMemory: () => 1 };
    const sumShapes = (from: number, count: number): number => runner.sum(from, count);
    this.core = new Core({ memory, ...areas, sumShapes } as CoreExports);
    this.#first = first;
    this.#control = new Int32Array(control);
    this.#memory = memory;
    this.#runner = runner;
    this.#thread = thread;
  }

  static async create(core: Core, module: WebAssembly.Module): Promise<Replica> {
    const waiting = core.exports.memory.buffer as unknown as SharedArrayBuffer;
    const memory = sharedMemory(waiting.byteLength / PAGE);
    const control = new SharedArrayBuffer(CONTROL_BYTES);
    const start: Start = { module, memory, control, waiting, areas: { frames: core.frames, staging: core.staging } };
    return new Replica(core, start, await Runner.create(start), await startThread(start));
  }

  /** Makes its memory that of the first core, which has kept its globals where rules are staged; what is counted begins at zero. */
  copy(counters: CounterBlocks): void {
    const first = this.#first;
    const pages = first.exports.memory.buffer.byteLength / PAGE;
    const more = pages - this.#memory.grow(0);
    if (more > 0) this.#memory.grow(more);
    this.core.lookAgain();
    const take = (from: number, to: number): void => this.core.u8.set(first.u8.subarray(from, to), from);
    // Static data lies before the first area.
    take(0, first.staging + STAGE_SIZE);
    take(first.functions, first.functions + 4 * MAX_FUNCTIONS);
    take(first.samples, first.samples + SAMPLES_SIZE);
    take(first.arena, first.exports.arenaTop() >>> 0);
    for (const [address, count] of counters) this.core.u8.fill(0, address, address + 16 * count);
    this.core.u8.fill(0, this.core.reasons, this.core.reasons + 8 * REASON_COUNT);
    this.core.u8.fill(0, this.core.cache, this.core.cache + 8 * CACHE_COUNTS);
    this.#control[Word.fresh] = 1;
  }

  /** Gives the thread rows, one at the least, that wait in the first core, and are summed with `sums` (outcomeClasses.ts). */
  run(root: number, first: number, count: number, sums: boolean): void {
    const control = this.#control;
    this.#counted = true;
    control[Word.first] = first;
    control[Word.count] = count;
    control[Word.root] = root;
    control[Word.sums] = sums ? 1 : 0;
    this.#ask(Task.run);
  }

  /** Nobody needs the rows any more where they waited. */
  load(): void {
    if (this.#runner.load(this.#asked)) return;
    const lost = performance.now() + LOST;
    while (Atomics.load(this.#control, Word.loaded) !== this.#asked) if (performance.now() > lost) this.#loseIt();
  }

  /** Steers them in this thread where the other one has not begun; whether it was so. */
  takeOver(): boolean {
    if (!claim(this.#control, Word.claimed, this.#asked)) return false;
    this.#runner.run(this.#asked);
    Atomics.store(this.#control, Word.done, this.#asked);
    return true;
  }

  /** What they are steered to can be read; gives SOME_*. */
  finish(): number {
    if ((this.core.u32[this.core.staging >> 2] as number) * PAGE !== this.core.u8.length) {
      this.#memory.grow(0);
      this.core.lookAgain();
    }
    return this.#control[Word.some] as number;
  }

  /** Waits until the thread has steered them. @throws Error as `check` */
  wait(): void {
    const patience = performance.now() + PATIENCE;
    const lost = performance.now() + LOST;
    for (let done = this.#done(); done !== this.#asked; done = this.#done()) {
      const now = performance.now();
      if (now > lost) this.#loseIt();
      if (now > patience && MAY_WAIT) this.#sleep(done);
    }
    this.check();
  }

  #loseIt(): never {
    throw new Error("flowsteer: a worker of the pool does not answer");
  }

  #sleep(done: number): void {
    Atomics.store(this.#control, Word.awaited, 1);
    Atomics.wait(this.#control, Word.done, done, LOST);
    Atomics.store(this.#control, Word.awaited, 0);
  }

  get isDone(): boolean {
    return this.#done() === this.#asked;
  }

  /** How long the thread has worked on the last rows. */
  get milliseconds(): number {
    return (this.#control[Word.nanoseconds] as number) / 1e6;
  }

  /** Adds what it has counted to the counters of the first core, and begins at zero. */
  collect(counters: CounterBlocks): void {
    if (!this.#counted) return;
    this.#counted = false;
    for (const [address, count] of counters) this.#move(address, 2 * count);
    this.#move(this.core.reasons, REASON_COUNT);
    this.#move(this.core.cache, CACHE_COUNTS);
  }

  end(): void {
    this.#ask(Task.end);
    this.#thread.end();
  }

  /** Adds so many u64 to those of the first core. */
  #move(address: number, count: number): void {
    const from = this.core.u32;
    const to = this.#first.u32;
    for (let at = address >> 2; at < (address >> 2) + 2 * count; at += 2) {
      const low = from[at] as number;
      const high = from[at + 1] as number;
      if ((low | high) === 0) continue;
      const sum = (to[at] as number) + low;
      to[at] = sum;
      to[at + 1] = (to[at + 1] as number) + high + (sum >= 2 ** 32 ? 1 : 0);
      from[at] = 0;
      from[at + 1] = 0;
    }
  }

  #done(): number {
    return Atomics.load(this.#control, Word.done);
  }

  #ask(task: number): void {
    this.#control[Word.task] = task;
    this.#asked = (this.#asked + 1) | 0;
    Atomics.store(this.#control, Word.asked, this.#asked);
    if (Atomics.load(this.#control, Word.idle) === 1) Atomics.notify(this.#control, Word.asked);
  }

  /** @throws Error its thread has failed, which is a defect of ours */
  check(): void {
    const failure = failureIn(this.#control) ?? this.#thread.failure;
    if (failure !== null) throw new Error(`flowsteer: a worker of the pool has failed, which is a defect: ${failure}`);
  }
}

/** A page that shows something may not sleep. */
const MAY_WAIT = mayWait();

function mayWait(): boolean {
  if (typeof SharedArrayBuffer === "undefined") return false;
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
}
