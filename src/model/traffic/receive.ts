/** Frames on their way through a device: into the core as many at a time as it takes, out of it as outcomes. */
import { MAX_BATCH, SOME_AT_HOST, SOME_AT_PORT, VPORT_MANAGER, VPORT_UPLINK } from "../../abi/engine.js";
import { NEEDS_ALL } from "../../abi/key.js";
import { Batch } from "../../engine/batch.js";
import { copyColumns, type Columns } from "../../engine/columns.js";
import { steerRows } from "../../engine/steerRows.js";
import { leave, type FrameReceiver } from "../device/cable.js";
import type { FunctionBase } from "../base/deviceBase.js";
import { TablePipeline } from "../table/pipeline.js";
import {
  checkFrames,
  linkFor,
  onwardOptions,
  optionsOf,
  wireLengthOf,
  type BatchOptions,
  type FrameOptions,
} from "./input.js";
import { linkTypeOf } from "./links.js";
import { bareOutcome, reasonName, type Outcome, type ReasonName } from "./outcome.js";
import { Afterwards, OutcomeReader } from "./outcomeReader.js";
import { parsedAt } from "../match/parseResult.js";
import type { ParsedFrame } from "../../packet/parsedFrame.js";
import type { QueuePair } from "../queue/queuePair.js";
import { classesOf, type OutcomeClasses } from "./outcomeClasses.js";

/** Who brings frames. */
interface Origin {
  /** VPORT_UPLINK for the wire. */
  readonly vport: number;
  /** The queue pair that has sent them, 0 for the wire. */
  readonly qp_num: number;
  /** What metadata register A begins with. */
  readonly metadata: number;
}

const WIRE: Origin = { vport: VPORT_UPLINK, qp_num: 0, metadata: 0 };

/** A queue that no rule leads to: frames that it sends are nobody's own. */
const NOBODY = 1;

/** What is asked of frames that are looped back. */
export interface LoopOptions {
  readonly rdma?: boolean;
  readonly ownFlows?: boolean;
}

/** Reads the sums of a burst by outcome class. */
export interface Summing {
  /**
   * A core has steered and summed rows of the burst. The parts of a burst come in the order of their rows.
   * @param first the first of these rows in the burst
   * @param read gives the outcome of one of these rows, counted from 0
   */
  summed(classes: OutcomeClasses, first: number, count: number, read: (i: number, frame: Uint8Array) => Outcome): void;
}

export class Traffic {
  /** Frames on their way in. */
  readonly batch: Batch;
  readonly device: FrameReceiver;
  protected readonly reader: OutcomeReader;
  /** The tables that frames from the wire pass. */
  readonly #pipeline: TablePipeline;
  /** Whose frames are in the batch. */
  #holder: object = this;

  constructor(device: FrameReceiver) {
    this.device = device;
    this.batch = new Batch(device.core);
    this.reader = new OutcomeReader(device, this.batch);
    this.#pipeline = device.function(VPORT_MANAGER).part(TablePipeline);
  }

  /** Frames of a burst. */
  get most(): number {
    return MAX_BATCH;
  }

  /** An empty batch for a burst, until somebody else takes it; of several cores `alone` is for the first one. */
  takeBurst(burst: object, _alone = false): void {
    this.take(burst, MAX_BATCH);
  }

  /** The same of so many rows. */
  protected take(holder: object, rows: number): void {
    this.#holder = holder;
    this.batch.clear();
    this.batch.limit = rows;
  }

  holds(burst: object): boolean {
    return this.#holder === burst;
  }

  /**
   * Begins to run the frames of the burst that holds the batch, where others can; else runs them. `columns` get what becomes of them, when it
   * is waited for at the latest. Gives outcomes that had to be read before the host did what it has to do.
   */
  start(columns: Columns, summing: Summing | null): readonly Outcome[] | null {
    return this.batch.count === 0 ? null : this.startBurst(columns, summing);
  }

  /** Waits for the frames of a burst, if they are under way. */
  wait(_burst: Columns): void {}

  protected startBurst(columns: Columns, summing: Summing | null): readonly Outcome[] | null {
    const { batch } = this;
    const { cabled } = this;
    const came = cabled ? this.inputs() : null;
    const some = steerRows(batch.core.exports, this.entry, batch.count, summing !== null);
    copyColumns(batch.core.outcomeColumns, columns, 0, batch.count);
    summing?.summed(classesOf(batch.core), 0, batch.count, (i, frame) => this.burstOutcome(i, frame));
    if ((some & SOME_AT_HOST) === 0 && (!cabled || (some & SOME_AT_PORT) === 0)) return null;
    const afterwards = new Afterwards();
    const outcomes: Outcome[] = [];
    for (let i = 0; i < batch.count; i++) outcomes.push(this.reader.read(i, came?.frames[i] ?? null, null, afterwards));
    this.serve(afterwards, came?.frames ?? [], came?.options ?? [], 0);
    return outcomes;
  }

  /** The outcome of a frame of the burst that was started last; `frame` is null where nobody has its bytes any more. */
  burstOutcome(i: number, frame: Uint8Array | null): Outcome {
    return this.reader.read(i, frame, null, new Afterwards());
  }

  /** Whether something is connected to a port. */
  protected get cabled(): boolean {
    return this.device.hardware.ports.some(({ cable }) => cable !== null);
  }

