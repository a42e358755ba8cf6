/** The main entry with the WebAssembly core inside, for environments that cannot load a second file. */
import core from "../build/release/core.wasm";
import {
  createDevice as create,
  createDeviceSync as createSync,
  type Device,
  type DeviceOptions,
} from "./model/device/device.js";

export * from "./index.js";

/** As `createDevice` of the main entry; the core comes from this module. */
export function createDevice(options: DeviceOptions = {}): Promise<Device> {
  return create({ core, ...options });
}

/** As `createDeviceSync` of the main entry; the core comes from this module. */
export function createDeviceSync(options: DeviceOptions = {}): Device {
  return createSync({ core, ...options });
}
