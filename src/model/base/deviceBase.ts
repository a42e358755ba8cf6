/**
 * A device and its functions as every object of the model knows them: identity, core, limits,
 * names, clock. device/device.ts and device/function.ts extend these classes and steer frames.
 * Other folders of the model import this file and never those two: so the model has no import
 * circle.
 */
import { VPORT_MANAGER } from "../../abi/engine.js";
import { rangeText, wrongType } from "../../base/checks.js";
import type { Core } from "../../engine/core.js";
import type { DomainType } from "./domainType.js";
import { inCall, refuse } from "../../errors.js";
import { NamedPrintable, type PrintedFields } from "../../base/printable.js";
import type { ParsedFrame } from "../../packet/parsedFrame.js";
import type { ParserDeclaration } from "./parser.js";
import { Clock } from "./time/clock.js";
import type { Hardware } from "./port/hardware.js";
import { InstalledRules, type InstalledRule } from "./installed.js";
import { HitCounts, sumOf, tableOf, type Hits } from "./hitCounts.js";
import { NamedObjects } from "./named.js";
import type { Observer } from "./observer.js";
import type { Profile } from "../profile/profile.js";

/** The parts of a device besides its core. */
export interface DeviceParts {
  readonly profile: Profile;
  readonly parser: ParserDeclaration;
  readonly hardware: Hardware;
}

/** The options of a device, with their defaults filled in. */
export interface DeviceIdentity {
  readonly name: string;
  readonly vports: number;
  readonly seed: number;
  /** The clock in nanoseconds; a virtual clock where it is undefined. */
  readonly now: (() => bigint) | undefined;
  readonly managedFlowSteering: boolean;
  readonly asyncRules: boolean;
  readonly copyFrames: boolean;
}

/** Which table it is that the core knows by its address. */
export interface TablePlace {
  readonly domain: DomainType;
  readonly vport: number;
  /** Its object; null for the tables of stages, which objects share. */
  readonly object: { readonly name: string } | null;
  /** Its stage in the table pipeline (model/table/pipeline.ts); null for other tables. */
  readonly stage: string | null;
  /** What outcomes say of it, made by the first frame that missed it. */
  missed?: readonly { readonly domain: DomainType; readonly vport: number; readonly table: string }[];
}

/** A queue that the core delivers to. */
export interface LabelledQueue {
  /** Its name in outcomes. */
  readonly label: string;
}

export abstract class DeviceBase extends NamedPrintable {
  readonly name: string;
  readonly profile: Profile;
  /** The seed of everything random. */
  readonly seed: number;
  /** The time in nanoseconds. */
  readonly now: () => bigint;
  /** @internal The clock, and what waits on it. */
  readonly clock: Clock;
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
  /** Whether destinations get copies of unchanged frames. */
  readonly copyFrames: boolean;
  /** @internal The tables of the core, by their addresses. */
  readonly tables = new Map<number, TablePlace>();
  /**
   * @internal Whether it has stateful actions (meters, connections, first-hit flags). Frames need
   *   times then.
   */
  stateful = false;
  /** VFs. */
  readonly vports: number;
  /** @internal Queues by their handle in the core. */
  readonly queues = new Map<number, LabelledQueue>();
  /** @internal Queue pairs and work queues by their number. */
  readonly receivers = new Map<number, object>();
  /** @internal Objects that C bytes name by a pointer. */
  readonly named = new NamedObjects();
  /** @internal Counters, ASO objects and TIRs that are not destroyed. */
  readonly resources = new Set<object>();
  /** @internal Everything that has a rule in the core. */
  readonly installed = new InstalledRules();
  /** @internal The counts of hits; null while they are not counted. */
  hitCounts: HitCounts | null = null;
  /** @internal The listener of its events; null without one. */
  observer: Observer | null = null;
  /** @internal Whether peers are other processes, which act only while the clock goes on: nothing is retried at once. */
  realTime = false;
  /** @internal Contexts open. */
  users = 0;
  private readonly _numbers = new Map<string, number>();
  private _closed = false;

