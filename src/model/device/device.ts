/** The device: a program creates it, opens contexts on it, and gives it frames. */
import { NO_RULE, VPORT_MANAGER } from "../../abi/engine.js";
import { DEST_PORT } from "../../abi/outcome.js";
import type { Core } from "../../engine/core.js";
import { loadCore, loadCoreNow } from "../../engine/load.js";
import { inAsyncCall, inCall, refuse } from "../../errors.js";
import { DeviceBurst, type Burst } from "../traffic/burst.js";
import { FlowCache } from "../traffic/flowCache.js";
import {
  cableCounters,
  connect,
  disconnect,
  disconnectAll,
  isCarried,
  type FrameListener,
  type ListenerOptions,
} from "../traffic/cable.js";
import type { CableOptions } from "../traffic/line.js";
import { DeviceBase } from "../base/deviceBase.js";
import { DeviceFunction } from "./function.js";
import { letDevicesGo, register, unregister } from "./registry.js";
import { unsigned } from "../../base/checks.js";
import { DEFAULT_NAME, deviceParts, openCore, type CheckedParts, type DeviceOptions } from "./options.js";
import type { BatchOptions, FrameOptions } from "../traffic/input.js";
import type { HitRule, Outcome, ReasonName } from "../traffic/outcome.js";
import { rulesHit } from "../traffic/outcomeReader.js";
import type { ParsedFrame, ParsedHeaders } from "../../packet/parsedFrame.js";
import { portOf, type CableCounters } from "../base/port/ports.js";
import { listen, type EventListener, type EventName } from "../monitor/events.js";
import { metricsOf, type DeviceMetrics } from "../monitor/metrics.js";
import type { HostRules } from "../flow/hostRules.js";
import type { QueuePair } from "../queuePair/queuePair.js";
import { sendFrame, sendFrom, type SendOptions } from "../traffic/send.js";
import { Traffic } from "../traffic/receive.js";

/**
 * Creates a device. The only asynchronous call: it compiles the core, once in a process.
 * @throws SteeringError EINVAL: an unknown option or a bad value; TypeError: a value of the wrong
 *   type
 * @example
 *     const device = await createDevice({ ports: 2, profile: "connectx7" });
 */
export async function createDevice(options: DeviceOptions = {}): Promise<Device> {
  return inAsyncCall("createDevice", async () => {
    const parts = deviceParts(options);
    const device = new Device(openCore(await loadCore(options.core), options), parts, options);
    await letDevicesGo();
    return device;
  });
}

/**
 * Creates a device at once, in a process that has compiled the core: after the first `createDevice`, or
 * with a compiled module or bytes as `core`. In Node.js the core is read from its file.
 * @throws SteeringError EINVAL: as `createDevice`, or a core that has to be fetched first; TypeError
 * @example
 *     await createDevice(); // in a browser: fetches and compiles the core
 *     const devices = Array.from({ length: 16 }, (_, n) => createDeviceSync({ name: `nic${n}` }));
 */
export function createDeviceSync(options: DeviceOptions = {}): Device {
  return inCall("createDeviceSync", () => {
    const parts = deviceParts(options);
    const core = loadCoreNow(options.core);
    if (core === null) {
      const hint = "the core has to be fetched first: await createDevice once, or give a compiled module or bytes";
      return refuse({ code: "EINVAL", reason: "not_loaded", path: "core", value: options.core ?? null, hint });
    }
    return new Device(openCore(core, options), parts, options);
  });
}

export class Device extends DeviceBase {
  /**
   * Rules of the host's applications. They get the frames that no flow and no direct rule of the PF
   * took.
   */
  readonly hostRules: HostRules;
  /** Its number among the devices of the process, from 0 (ibv_get_device_index(3)). */
  readonly index: number;
  /** The flow cache: lookup results by key. */
  readonly cache: FlowCache;
  /** @internal */
  readonly traffic: Traffic;
  private readonly _functions: readonly DeviceFunction[];

