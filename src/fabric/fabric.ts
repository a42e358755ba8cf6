/** A fabric: devices, the cables between them, and one clock (docs/in-your-simulator.md). */
import { checkOptions, checkTime, unsigned } from "../base/checks.js";
import { Printable, type PrintedFields } from "../base/printable.js";
import { inCall, mistyped, refuse } from "../errors.js";
import { portOf, type CableCounters, type Port } from "../model/base/port/ports.js";
import { Device } from "../model/device/device.js";
import type { DeviceMetrics } from "../model/monitor/metrics.js";
import { prometheusText } from "../model/monitor/prometheus.js";
import { farEnd } from "../model/traffic/cable.js";
import { lineSettings } from "../model/traffic/line.js";
import { openCapture, type CaptureTarget } from "./captures.js";
import { LINK_OPTIONS, portNamed, refuseDuplicate, refuseUnknown, type Link } from "./links.js";
import { saveDevices } from "../snapshot/save.js";
import type { SnapshotOptions } from "../snapshot/snapshot.js";
import { isCaptured, linesOf, prepare, tap } from "./queues.js";
import { Timeline } from "./timeline.js";

/** A cable of a fabric, and what it has done so far. */
export interface FabricCable {
  readonly from: string;
  readonly to: string;
  /** Frames from `from` to `to`. */
  readonly forth: CableCounters;
  /** Frames from `to` to `from`. */
  readonly back: CableCounters;
}

export class Fabric extends Printable {
  private readonly _timeline: Timeline;
  private readonly _seed: number;
  private readonly _devices = new Map<string, Device>();
  /** What ends the capture of a cable, by the names of both ends. */
  private readonly _captures = new Map<string, () => void>();
  /** Cables so far. */
  private _connected: number;

  /** @internal */
  constructor(time: bigint, seed: number, connected = 0) {
    super();
    this._timeline = new Timeline(time);
    this._seed = seed;
    this._connected = connected;
  }

  /** All devices, in the order in which they were added. */
  get devices(): readonly Device[] {
    return [...this._devices.values()];
  }

  /** The device of this name. @throws SteeringError EINVAL: none has it */
  device(name: string): Device {
    return inCall("fabric.device", () => this._named("name", name));
  }

  /** The time of the fabric and of all its devices, in nanoseconds. */
  now(): bigint {
    return this._timeline.time;
  }

  /** When something is due next, in nanoseconds; null while nothing waits. Never before `now()`. */
  nextDeadline(): bigint | null {
    return this._timeline.next;
  }

  /**
   * Moves the clock to a time, and runs what is due until then, in the order of its times. Only devices
   * with something due are touched. At one time devices run in their order, round by round: one that
   * gets more to do at this time has another turn after the others.
   * @param time nanoseconds, not before `now()`
   * @throws TypeError no bigint; SteeringError EINVAL: the clock would go back; EBUSY: a call from what
   *   it runs, such as a listener
   */
  advanceTo(time: bigint): void {
    inCall("fabric.advanceTo", () => this._timeline.advanceTo(time));
  }

  /** `advanceTo`, from now on. @throws as `advanceTo` */
  advance(nanoseconds: bigint): void {
    inCall("fabric.advance", () => {
      checkTime("nanoseconds", nanoseconds);
      this._timeline.advanceTo(this.now() + nanoseconds);
    });
  }

  /**
   * Moves the clock to the next deadline, and runs what is due then.
   * @returns false where nothing waits
   * @throws SteeringError EBUSY: a call from what it runs
   */
  step(): boolean {
    return inCall("fabric.step", () => {
      this._timeline.checkIdle("fabric");
      const { next } = this._timeline;
      if (next !== null) this._timeline.advanceTo(next);
      return next !== null;
    });
  }

  /**
   * Runs until nothing waits.
   * @returns the time at which it ended
   * @throws SteeringError EBUSY: a call from what it runs
   */
  run(): bigint {
    return inCall("fabric.run", () => {
      this._timeline.checkIdle("fabric");
      for (let { next } = this._timeline; next !== null; { next } = this._timeline) this._timeline.advanceTo(next);
      return this.now();
    });
  }

