/**
 * Runs frames through a device: fills batches of the core, steers them, and reads their outcomes.
 */
import { inCall } from "../../errors.js";
import { MAX_BATCH, SOME_AT_HOST, SOME_AT_PORT, VPORT_MANAGER } from "../../abi/engine.js";
import { NEEDS_ALL } from "../../abi/key.js";
import { Batch } from "../../engine/batch.js";
import { copyColumns, type Columns } from "../../engine/columns.js";
import { steerRows } from "../../engine/steerRows.js";
import { egress, type FrameReceiver } from "./cable.js";
import type { FunctionBase } from "../base/deviceBase.js";
import { TablePipeline } from "../table/pipeline.js";
import {
  checkFrame,
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
import { PendingWork, OutcomeReader } from "./outcomeReader.js";
import { headersAt, parsedAt } from "../match/parseResult.js";
import type { ParsedFrame, ParsedHeaders } from "../../packet/parsedFrame.js";
import type { QueuePair } from "../queuePair/queuePair.js";
import { NOBODY, WIRE, type LoopOptions, type Origin, type SentFrames } from "./origin.js";
import { classesOf, type OutcomeClasses } from "./outcomeClasses.js";

/**
 * Frames that a call of `receive` steers together. Fewer than a burst has: the memory of a row is
 * touched by each device, and more rows make outcomes as objects no faster.
 */
const TOGETHER = 64;

/** Receives the sums of a burst by outcome class. */
export interface Summing {
  /**
   * Called when a core has steered and summed rows of the burst; parts come in the order of their
   * rows.
   * @param first the first of these rows in the burst
   * @param count the number of these rows
   * @param read gives the outcome of one of these rows, counted from 0
   */
  summed(classes: OutcomeClasses, first: number, count: number, read: (i: number, frame: Uint8Array) => Outcome): void;
}

/** The frames of a burst as they came. */
export interface BurstInputs {
  readonly frames: readonly Uint8Array[];
  readonly ports: readonly number[];
  readonly options: readonly FrameOptions[];
}

export class Traffic {
  /** Frames on their way into the core. */
  readonly batch: Batch;
  readonly device: FrameReceiver;
  protected readonly reader: OutcomeReader;
  /** The tables for frames from the wire. */
  readonly #pipeline: TablePipeline;
  /** The burst, or this object, whose frames are in the batch. */
  #holder: object = this;

  constructor(device: FrameReceiver) {
    this.device = device;
    this.batch = new Batch(device.core);
    this.reader = new OutcomeReader(device, this.batch);
    this.#pipeline = device.function(VPORT_MANAGER).part(TablePipeline);
  }

  /** The largest number of frames in a burst. */
  get most(): number {
    return MAX_BATCH;
  }

  /**
   * Gives a burst the empty batch, until another user takes it. With `alone` the first core of a
   * pool steers it.
   */
  takeBurst(burst: object, _alone = false): void {
    this.take(burst, MAX_BATCH);
  }

  /** Gives `holder` the empty batch with a limit of `rows` frames. */
  protected take(holder: object, rows: number): void {
    this.#holder = holder;
    this.batch.clear();
    this.batch.limit = rows;
  }

  holds(burst: object): boolean {
    return this.#holder === burst;
  }

  /**
   * Starts to steer the frames of the burst that holds the batch; without worker threads it steers
   * them at once. `columns` are filled at the latest when `wait` returns.
   * @returns the outcomes, if they had to be read before host work; else null
   */
  start(columns: Columns, summing: Summing | null): readonly Outcome[] | null {
    return inCall("burst.start", () => {
      if (summing !== null && this.batch.core.exports.openClasses() === 0) this.device.noMemory();
      return this.batch.count === 0 ? null : this.startBurst(columns, summing);
    });
  }

  /** Waits until the frames of a burst are steered. */
  wait(_burst: Columns): void {}

  protected startBurst(columns: Columns, summing: Summing | null): readonly Outcome[] | null {
    const { batch, cabled, observed } = this;
    const came = cabled || observed ? this.inputs() : null;
    if (observed) this.device.observer?.before();
    batch.core.steered += batch.count;
    const some = steerRows(batch.core.exports, this.entry, batch.count, summing !== null);
    copyColumns(batch.core.outcomeColumns, columns, 0, batch.count);
    summing?.summed(classesOf(batch.core), 0, batch.count, (i, frame) => this.burstOutcome(i, frame));
    if (!observed && (some & SOME_AT_HOST) === 0 && (!cabled || (some & SOME_AT_PORT) === 0)) return null;
    const pendingWork = new PendingWork();
    const outcomes: Outcome[] = [];
    for (let i = 0; i < batch.count; i++)
      outcomes.push(this.reader.read(i, came?.frames[i] ?? null, null, pendingWork));
    if (observed && came !== null) this.reportBurst(came, outcomes);
    this.serve(pendingWork, came?.frames ?? [], came?.options ?? [], 0);
    return outcomes;
  }

  /**
   * The outcome of row `i` of the burst that was started last; `frame` is null when the input bytes
   * were not kept.
   */
  burstOutcome(i: number, frame: Uint8Array | null): Outcome {
    return this.reader.read(i, frame, null, new PendingWork());
  }

  /** Tells the listeners of the frames of a burst. */
  protected reportBurst({ frames, ports }: BurstInputs, outcomes: readonly Outcome[]): void {
    this.device.observer?.received(ports, frames, outcomes, 0, outcomes.length);
  }

  /** Whether some listener watches frames. */
  protected get observed(): boolean {
    return this.device.observer?.watchesFrames === true;
  }

  /** Whether a port has a cable. */
  protected get cabled(): boolean {
    return this.device.hardware.ports.some(({ cable }) => cable !== null);
  }

  /** Copies of the input frames of the burst, with their options. */
  protected inputs(): BurstInputs {
    const { batch } = this;
    const ports: number[] = [];
    const frames: Uint8Array[] = [];
    const options: FrameOptions[] = [];
    for (let i = 0; i < batch.count; i++) {
      frames.push(batch.frame(i).slice());
      ports.push(batch.port(i));
      const linkType = linkTypeOf(batch.link(i));
      const time = this.device.stateful ? { time: batch.time(i) } : {};
      options.push({ linkType, wireLength: batch.wireLength(i), ...time });
    }
    return { frames, ports, options };
  }

  /** The first table of received frames: that of the eSwitch, else that of the PF. */
  protected get entry(): number {
    return this.#pipeline.switched || this.#pipeline.received;
  }

  /** REACHABLE_*: the kinds of state and chance that received frames can reach, whatever their content. */
  get reachable(): number {
    return this.device.core.exports.reachable(this.entry);
  }

  /** Steers one frame from the wire: as `receive`, without lists. */
  receiveOne(port: number, frame: Uint8Array, options: FrameOptions): Outcome {
    const { batch, device } = this;
    device.checkPort(port);
    checkFrame(0, frame, options);
    if (!batch.openFrame(frame.length)) device.noMemory();
    this.take(this, 1);
    this.#put(0, frame, options, port, WIRE);
    const { observer } = device;
    observer?.before();
    batch.steer(this.entry);
    const pendingWork = new PendingWork();
    const outcome = this.reader.read(0, frame, null, pendingWork);
    observer?.received(port, [frame], [outcome], 0, 1);
    if (!pendingWork.isEmpty) this.serve(pendingWork, [frame], options, 0);
    return outcome;
  }

  /**
   * Steers frames from the wire. A frame that leaves by a port does so once all outcomes of its
   * batch are read.
   */
  receive(port: number, frames: readonly Uint8Array[], options: BatchOptions): Outcome[] {
    this.open(port, frames, options);
    const { batch, reader } = this;
    const { observer } = this.device;
    const outcomes: Outcome[] = [];
    for (let next = 0; next < frames.length;) {
      const pendingWork = new PendingWork();
      const first = next;
      next = this.#fill(frames, first, options, port, WIRE);
      observer?.before();
      batch.steer(this.entry);
      for (let i = first; i < next; i++)
        outcomes.push(reader.read(i - first, frames[i] as Uint8Array, null, pendingWork));
      observer?.received(port, frames, outcomes, first, next);
      this.serve(pendingWork, frames, options, first);
    }
    return outcomes;
  }

  /**
   * Does the waiting host work: sends frames out of ports, passes packets to connected queue pairs.
   * @param first the index in `frames` of the first frame of the batch
   */
  protected serve(pendingWork: PendingWork, frames: readonly Uint8Array[], options: BatchOptions, first: number): void {
    if (pendingWork.isEmpty) return;
    for (const { destination, port, index } of pendingWork.egressFrames) {
      // Without cables the burst has not kept its input.
      if (port.cable === null) continue;
      const { frame, linkType } = destination;
      const came = frames[first + index] as Uint8Array;
      const own = onwardOptions(optionsOf(options, first + index), came, frame, linkType);
      destination.outcome = egress(this.device, port, frame, own);
    }
    pendingWork.arrive();
  }

  /**
   * Steers frames that a queue pair of function `from` sends. The host work is added to
   * `pendingWork`; the caller does it.
   */
  send(
    from: FunctionBase,
    port: number,
    frames: readonly Uint8Array[],
    pendingWork: PendingWork,
    { qp_num = 0, metadata = 0, transport = false, time = null }: SentFrames = {},
  ): Outcome[] {
    const pipeline = from.part(TablePipeline);
    return this.#run(
      port,
      frames,
      { time },
      { vport: from.vport, qp_num, metadata },
      () => this.batch.steer(transport ? pipeline.sentByTransports : pipeline.sent),
      (i, frame) => this.reader.read(i, frame, null, pendingWork),
    );
  }

  /**
   * Matches sent frames against the receive rules of the PF on the same port: RDMA tables,
   * connections, NORMAL flows, direct rules of root tables; without `rdma` only the last two. A
   * frame that matches no rule has the verdict `miss` without a reason. Rules that deliver to
   * `sender` match only where they allow loopback, or with `ownFlows`. Matching rules deliver at
   * once: to `to` where the rule ends the branch, to `copies` where the frame continues.
   */
  loopBack(
    port: number,
    frames: readonly Uint8Array[],
    sender: QueuePair,
    pendingWork: PendingWork,
    { rdma = true, ownFlows = false, time = null }: LoopOptions = {},
  ): Outcome[] {
    const { looped, root } = this.#pipeline;
    const first = rdma ? looped : root;
    if (first === 0) {
      this.check(port, frames, {});
      return frames.map(() => bareOutcome("miss", null, null));
    }
    return this.#run(
      port,
      frames,
      { time },
      { vport: VPORT_MANAGER, qp_num: sender.qp_num, metadata: 0 },
      () => this.batch.loopBack(first, ownFlows ? NOBODY : sender.handle),
      (i, frame) => this.reader.read(i, frame, ownFlows ? null : sender, pendingWork),
    );
  }

  /** The headers and fields that the parser finds in each frame. */
  parse(frames: readonly Uint8Array[], options: BatchOptions): ParsedFrame[] {
    const work = (): void => this.batch.parse(NEEDS_ALL);
    return this.#run(1, frames, options, WIRE, work, (i) => parsedAt(this.batch, i));
  }

  /** The headers that the parser finds in each frame. */
  parseHeaders(frames: readonly Uint8Array[], options: BatchOptions): ParsedHeaders[] {
    // Inner packets are parsed only where their fields are needed.
    const work = (): void => this.batch.parse(NEEDS_ALL);
    return this.#run(1, frames, options, WIRE, work, (i) => headersAt(this.batch, i));
  }

  /**
   * The number of frames for each reason since the device was created. Destinations that did not
   * get the frame count too.
   */
  reasons(): Record<ReasonName, bigint> {
    const counts = this.batch.reasons().map((count, reason) => [reasonName(reason), count] as const);
    return Object.fromEntries(counts.filter(([name]) => name !== null)) as Record<ReasonName, bigint>;
  }

  /**
   * Runs frames in batches.
   * @param work steers the batch
   * @param read gives the result of frame `i` of the batch
   */
  #run<T extends object>(
    port: number,
    frames: readonly Uint8Array[],
    options: BatchOptions,
    origin: Origin,
    work: () => void,
    read: (i: number, frame: Uint8Array) => T,
  ): T[] {
    this.open(port, frames, options);
    const results: T[] = [];
    for (let next = 0; next < frames.length;) {
      const first = next;
      next = this.#fill(frames, first, options, port, origin);
      work();
      for (let i = first; i < next; i++) results.push(read(i - first, frames[i] as Uint8Array));
    }
    return results;
  }

  /**
   * Fills the batch with frames from `first` on.
   * @returns the index of the first frame that it does not take
   */
  #fill(frames: readonly Uint8Array[], first: number, options: BatchOptions, port: number, origin: Origin): number {
    this.take(this, this.device.observer?.oneByOne === true ? 1 : TOGETHER);
    let next = first;
    while (next < frames.length) {
      if (!this.#put(next, frames[next] as Uint8Array, optionsOf(options, next), port, origin)) break;
      next++;
    }
    return next;
  }

  /** Puts frame `i` of a call into the batch; false when the batch is full. */
  #put(
    i: number,
    frame: Uint8Array,
    options: FrameOptions,
    port: number,
    { vport, qp_num, metadata }: Origin,
  ): boolean {
    const { batch, device } = this;
    const link = linkFor(i, options);
    if (batch.put(frame, wireLengthOf(frame, options), port, link, vport, qp_num, metadata) < 0) return false;
    if (device.stateful) batch.stamp(options.time ?? device.now());
    return true;
  }

  /**
   * Checks the arguments of a call, and takes memory for its longest frame, so that each of them fits
   * an empty batch. @throws EINVAL; EOPNOTSUPP; ENOMEM
   */
  protected open(port: number, frames: readonly Uint8Array[], options: BatchOptions): void {
    this.check(port, frames, options);
    let longest = 0;
    for (const { length } of frames) longest = Math.max(longest, length);
    if (!this.batch.openFrame(longest)) this.device.noMemory();
  }

  protected check(port: number, frames: readonly Uint8Array[], options: BatchOptions): void {
    this.device.checkPort(port);
    checkFrames(frames, options);
  }
}
