/** Makes devices of a snapshot. Its bytes may be forged: all work is bounded by their number. */
import { checkBytes, isObject, wrongType } from "../base/checks.js";
import { parseJson } from "../base/json.js";
import { loadCore, type CoreSource } from "../engine/load.js";
import { coreHash, imagesOf, writeGlobals, writeMemory } from "../engine/memoryImage.js";
import { refuse, SteeringError } from "../errors.js";
import type { Clock } from "../model/base/time/clock.js";
import { Deadline } from "../model/base/time/deadlines.js";
import { portOf } from "../model/base/port/ports.js";
import { Device } from "../model/device/device.js";
import { deviceParts, type DeviceOptions } from "../model/device/options.js";
import type { FrameListener } from "../model/traffic/cable.js";
import type { CableOptions } from "../model/traffic/line.js";
import { bad, unpack, type Parts } from "./container.js";
import { readGraph } from "./graphReader.js";
import { constantsOf, knownOf, type Description, type DeviceDescription } from "./save.js";

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

/** The checked container of a snapshot. */
export interface Opened {
  readonly parts: Parts;
  readonly description: Description;
}

/** Reads the container. @throws EINVAL it is damaged, or of another version */
export function open(bytes: Uint8Array): Opened {
  checkBytes("bytes", bytes);
  const parts = unpack(bytes);
  const description = unforged(() => parseJson(new TextDecoder().decode(parts.device))) as Description;
  const devices: unknown = isObject(description) ? description.devices : null;
  if (!Array.isArray(devices) || !devices.every(isDescription)) bad("device", FORGED);
  return { parts, description };
}

function isDescription(one: unknown): one is DeviceDescription {
  if (!isObject(one)) return false;
  const { options, attach, delays = [], globals, steered } = one;
  const isText = (text: unknown): boolean => typeof text === "string";
  return (
    isObject(options) &&
    [attach, delays, globals].every((list) => Array.isArray(list) && list.every(isText)) &&
    Number.isSafeInteger(steered)
  );
}

/**
 * Makes the devices. `attached` has what each of them must get, by the names in its description, checked by
 * `checkAttached`.
 * @throws EINVAL; ENOMEM
 */
export async function restoreDevices(
  { parts, description }: Opened,
  attached: readonly Attached[],
  core: CoreSource | undefined,
): Promise<{ devices: Device[]; kept: object }> {
  const images = unforged(() => imagesOf(parts.memory, description.devices.length));
  const devices: Device[] = [];
  for (const [i, one] of description.devices.entries())
    devices.push(await made(description.core, one, attached[i], core));
  const kept = unforged(() => {
    const { names, buffers } = description;
    const graph = {
      names,
      objects: parts.objects,
      values: parts.values,
      tables: parts.tables,
      buffers: buffersOf(parts.buffers, buffers),
    };
    return readGraph(graph, knownOf(devices), constantsOf(devices));
  });
  unforged(() => {
    for (const [i, device] of devices.entries()) {
      const { globals, steered } = description.devices[i] as DeviceDescription;
      if (!writeMemory(device.core, images[i] as Uint8Array)) device.allocated(0);
      writeGlobals(device.core, globals);
      device.core.locate();
      device.core.steered = steered;
      if (!isSound(device.clock)) bad("objects", FORGED);
    }
    for (const [i, device] of devices.entries())
      connectPorts(device, description.devices[i] as DeviceDescription, attached[i]);
  });
  return { devices, kept };
}

/** Whether what waits is a heap of deadlines that know their places: else its clock could run for ever. */
function isSound(clock: Clock): boolean {
  const { _time: time, _deadlines } = clock as unknown as {
    readonly _time: unknown;
    readonly _deadlines: { readonly _heap: readonly unknown[]; readonly _next: number };
  };
  const { _heap: heap, _next: next } = _deadlines;
  const isInPlace = (one: unknown, place: number): boolean => {
    if (!(one instanceof Deadline) || one.place !== place || typeof one.at !== "bigint") return false;
    const { at, order } = place === 0 ? { at: -1n, order: 0 } : (heap[(place - 1) >> 1] as Deadline);
    return one.order < next && (at < one.at || (at === one.at && order < one.order));
  };
  return typeof time === "bigint" && heap.every(isInPlace);
}

async function made(
  hash: string,
  { options, attach }: DeviceDescription,
  attached: Attached = {},
  source: CoreSource | undefined,
): Promise<Device> {
  const core = await loadCore(source);
  if (coreHash(core) !== hash) bad("core", `it is of core ${hash}, and this one is ${coreHash(core) ?? "unknown"}`);
  return unforged(() => {
    const own = attach.includes("now") ? { now: attached["now"] as () => bigint } : {};
    const settings: DeviceOptions = { ...options, ...own };
    return new Device(core, deviceParts(settings), settings);
  });
}

const FORGED = "its parts do not fit each other";

/** Runs what reads a snapshot. Whatever it stumbles over is in the bytes. @throws EINVAL; ENOMEM */
export function unforged<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SteeringError) throw error;
    return bad("objects", FORGED);
  }
}

function buffersOf(bytes: Uint8Array, lengths: readonly number[]): ArrayBuffer[] {
  let from = 0;
  const isLength = (length: number): boolean => Number.isSafeInteger(length) && length >= 0;
  if (!lengths.every(isLength)) bad("buffers", FORGED);
  const buffers = lengths.map((length) => bytes.slice(from, (from += length)).buffer);
  return from === bytes.length ? buffers : bad("buffers", FORGED);
}

/** Checks what a program attaches, before anything is made. @throws EINVAL; TypeError */
export function checkAttached(names: readonly string[], attach: Attached): void {
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

function connectPorts(device: Device, { attach: names, delays = [] }: DeviceDescription, attach: Attached = {}): void {
  for (const name of names) {
    const to = attach[name];
    if (name === "now" || to === null || to === undefined) continue;
    const port = Number(name.slice("port:".length));
    if (typeof to === "function") device.connect(port, to, { delays: delays.includes(name) });
    else device.connect(port, to.device, to.port, to.options);
  }
}
