/** Traces frames of a device: everything that happens to one, without an effect on the device. */
import { VPORT_MANAGER } from "../../abi/engine.js";
import type { CoreSource } from "../../engine/load.js";
import { TracedCore } from "../../engine/tracedCore.js";
import { checkOptions, wrongType } from "../../base/checks.js";
import { inCall, refuse } from "../../errors.js";
import { hexOf } from "../../base/hex.js";
import { Device } from "../../model/device/device.js";
import { LINK_TYPES } from "../../packet/capture/linkTypes.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import { TablePipeline } from "../../model/table/pipeline.js";
import { checkFrames, wireLengthOf, type FrameOptions } from "../../model/traffic/input.js";
import type { Outcome } from "../../model/traffic/outcome.js";
import { PendingWork } from "../../model/traffic/outcomeReader.js";
import { checkSend, steerSent, type SendOptions } from "../../model/traffic/send.js";
import { traceOutcome } from "./outcome.js";
import { RuleTerms } from "./ruleTerms.js";
import { StepBuilder, type LookupRecord } from "./steps.js";
import type { Trace, TraceOutcome, TraceSource } from "./trace.js";
import { TracedTraffic } from "./tracedTraffic.js";

/** Options of all traces. */
interface CommitOptions {
  /**
   * Whether the frame has its effect on the device, as with `device.receive` and `device.send`.
   * Without it counters, meters, connections, replay windows and queues stay as they are.
   * @default false
   */
  commit?: boolean;
}

/** Options of `trace`: those of `device.receive`, and `commit`. */
export interface TraceOptions extends FrameOptions, CommitOptions {}

/** Options of `traceSend`: those of `device.send`, and `commit`. */
export interface TraceSendOptions extends SendOptions, CommitOptions {}

export interface TracerOptions {
  /**
   * Where the traced core comes from, as `core` of `createDevice`. The first call for a device
   * decides. @default the file `traced.wasm` beside this module
   */
  core?: CoreSource | undefined;
}

/** What a dry run found. */
export interface TracedWalk {
  readonly trace: Trace;
  /** Its lookups; their keys are views that the next trace overwrites. */
  readonly lookups: readonly LookupRecord[];
}

/** @internal A frame that is to be steered on the traced core. */
export interface DryRun {
  readonly call: string;
  readonly from: TraceSource;
  readonly frame: Uint8Array;
  readonly options: FrameOptions;
  readonly steer: (traffic: TracedTraffic) => Outcome;
}

const OPENED = new WeakMap<Device, Promise<Tracer>>();

/**
 * Loads the traced core for a device. A device has one tracer.
 * @throws TypeError no device, or an unknown option
 * @example
 *     const tracer = await openTracer(device);
 *     for (const frame of frames) console.log(printTrace(tracer.trace(1, frame)));
 */
export function openTracer(device: Device, options: TracerOptions = {}): Promise<Tracer> {
  return inCall("openTracer", () => {
    if (!(device instanceof Device)) wrongType("device", "a Device", device);
    checkOptions("", options, { core: "any" });
    let tracer = OPENED.get(device);
    if (tracer === undefined) {
      tracer = TracedCore.create(device.core, (core) => device.setUp(core), options.core).then(
        (traced) => new Tracer(device, traced),
      );
      OPENED.set(device, tracer);
      tracer.catch(() => OPENED.delete(device));
    }
    return tracer;
  });
}

/**
 * Traces a frame that arrives on a port. The device stays as it is, unless `commit` is set.
 * @param port 1 to `ports`
 * @param frame the bytes from the link header on
 * @throws SteeringError as `device.receive`
 * @example
 *     console.log(printTrace(await trace(device, 1, frame)));
 */
export async function trace(
  device: Device,
  port: number,
  frame: Uint8Array,
  { core, ...options }: TraceOptions & TracerOptions = {},
): Promise<Trace> {
  return (await openTracer(device, { core })).trace(port, frame, options);
}

/**
 * Traces a frame that a raw packet queue pair sends: through the send path of its function, the
 * eSwitch, and the receive rules of a port that loops it back. A frame that leaves by a cabled port
 * is traced up to the port; trace it on the other device from there.
 * @throws SteeringError as `device.send`
 */
export async function traceSend(
  device: Device,
  qp: QueuePair,
  frame: Uint8Array,
  { core, ...options }: TraceSendOptions & TracerOptions = {},
): Promise<Trace> {
  return (await openTracer(device, { core })).traceSend(qp, frame, options);
}

/** Traces frames of one device. */
export class Tracer {
  readonly device: Device;
  /** @internal */
  readonly traced: TracedCore;
  readonly #terms: RuleTerms;

