/**
 * Runs the frames of a device pool. Batches are divided among the cores when no frame can reach
 * shared state; otherwise the first core steers all frames.
 */
import {
  MAX_BATCH,
  REACHABLE_BUFFERS,
  REACHABLE_CONNECTION,
  REACHABLE_ESP,
  REACHABLE_FLAG,
  REACHABLE_METER,
  REACHABLE_SAMPLER,
  REACHABLE_TRANSPORT,
  SOME_AT_HOST,
  SOME_AT_PORT,
} from "../../abi/engine.js";
import { Batch } from "../../engine/batch.js";
import { copyColumns, type Columns } from "../../engine/columns.js";
import type { Core } from "../../engine/core.js";
import type { WorkerPool, Share } from "../../engine/workerPool.js";
import { steerRows } from "../../engine/steerRows.js";
import type { FrameReceiver } from "../traffic/cable.js";
import { linkFor, optionsOf, wireLengthOf, type BatchOptions, type FrameOptions } from "../traffic/input.js";
import type { Outcome } from "../traffic/outcome.js";
import { PendingWork, OutcomeReader } from "../traffic/outcomeReader.js";
import { Traffic, type BurstInputs, type Summing } from "../traffic/receive.js";
import { classesOf } from "../traffic/outcomeClasses.js";

const NAMES: readonly (readonly [bit: number, name: string])[] = [
  [REACHABLE_METER, "meters"],
  [REACHABLE_FLAG, "first-hit flags"],
  [REACHABLE_CONNECTION, "connections"],
  [REACHABLE_SAMPLER, "samplers"],
  [REACHABLE_ESP, "ESP"],
  [REACHABLE_BUFFERS, "queues with receive buffers"],
  [REACHABLE_TRANSPORT, "connected queue pairs"],
];

/** Input frames and their options, where the host keeps them. */
interface Inputs {
  readonly frames: readonly Uint8Array[];
  readonly options: BatchOptions;
}

/** Host work for the frames of a share; `first` is the index of its first frame in the inputs. */
interface Work {
  readonly pendingWork: PendingWork;
  readonly first: number;
}

export class PoolTraffic extends Traffic {
  readonly #pool: WorkerPool;
  readonly #few: number;
  readonly #readers = new Map<Core, OutcomeReader>();
  /** The pool's change counter and the entry table at the time `#why` was found. */
  #surveyed = -1;
  #entry = 0;
  #why: string | null = null;
  /** The cores that steer the last started burst, and their rows. */
  #shares: readonly Share[] = [];
  /** The running burst, and the shares whose results are still outstanding. */
  #underWay: { columns: Columns; shares: readonly Share[]; summing: Summing | null } | null = null;

  /** @param few calls with fewer frames run on the first core alone */
  constructor(device: FrameReceiver, pool: WorkerPool, few: number) {
    super(device);
    this.#pool = pool;
    this.#few = few;
  }

  override get most(): number {
    return this.#pool.rows;
  }

