/** The main entry with the core inside: one file, for places that cannot load a second one. */
import core from "../build/release/core.wasm";
import { createDevice as create, type Device, type DeviceOptions } from "./model/device/device.js";

export * from "./index.js";

/** `createDevice` of the main entry, with the core that this module carries. */
export function createDevice(options: DeviceOptions = {}): Promise<Device> {
  return create({ core, ...options });
}
