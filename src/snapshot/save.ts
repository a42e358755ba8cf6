/** Writes devices, and everything that is reachable from them, as one snapshot. */
import { coreHash, memoryImage, readGlobals } from "../engine/memoryImage.js";
import { mistyped, refuse } from "../errors.js";
import { Device } from "../model/device/device.js";
import type { DeviceOptions } from "../model/device/options.js";
import { NUMBERS } from "../model/dump/record.js";
import type { Profile } from "../model/profile/profile.js";
import { EXTENDED } from "../model/queuePair/extendedQueuePair.js";
import { LEAVING } from "../model/table/pendingRules.js";
import { TablePipeline } from "../model/table/pipeline.js";
import type { ListenerOptions } from "../model/traffic/cable.js";
import { Arrival } from "../model/traffic/line.js";
import { pack } from "./container.js";
import { writeGraph, type GraphNames } from "./graphWriter.js";

/** References of the program into a device, which it gets back: any plain data with objects of the device. */
export type Kept = Readonly<Record<string, unknown>>;

/** The part `device`: plain data. */
export interface Description {
  readonly core: string;
  readonly devices: readonly DeviceDescription[];
  readonly buffers: readonly number[];
  readonly names: GraphNames;
  /** Of a fabric. */
  readonly fabric?: FabricDescription;
}

export interface DeviceDescription {
  readonly options: DeviceOptions;
  readonly attach: readonly string[];
  /** Those of `attach` whose listeners carry frames on in time of their own. */
  readonly delays?: readonly string[];
  readonly globals: readonly string[];
  readonly steered: number;
}

export interface FabricDescription {
  readonly time: string;
  readonly seed: number;
  /** Cables that it has connected. */
  readonly connected: number;
}

/** The parts of a device that classes keep to themselves. */
interface Inside {
  readonly clock: { readonly _own: boolean };
  readonly _functions: readonly object[];
}

/**
 * Writes devices with the cables between them. They go on as before.
 * @throws EINVAL a closed device, a pool, or something that no snapshot holds
 */
export function saveDevices(devices: readonly Device[], keep: Kept, fabric?: FabricDescription): Uint8Array {
  const hashes = devices.map((device) => checkedHash(device));
  const all: ReadonlySet<object> = new Set(devices);
  for (const device of devices) checkArrivals(device, all);
  const outside = devices.map((device) => attachedTo(device, all));
  const graph = writeGraph({
    known: knownOf(devices),
    names: new Map(fabric === undefined ? [] : devices.map((device) => [device, device.name])),
    opaque: new Set(devices.map(({ core }) => core)),
    constants: new Map(constantsOf(devices).map((one, n) => [one, n])),
    kept: keep,
    replaced: new Map(outside.flatMap(({ cables }) => cables.map((cable) => [cable, null]))),
  });
  const description: Description = {
    core: hashes[0] ?? "",
    devices: devices.map((device, i) => ({
      options: optionsOf(device),
      attach: outside[i]?.attach ?? [],
      ...(outside[i]?.delays.length === 0 ? {} : { delays: outside[i]?.delays ?? [] }),
      globals: readGlobals(device.core),
      steered: device.core.steered,
    })),
    buffers: graph.buffers.map(({ length }) => length),
    names: graph.names,
    ...(fabric === undefined ? {} : { fabric }),
  };
  return pack({
    device: [new TextEncoder().encode(JSON.stringify(description))],
    objects: [graph.objects],
    values: [graph.values],
    tables: [graph.tables],
    buffers: graph.buffers,
    memory: devices.flatMap(({ core }) => memoryImage(core)),
  });
}

/** The hash of a device's core. @throws EINVAL a device that no snapshot holds */
function checkedHash(device: Device): string {
  if (!(device instanceof Device)) mistyped("device must be a Device");
  device.checkOpen();
  // A clock that follows another one keeps its last reading.
  device.now();
  const hash = coreHash(device.core);
  if (device.constructor === Device && hash !== null) return hash;
  const hint = hash === null ? "the core was built without its globals" : "take it of a device of createDevice";
  return refuse({ code: "EINVAL", reason: "not_saved", path: "device", value: device, hint });
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

/** The objects that new devices have, in a fixed order. The weak maps of modules come first (graphWriter.ts). */
export function knownOf(devices: readonly Device[]): object[] {
  return [EXTENDED, LEAVING, NUMBERS, ...devices.flatMap(partsOf)];
}

function partsOf(device: Device): object[] {
  const { _functions: functions } = device as unknown as Inside;
  return [device.core, device, device.clock, ...functions, device.function(0).part(TablePipeline)];
}

/** The objects and functions of the profiles of devices, in a fixed order. */
export function constantsOf(devices: readonly Device[]): object[] {
  const found = new Set<object>(devices.map(({ profile }): Profile => profile));
  for (const one of found) {
    for (const value of Object.values(one) as unknown[]) {
      if ((typeof value === "object" && value !== null) || typeof value === "function") found.add(value);
    }
  }
  return [...found];
}

/** Frames under way belong to the device that has sent them: only one of the snapshot's can have. @throws EINVAL */
function checkArrivals(device: Device, all: ReadonlySet<object>): void {
  const arrival = device.clock.waiting().find((one) => one instanceof Arrival && !all.has(one.from));
  if (!(arrival instanceof Arrival)) return;
  const hint = `a frame of ${arrival.from.name} is under way to it until ${arrival.at} ns: advance the clock to that time, or take a snapshot of a fabric with both`;
  refuse({ code: "EINVAL", reason: "not_saved", path: `port:${arrival.port}`, value: device, hint });
}

/** The names of what lies outside of the devices, and the cables that lead there. */
function attachedTo(
  device: Device,
  all: ReadonlySet<object>,
): { attach: string[]; delays: string[]; cables: object[] } {
  const attach = (device as unknown as Inside).clock._own ? ["now"] : [];
  const delays: string[] = [];
  const cables: object[] = [];
  for (const { number, cable } of device.hardware.ports) {
    if (cable === null || all.has((cable as { device?: Device }).device ?? cable)) continue;
    attach.push(`port:${number}`);
    if ((cable as ListenerOptions).delays === true) delays.push(`port:${number}`);
    cables.push(cable);
  }
  return { attach, delays, cables };
}
