/**
 * `WorkerPool`: the first core, in the thread of the caller, and the worker cores, each in a thread of its own. It copies the
 * first core to the workers when it has changed, divides the rows of a batch among all cores, and adds up their counters.
 */
import { MAX_BATCH, MAX_ROWS } from "../abi/engine.js";
import { RECEIVE_PACKETS } from "../abi/queue.js";
import { allExports } from "./calls.js";
import { Core } from "./core.js";
import type { CoreExports } from "./coreExports.js";
import type { FirstCore } from "./load.js";
import { WorkerCore, type CounterBlocks } from "./workerCore.js";
import { steerRows } from "./steerRows.js";

/** The mean number of rows that a core gets of a full batch; faster cores get more. */
const MEAN_SHARE = 192;
/** Shares of full batches begin at multiples of this number, so that columns of bytes are copied word by word. */
const ALIGNED = 8;
/** Limits of the measured speeds: the largest ratio of two cores, and the weight of the last batch in the moving average. */
const SPEEDS = 4;
const WEIGHT = 1 / 8;

/** Exports that change no state that worker cores read. */
const HARMLESS: ReadonlySet<string> = new Set<keyof CoreExports>([
  ...(["openMemory", "areaAddress", "arenaUsed", "arenaTop", "rowsOpen", "bytesOpen"] as const),
  ...(["openRows", "openBytes", "openClasses"] as const),
  ...(["stageValue", "firstOutside", "reachable", "skipNumbers", "isCachePaused"] as const),
  ...(["seal", "open", "sealMany", "openMany"] as const),
  ...(["postBuffer", "takeBuffer", "holdCompletion", "takeCompletions"] as const),
]);
/** Exports that change no such state either, but may grow the memory. */
const GROWING: ReadonlySet<string> = new Set<keyof CoreExports>([
  ...(["parse", "steer", "loopBack", "writeColumns", "keepLengths", "sumOutcomeClasses", "classify"] as const),
]);

/** The rows of a batch that one core steers. */
export interface Share {
  /** The number of the core; 0 is the first core. */
  readonly worker: number;
  readonly core: Core;
  readonly first: number;
  readonly count: number;
  /** The result of `writeColumns` for these rows (SOME_*); -1 until they are steered. */
  some: number;
}

/** The rows that worker cores steer at the moment; times are in milliseconds. */
interface UnderWay {
  readonly shares: readonly Share[];
  readonly rows: number;
  readonly begun: number;
  /** When the first core had finished its own share. */
  left: number;
}

export class WorkerPool {
  /** The first core. */
  readonly core: Core;
  /** Rows of a full batch of all cores. */
  readonly rows: number;
  /** A version counter: every mutating call on the first core increments it. */
  changes = 0;
  /** Rows that each core has steered. */
  readonly steered: number[];
  /** Rows of worker cores that the caller's thread steered, because the operating system did not run their threads. */
  takenOver = 0;
  readonly #first: FirstCore;
  readonly #workerCores: WorkerCore[] = [];
  /** The value of `changes` when the worker cores were last copied. */
  #copied = -1;
  readonly #counters: CounterBlocks = new Map();
  /** The measured speed of each core, in rows per millisecond. */
  readonly #speeds: number[];
  /** Milliseconds per row that the caller spends on other work between `start` and `finish`. */
  #aside = 0;
  #underWay: UnderWay | null = null;