  /**
   * Adds a device, which has the time of the fabric from now on; its own `advanceTo` is refused. What
   * is due on it until then runs at once.
   * @throws SteeringError EINVAL: a device with a clock of its own or one that is ahead, or a name that
   *   another device has; EBUSY: it is in a fabric
   */
  add(device: Device): void {
    inCall("fabric.add", () => {
      checkDevice("device", device);
      const { name } = device;
      if (this._devices.has(name)) refuseDuplicate("device.name", name);
      this._timeline.add(device.clock);
      this._devices.set(name, device);
      // Of a snapshot: the lines of its cables have come with it.
      for (const port of device.hardware.ports) for (const line of linesOf(port) ?? []) prepare(line);
    });
  }

  /**
   * Removes a device, which has a clock of its own again. Its cables stay.
   * @throws SteeringError EINVAL: no such device; EBUSY: a call from what it runs
   */
  remove(name: string): void {
    inCall("fabric.remove", () => {
      this._timeline.checkIdle("fabric");
      this._timeline.remove(this._named("name", name).clock);
      this._devices.delete(name);
    });
  }

  /**
   * Connects two ports by a cable.
   * @throws SteeringError EINVAL: no such device or port, an option out of range; EBUSY: one of the ports
   *   is connected; TypeError
   * @example
   *     fabric.connect({ from: "leaf0:3", to: "h7", delay: 500n, rate: 100e9, capture: "leaf0-h7.pcapng" });
   */
  connect(link: Link): void {
    inCall("fabric.connect", () => this.connectAt("", link));
  }

  /** Removes the cable of a port, if there is one. @throws SteeringError EINVAL: no such device or port */
  disconnect(port: string): void {
    inCall("fabric.disconnect", () => {
      const found = this._port("port", port);
      this._captures.get(nameOf(found.device, found.port))?.();
      found.device.disconnect(found.port.number);
    });
  }

  /**
   * Captures a cable from now on, as `capture` of a link: the frames that both ports give to it, with
   * the times at which they do. Frames that found its queue full are left out.
   * @param port one of its ends
   * @param to a file, in Node.js, or a function that gets the bytes
   * @returns ends the capture
   * @throws SteeringError EINVAL: no such port, or a file that cannot be written; EBUSY: it is captured
   *   already; TypeError
   */
  capture(port: string, to: CaptureTarget): () => void {
    return inCall("fabric.capture", () => this._capture("port", "to", port, to));
  }

  /** The cables between devices of the fabric, and what they have counted; by their first ends. */
  cables(): FabricCable[] {
    const seen = new Set<Port>();
    const cables: FabricCable[] = [];
    for (const device of this._devices.values()) {
      for (const port of device.hardware.ports) {
        const far = port.cable === null ? null : farEnd(port.cable);
        const lines = linesOf(port);
        if (far === null || lines === null || seen.has(port) || !this._has(far.device)) continue;
        seen.add(far.port);
        const [forth, back] = lines.map(({ counters }) => counters) as [CableCounters, CableCounters];
        cables.push({ from: nameOf(device, port), to: nameOf(far.device, far.port), forth, back });
      }
    }
    return cables;
  }

  /** The metrics of all devices (docs/metrics.md). */
  metrics(): DeviceMetrics[] {
    return this.devices.map((device) => device.metrics());
  }

  /** The metrics of all devices as one text for Prometheus. */
  metricsText(): string {
    return prometheusText(this.metrics());
  }

  /**
   * Writes all devices and cables, with the frames in transit. The fabric goes on as before. Captures
   * and listeners are not part of it (docs/snapshots.md).
   * @throws SteeringError EINVAL: a closed device, or something that no snapshot holds: `path` names the
   *   place; EBUSY: a call from what it runs
   * @example
   *     const bytes = fabric.snapshot({ keep: { queues } });
   *     const { fabric: copy, kept } = await restoreFabric(bytes);
   */
  snapshot(options: SnapshotOptions = {}): Uint8Array {
    return inCall("fabric.snapshot", () => {
      this._timeline.checkIdle("fabric");
      const description = { time: String(this.now()), seed: this._seed, connected: this._connected };
      return saveDevices(this.devices, options.keep ?? {}, description);
    });
  }

