/** A device: ports that frames come in on, the objects made on it, a clock, and the one place that steers. */
import { DEST_PORT, NO_RULE, VPORT_MANAGER } from "../../abi/engine.js";
import type { Core } from "../../engine/core.js";
import { loadCore, type CoreSource } from "../../engine/load.js";
import { refuse } from "../../errors.js";
import { DeviceBurst, type Burst } from "../traffic/burst.js";
import { FlowCache, entriesFrom, type CacheOptions } from "../traffic/flowCache.js";
import { connect, disconnect, disconnectAll, type FrameListener } from "./cable.js";
import { DeviceFunction } from "./function.js";
import { unsigned } from "../../checks.js";
import { Hardware } from "./hardware.js";
import type { BatchOptions, FrameOptions } from "../traffic/input.js";
import type { HitRule, Outcome, ReasonName } from "../traffic/outcome.js";
import { rulesHit } from "../traffic/outcomeReader.js";
import type { DeviceLimits } from "../base/limits.js";
import type { ParsedFrame } from "../../packet/parsedFrame.js";
import { ParserDeclaration, type ParserOptions } from "../match/parser.js";
import type { PortOptions } from "../base/ports.js";
import { profileNamed, type Profile } from "../base/profile.js";
import type { HostQueue, HostRules } from "../flow/hostRules.js";
import { InstalledRules } from "../rule/installed.js";
import { NamedObjects } from "../base/named.js";
import type { QueuePair } from "../queue/queuePair.js";
import type { Rule } from "../rule/rule.js";
import { sendFrame, type SendOptions } from "../traffic/send.js";
import { Traffic } from "../traffic/receive.js";
import type { WorkQueue } from "../queue/workQueue.js";

export interface DeviceOptions extends PortOptions {
  /** Devices that are connected to each other want different names: MACs follow from them. @default "flowsteer0" */
  name?: string;
  /** Physical ports, numbered from 1. @default 1 */
  ports?: number;
  /** Functions besides the PF: VFs, numbered from 1; at most 255. @default 0 */
  vports?: number;
  /** What is refused beyond what the manual pages refuse. @default "manual" */
  profile?: string;
  /** Seed of everything that is left to chance: an integer, taken modulo 2^64. @default 0 */
  seed?: number;
  /** The clock in nanoseconds. @default a virtual clock that `advance` moves */
  now?: () => bigint;
  /** What the device has less of than it could have; `ibv_query_device` says what that is. */
  limits?: Partial<DeviceLimits> & {
    /** Bytes for tables, rules, counters and queues; a call that needs more is ENOMEM. */
    memory?: number;
    /** Flows alive (ibv_create_flow); one more is ENOMEM. @default as many as memory holds */
    flows?: number;
  };
  /** Whether ibv_create_flow steers: IBV_DEVICE_MANAGED_FLOW_STEERING. @default true */
  managedFlowSteering?: boolean;
  /**
   * Whether direct rules, but for those in root tables, are made and destroyed only by the next mlx5dv_dr_domain_sync of their
   * domain. @default false
   */
  asyncRules?: boolean;
  /** What lookups find is kept for frames of the same key; false or 0 for no cache. @default 65,536 entries */
  cache?: CacheOptions | false | 0;
  /** Programmable samples, and the Geneve option that rules can ask about. @default none */
  parser?: ParserOptions;
  /** Where the core comes from. @default the file beside this module */
  core?: CoreSource;
}

/** Opens a device. The only asynchronous call: it compiles the core, once for each process. */
export async function createDevice(options: DeviceOptions = {}): Promise<Device> {
  const parts = deviceParts("createDevice", options);
  return new Device(openCore(await loadCore(options.core), parts, options), parts, options);
}

/** What a device has beside its core. */
export interface DeviceParts {
  readonly profile: Profile;
  readonly parser: ParserDeclaration;
  readonly hardware: Hardware;
  /** Entries of its cache of decisions. */
  readonly entries: number;
}

