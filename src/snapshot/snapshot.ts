/** Snapshots of devices (docs/snapshots.md). */
import { inAsyncCall, inCall } from "../errors.js";
import type { Device } from "../model/device/device.js";
import { bad } from "./container.js";
import { checkAttached, open, restoreDevices, type Opened, type RestoreOptions } from "./restore.js";
import { saveDevices, type DeviceDescription, type Kept } from "./save.js";

export interface SnapshotOptions<K extends Kept = Kept> {
  /**
   * What the program needs of the device: it gets the same of the restored one. Objects that no rule,
   * queue or other object refers to are in a snapshot only if they are here.
   */
  readonly keep?: K;
}

export interface Restored<K extends Kept = Kept> {
  readonly device: Device;
  /** The objects of `keep`, as they are in this device. */
  readonly kept: K;
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
  return inCall("snapshotOf", () => saveDevices([device], options.keep ?? {}));
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
    const opened = open(bytes);
    const attach = options.attach ?? {};
    checkAttached(onlyDevice(opened).attach, attach);
    const { devices, kept } = await restoreDevices(opened, [attach], options.core);
    return { device: devices[0] as Device, kept: kept as K };
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
  return inCall("attachmentsOf", () => onlyDevice(open(bytes)).attach);
}

function onlyDevice({ description: { devices, fabric } }: Opened): DeviceDescription {
  const [device] = devices;
  if (fabric !== undefined || device === undefined)
    return bad("device", "it is of a fabric: restoreFabric restores it");
  return device;
}
