/**
 * The thread of a worker of a pool: steers the rows that it is told of with a core of its own, whose memory the first worker writes.
 * It has no event loop: it waits for tasks until it is told to end.
 */
import { FRAME_SIZE } from "../abi/engine.js";
import { READY, Task, tellFailure, Word, type Start } from "./control.js";
import type { CoreExports } from "./core.js";
import { spanOf } from "./stage.js";
import { trap } from "./trap.js";

/** How long it looks for a task before it sleeps, in milliseconds. */
const PATIENCE = 0.1;

interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { data: Start }) => void, options: { once: true }): void;
}

const port = portOf();
port.addEventListener("message", ({ data }) => new Worker(data).serve(port), { once: true });

function portOf(): Port {
  const node = typeof process === "undefined" ? undefined : process.getBuiltinModule("node:worker_threads").parentPort;
  return (node ?? globalThis) as unknown as Port;
}

class Worker {
  readonly #start: Start;
  readonly #control: Int32Array;
  readonly #values: BigInt64Array;
  readonly #bytes: Uint8Array;
  readonly #descriptors: Uint32Array;
  readonly #core: CoreExports;
  readonly #globals: readonly WebAssembly.Global[];
  #u8: Uint8Array;
  #u32: Uint32Array;
  #asked = 0;
  #version = 0;

  constructor(start: Start) {
    this.#start = start;
    this.#control = new Int32Array(start.control);
    this.#values = new BigInt64Array(start.control, Word.globals * 4);
    this.#bytes = new Uint8Array(start.bytes);
    this.#descriptors = new Uint32Array(start.descriptors);
    const { memory } = start;
    const { exports } = new WebAssembly.Instance(start.module, { env: { memory, abort: trap } });
    this.#core = exports as unknown as CoreExports;
    this.#globals = start.globals.map((name) => exports[name] as WebAssembly.Global);
    this.#core.openMemory();
    this.#u8 = new Uint8Array(memory.buffer);
    this.#u32 = new Uint32Array(memory.buffer);
  }

  serve(port: Port): void {
    port.postMessage(READY);
    const control = this.#control;
    for (let task = this.#next(); task !== Task.end; task = this.#next()) {
      try {
        this.#run();
      } catch (error) {
        tellFailure(control, error);
        this.#tell();
        throw error;
      }
      this.#tell();
    }
  }

  /** Waits for the next task. */
  #next(): number {
    const control = this.#control;
    const until = performance.now() + PATIENCE;
    while (Atomics.load(control, Word.asked) === this.#asked) {
      if (performance.now() > until) Atomics.wait(control, Word.asked, this.#asked);
    }
    this.#asked = Atomics.load(control, Word.asked);
    return control[Word.task] as number;
  }

  #tell(): void {
    const control = this.#control;
    Atomics.store(control, Word.done, this.#asked);
    Atomics.notify(control, Word.done);
  }

  #run(): void {
    const begun = performance.now();
    const control = this.#control;
    this.#take();
    const count = control[Word.count] as number;
    this.#load(control[Word.first] as number, count);
    this.#core.steer(control[Word.root] as number, count);
    control[Word.some] = this.#core.writeColumns(count);
    control[Word.pages] = this.#start.memory.grow(0);
    control[Word.microseconds] = 1000 * (performance.now() - begun);
  }

  /** Takes the globals that belong to the memory that the first worker has written. */
  #take(): void {
    const version = this.#control[Word.version] as number;
    if (version === this.#version) return;
    this.#version = version;
    for (const [i, global] of this.#globals.entries()) {
      const value = this.#values[i] as bigint;
      global.value = typeof global.value === "bigint" ? value : Number(value);
    }
    // That of the first core lies in memory which this one may not have.
    this.#core.giveBackCache();
    this.#u8 = new Uint8Array(this.#start.memory.buffer);
    this.#u32 = new Uint32Array(this.#start.memory.buffer);
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