/** @internal Checks the options of a device. */
export function deviceParts(call: string, options: DeviceOptions): DeviceParts {
  const profile = profileNamed(options.profile ?? "manual");
  const ports = unsigned(call, "ports", options.ports ?? 1, 8);
  if (ports < 1)
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "ports", value: ports, hint: "1 to 255" });
  unsigned(call, "vports", options.vports ?? 0, 8);
  const memory = options.limits?.memory;
  if (memory !== undefined) unsigned(call, "limits.memory", memory, 32);
  const { seed = 0 } = options;
  if (typeof seed !== "number") throw new TypeError(`${call}: seed must be a number, not ${typeof seed}`);
  if (!Number.isSafeInteger(seed))
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "seed", value: seed, hint: "an integer" });
  if (options.limits?.flows !== undefined) unsigned(call, "limits.flows", options.limits.flows, 32);
  const hardware = new Hardware(call, options.name ?? DEFAULT_NAME, ports, options);
  const entries = entriesFrom(call, options.cache);
  return { profile, parser: new ParserDeclaration(call, options.parser ?? {}), hardware, entries };
}

/** @internal Makes a core that of a device. */
export function openCore(core: Core, { parser }: DeviceParts, { limits }: DeviceOptions): Core {
  if (limits?.memory !== undefined) core.exports.limitArena(limits.memory);
  parser.declare(core);
  return core;
}

const DEFAULT_NAME = "flowsteer0";

export class Device {
  readonly name: string;
  readonly ports: number;
  readonly profile: Profile;
  readonly seed: number;
  /** Nanoseconds. */
  readonly now: () => bigint;
  /** @internal */
  readonly core: Core;
  /** @internal */
  readonly parser: ParserDeclaration;
  /** @internal */
  readonly hardware: Hardware;
  /** Whether ibv_create_flow steers. */
  readonly managedFlowSteering: boolean;
  /** Whether direct rules wait for a sync of their domain. */
  readonly asyncRules: boolean;
  /** @internal Whether it has meters, connections or flags: frames have times then. */
  remembers = false;
  /** VFs. */
  readonly vports: number;
  /** Rules of the host's applications, which get what flows and direct rules of the PF leave. */
  readonly hostRules: HostRules;
  /** @internal Queues by their handle in the core. */
  readonly queues = new Map<number, QueuePair | WorkQueue | HostQueue>();
  /** @internal Queue pairs and work queues by their number. */
  readonly receivers = new Map<number, QueuePair | WorkQueue>();
  /** @internal Objects that C programs hold by pointers. */
  readonly named = new NamedObjects();
  /** @internal What has a rule in the core. */
  readonly installed = new InstalledRules();
  /** @internal Contexts open. */
  users = 0;
  /** What lookups have found, for frames of the same key. */
  readonly cache: FlowCache;
  /** @internal */
  readonly traffic: Traffic;
  readonly #functions: readonly DeviceFunction[];
  readonly #numbers = new Map<string, number>();
  #clock = 0n;
  #closed = false;

