/**
 * The cores of a pool: the first, in the thread of the caller, and its replicas. Says when these are out of date, deals rows to all, and
 * brings together what they have counted.
 */
import { MAX_BATCH, MAX_ROWS } from "../abi/engine.js";
import { Core } from "./core.js";
import type { CoreExports } from "./coreExports.js";
import type { FirstCore } from "./load.js";
import { Replica, type CounterBlocks } from "./workerCore.js";
import { steerRows } from "./steerRows.js";

/** Rows that a core is given of a full batch, in the mean: the faster ones can have more. */
const MEAN_SHARE = 192;
/** Shares of full batches begin at multiples of it: columns of bytes are copied word by word so. */
const ALIGNED = 8;
/** A core is taken for so many times as fast as another at the most, and a batch counts for this part of what is known of times. */
const SPEEDS = 4;
const WEIGHT = 1 / 8;

/** Calls that change nothing that frames can come to which replicas steer. */
const HARMLESS: ReadonlySet<string> = new Set<keyof CoreExports>([
  ...(["openMemory", "areaAddress", "arenaUsed", "arenaTop"] as const),
  ...(["stageValue", "firstOutside", "reachable", "skipNumbers", "isCachePaused"] as const),
  ...(["seal", "open", "sealMany", "openMany"] as const),
  ...(["postBuffer", "holdCompletion", "takeCompletions"] as const),
]);
/** The same of calls that may take memory. */
const GROWING: ReadonlySet<string> = new Set<keyof CoreExports>([
  ...(["parse", "steer", "loopBack", "writeColumns", "keepLengths", "sumShapes", "classify"] as const),
]);

/** Rows that one core steers. */
export interface Share {
  /** Which core: 0 is the first. */
  readonly worker: number;
  readonly core: Core;
  readonly first: number;
  readonly count: number;
  /** What `writeColumns` says of them; -1 until they are steered. */
  some: number;
}

/** Rows that others steer, and since when, in milliseconds. */
interface UnderWay {
  readonly shares: readonly Share[];
  readonly rows: number;
  readonly begun: number;
  /** When the first core had done its own. */
  left: number;
}

export class Crew {
  /** The first core. */
  readonly core: Core;
  /** Rows of a batch of all. */
  readonly rows: number;
  /** How often the first core has been changed. */
  changes = 0;
  /** Rows that each core has steered. */
  readonly steered: number[];
  /** Rows that were dealt to others, and that the first worker has steered because their threads were not let run. */
  takenOver = 0;
  readonly #first: FirstCore;
  readonly #replicas: Replica[] = [];
  /** What `changes` was when the replicas were made. */
  #copied = -1;
  readonly #counters: CounterBlocks = new Map();
  /** Rows a millisecond, of each core. */
  readonly #speeds: number[];
  /** Milliseconds a row that the caller takes for other things while rows are under way. */
  #aside = 0;
  #underWay: UnderWay | null = null;