  /**
   * The shared state that frames can reach, which keeps all frames on the first core; null for
   * none.
   */
  get why(): string | null {
    const { entry } = this;
    const { changes } = this.#pool;
    if (this.#surveyed === changes && this.#entry === entry) return this.#why;
    this.#surveyed = changes;
    this.#entry = entry;
    const things = this.reachable;
    const names = NAMES.filter(([bit]) => (things & bit) !== 0).map(([, name]) => name);
    this.#why = names.length === 0 ? null : `frames can reach ${names.join(", ")}`;
    return this.#why;
  }

  override takeBurst(burst: object, alone = false): void {
    this.take(burst, this.why === null && !alone ? this.most : MAX_BATCH);
  }

  override wait(burst: Columns): void {
    if (this.#underWay?.columns === burst) this.#finish();
  }

  protected override startBurst(columns: Columns, summing: Summing | null): readonly Outcome[] | null {
    const { count } = this.batch;
    const came = this.cabled || this.observed ? this.inputs() : null;
    if (this.batch.limit === MAX_BATCH || !this.#isSpread(count)) return this.#allAlone(count, columns, came, summing);
    this.#spread(count, summing !== null);
    const [own, ...others] = this.#shares as [Share, ...Share[]];
    this.#underWay = { columns, shares: others, summing };
    this.#tell(own, columns, summing);
    if (came === null) return null;
    this.#finish();
    return this.#shares.some(({ some }) => this.#isServed(some)) ? this.#outcomes(came) : null;
  }

  override burstOutcome(row: number, frame: Uint8Array | null): Outcome {
    const share = this.#shareOf(row);
    return this.#readerOf(share).read(row - share.first, frame, null, new PendingWork());
  }

  override receiveOne(port: number, frame: Uint8Array, options: FrameOptions): Outcome {
    if (!this.#isSpread(1)) return super.receiveOne(port, frame, options);
    return this.receive(port, [frame], options)[0] as Outcome;
  }

  override receive(port: number, frames: readonly Uint8Array[], options: BatchOptions): Outcome[] {
    if (!this.#isSpread(frames.length)) return super.receive(port, frames, options);
    this.check(port, frames, options);
    const outcomes: Outcome[] = [];
    for (let next = 0; next < frames.length;) {
      // Host work for the frames before may have changed the shared state that these can reach.
      if (!this.#isSpread(frames.length - next)) {
        const rest = Array.isArray(options) ? (options as FrameOptions[]).slice(next) : options;
        return [...outcomes, ...super.receive(port, frames.slice(next), rest)];
      }
      this.take(this, this.most);
      const first = next;
      for (; next < frames.length; next++) {
        const frame = frames[next] as Uint8Array;
        const own = optionsOf(options, next);
        if (this.batch.pack(frame, wireLengthOf(frame, own), port, linkFor(next, own)) < 0) break;
      }
      this.#spread(this.batch.count, false);
      this.#pool.finish();
      outcomes.push(...this.#outcomes({ frames, options }, first));
    }
    return outcomes;
  }

  #isSpread(frames: number): boolean {
    return frames >= this.#few && !this.observed && this.why === null;
  }

  #isServed(some: number): boolean {
    return (some & SOME_AT_HOST) !== 0 || (this.cabled && (some & SOME_AT_PORT) !== 0);
  }

  /** Starts all cores on the rows of the batch. */
  #spread(rows: number, sums: boolean): void {
    this.#finish();
    this.#shares = this.#pool.start(this.entry, rows, sums);
  }

  /** Waits for the running burst and hands out its results. */
  #finish(): void {
    if (this.#underWay === null) return;
    const { columns, shares, summing } = this.#underWay;
    this.#pool.finish();
    if (shares.some(({ some }) => some < 0))
      throw new Error("flowsteer: a worker of the pool has failed, and frames of a burst are lost");
    this.#underWay = null;
    for (const share of shares) this.#tell(share, columns, summing);
  }

  /** Copies the results of a share to the columns and to `summing`. */
  #tell(share: Share, columns: Columns, summing: Summing | null): void {
    const { core, first, count } = share;
    copyColumns(core.outcomeColumns, columns, first, count);
    summing?.summed(classesOf(core), first, count, (i, frame) =>
      this.#readerOf(share).read(i, frame, null, new PendingWork()),
    );
  }

  /**
   * The first core steers all rows. Its records hold one batch: with several batches, outcomes are
   * read at once.
   */
  #allAlone(rows: number, columns: Columns, came: BurstInputs | null, summing: Summing | null): Outcome[] | null {
    const outcomes: Outcome[] = [];
    const work: Work[] = [];
    const { core } = this.#pool;
    const { observed } = this;
    if (observed) this.device.observer?.before();
    for (let first = 0; first < rows; first += MAX_BATCH) {
      const count = Math.min(MAX_BATCH, rows - first);
      if (first > 0) this.batch.moveUp(first, count);
      core.steered += count;
      const some = steerRows(core.exports, this.entry, count, summing !== null);
      const share = { worker: 0, core, first, count, some };
      this.#shares = [share];
      this.#tell(share, columns, summing);
      if (observed || rows > MAX_BATCH || this.#isServed(some)) outcomes.push(...this.#read(came, 0, work));
    }
    if (observed && came !== null) this.reportBurst(came, outcomes);
    this.#serveAll(work, came);
    return outcomes.length > 0 ? outcomes : null;
  }

  /**
   * Reads the outcomes of all rows in order, and then does the host work; row 0 is
   * `frames[offset]`.
   */
  #outcomes(came: Inputs | null, offset = 0): Outcome[] {
    const work: Work[] = [];
    const outcomes = this.#read(came, offset, work);
    this.#serveAll(work, came);
    return outcomes;
  }

  #read(came: Inputs | null, offset: number, work: Work[]): Outcome[] {
    const outcomes: Outcome[] = [];
    for (const share of this.#shares) {
      const reader = this.#readerOf(share);
      const first = offset + share.first;
      const pendingWork = new PendingWork();
      for (let i = 0; i < share.count; i++) {
        outcomes.push(reader.read(i, came?.frames[first + i] ?? null, null, pendingWork));
      }
      work.push({ pendingWork, first });
    }
    return outcomes;
  }

  #serveAll(work: readonly Work[], came: Inputs | null): void {
    for (const { pendingWork, first } of work) this.serve(pendingWork, came?.frames ?? [], came?.options ?? [], first);
  }

  /** The share that contains a row. */
  #shareOf(row: number): Share {
    let n = 0;
    for (let share = this.#shares[n] as Share; ; share = this.#shares[++n] as Share) {
      if (row < share.first + share.count) return share;
    }
  }

  #readerOf({ core }: Share): OutcomeReader {
    let reader = this.#readers.get(core);
    if (reader === undefined) {
      reader = new OutcomeReader(this.device, new Batch(core));
      this.#readers.set(core, reader);
    }
    return reader;
  }
}