  protected constructor(core: Core, { profile, parser, hardware }: DeviceParts, identity: DeviceIdentity) {
    super();
    this.core = core;
    this.parser = parser;
    this.hardware = hardware;
    this.profile = profile;
    this.name = identity.name;
    this.vports = identity.vports;
    this.seed = identity.seed;
    this.clock = new Clock(identity.now);
    this.now = this.clock.now;
    this.managedFlowSteering = identity.managedFlowSteering;
    this.asyncRules = identity.asyncRules;
    this.copyFrames = identity.copyFrames;
  }

  /** A function: 0 is the PF, 1 the first VF. @throws SteeringError EINVAL: no such function */
  abstract function(vport: number): FunctionBase;

  /**
   * @internal Sends a checked frame of a queue pair: through the send path of its function and the
   *   eSwitch, to the queues and ports that rules choose. Returns whether it is under way now.
   */
  abstract transmit(sender: object, frame: Uint8Array): boolean;

  /** The headers and fields that the parser finds in each frame. Nothing is steered. */
  abstract parseBatch(frames: readonly Uint8Array[]): ParsedFrame[];

  /** Physical ports, numbered from 1. */
  get ports(): number {
    return this.hardware.ports.length;
  }

  /**
   * Moves the virtual clock forward, and runs what is due on the way, as `advanceTo` does.
   * @param nanoseconds 0n or more; the clock ends at 2^64 - 1
   * @throws TypeError no bigint; SteeringError EINVAL a negative number, more than the clock holds,
   *   or a device with a clock of the program (`now` of createDevice)
   */
  advance(nanoseconds: bigint): void {
    inCall("device.advance", () => this.clock.advance(nanoseconds));
  }

  /**
   * Moves the virtual clock to a time, and runs what is due until then, in the order of its times:
   * frames arrive from cables with a delay, connections repeat packets and give up. With a clock of
   * the program (`now` of createDevice), which must have reached `time`, it runs what is due.
   * @param time nanoseconds, not before the time of the clock
   * @throws TypeError no bigint; SteeringError EINVAL the clock would go back, or a clock of the
   *   program has not reached `time`; EBUSY a call from what it runs, such as the listener of a port
   * @example
   *     for (let at = device.nextDeadline(); at !== null; at = device.nextDeadline()) device.advanceTo(at);
   */
  advanceTo(time: bigint): void {
    inCall("device.advanceTo", () => this.clock.advanceTo(time));
  }

  /** When something is due next, in nanoseconds; null while nothing waits. Never before `now()`. */
  nextDeadline(): bigint | null {
    return this.clock.nextDeadline;
  }

  /**
   * Counts packets and bytes of rules, ports and queues from now on (docs/metrics.md). Steering
   * takes a little longer then.
   * @param on false ends counting and forgets the counts. @default true
   * @throws SteeringError EINVAL: a closed device; ENOMEM: no memory for the counters
   */
  countHits(on = true): void {
    inCall("device.countHits", () => {
      this.checkOpen();
      if (on === (this.hitCounts !== null)) return;
      this.hitCounts?.end();
      this.hitCounts = on ? HitCounts.start(this.core, this.ports, this.installed.room) : null;
      this.installed.counts = this.hitCounts;
      if (on && this.hitCounts === null) this.allocated(0);
      // Queues have their counts in their own records.
      for (const handle of this.queues.keys()) this.hitCounts?.beginQueue(handle);
    });
  }

  /** @internal What these rules have counted. @throws EINVAL hits are not counted */
  hitsOf(rules: Iterable<InstalledRule>): Hits {
    const counts = this._counts();
    return sumOf(Array.from(rules, (rule) => counts.of(rule)));
  }

  /** @internal What the rules of a table of the core have counted, the removed ones included. */
  hitsIn(table: number): Hits {
    const counts = this._counts();
    const rules = [...this.installed].filter((rule) => tableOf(rule) === table);
    return sumOf([counts.ofRemoved(table), this.hitsOf(rules)]);
  }

