/** Snapshots of devices (docs/snapshots.md). */
import { checkBytes, wrongType } from "../base/checks.js";
import { parseJson } from "../base/json.js";
import { coreHash, memoryImage, readGlobals, writeGlobals, writeMemory } from "../engine/memoryImage.js";
import { loadCore, type CoreSource } from "../engine/load.js";
import { inCall, inAsyncCall, mistyped, refuse } from "../errors.js";
import type { FrameListener, ListenerOptions } from "../model/traffic/cable.js";
import { Arrival, type CableOptions } from "../model/traffic/line.js";
import { portOf } from "../model/base/port/ports.js";
import { Device } from "../model/device/device.js";
import { deviceParts, type DeviceOptions } from "../model/device/options.js";
import { NUMBERS } from "../model/dump/record.js";
import type { Profile } from "../model/profile/profile.js";
import { EXTENDED } from "../model/queuePair/extendedQueuePair.js";
import { LEAVING } from "../model/table/pendingRules.js";
import { TablePipeline } from "../model/table/pipeline.js";
import { bad, pack, unpack } from "./container.js";
import { readGraph } from "./graphReader.js";
import { writeGraph, type GraphNames } from "./graphWriter.js";

/** References of the program into a device, which it gets back: any plain data with objects of the device. */
export type Kept = Readonly<Record<string, unknown>>;

export interface SnapshotOptions<K extends Kept = Kept> {
  /**
   * What the program needs of the device: it gets the same of the restored one. Objects that no rule,
   * queue or other object refers to are in a snapshot only if they are here.
   */
  readonly keep?: K;
}

/** What a snapshot cannot hold, by its name: `now`, the clock of the program, and `port:1`, a cable. */
export type Attached = Readonly<Record<string, (() => bigint) | FrameListener | PortEnd | null>>;

/** A port of another device. */
export interface PortEnd {
  readonly device: Device;
  readonly port: number;
  /** Those of the cable, as for `device.connect`. */
  readonly options?: CableOptions;
}

export interface RestoreOptions {
  /** What the snapshot does not hold. Null for a cable that is gone. */
  readonly attach?: Attached;
  /** Where the core comes from, as for createDevice. */
  readonly core?: CoreSource;
}

export interface Restored<K extends Kept = Kept> {
  readonly device: Device;
  /** The objects of `keep`, as they are in this device. */
  readonly kept: K;
}

/** The part `device`: plain data. */
interface Description {
  readonly core: string;
  readonly options: DeviceOptions;
  readonly attach: readonly string[];
  /** Those of `attach` whose listeners carry frames on in time of their own. */
  readonly delays?: readonly string[];
  readonly globals: readonly string[];
  readonly steered: number;
  readonly buffers: readonly number[];
  readonly names: GraphNames;
}

/** The parts of a device that classes keep to themselves. */
interface Inside {
  readonly clock: { readonly _own: boolean };
  readonly _functions: readonly object[];
}

/**
 * Writes everything that a device is: rules, state, counters, queues, completions, memory regions, clock,
 * seed, and the memory of its core. The device goes on as before.
 * @throws SteeringError EINVAL: a closed device, a pool, or something that no snapshot holds: `path`
 *   names the place
 * @example
 *     const bytes = snapshotOf(device, { keep: { qp, cq } });
 */
export function snapshotOf(device: Device, options: SnapshotOptions = {}): Uint8Array {
  return inCall("snapshotOf", () => {
    if (!(device instanceof Device)) mistyped(`device must be a Device`);
    device.checkOpen();
    // A clock that follows another one keeps its last reading.
    device.now();
    const { core } = device;
    const hash = coreHash(core);
    if (device.constructor !== Device || hash === null) {
      const hint = hash === null ? "the core was built without its globals" : "take it of a device of createDevice";
      refuse({ code: "EINVAL", reason: "not_saved", path: "device", value: device, hint });
    }
    checkArrivals(device);
    const { attach, delays, replaced } = attachedTo(device);
    const graph = writeGraph({
      known: knownOf(device),
      opaque: new Set([core]),
      constants: new Map(constantsOf(device.profile).map((one, n) => [one, n])),
      kept: options.keep ?? {},
      replaced,
    });
    const description: Description = {
      core: hash,
      options: optionsOf(device),
      attach,
      ...(delays.length === 0 ? {} : { delays }),
      globals: readGlobals(core),
      steered: core.steered,
      buffers: graph.buffers.map(({ length }) => length),
      names: graph.names,
    };
    return pack({
      device: [new TextEncoder().encode(JSON.stringify(description))],
      objects: [graph.objects],
      values: [graph.values],
      tables: [graph.tables],
      buffers: graph.buffers,
      memory: memoryImage(core),
    });
  });
}

/**
 * Makes a device of a snapshot. It goes on as the first one would have.
 * @throws SteeringError EINVAL: damaged bytes, another version, another core, or something that `attach`
 *   must have; ENOMEM
 * @example
 *     const { device, kept } = await restoreDevice(bytes);
 */
export async function restoreDevice<K extends Kept = Kept>(
  bytes: Uint8Array,
  options: RestoreOptions = {},
): Promise<Restored<K>> {
  return inAsyncCall("restoreDevice", async () => {
    checkBytes("bytes", bytes);
    const parts = unpack(bytes);
    const description = parseJson(new TextDecoder().decode(parts.device)) as Description;
    const attach = options.attach ?? {};
    checkAttached(description.attach, attach);
    const core = await loadCore(options.core);
    if (coreHash(core) !== description.core) {
      bad("core", `it is of core ${description.core}, and this one is ${coreHash(core) ?? "unknown"}`);
    }
    const own = description.attach.includes("now") ? { now: attach["now"] as () => bigint } : {};
    const settings: DeviceOptions = { ...description.options, ...own };
    const device = new Device(core, deviceParts(settings), settings);
    const kept = readGraph(
      {
        names: description.names,
        objects: parts.objects,
        values: parts.values,
        tables: parts.tables,
        buffers: buffersOf(parts.buffers, description.buffers),
      },
      knownOf(device),
      constantsOf(device.profile),
    );
    if (!writeMemory(core, parts.memory)) device.allocated(0);
    writeGlobals(core, description.globals);
    core.locate();
    core.steered = description.steered;
    connectPorts(device, description, attach);
    return { device, kept: kept as K };
  });
}