  /** Ends all captures, and gives each device a clock of its own again. Devices and cables stay. */
  close(): void {
    inCall("fabric.close", () => {
      this._timeline.checkIdle("fabric");
      for (const end of [...this._captures.values()]) end();
      for (const { clock } of this._devices.values()) this._timeline.remove(clock);
    });
  }

  /** @internal `connect`; `path` is that of the link among the arguments, "" for the arguments themselves. */
  connectAt(path: string, link: Link): void {
    const { from, to, ecn, capture, ...options } = link;
    const at = (name: keyof Link): string => (path === "" ? name : `${path}.${name}`);
    const settings = { ...options, seed: options.seed ?? this._seed + this._connected };
    checkOptions(path, link, LINK_OPTIONS);
    lineSettings(settings, 0, path);
    if (ecn !== undefined) checkEcn(at("ecn"), ecn, options.rate);
    const [a, b] = [this._freePort(at("from"), from), this._freePort(at("to"), to)];
    if (a.port === b.port) {
      const hint = "both ends are one port: a cable connects two";
      refuse({ code: "EINVAL", reason: "bad_object", path: at("to"), value: to, hint });
    }
    a.device.connect(a.port.number, b.device, b.port.number, settings);
    this._connected++;
    for (const line of linesOf(a.port) ?? []) {
      line.ecn = ecn ?? null;
      prepare(line);
    }
    if (capture === undefined) return;
    try {
      this._capture(at("from"), at("capture"), from, capture);
    } catch (error) {
      a.device.disconnect(a.port.number);
      throw error;
    }
  }

  private _capture(portPath: string, path: string, text: string, to: CaptureTarget): () => void {
    const { device, port } = this._port(portPath, text);
    const lines = linesOf(port);
    const far = port.cable === null ? null : farEnd(port.cable);
    if (lines === null || far === null) {
      const hint = "the port has no cable of the fabric";
      return refuse({ code: "EINVAL", reason: "bad_object", path: portPath, value: text, hint });
    }
    if (isCaptured(lines[0])) {
      refuse({ code: "EBUSY", reason: "in_use", path: portPath, value: text, hint: "its cable is captured already" });
    }
    const ends = [nameOf(device, port), nameOf(far.device, far.port)] as const;
    const capture = openCapture(path, to, ends);
    tap(lines[0], (frame) => capture.frame(0, this.now(), frame));
    tap(lines[1], (frame) => capture.frame(1, this.now(), frame));
    const end = (): void => {
      if (!ends.some((name) => this._captures.get(name) === end)) return;
      for (const name of ends) this._captures.delete(name);
      for (const line of lines) tap(line, null);
      capture.end();
    };
    for (const name of ends) this._captures.set(name, end);
    return end;
  }

  private _has(device: object): boolean {
    return this._devices.get((device as Device).name) === device;
  }

  private _named(path: string, name: string): Device {
    return this._devices.get(name) ?? refuseUnknown(path, name, this._devices.keys());
  }

  private _port(path: string, text: string): { device: Device; port: Port } {
    const { device: name, port } = portNamed(path, text);
    const device = this._named(path, name);
    return { device, port: portOf(path, device, port) };
  }

  private _freePort(path: string, text: string): { device: Device; port: Port } {
    const found = this._port(path, text);
    if (found.port.cable === null) return found;
    return refuse({
      code: "EBUSY",
      reason: "in_use",
      path,
      value: text,
      hint: "the port has a cable: disconnect it first",
    });
  }

  protected override printedFields(): PrintedFields {
    return { time: this.now(), devices: this._devices.size, cables: this.cables().length };
  }
}

function nameOf({ name }: { readonly name: string }, { number }: Port): string {
  return `${name}:${number}`;
}

export function checkDevice(path: string, device: unknown): asserts device is Device {
  if (!(device instanceof Device)) mistyped(`${path} must be a Device`);
  device.checkOpen();
}

function checkEcn(path: string, ecn: number, rate: number | undefined): void {
  const refused = (reason: "out_of_range" | "option_missing", hint: string): never =>
    refuse({ code: "EINVAL", reason, path, value: ecn, hint });
  if (unsigned(path, ecn, 32) === 0) refused("out_of_range", "1 or more frames");
  if (rate === undefined) refused("option_missing", "without a rate no frame waits: give rate too");
}
