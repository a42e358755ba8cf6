/** Makes fabrics of their snapshots (docs/snapshots.md). */
import { inAsyncCall, inCall } from "../errors.js";
import { bad } from "../snapshot/container.js";
import {
  checkAttached,
  open,
  restoreDevices,
  unforged,
  type Attached,
  type Opened,
  type RestoreOptions,
} from "../snapshot/restore.js";
import type { Kept } from "../snapshot/save.js";
import { Fabric } from "./fabric.js";

export interface RestoredFabric<K extends Kept = Kept> {
  readonly fabric: Fabric;
  /** The objects of `keep`, as they are in this fabric. */
  readonly kept: K;
}

/**
 * Makes a fabric of a snapshot, in any process. It goes on as the first one would have: frames in
 * transit arrive at the same times in the same order.
 * @param options `attach` has what ports are connected to outside of the fabric, by the names of the
 *   ports: `leaf0:4`
 * @throws SteeringError EINVAL: damaged or forged bytes, another version, another core, or something
 *   that `attach` must have; ENOMEM
 * @example
 *     const { fabric } = await restoreFabric(readFileSync("fabric.snapshot"));
 *     fabric.run();
 */
export async function restoreFabric<K extends Kept = Kept>(
  bytes: Uint8Array,
  options: RestoreOptions = {},
): Promise<RestoredFabric<K>> {
  return inAsyncCall("restoreFabric", async () => {
    const opened = open(bytes);
    const { time, seed, connected } = descriptionOf(opened);
    const attach = options.attach ?? {};
    checkAttached(outsideOf(opened), attach);
    const attached = opened.description.devices.map(({ options: { name = "" }, attach: names }): Attached =>
      Object.fromEntries(names.map((port) => [port, attach[outside(name, port)] ?? null])),
    );
    const { devices, kept } = await restoreDevices(opened, attached, options.core);
    const fabric = new Fabric(time, seed, connected);
    unforged(() => {
      for (const device of devices) {
        if (device.now() !== time) bad("objects", "its devices are at other times");
        fabric.add(device);
      }
    });
    return { fabric, kept: kept as K };
  });
}

/** The names of the ports that are connected outside of the fabric. @throws as `restoreFabric` */
export function fabricAttachmentsOf(bytes: Uint8Array): readonly string[] {
  return inCall("fabricAttachmentsOf", () => {
    const opened = open(bytes);
    descriptionOf(opened);
    return outsideOf(opened);
  });
}

function outsideOf({ description: { devices } }: Opened): string[] {
  return devices.flatMap(({ options: { name = "" }, attach }) => attach.map((port) => outside(name, port)));
}

/** `port:4` of the device `leaf0` is `leaf0:4`. */
function outside(device: string, port: string): string {
  return `${device}:${port.replace("port:", "")}`;
}

function descriptionOf({ description: { fabric } }: Opened): { time: bigint; seed: number; connected: number } {
  if (fabric === undefined) bad("device", "it is of a device: restoreDevice restores it");
  const { time, seed, connected } = fabric as unknown as Record<string, unknown>;
  if (
    typeof time === "string" &&
    /^\d{1,20}$/.test(time) &&
    Number.isSafeInteger(seed) &&
    Number.isSafeInteger(connected)
  )
    return { time: BigInt(time), seed: seed as number, connected: connected as number };
  return bad("device", "its clock is unknown");
}