/**
 * Makes a copy of a device that goes its own way: `snapshotOf`, then `restoreDevice`.
 * @throws as these
 */
export async function cloneDevice<K extends Kept = Kept>(
  device: Device,
  { keep, ...restore }: SnapshotOptions<K> & RestoreOptions = {},
): Promise<Restored<K>> {
  return restoreDevice<K>(snapshotOf(device, keep === undefined ? {} : { keep }), restore);
}

/** The names of what must be attached when a snapshot is restored. @throws as `restoreDevice` */
export function attachmentsOf(bytes: Uint8Array): readonly string[] {
  return inCall("attachmentsOf", () => {
    const { device } = unpack(bytes);
    return (parseJson(new TextDecoder().decode(device)) as Description).attach;
  });
}

function optionsOf(device: Device): DeviceOptions {
  const { name, ports, vports, profile, seed, managedFlowSteering, asyncRules, copyFrames, parser, cache } = device;
  const { geneveOption, samples, vxlanPorts } = parser;
  return {
    name,
    ports,
    vports,
    profile: profile.name,
    seed,
    managedFlowSteering,
    asyncRules,
    copyFrames,
    parser: { samples, vxlanPorts, ...(geneveOption === undefined ? {} : { geneveOption0: geneveOption }) },
    cache: cache.entries === 0 ? false : { entries: cache.entries },
  };
}

/** The objects that a new device has, in a fixed order. The weak maps of modules come first (graphWriter.ts). */
function knownOf(device: Device): object[] {
  const { _functions: functions } = device as unknown as Inside;
  const pipeline = device.function(0).part(TablePipeline);
  return [EXTENDED, LEAVING, NUMBERS, device.core, device, device.clock, ...functions, pipeline];
}

/** The objects and functions of a profile, in a fixed order. */
function constantsOf(profile: Profile): object[] {
  const found = new Set<object>([profile]);
  for (const one of found) {
    for (const value of Object.values(one) as unknown[]) {
      if ((typeof value === "object" && value !== null) || typeof value === "function") found.add(value);
    }
  }
  return [...found];
}

/** Frames under way to a device belong to the device that has sent them. @throws EINVAL */
function checkArrivals(device: Device): void {
  const arrival = device.clock.waiting().find((one) => one instanceof Arrival && one.from !== device);
  if (!(arrival instanceof Arrival)) return;
  const hint = `a frame of ${arrival.from.name} is under way to it until ${arrival.at} ns: advance the clock to that time`;
  refuse({ code: "EINVAL", reason: "not_saved", path: `port:${arrival.port}`, value: device, hint });
}

/** The names of what lies outside of a device, and null in place of its cables. */
function attachedTo(device: Device): { attach: string[]; delays: string[]; replaced: Map<object, unknown> } {
  const attach = (device as unknown as Inside).clock._own ? ["now"] : [];
  const delays: string[] = [];
  const replaced = new Map<object, unknown>();
  for (const { number, cable } of device.hardware.ports) {
    if (cable === null || (cable as { device?: Device }).device === device) continue;
    attach.push(`port:${number}`);
    if ((cable as ListenerOptions).delays === true) delays.push(`port:${number}`);
    replaced.set(cable, null);
  }
  return { attach, delays, replaced };
}

function checkAttached(names: readonly string[], attach: Attached): void {
  const missing = names.filter((name) => attach[name] === undefined);
  if (missing.length > 0) {
    const hint = `attach ${missing.join(", ")}: the clock of the program, or what a port is connected to (null: nothing)`;
    refuse({ code: "EINVAL", reason: "not_saved", path: `attach.${missing[0] as string}`, hint });
  }
  const other = Object.keys(attach).find((name) => !names.includes(name));
  if (other !== undefined) {
    const hint = names.length === 0 ? "the snapshot needs nothing" : `the snapshot needs ${names.join(", ")}`;
    refuse({ code: "EINVAL", reason: "unknown_option", path: `attach.${other}`, hint });
  }
  for (const name of names) checkAttachment(`attach.${name}`, name === "now", attach[name]);
}

function checkAttachment(path: string, isClock: boolean, given: unknown): void {
  if (typeof given === "function") return;
  if (isClock) wrongType(path, "a function that returns nanoseconds", given);
  if (given === null) return;
  const { device, port } = given as Partial<PortEnd>;
  if (typeof given !== "object") wrongType(path, "a function, a port of a device ({ device, port }), or null", given);
  if (!(device instanceof Device)) wrongType(`${path}.device`, "a Device", device);
  portOf(`${path}.port`, device, port as number);
}

function connectPorts(device: Device, { attach: names, delays = [] }: Description, attach: Attached): void {
  for (const name of names) {
    const to = attach[name];
    if (name === "now" || to === null || to === undefined) continue;
    const port = Number(name.slice("port:".length));
    if (typeof to === "function") device.connect(port, to, { delays: delays.includes(name) });
    else device.connect(port, to.device, to.port, to.options);
  }
}

function buffersOf(bytes: Uint8Array, lengths: readonly number[]): ArrayBuffer[] {
  let from = 0;
  return lengths.map((length) => bytes.slice(from, (from += length)).buffer);
}