  /** @internal */
  constructor(
    core: Core,
    { profile, parser, hardware, entries }: DeviceParts,
    options: Pick<DeviceOptions, "name" | "vports" | "seed" | "now" | "limits" | "managedFlowSteering" | "asyncRules">,
    traffic = (device: Device): Traffic => new Traffic(device),
  ) {
    this.core = core;
    this.parser = parser;
    this.hardware = hardware;
    this.profile = profile;
    this.cache = new FlowCache(core, entries);
    this.name = options.name ?? DEFAULT_NAME;
    this.ports = hardware.ports.length;
    this.seed = options.seed ?? 0;
    const seed = BigInt.asUintN(64, BigInt(this.seed));
    core.exports.setSeed(Number(seed >> 32n) | 0, Number(seed & 0xffffffffn) | 0);
    this.now = options.now ?? (() => this.#clock);
    this.managedFlowSteering = options.managedFlowSteering ?? true;
    this.asyncRules = options.asyncRules ?? false;
    this.vports = options.vports ?? 0;
    const flows = { alive: 0, most: options.limits?.flows ?? Infinity };
    this.#functions = Array.from({ length: 1 + this.vports }, (_, vport) => new DeviceFunction(this, vport, flows));
    this.hostRules = this.function(VPORT_MANAGER).hostRules;
    this.traffic = traffic(this);
  }

  /** Moves the virtual clock. */
  advance(nanoseconds: bigint): void {
    this.#clock += nanoseconds;
  }

  /** A function: 0 is the PF, 1 the first VF. @throws SteeringError EINVAL: no such function */
  function(vport: number): DeviceFunction {
    const found = this.#functions[unsigned("device.function", "vport", vport, 32)];
    if (found !== undefined) return found;
    const hint = this.vports === 0 ? "0; see vports of createDevice" : `0 to ${this.vports}`;
    return refuse({
      code: "EINVAL",
      call: "device.function",
      reason: "out_of_range",
      path: "vport",
      value: vport,
      hint,
    });
  }

  /** A frame arrives on a port (1 ..). */
  receive(port: number, frame: Uint8Array, options: FrameOptions = {}): Outcome {
    return this.receiveBatch(port, [frame], options)[0] as Outcome;
  }

  /** Frames arrive on a port, in order; one outcome for each. The same rules and frames give what one by one gives. */
  receiveBatch(port: number, frames: readonly Uint8Array[], options: BatchOptions = {}): Outcome[] {
    return this.traffic.receive("receive", port, frames, options);
  }

  /** Room for frames and what becomes of them, to be used again and again: docs/frames.md. */
  openBurst(): Burst {
    return new DeviceBurst(this, this.traffic);
  }

  /** The rules of a number in the column `rules` of a burst; of identical flows all, of NO_RULE none. */
  rulesOf(number: number): readonly HitRule[] {
    return number === NO_RULE ? [] : rulesHit(this.installed.at(number), null);
  }

  /** What destination a queue and a kind in the columns of a burst are, as `name` of outcomes says it. */
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
   * A raw packet queue pair (in RTS, or a sink) sends a frame, which has run its whole way when the call returns: through the
   * send path of its function, the eSwitch, back to who on the port wants it, out of the port. The queue pair's send queue and
   * completions have no part in it.
   * @throws SteeringError EINVAL: a queue pair that does not send, a frame of less than 14 bytes or too many
   */
  send(qp: QueuePair, frame: Uint8Array, options: SendOptions = {}): Outcome {
    return sendFrame("send", this, qp, frame, options);
  }

  /**
   * Connects a port to a port of another device, to another port of this one, to itself, or to a function that gets each frame
   * that leaves it. Frames arrive there before the call that sent them returns.
   * @throws SteeringError EINVAL: no such port, or a closed device; EBUSY: one of the ports is connected already
   */
  connect(port: number, to: Device, otherPort: number): void;
  connect(port: number, to: FrameListener): void;
  connect(port: number, to: Device | FrameListener, otherPort?: number): void {
    connect("connect", this, port, to, otherPort);
  }

  /** Takes away what is connected to a port, if anything is. @throws SteeringError EINVAL: no such port */
  disconnect(port: number): void {
    disconnect("disconnect", this, port);
  }

  /** What the parser sees in each frame: every field, whether rules read it or not. Nothing is steered. */
  parseBatch(frames: readonly Uint8Array[], options: BatchOptions = {}): ParsedFrame[] {
    return this.traffic.parse("parse", frames, options);
  }

  /** Frames that ended for each reason since the device was made, and destinations that were not reached beside that. */
  reasons(): Record<ReasonName, bigint> {
    return this.traffic.reasons();
  }

  /** Bytes that tables, rules, counters and queues hold. */
  get memoryUsed(): number {
    return this.core.exports.arenaUsed() >>> 0;
  }

  /** What is connected to its ports is disconnected. @throws SteeringError EBUSY while a context is open */
  close(): void {
    const call = "device.close";
    if (this.users > 0) refuse({ code: "EBUSY", call, reason: "in_use", path: "device", value: this });
    disconnectAll(call, this);
    this.#closed = true;
  }

  get closed(): boolean {
    return this.#closed;
  }

  // What follows serves the model, and is no part of the published types.

  /** @internal Direct rules alive. */
  rules(): Iterable<Rule> {
    return this.installed.rules();
  }

  /** @internal The next free number of a kind, and `count` of them taken. */
  nextNumber(kind: string, count = 1): number {
    const next = this.#numbers.get(kind) ?? 0;
    this.#numbers.set(kind, next + count);
    return next;
  }

  /** @internal The address that the core gave; ENOMEM where it had none. */
  allocated(call: string, address: number): number {
    if (address !== 0) return address >>> 0;
    const hint = `${this.memoryUsed} bytes are in use; see limits.memory of createDevice`;
    return refuse({ code: "ENOMEM", call, reason: "no_memory", path: "device", value: this, hint });
  }

  /** @internal */
  checkOpen(call: string): void {
    if (this.#closed) refuse({ code: "EINVAL", call, reason: "object_destroyed", path: "device", value: this });
  }

  /** @internal */
  checkPort(call: string, port: number): void {
    this.checkOpen(call);
    if (Number.isInteger(port) && port >= 1 && port <= this.ports) return;
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "port", value: port, hint: `1 to ${this.ports}` });
  }
}
