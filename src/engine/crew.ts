/**
 * The cores of a pool: the first, in the thread of the caller, and its replicas. Says when these are out of date, deals rows to all, and
 * brings together what they have counted.
 */
import { MAX_BATCH } from "../abi/engine.js";
import { Core, type CoreExports } from "./core.js";
import type { FirstCore } from "./load.js";
import { Replica, type CounterBlocks } from "./replica.js";
import { Stage } from "./stage.js";
import { steerRows } from "./steerRows.js";

/** Rows that a core is given of a full batch, in the mean: the faster ones can have more. */
const MEAN_SHARE = 192;
/** A core is taken for so many times as fast as another at the most, and a batch counts for this part of what is known of its speed. */
const SPEEDS = 4;
const WEIGHT = 1 / 8;

/** Calls that change nothing that frames can come to which replicas steer. */
const HARMLESS: ReadonlySet<string> = new Set<keyof CoreExports>([
  ...([
    "areaAddress",
    "arenaUsed",
    "arenaTop",
    "stageValue",
    "firstOutside",
    "reached",
    "skipNumbers",
    "isCacheAsleep",
  ] as const),
  ...(["parse", "steer", "loopBack", "writeColumns", "keepLengths", "sumShapes", "classify"] as const),
  ...(["seal", "open", "sealMany", "openMany"] as const),
  ...(["postBuffer", "holdCompletion", "takeCompletions"] as const),
]);

/** Rows that one core steers. */
export interface Share {
  /** Which core: 0 is the first. */
  readonly worker: number;
  readonly core: Core;
  readonly first: number;
  readonly count: number;
  /** What `writeColumns` says of them. */
  some: number;
}

export class Crew {
  /** The first core. */
  readonly core: Core;
  readonly stage: Stage;
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
  /** Rows a microsecond, of each core. */
  readonly #speeds: number[];

  private constructor(first: FirstCore, workers: number) {
    this.#first = first;
    this.core = new Core(this.#watched(first.exports));
    this.core.settle = () => this.#collect();
    this.rows = workers * MEAN_SHARE;
    this.stage = new Stage(this.rows, this.core.bytes);
    this.steered = Array<number>(workers).fill(0);
    this.#speeds = Array<number>(workers).fill(1);
  }

  /** `workers` counts the first core. */
  static async create(first: FirstCore, workers: number): Promise<Crew> {
    const crew = new Crew(first, workers);
    try {
      while (crew.#replicas.length < workers - 1)
        crew.#replicas.push(await Replica.create(crew.core, first.module, crew.stage));
    } catch (error) {
      crew.end();
      throw error;
    }
    return crew;
  }

  /** Steers all rows of the stage, which can come to nothing that is of all frames, and sums them with `sums`; gives who has steered which. */
  steer(root: number, sums = false): readonly Share[] {
    this.#copy();
    const shares = this.#deal(this.stage.count);
    const [own, ...others] = shares as [Share, ...Share[]];
    const begun = performance.now();
    for (const { worker, first, count } of others) this.#replica(worker).run(root, first, count, sums);
    this.stage.load(own.core, 0, own.count, false);
    own.some = steerRows(own.core.exports, root, own.count, sums);
    this.#worked(own, 1000 * (performance.now() - begun));
    const running = others.filter((share) => !this.#takeOver(share, begun));
    for (const share of running) this.#await(share, begun);
    for (const share of others) share.some = this.#replica(share.worker).finish();
    for (const { worker, count } of shares) this.steered[worker] = (this.steered[worker] as number) + count;
    own.core.exports.skipNumbers(this.stage.count - own.count);
    return shares;
  }

  /** Ends the threads. What they have counted stays. */
  end(): void {
    this.#collect();
    for (const replica of this.#replicas.splice(0)) replica.end();
  }

  #replica(worker: number): Replica {
    return this.#replicas[worker - 1] as Replica;
  }

  /** A thread that is not let run is a slow one. */
  #takeOver(share: Share, begun: number): boolean {
    if (!this.#replica(share.worker).takeOver()) return false;
    this.takenOver += share.count;
    this.#worked(share, 1000 * (performance.now() - begun));
    return true;
  }

  #await(share: Share, begun: number): void {
    const replica = this.#replica(share.worker);
    const early = replica.isDone;
    replica.wait();
    this.#worked(share, early ? replica.microseconds : 1000 * (performance.now() - begun));
  }

  #worked({ worker, count }: Share, microseconds: number): void {
    const speed = this.#speeds[worker] as number;
    this.#speeds[worker] = speed + WEIGHT * (count / Math.max(microseconds, 1) - speed);
  }

  /** Consecutive rows for each core, as its speed is. */
  #deal(rows: number): Share[] {
    const fastest = Math.max(...this.#speeds);
    const speeds = this.#speeds.map((speed) => Math.max(speed, fastest / SPEEDS));
    let rest = speeds.reduce((sum, speed) => sum + speed, 0);
    let first = 0;
    return speeds.map((speed, worker) => {
      const left = rows - first;
      const least = left - MAX_BATCH * (speeds.length - 1 - worker);
      const count = Math.min(MAX_BATCH, Math.max(least, Math.round((left * speed) / rest)));
      rest -= speed;
      first += count;
      const core = worker === 0 ? this.core : this.#replica(worker).core;
      return { worker, core, first: first - count, count, some: 0 };
    });
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
    for (const replica of this.#replicas) replica.collect(this.#counters);
  }

  /** The same exports, which tell of changes. */
  #watched(exports: CoreExports): CoreExports {
    const watched: Record<string, unknown> = { ...exports };
    for (const [name, call] of Object.entries(exports)) {
      if (typeof call !== "function" || HARMLESS.has(name)) continue;
      watched[name] = (...parameters: number[]): unknown => {
        this.changes++;
        return (call as (...parameters: number[]) => unknown)(...parameters);
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
