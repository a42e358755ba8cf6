/**
 * Steers rows with a core whose memory is shared. Each of its threads has a runner over the same memory, and one of them runs at a time: what
 * the core is between two runs lies in memory alone.
 */
import { FRAME_SIZE } from "../abi/engine.js";
import { Word, type Start } from "./control.js";
import type { CoreExports } from "./core.js";
import type { SharingExports } from "./sharing.js";
import { spanOf } from "./stage.js";
import { steerRows } from "./steerRows.js";
import { trap } from "./trap.js";

export class Runner {
  readonly #start: Start;
  readonly #control: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #descriptors: Uint32Array;
  readonly #core: CoreExports & SharingExports;
  #u8: Uint8Array;
  #u32: Uint32Array;

  private constructor(start: Start, instance: WebAssembly.Instance) {
    this.#start = start;
    this.#control = new Int32Array(start.control);
    this.#bytes = new Uint8Array(start.bytes);
    this.#descriptors = new Uint32Array(start.descriptors);
    this.#core = instance.exports as unknown as CoreExports & SharingExports;
    this.#u8 = new Uint8Array(start.memory.buffer);
    this.#u32 = new Uint32Array(start.memory.buffer);
  }

  static async create(start: Start): Promise<Runner> {
    const { module, memory } = start;
    return new Runner(start, await WebAssembly.instantiate(module, { env: { memory, abort: trap } }));
  }

  /** Makes the memory that of a core. To be called once, before the first core is copied. */
  open(): void {
    this.#core.openMemory();
  }

  /** Does the task. */
  run(): void {
    const begun = performance.now();
    const control = this.#control;
    const core = this.#core;
    const { areas, memory } = this.#start;
    const count = control[Word.count] as number;
    this.#load(control[Word.first] as number, count);
    core.takeGlobals(areas.staging);
    // The cache of the first core lies in memory which this one may not have.
    if (control[Word.fresh] === 1) core.giveBackCache();
    control[Word.fresh] = 0;
    control[Word.some] = steerRows(core, control[Word.root] as number, count, control[Word.sums] === 1);
    core.keepGlobals(areas.staging);
    control[Word.pages] = memory.grow(0);
    control[Word.microseconds] = 1000 * (performance.now() - begun);
  }

  /** Sums rows that are steered, from one on. */
  sum(first: number, count: number): number {
    return this.#core.sumShapes(first, count);
  }

  /** Brings rows into the core: each frame to where it lies among those of all workers. */
  #load(first: number, count: number): void {
    const { bytes, frames } = this.#start.areas;
    const rows = this.#descriptors.subarray((first * FRAME_SIZE) / 4, ((first + count) * FRAME_SIZE) / 4);
    this.#u32.set(rows, frames / 4);
    const { low, high } = spanOf(rows);
    this.#u8.set(this.#bytes.subarray(low - bytes, high - bytes), low);
  }
}