  private constructor(first: FirstCore, workers: number) {
    this.#first = first;
    this.core = new Core(this.#watched(first.exports));
    this.core.settle = () => this.#collect();
    this.rows = Math.min(workers * MEAN_SHARE, MAX_ROWS);
    this.steered = Array<number>(workers).fill(0);
    this.#speeds = Array<number>(workers).fill(1);
  }

  /** `workers` counts the first core. */
  static async create(first: FirstCore, workers: number): Promise<Crew> {
    const crew = new Crew(first, workers);
    try {
      while (crew.#replicas.length < workers - 1) crew.#replicas.push(await Replica.create(crew.core, first.module));
    } catch (error) {
      crew.end();
      throw error;
    }
    return crew;
  }

  /**
   * Begins to steer the first rows that wait in the first core, which can come to nothing that is of all frames; gives who steers which.
   * The first core has done its own when this returns, and the others have got theirs: nobody needs them where they waited. All are
   * summed with `sums`.
   */
  start(root: number, rows: number, sums = false): readonly Share[] {
    this.finish();
    this.#copy();
    const shares = this.#deal(rows);
    const [own, ...others] = shares as [Share, ...Share[]];
    for (const replica of this.#replicas) replica.check();
    for (const { worker, first, count } of others) this.#replica(worker).run(root, first, count, sums);
    const begun = performance.now();
    this.#underWay = { shares: others, rows, begun, left: begun };
    own.some = steerRows(own.core.exports, root, own.count, sums);
    own.core.exports.skipNumbers(rows - own.count);
    for (const { worker } of others) this.#replica(worker).load();
    this.#underWay.left = performance.now();
    this.#worked(own, this.#underWay.left - begun);
    for (const { worker, count } of shares) this.steered[worker] = (this.steered[worker] as number) + count;
    return shares;
  }

  /** Waits for all rows that are under way. */
  finish(): void {
    if (this.#underWay === null) return;
    const { shares, rows, begun, left } = this.#underWay;
    this.#underWay = null;
    this.#putAside(rows, performance.now() - left);
    const running = shares.filter((share) => !this.#takeOver(share, begun));
    for (const share of running) this.#await(share, begun);
    for (const share of shares) share.some = this.#replica(share.worker).finish();
  }

  /** Ends the threads. What they have counted stays. */
  end(): void {
    try {
      this.#collect();
    } finally {
      for (const replica of this.#replicas.splice(0)) replica.end();
    }
  }

  #replica(worker: number): Replica {
    return this.#replicas[worker - 1] as Replica;
  }

  /** A thread that is not let run is a slow one. */
  #takeOver(share: Share, begun: number): boolean {
    if (!this.#replica(share.worker).takeOver()) return false;
    this.takenOver += share.count;
    this.#worked(share, performance.now() - begun);
    return true;
  }

  #await(share: Share, begun: number): void {
    const replica = this.#replica(share.worker);
    const early = replica.isDone;
    replica.wait();
    this.#worked(share, early ? replica.milliseconds : performance.now() - begun);
  }

  #worked({ worker, count }: Share, milliseconds: number): void {
    if (count === 0) return;
    const speed = this.#speeds[worker] as number;
    this.#speeds[worker] = speed + WEIGHT * (count / Math.max(milliseconds, 0.001) - speed);
  }

  /** As long as others need for all rows is as good as any longer. */
  #putAside(rows: number, milliseconds: number): void {
    const most = 1 / sum(this.#speeds.slice(1));
    this.#aside += WEIGHT * (Math.min(milliseconds / rows, most) - this.#aside);
  }

  /** Consecutive rows for each core, so many that all of them are done when the caller comes back from other things. */
  #deal(rows: number): Share[] {
    const fastest = Math.max(...this.#speeds);
    const speeds = this.#speeds.map((speed) => Math.max(speed, fastest / SPEEDS));
    const [own, ...others] = speeds as [number, ...number[]];
    // Of the time that is the same for all the first one has so much less.
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
      const core = worker === 0 ? this.core : this.#replica(worker).core;
      return { worker, core, first: first - count, count, some: -1 };
    });
    return shares.filter(({ worker, count }) => worker === 0 || count > 0);
  }

  /** Makes the replicas what the first core is. */
  #copy(): void {
    if (this.#copied === this.changes) return;
    this.#collect();
    this.#first.exports.keepGlobals(this.core.staging);
    for (const replica of this.#replicas) replica.copy(this.#counters);
    this.#copied = this.changes;
  }

  #collect(): void {
    this.finish();
    for (const replica of this.#replicas) replica.collect(this.#counters);
  }

  /** The same exports, which tell of changes, and of memory that has grown. */
  #watched(exports: CoreExports): CoreExports {
    const watched: Record<string, unknown> = { ...exports };
    for (const [name, call] of Object.entries(exports)) {
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

  /** Where counters lie is known of those that the replicas have: what these have counted is brought in before that changes. */
  #watchedCounters(exports: CoreExports): Pick<CoreExports, "createCounters" | "releaseCounters"> {
    return {
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
