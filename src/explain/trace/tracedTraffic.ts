/** Steers frames on the traced core as `Traffic` steers them on the core of the device. Nothing arrives anywhere. */
import { VPORT_MANAGER, VPORT_UPLINK } from "../../abi/engine.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import type { FunctionBase } from "../../model/base/deviceBase.js";
import type { Device } from "../../model/device/device.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import { TablePipeline } from "../../model/table/pipeline.js";
import { linkFor, wireLengthOf, type FrameOptions } from "../../model/traffic/input.js";
import { bareOutcome, type Outcome } from "../../model/traffic/outcome.js";
import { OutcomeReader, PendingWork } from "../../model/traffic/outcomeReader.js";
import { NOBODY, type LoopOptions, type SentFrames } from "../../model/traffic/origin.js";
import type { SendTraffic } from "../../model/traffic/send.js";
import type { StepBuilder } from "./steps.js";

/** Where a frame comes from. */
interface Origin {
  readonly port: number;
  readonly vport: number;
  readonly qp_num: number;
  readonly metadata: number;
}

/** One frame on its way, and the steps that it takes. */
export class TracedTraffic implements SendTraffic {
  readonly #device: Device;
  readonly #traced: TracedCore;
  readonly #steps: StepBuilder;
  readonly #options: FrameOptions;
  readonly #time: bigint;
  readonly #reader: OutcomeReader;

  constructor(device: Device, traced: TracedCore, steps: StepBuilder, options: FrameOptions) {
    this.#device = device;
    this.#traced = traced;
    this.#steps = steps;
    this.#options = options;
    this.#time = options.time ?? device.now();
    this.#reader = new OutcomeReader(device, traced.batch, false);
  }

  receive(port: number, frame: Uint8Array): Outcome {
    const { switched, received } = this.#pipeline(VPORT_MANAGER);
    const origin = { port, vport: VPORT_UPLINK, qp_num: 0, metadata: 0 };
    return this.#walk(origin, frame, switched || received, VPORT_MANAGER, 0, null, new PendingWork());
  }

  send(
    from: FunctionBase,
    port: number,
    frames: readonly Uint8Array[],
    pendingWork: PendingWork,
    { qp_num = 0, metadata = 0, transport = false }: SentFrames = {},
  ): Outcome[] {
    const { vport } = from;
    const { sent, sentByTransports } = this.#pipeline(vport);
    const first = transport ? sentByTransports : sent;
    const origin = { port, vport, qp_num, metadata };
    return frames.map((frame) => this.#walk(origin, frame, first, vport, 0, null, pendingWork));
  }

  loopBack(
    port: number,
    frames: readonly Uint8Array[],
    sender: QueuePair,
    pendingWork: PendingWork,
    { rdma = true, ownFlows = false }: LoopOptions = {},
  ): Outcome[] {
    const { looped, root } = this.#pipeline(VPORT_MANAGER);
    const first = rdma ? looped : root;
    if (first === 0) return frames.map(() => bareOutcome("miss", null, null));
    this.#steps.loopBack(first);
    const origin = { port, vport: VPORT_MANAGER, qp_num: sender.qp_num, metadata: 0 };
    const [handle, reads] = ownFlows ? [NOBODY, null] : [sender.handle, sender];
    return frames.map((frame) => this.#walk(origin, frame, first, VPORT_MANAGER, handle, reads, pendingWork));
  }

  #pipeline(vport: number): TablePipeline {
    return this.#device.function(vport).part(TablePipeline);
  }

  /**
   * @param first the first table, of function `of`
   * @param handle the queue whose frame is looped back; 0 for other frames
   */
  #walk(
    { port, vport, qp_num, metadata }: Origin,
    frame: Uint8Array,
    first: number,
    of: number,
    handle: number,
    sender: QueuePair | null,
    pendingWork: PendingWork,
  ): Outcome {
    const { batch } = this.#traced;
    batch.clear();
    const link = linkFor(0, this.#options);
    batch.put(frame, wireLengthOf(frame, this.#options), port, link, vport, qp_num, metadata);
    batch.stamp(this.#time);
    const events = this.#traced.steer(first, handle);
    const outcome = this.#reader.read(0, null, sender, pendingWork);
    this.#steps.add(events, of);
    return outcome;
  }
}