  /** @internal */
  constructor(
    core: Core,
    parts: CheckedParts,
    options: Pick<
      DeviceOptions,
      "name" | "vports" | "countHits" | "seed" | "now" | "managedFlowSteering" | "asyncRules" | "copyFrames"
    >,
    traffic = (device: Device): Traffic => new Traffic(device),
  ) {
    super(core, parts, {
      name: options.name ?? DEFAULT_NAME,
      vports: options.vports ?? 0,
      seed: options.seed ?? 0,
      now: options.now,
      managedFlowSteering: options.managedFlowSteering ?? true,
      asyncRules: options.asyncRules ?? false,
      copyFrames: options.copyFrames ?? false,
    });
    this.cache = new FlowCache(core, parts.cacheEntries);
    this.setUp(core);
    this._functions = Array.from({ length: 1 + this.vports }, (_, vport) => new DeviceFunction(this, vport));
    this.hostRules = this.function(VPORT_MANAGER).hostRules;
    this.traffic = traffic(this);
    if (options.countHits === true) this.countHits();
    this.index = register(this);
  }

  /** A function: 0 is the PF, 1 the first VF. @throws SteeringError EINVAL: no such function */
  override function(vport: number): DeviceFunction {
    return inCall("device.function", () => {
      const found = this._functions[unsigned("vport", vport, 32)];
      if (found !== undefined) return found;
      const hint = this.vports === 0 ? "0; see vports of createDevice" : `0 to ${this.vports}`;
      return refuse({
        code: "EINVAL",
        reason: "out_of_range",
        path: "vport",
        value: vport,
        hint,
      });
    });
  }

  /**
   * Steers one frame that arrives on a port.
   * @param port 1 to `ports`
   * @param frame the bytes from the link header on, at most 262,144 of them. Destinations of an
   *   unchanged frame refer to this array (`copyFrames`)
   * @param options link type, length on the wire, time of arrival
   * @returns what happened to the frame
   * @throws SteeringError EINVAL: no such port, a closed device, a frame that is too long
   * @example
   *     const { verdict, to } = device.receive(1, frame);
   */
  receive(port: number, frame: Uint8Array, options: FrameOptions = {}): Outcome {
    return inCall("receive", () => this.traffic.receiveOne(port, frame, options));
  }

  /**
   * Steers frames that arrive on a port, in order. The outcomes equal those of the frames one by
   * one. Destinations of unchanged frames refer to the given arrays (`copyFrames`).
   * @param options for all frames, or a list with one entry a frame
   * @returns one outcome a frame
   * @throws as `receive`; then no frame was steered
   */
  receiveBatch(port: number, frames: readonly Uint8Array[], options: BatchOptions = {}): Outcome[] {
    return inCall("receive", () => this.traffic.receive(port, frames, options));
  }

  /** @internal REACHABLE_*: the kinds of state and chance that received frames can reach. */
  get reachable(): number {
    return this.traffic.reachable;
  }

  /** Opens a burst: reusable room for frames and their outcomes as columns (docs/frames.md). */
  openBurst(): Burst {
    return inCall("device.openBurst", () => new DeviceBurst(this, this.traffic));
  }

  /**
   * The rules of a number in the column `rules` of a burst: all identical flows of an entry; none
   * for NO_RULE.
   */
  rulesOf(number: number): readonly HitRule[] {
    return number === NO_RULE ? [] : rulesHit(this.installed.at(number), null);
  }

  /** The name, as in outcomes, of a destination in the columns of a burst. */
  destinationName(queue: number, kind: number): string {
    const one = (kind & DEST_PORT) === 0 ? this.queues.get(queue) : this.hardware.ports[queue - 1];
    if (one !== undefined) return one.label;
    const hint = "queue and kind are those of one row of a burst, and the queue is there still";
    return refuse({
      code: "EINVAL",
      call: "device.destinationName",
      reason: "out_of_range",
      path: "queue",
      value: queue,
      hint,
    });
  }