  /** Frames of the burst as they came, and how. */
  protected inputs(): { frames: Uint8Array[]; options: FrameOptions[] } {
    const { batch } = this;
    const frames: Uint8Array[] = [];
    const options: FrameOptions[] = [];
    for (let i = 0; i < batch.count; i++) {
      frames.push(batch.frame(i).slice());
      const linkType = linkTypeOf(batch.link(i));
      const time = this.device.stateful ? { time: batch.time(i) } : {};
      options.push({ linkType, wireLength: batch.wireLength(i), ...time });
    }
    return { frames, options };
  }

  /** What comes in goes to the eSwitch, or to the rules of the PF. */
  protected get entry(): number {
    return this.#pipeline.switched || this.#pipeline.received;
  }

  /** From the wire. What leaves by a port does so when the outcomes of the frames beside it have been read. */
  receive(call: string, port: number, frames: readonly Uint8Array[], options: BatchOptions): Outcome[] {
    const afterwards = new Afterwards();
    return this.#run(
      call,
      port,
      frames,
      options,
      WIRE,
      () => this.batch.steer(this.entry),
      (i, frame) => this.reader.read(i, frame, null, afterwards),
      (first) => this.serve(afterwards, frames, options, first),
    );
  }

  /** What leaves by a port does so, and what connected queue pairs got is read; `first` is the frame that the batch begins with. */
  protected serve(afterwards: Afterwards, frames: readonly Uint8Array[], options: BatchOptions, first: number): void {
    for (const { destination, port, index } of afterwards.departures.splice(0)) {
      // Of bursts without cables nobody has kept what came in.
      if (port.cable === null) continue;
      const { frame, linkType } = destination;
      const came = frames[first + index] as Uint8Array;
      const own = onwardOptions(optionsOf(options, first + index), came, frame, linkType);
      destination.outcome = leave(this.device, port, frame, own);
    }
    for (const { transport, frame } of afterwards.arrivals.splice(0)) transport.arrive(frame);
  }

  /** Sent by a queue pair of a function, as it is or by a `transport`. What is to be done then is added to `afterwards`. */
  send(
    call: string,
    from: FunctionBase,
    port: number,
    frames: readonly Uint8Array[],
    afterwards: Afterwards,
    qp_num = 0,
    metadata = 0,
    transport = false,
  ): Outcome[] {
    const pipeline = from.part(TablePipeline);
    return this.#run(
      call,
      port,
      frames,
      {},
      { vport: from.vport, qp_num, metadata },
      () => this.batch.steer(transport ? pipeline.sentByTransports : pipeline.sent),
      (i, frame) => this.reader.read(i, frame, null, afterwards),
    );
  }

  /**
   * The rules of a port of the PF (RDMA tables, connections, NORMAL flows, DR root rules; without `rdma` the last two alone)
   * are asked about frames that `sender` has sent from it; those
   * that nobody there wants are `miss`, without a reason. Rules of the sender answer where they allow it, or with `ownFlows`. Whoever gets a
   * frame has it then: `to` where a rule ended its way, `copies` where it went on.
   */
  loopBack(
    call: string,
    port: number,
    frames: readonly Uint8Array[],
    sender: QueuePair,
    afterwards: Afterwards,
    { rdma = true, ownFlows = false }: LoopOptions = {},
  ): Outcome[] {
    const { looped, root } = this.#pipeline;
    const first = rdma ? looped : root;
    if (first === 0) {
      this.check(call, port, frames, {});
      return frames.map(() => bareOutcome("miss", null, null));
    }
    return this.#run(
      call,
      port,
      frames,
      {},
      { vport: VPORT_MANAGER, qp_num: sender.qp_num, metadata: 0 },
      () => this.batch.loopBack(first, ownFlows ? NOBODY : sender.handle),
      (i, frame) => this.reader.read(i, frame, ownFlows ? null : sender, afterwards),
    );
  }

  /** What the parser sees in each frame. */
  parse(call: string, frames: readonly Uint8Array[], options: BatchOptions): ParsedFrame[] {
    const work = (): void => this.batch.parse(NEEDS_ALL);
    return this.#run(call, 1, frames, options, WIRE, work, (i) => parsedAt(this.batch, i));
  }

  /** Frames that ended for each reason since the device was made, and destinations that were not reached beside that. */
  reasons(): Record<ReasonName, bigint> {
    const counts = this.batch.reasons().map((count, reason) => [reasonName(reason), count] as const);
    return Object.fromEntries(counts.filter(([name]) => name !== null)) as Record<ReasonName, bigint>;
  }

  /** Runs frames; `read` says what came of frame `i` of a batch, and `after` may run others once a batch has been read. */
  #run<T>(
    call: string,
    port: number,
    frames: readonly Uint8Array[],
    options: BatchOptions,
    { vport, qp_num, metadata }: Origin,
    work: () => void,
    read: (i: number, frame: Uint8Array) => T,
    after?: (first: number) => void,
  ): T[] {
    this.check(call, port, frames, options);
    const results: T[] = [];
    for (let next = 0; next < frames.length;) {
      this.take(this, MAX_BATCH);
      const first = next;
      for (; next < frames.length; next++) {
        const frame = frames[next] as Uint8Array;
        const own = optionsOf(options, next);
        const link = linkFor(call, next, own);
        if (this.batch.put(frame, wireLengthOf(frame, own), port, link, vport, qp_num, metadata) < 0) break;
        if (this.device.stateful) this.batch.stamp(own.time ?? this.device.now());
      }
      work();
      for (let i = first; i < next; i++) results.push(read(i - first, frames[i] as Uint8Array));
      after?.(first);
    }
    return results;
  }

  protected check(call: string, port: number, frames: readonly Uint8Array[], options: BatchOptions): void {
    this.device.checkPort(call, port);
    checkFrames(call, frames, options);
  }
}
