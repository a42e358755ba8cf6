/**
 * `WorkerCore`: a core of a worker pool, as the caller's thread sees it. It runs in a thread of its own, and its memory is a copy
 * of the memory of the first core. Both use the same addresses, so the address of an object of the first core is valid here.
 *
 * All methods except `load`, `takeOver`, `isDone` and `wait` must be called while the thread has no task.
 */
import { CACHE_SIZE, MAX_FUNCTIONS, PAGE, SAMPLES_SIZE, STAGE_SIZE } from "../abi/engine.js";
import { REASON_COUNT } from "../abi/outcome.js";
import { takeOwnership, CONTROL_BYTES, readFailure, Task, Word, writeFailure, type Start } from "./workerControl.js";
import { Core } from "./core.js";
import type { CoreExports } from "./coreExports.js";
import { InlineWorker } from "./inlineWorker.js";
import { sharedMemory } from "./sharedModule.js";
import { startThread, type Thread } from "./thread.js";

/** Milliseconds that the caller's thread polls for the end of a task before it sleeps. */
const PATIENCE = 0.2;
/** Milliseconds after which a silent thread counts as lost. A batch takes less than one millisecond. */
const LOST = 60_000;
/** Milliseconds of one sleep: then it looks whether the thread is lost. */
const SLEEP = 500;

/** The counter blocks of a core: address and number of counters. */
export type CounterBlocks = Map<number, number>;

export class WorkerCore {
  /** Reads its memory. Its exports must not be called, except those that the constructor provides. */
  readonly core: Core;
  readonly #first: Core;
  readonly #control: Int32Array;
  readonly #memory: WebAssembly.Memory;
  /** Runs tasks in this thread that the worker's thread has not begun. */
  readonly #inlineWorker: InlineWorker;
  readonly #thread: Thread;
  #asked = 0;
  /** Whether its counters have counts that the first core lacks. */
  #counted = false;

  private constructor(first: Core, { memory, control }: Start, inlineWorker: InlineWorker, thread: Thread) {
    const areas = {
      areaAddress: (area: number) => first.exports.areaAddress(area),
      rowsOpen: () => first.rows,
      bytesOpen: () => first.bytesSize,
      openMemory: () => 1,
    };
    const sumOutcomeClasses = (from: number, count: number): number => inlineWorker.sum(from, count);
    this.core = new Core({ memory, ...areas, sumOutcomeClasses } as CoreExports);
    this.#first = first;
    this.#control = new Int32Array(control);
    this.#memory = memory;
    this.#inlineWorker = inlineWorker;
    this.#thread = thread;
  }

  static async create(core: Core, module: WebAssembly.Module): Promise<WorkerCore> {
    const waiting = core.exports.memory.buffer as unknown as SharedArrayBuffer;
    const memory = sharedMemory(waiting.byteLength / PAGE);
    const control = new SharedArrayBuffer(CONTROL_BYTES);
    const start: Start = { module, memory, control, waiting, areas: { frames: core.frames, staging: core.staging } };
    return new WorkerCore(core, start, await InlineWorker.create(start), await startThread(start));
  }

  /** Copies the memory of the first core, whose globals are in its staging area, and sets all counters to zero. */
  copy(counters: CounterBlocks): void {
    const first = this.#first;
    const pages = first.exports.memory.buffer.byteLength / PAGE;
    const more = pages - this.#memory.grow(0);
    if (more > 0) this.#memory.grow(more);
    this.core.lookAgain();
    const take = (from: number, to: number): void => this.core.u8.set(first.u8.subarray(from, to), from);
    // Static data is in front of the first area.
    take(0, first.staging + STAGE_SIZE);
    take(first.functions, first.functions + 4 * MAX_FUNCTIONS);
    take(first.samples, first.samples + SAMPLES_SIZE);
    take(first.arena, first.exports.arenaTop() >>> 0);
    for (const [address, count] of counters) this.core.u8.fill(0, address, address + 16 * count);
    this.core.u8.fill(0, this.core.reasons, this.core.reasons + 8 * REASON_COUNT);
    this.core.u8.fill(0, this.core.cache, this.core.cache + CACHE_SIZE);
    this.#control[Word.fresh] = 1;
  }

  /** Gives the thread a task: rows that wait in the first core, at least one. With `sums` it sums them (outcomeClasses.ts). */
  run(root: number, first: number, count: number, sums: boolean): void {
    const control = this.#control;
    this.#counted = true;
    control[Word.first] = first;
    control[Word.count] = count;
    control[Word.root] = root;
    control[Word.sums] = sums ? 1 : 0;
    this.#ask(Task.run);
  }

  /** Returns when the rows of the task are copied, so that the first core can reuse their places. */
  load(): void {
    if (this.#inlineWorker.load(this.#asked)) return;
    const lost = performance.now() + LOST;
    while (Atomics.load(this.#control, Word.loaded) !== this.#asked) if (performance.now() > lost) this.#fail();
  }

  /** Steers the rows in this thread if the worker's thread has not begun. @returns whether it did */
  takeOver(): boolean {
    if (!takeOwnership(this.#control, Word.owned, this.#asked)) return false;
    try {
      this.#inlineWorker.run(this.#asked);
    } catch (error) {
      // Its state is broken, whichever thread ran it.
      writeFailure(this.#control, error);
      throw error;
    }
    Atomics.store(this.#control, Word.done, this.#asked);
    return true;
  }

  /** Makes the outcomes readable. @returns SOME_* */
  finish(): number {
    if ((this.core.u32[this.core.staging >> 2] as number) * PAGE !== this.core.u8.length) {
      this.#memory.grow(0);
      this.core.lookAgain();
    }
    return this.#control[Word.some] as number;
  }

  /** Waits until the rows are steered. @throws Error as `check` */
  wait(): void {
    const patience = performance.now() + PATIENCE;
    const lost = performance.now() + LOST;
    for (let done = this.#done(); done !== this.#asked; done = this.#done()) {
      const now = performance.now();
      if (now > lost) this.#fail();
      if (now > patience && MAY_WAIT) this.#sleep(done);
    }
    this.check();
  }

  /** The state of the worker is lost: all later batches say so too. */
  #fail(): never {
    writeFailure(this.#control, "it does not answer");
    this.check();
    throw new Error("flowsteer: a worker of the pool does not answer");
  }

  #sleep(done: number): void {
    Atomics.store(this.#control, Word.awaited, 1);
    Atomics.wait(this.#control, Word.done, done, SLEEP);
    Atomics.store(this.#control, Word.awaited, 0);
  }

  get isDone(): boolean {
    return this.#done() === this.#asked;
  }

  /** Milliseconds that the thread took for the last rows. */
  get milliseconds(): number {
    return (this.#control[Word.nanoseconds] as number) / 1e6;
  }

  /** Adds its counts to the counters of the first core and sets its own to zero. */
  collect(counters: CounterBlocks): void {
    if (!this.#counted) return;
    this.#counted = false;
    for (const [address, count] of counters) this.#move(address, 2 * count);
    this.#move(this.core.reasons, REASON_COUNT);
    this.#move(this.core.cache, CACHE_SIZE / 8);
  }

  end(): void {
    this.#ask(Task.end);
    this.#thread.end();
  }

  /** Adds `count` 64-bit counters to those of the first core. */
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

  /** @throws Error the thread has failed, which is a defect of this package */
  check(): void {
    const failure = readFailure(this.#control) ?? this.#thread.failure;
    if (failure !== null) throw new Error(`flowsteer: a worker of the pool has failed, which is a defect: ${failure}`);
  }
}

/** The main thread of a page must not sleep. */
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