  /**
   * Sends a frame from a raw packet queue pair (in RTS, or a sink). When the call returns, the
   * frame has passed the send path of its function and the eSwitch, and has reached the queues and
   * ports that rules chose. The queue pair's send queue and completions take no part. Destinations
   * of an unchanged frame refer to `frame` (`copyFrames`).
   * @throws SteeringError EINVAL: a queue pair that does not send, a frame shorter than 14 bytes or
   *   too long
   */
  send(qp: QueuePair, frame: Uint8Array, options: SendOptions = {}): Outcome {
    return inCall("send", () => sendFrame(this.traffic, qp, frame, options));
  }

  /**
   * Connects a port to a port of this or of another device, or to a function that receives each
   * frame that leaves the port. Without options frames arrive there before the call that sent them
   * returns. With options they take time: they arrive when the clock of the device at the far end has
   * come to it (`nextDeadline`, `advanceTo`; docs/embedding.md).
   * @param options of a cable: delay, rate, queue, chance, the same in both directions; of a function:
   *   whether it carries frames on later
   * @throws SteeringError EINVAL: no such port, a closed device, an option out of range; EBUSY: one of
   *   the ports is connected already
   * @example
   *     a.connect(1, b, 1, { delay: 2_000n, rate: 100e9, queue: 256, loss: 0.001, seed: 7 });
   */
  connect(port: number, to: Device, otherPort: number, options?: CableOptions): void;
  connect(port: number, to: FrameListener, options?: ListenerOptions): void;
  connect(port: number, to: Device | FrameListener, more?: number | ListenerOptions, options?: CableOptions): void {
    inCall("connect", () => connect(this, port, to, more, options));
  }

  /**
   * What happened to the frames that left a port by a cable with options, or by the last one if it was
   * removed; null for any other port.
   * @throws SteeringError EINVAL: no such port
   */
  cableCounters(port: number): CableCounters | null {
    return inCall("device.cableCounters", () => cableCounters(portOf("port", this, port)));
  }

  /** Removes the cable of a port, if there is one. @throws SteeringError EINVAL: no such port */
  disconnect(port: number): void {
    inCall("disconnect", () => disconnect(this, port));
  }

  /**
   * Parses frames without steering them: every field of each frame, whether or not rules match it.
   */
  override parseBatch(frames: readonly Uint8Array[], options: BatchOptions = {}): ParsedFrame[] {
    return inCall("parse", () => this.traffic.parse(frames, options));
  }

  /**
   * As `parseBatch`, without the fields: the headers of each frame, and where parsing stopped. It is
   * several times as fast.
   */
  parseHeaders(frames: readonly Uint8Array[], options: BatchOptions = {}): ParsedHeaders[] {
    return inCall("parseHeaders", () => this.traffic.parseHeaders(frames, options));
  }

  /**
   * Counts by reason since the device was made: frames that ended for it, and copies that did not
   * reach their destination.
   */
  reasons(): Record<ReasonName, bigint> {
    return this.traffic.reasons();
  }

  /**
   * What the device has counted and what it holds, as plain data; `prometheusText` writes it for
   * Prometheus (docs/metrics.md).
   */
  metrics(): DeviceMetrics {
    return metricsOf(this);
  }

  /**
   * Calls `listener` at each event of this kind from now on (docs/metrics.md). Without listeners
   * events cost nothing. An error of a listener does not reach the call that made the event.
   * @returns removes the listener
   * @throws SteeringError EINVAL: no such event, a closed device
   * @example
   *     const stop = device.on("drop", ({ reason, rule }) => console.log(reason, rule?.name));
   */
  on<E extends EventName>(event: E, listener: EventListener<E>): () => void {
    return listen(this, event, listener);
  }

  /**
   * Closes the device and removes its cables. @throws SteeringError EBUSY while a context is open
   */
  close(): void {
    inCall("device.close", () => {
      if (this.users > 0) refuse({ code: "EBUSY", reason: "in_use", path: "device", value: this });
      disconnectAll(this);
      this.markClosed();
      unregister(this);
    });
  }

  /** @internal */
  override transmit(sender: QueuePair, frame: Uint8Array): boolean {
    return isCarried(() => sendFrom(this.traffic, sender, frame));
  }
}