  /** @internal */
  constructor(device: Device, traced: TracedCore) {
    this.device = device;
    this.traced = traced;
    this.#terms = new RuleTerms(traced);
  }

  /** As the function `trace`, at once. */
  trace(port: number, frame: Uint8Array, { commit = false, ...options }: TraceOptions = {}): Trace {
    const timed = { ...options, time: options.time ?? this.device.now() };
    const { trace } = this.walk(port, frame, timed);
    return commit ? this.#commit(trace, () => this.device.receive(port, frame, timed)) : trace;
  }

  /** As the function `traceSend`, at once. */
  traceSend(qp: QueuePair, frame: Uint8Array, { commit = false, ...options }: TraceSendOptions = {}): Trace {
    const timed = { ...options, time: options.time ?? this.device.now() };
    const { trace } = this.walkSent(qp, frame, timed);
    return commit ? this.#commit(trace, () => this.device.send(qp, frame, timed)) : trace;
  }

  /** @internal The dry run of a frame that arrives on a port. */
  walk(port: number, frame: Uint8Array, options: FrameOptions): TracedWalk {
    return this.walkAll([this.arriving(port, frame, options)]);
  }

  /** @internal The dry run of a frame that a queue pair sends. */
  walkSent(qp: QueuePair, frame: Uint8Array, options: SendOptions): TracedWalk {
    return this.walkAll([this.sent(qp, frame, options)]);
  }

  /** @internal A frame that is to arrive on a port. */
  arriving(port: number, frame: Uint8Array, options: FrameOptions): DryRun {
    return inCall("trace", () => {
      this.device.checkPort(port);
      checkFrames([frame], options);
      const from = { kind: "wire", port } as const;
      return { call: "trace", from, frame, options, steer: (traffic) => traffic.receive(port, frame) };
    });
  }

  /** @internal A frame that a queue pair is to send. */
  sent(qp: QueuePair, frame: Uint8Array, options: SendOptions): DryRun {
    return inCall("traceSend", () => {
      const settings = checkSend(this.device, qp, frame, options);
      const { vport } = qp.context.function;
      const from = { kind: "queue", queue: qp.label, vport, port: qp.attributes.port_num } as const;
      const { time } = settings;
      const steer = (traffic: TracedTraffic): Outcome =>
        steerSent(traffic, qp, frame, settings, new PendingWork()).outcome;
      return { call: "traceSend", from, frame, options: { time }, steer };
    });
  }

  /** @internal Copies the memory of the device if it has changed. @throws ENOMEM */
  refresh(): void {
    const { device, traced } = this;
    if (traced.refresh(device.function(VPORT_MANAGER).part(TablePipeline).switched)) return;
    const hint = `a trace copies its ${device.memoryUsed} bytes`;
    refuse({ code: "ENOMEM", reason: "no_memory", path: "device", value: device, hint });
  }

  /** @internal Dry runs of frames, one after the other. @returns that of the last one */
  walkAll(runs: readonly DryRun[]): TracedWalk {
    const { traced } = this;
    const last = runs.at(-1) as DryRun;
    inCall(last.call, () => this.refresh());
    try {
      for (const run of runs.slice(0, -1)) this.#steer(run);
      const { steps, outcome } = this.#steer(last);
      steps.finish();
      const { frame, from, options } = last;
      const trace = {
        frame: {
          length: frame.length,
          wireLength: wireLengthOf(frame, options),
          linkType: options.linkType ?? LINK_TYPES.ETHERNET,
          bytes: hexOf(frame),
        },
        from,
        committed: false,
        complete: !traced.lost,
        steps: steps.steps,
        outcome: traceOutcome(outcome),
      };
      return { trace, lookups: steps.lookups };
    } finally {
      traced.undo();
    }
  }

  #steer({ call, steer, options }: DryRun): { steps: StepBuilder; outcome: Outcome } {
    const steps = new StepBuilder(this.device, this.traced, this.#terms);
    const traffic = new TracedTraffic(this.device, this.traced, steps, options);
    const outcome = inCall(call, () => steer(traffic));
    return { steps, outcome };
  }

  /** Lets the frame have its effect, which is that of the dry run. */
  #commit(trace: Trace, steer: () => Outcome): Trace {
    const outcome = traceOutcome(steer());
    if (!isSame(outcome, trace.outcome)) throw new Error(DISAGREES);
    return { ...trace, committed: true, outcome };
  }
}

const DISAGREES = "trace: the frame took a different path from its dry run; please report this";

function isSame(a: TraceOutcome, b: TraceOutcome): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
