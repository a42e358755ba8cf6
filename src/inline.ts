/** The main entry with the WebAssembly core inside, for environments that cannot load a second file. */
import core from "../build/release/core.wasm";
import { createDevice as create, type Device, type DeviceOptions } from "./model/device/device.js";

export * from "./index.js";

/** As `createDevice` of the main entry; the core comes from this module. */
export function createDevice(options: DeviceOptions = {}): Promise<Device> {
  return create({ core, ...options });
}