  private _counts(): HitCounts {
    if (this.hitCounts !== null) return this.hitCounts;
    const hint = "call device.countHits() first, or createDevice({ countHits: true })";
    return refuse({ code: "EINVAL", reason: "not_counted", path: "device", value: this, hint });
  }

  /** Bytes that tables, rules, counters and queues hold. */
  get memoryUsed(): number {
    return this.core.exports.arenaUsed() >>> 0;
  }

  get closed(): boolean {
    return this._closed;
  }

  protected override printedFields(): PrintedFields {
    return {
      name: this.name,
      ports: this.ports,
      vports: this.vports,
      profile: this.profile.name,
      seed: this.seed,
      contexts: this.users,
      rules: [...this.installed].length,
      memoryUsed: this.memoryUsed,
      closed: this._closed,
    };
  }

  /** @internal Makes the settings that no memory of a core holds: parser and seed. */
  setUp(core: Core): void {
    this.parser.declare(core);
    const seed = BigInt.asUintN(64, BigInt(this.seed));
    core.exports.setSeed(Number(seed >> 32n) | 0, Number(seed & 0xffffffffn) | 0);
  }

  /** @internal */
  protected markClosed(): void {
    this._closed = true;
  }

  /** @internal Gives the next free number of a kind and takes `count` numbers. */
  nextNumber(kind: string, count = 1): number {
    const next = this._numbers.get(kind) ?? 0;
    this._numbers.set(kind, next + count);
    return next;
  }

  /** @internal The address that the core gave. @throws ENOMEM the core gave none (0) */
  allocated(address: number): number {
    return address !== 0 ? address >>> 0 : this.noMemory();
  }

  /** @internal @throws ENOMEM */
  noMemory(): never {
    const hint = `${this.memoryUsed} bytes are in use; see limits.memory of createDevice`;
    return refuse({ code: "ENOMEM", reason: "no_memory", path: "device", value: this, hint });
  }

  /** @internal */
  checkOpen(): void {
    if (this._closed) refuse({ code: "EINVAL", reason: "object_destroyed", path: "device", value: this });
  }

  /** @internal */
  checkPort(port: number): void {
    this.checkOpen();
    if (Number.isInteger(port) && port >= 1 && port <= this.ports) return;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "port", value: port, hint: rangeText(1, this.ports) });
  }
}

/**
 * The part of a function that one folder of the model owns, such as its flows. `FunctionBase.part`
 * makes it on first use.
 */
export type FunctionPart<T extends object> = new (of: FunctionBase) => T;

/**
 * A function of a device: the PF, which manages the eSwitch, or a VF (docs/rules.md, "Domains,
 * functions and the eSwitch"). It uses all ports of the device. Each folder of the model keeps its
 * own part of it: table pipeline, flows, host rules, anchors.
 */
export class FunctionBase extends NamedPrintable {
  readonly device: DeviceBase;
  /** 0 for the PF, VFs from 1. */
  readonly vport: number;
  /** The name of the device; a VF appends `/vf1`. */
  readonly name: string;
  private readonly _parts = new Map<FunctionPart<object>, object>();

  /** @internal */
  constructor(device: DeviceBase, vport: number) {
    super();
    this.device = device;
    this.vport = vport;
    this.name = this.managesSwitch ? device.name : `${device.name}/vf${vport}`;
  }

  /** Whether it is the PF. */
  get managesSwitch(): boolean {
    return this.vport === VPORT_MANAGER;
  }

  /** @internal The part of this class, made on first use. */
  part<T extends object>(type: FunctionPart<T>): T {
    let part = this._parts.get(type);
    if (part === undefined) this._parts.set(type, (part = new type(this)));
    return part as T;
  }
}

/** The function that a caller named: a device stands for its PF. */
export function functionFrom(path: string, of: DeviceBase | FunctionBase): FunctionBase {
  if (of instanceof DeviceBase) return of.function(VPORT_MANAGER);
  if (of instanceof FunctionBase) return of;
  wrongType(path, "a Device or a DeviceFunction", of);
}
