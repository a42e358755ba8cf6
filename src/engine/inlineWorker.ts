/**
 * `InlineWorker`: an instance of a worker core. Two threads have one over the same shared memory: the worker's own, and the
 * caller's, which runs tasks that the other has not begun. One of them runs at a time; between runs all state is in the memory.
 */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_SIZE } from "../abi/engine.js";
import { callsOf } from "./calls.js";
import { openAll } from "./openAll.js";
import { takeOwnership, Word, type Start } from "./workerControl.js";
import type { CoreExports } from "./coreExports.js";
import { instanceOf } from "./instance.js";
import { steerRows } from "./steerRows.js";

export class InlineWorker {
  readonly #start: Start;
  readonly #control: Int32Array;
  readonly #core: CoreExports;
  readonly #u8: Uint8Array;
  readonly #u32: Uint32Array;
  /** Views of the memory of the first core. */
  readonly #waiting8: Uint8Array;
  readonly #waiting32: Uint32Array;

  private constructor(start: Start, instance: WebAssembly.Instance) {
    this.#start = start;
    this.#control = new Int32Array(start.control);
    this.#core = callsOf(instance.exports);
    this.#u8 = new Uint8Array(start.memory.buffer);
    this.#u32 = new Uint32Array(start.memory.buffer);
    this.#waiting8 = new Uint8Array(start.waiting);
    this.#waiting32 = new Uint32Array(start.waiting);
  }

  static async create(start: Start): Promise<InlineWorker> {
    const { module, memory } = start;
    return new InlineWorker(start, await instanceOf(module, { env: { memory } }));
  }

  /** Initializes the memory, with the areas of the first core at their addresses. Call it once, before that is copied. */
  open(): void {
    this.#core.openMemory();
    openAll(this.#core);
  }

  /** Copies the rows of a task to the addresses that they have in the first core. @returns false: the other thread did */
  load(task: number): boolean {
    const control = this.#control;
    if (!takeOwnership(control, Word.loading, task)) return false;
    const { frames } = this.#start.areas;
    const begin = (frames + (control[Word.first] as number) * FRAME_SIZE) >> 2;
    const rows = this.#waiting32.subarray(begin, begin + ((control[Word.count] as number) * FRAME_SIZE) / 4);
    this.#u32.set(rows, frames >> 2);
    const { low, high } = spanOf(rows);
    this.#u8.set(this.#waiting8.subarray(low, high), low);
    Atomics.store(control, Word.loaded, task);
    return true;
  }

  /** Steers the rows. Only the owner of the task may call it. */
  run(task: number): void {
    const control = this.#control;
    while (Atomics.load(control, Word.loaded) !== task);
    const begun = performance.now();
    const core = this.#core;
    const { areas } = this.#start;
    const count = control[Word.count] as number;
    core.takeGlobals(areas.staging);
    // The flow cache of the first core is in memory that was not copied.
    if (control[Word.fresh] === 1) {
      core.dropCache();
      control[Word.fresh] = 0;
    }
    const some = steerRows(core, control[Word.root] as number, count, control[Word.sums] === 1);
    core.keepGlobals(areas.staging);
    control[Word.some] = some;
    control[Word.nanoseconds] = 1e6 * (performance.now() - begun);
  }

  /** Sums `count` steered rows by outcome class, from row `first` on. */
  sum(first: number, count: number): number {
    this.#core.takeGlobals(this.#start.areas.staging);
    return this.#core.sumOutcomeClasses(first, count);
  }
}

/** The addresses of the first byte of these frames, and of the byte after the last one. */
function spanOf(rows: Uint32Array): { low: number; high: number } {
  let low = rows[FRAME_ADDRESS / 4] as number;
  let high = low;
  for (let at = 0; at < rows.length; at += FRAME_SIZE / 4) {
    const address = rows[at + FRAME_ADDRESS / 4] as number;
    low = Math.min(low, address);
    high = Math.max(high, address + (rows[at + FRAME_LENGTH / 4] as number));
  }
  return { low, high };
}