  private constructor(first: FirstCore, workers: number) {
    this.#first = first;
    this.core = new Core(this.#watched(first.exports));
    // Before the arena has a block, so that copies leave these areas out.
    if (!this.core.openAll()) throw new RangeError("flowsteer: no memory for the core");
    this.core.lookAgain();
    this.core.collectCounters = () => this.#collect();
    this.rows = Math.min(workers * MEAN_SHARE, MAX_ROWS);
    this.steered = Array<number>(workers).fill(0);
    this.#speeds = Array<number>(workers).fill(1);
  }

  /** @param workers the number of cores, the first core included */
  static async create(first: FirstCore, workers: number): Promise<WorkerPool> {
    const pool = new WorkerPool(first, workers);
    try {
      while (pool.#workerCores.length < workers - 1)
        pool.#workerCores.push(await WorkerCore.create(pool.core, first.module));
    } catch (error) {
      pool.end();
      throw error;
    }
    return pool;
  }

  /**
   * Starts to steer the first `rows` rows that wait in the first core. None of them may reach a stateful object. When the call
   * returns, the first core has steered its own share, and the workers have copied theirs, so the waiting area is free again.
   * @param sums whether each core also sums its rows by outcome class
   * @returns the share of each core
   */
  start(root: number, rows: number, sums = false): readonly Share[] {
    this.finish();
    this.#copy();
    const shares = this.#deal(rows);
    const [own, ...others] = shares as [Share, ...Share[]];
    for (const workerCore of this.#workerCores) workerCore.check();
    for (const { worker, first, count } of others) this.#workerCore(worker).run(root, first, count, sums);
    const begun = performance.now();
    this.#underWay = { shares: others, rows, begun, left: begun };
    this.core.steered += rows;
    own.some = steerRows(own.core.exports, root, own.count, sums);
    own.core.exports.skipNumbers(rows - own.count);
    try {
      for (const { worker } of others) this.#workerCore(worker).load();
    } catch (error) {
      // A thread is lost before it had its rows: no caller waits for them.
      this.#underWay = null;
      throw error;
    }
    this.#underWay.left = performance.now();
    this.#measured(own, this.#underWay.left - begun);
    for (const { worker, count } of shares) this.steered[worker] = (this.steered[worker] as number) + count;
    return shares;
  }

  /** Waits until all started rows are steered. */
  finish(): void {
    if (this.#underWay === null) return;
    const { shares, rows, begun, left } = this.#underWay;
    this.#underWay = null;
    this.#measuredAside(rows, performance.now() - left);
    const running = shares.filter((share) => !this.#takeOver(share, begun));
    for (const share of running) this.#await(share, begun);
    for (const share of shares) share.some = this.#workerCore(share.worker).finish();
  }

  /** Ends the threads. Their counts are added to the first core before. */
  end(): void {
    try {
      this.#collect();
    } finally {
      for (const workerCore of this.#workerCores.splice(0)) workerCore.end();
    }
  }

  #workerCore(worker: number): WorkerCore {
    return this.#workerCores[worker - 1] as WorkerCore;
  }

  /** Steers a share in this thread if its worker has not begun; the worker counts as slow then. */
  #takeOver(share: Share, begun: number): boolean {
    if (!this.#workerCore(share.worker).takeOver()) return false;
    this.takenOver += share.count;
    this.#measured(share, performance.now() - begun);
    return true;
  }

  #await(share: Share, begun: number): void {
    const workerCore = this.#workerCore(share.worker);
    const early = workerCore.isDone;
    workerCore.wait();
    this.#measured(share, early ? workerCore.milliseconds : performance.now() - begun);
  }

  #measured({ worker, count }: Share, milliseconds: number): void {
    if (count === 0) return;
    const speed = this.#speeds[worker] as number;
    this.#speeds[worker] = speed + WEIGHT * (count / Math.max(milliseconds, 0.001) - speed);
  }

  /** The time is limited to what the workers need for all rows: more than that changes no share. */
  #measuredAside(rows: number, milliseconds: number): void {
    const most = 1 / sum(this.#speeds.slice(1));
    this.#aside += WEIGHT * (Math.min(milliseconds / rows, most) - this.#aside);
  }

  /** Divides rows into consecutive shares, so that all cores finish when the caller returns from its other work. */
  #deal(rows: number): Share[] {
    const fastest = Math.max(...this.#speeds);
    const speeds = this.#speeds.map((speed) => Math.max(speed, fastest / SPEEDS));
    const [own, ...others] = speeds as [number, ...number[]];
    // The first core has less time: the caller's other work runs in its thread.
    const parts = [(own * Math.max(0, 1 - this.#aside * sum(others))) / (1 + this.#aside * own), ...others];
    const unit = rows === this.rows ? ALIGNED : 1;
    let rest = sum(parts);
    let first = 0;
    const shares = parts.map((part, worker) => {
      const left = rows - first;
      const least = left - MAX_BATCH * (parts.length - 1 - worker);
      const wanted = unit * Math.round((left * part) / rest / unit);
      const count = Math.min(MAX_BATCH, left, Math.max(least, wanted));
      rest -= part;
      first += count;
      const core = worker === 0 ? this.core : this.#workerCore(worker).core;
      return { worker, core, first: first - count, count, some: -1 };
    });
    return shares.filter(({ worker, count }) => worker === 0 || count > 0);
  }

  /** Copies the first core to the worker cores, if it has changed. */
  #copy(): void {
    if (this.#copied === this.changes) return;
    this.#collect();
    this.#first.exports.keepGlobals(this.core.staging);
    for (const workerCore of this.#workerCores) workerCore.copy(this.#counters);
    this.#copied = this.changes;
  }

  #collect(): void {
    this.finish();
    for (const workerCore of this.#workerCores) workerCore.collect(this.#counters);
  }

  /** The exports of the first core, wrapped: mutating calls increment `changes`, and views follow memory that has grown. */
  #watched(exports: CoreExports): CoreExports {
    const watched = allExports(exports);
    for (const [name, call] of Object.entries(watched)) {
      if (typeof call !== "function" || HARMLESS.has(name)) continue;
      const change = GROWING.has(name) ? 0 : 1;
      watched[name] = (...parameters: number[]): unknown => {
        this.changes += change;
        const result = (call as (...parameters: number[]) => unknown)(...parameters);
        this.core.lookAgain();
        return result;
      };
    }
    return { ...(watched as unknown as CoreExports), ...this.#watchedCounters(exports) };
  }

  /** Counter blocks, and queues with their counts, are created and released only after the counts of the worker cores were collected from the known blocks. */
  #watchedCounters(
    exports: CoreExports,
  ): Pick<CoreExports, "createCounters" | "releaseCounters" | "createQueue" | "destroyQueue"> {
    return {
      createQueue: (flags, completions, depth) => {
        this.#changeCounters();
        const queue = exports.createQueue(flags, completions, depth) >>> 0;
        this.core.lookAgain();
        if (queue !== 0) this.#counters.set(queue + RECEIVE_PACKETS, 1);
        return queue;
      },
      destroyQueue: (queue) => {
        this.#changeCounters();
        this.#counters.delete((queue >>> 0) + RECEIVE_PACKETS);
        exports.destroyQueue(queue);
      },
      createCounters: (count) => {
        this.#changeCounters();
        const address = exports.createCounters(count) >>> 0;
        this.core.lookAgain();
        if (address !== 0) this.#counters.set(address, count);
        return address;
      },
      releaseCounters: (address, count) => {
        this.#changeCounters();
        this.#counters.delete(address);
        exports.releaseCounters(address, count);
      },
    };
  }

  #changeCounters(): void {
    this.changes++;
    this.#collect();
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
