/** The main entry with the WebAssembly core inside, for environments that cannot load a second file. */
import core from "../build/release/core.wasm";
import { compileCore as compile, type CoreSource } from "./engine/load.js";
import { createDevice as create, createDeviceSync as createSync, type Device } from "./model/device/device.js";
import type { DeviceOptions } from "./model/device/options.js";

export * from "./index.js";

/** The core of this module, compiled for the first device. */
let module: WebAssembly.Module | undefined;

/** As `createDevice` of the main entry; the core comes from this module. */
export async function createDevice(options: DeviceOptions = {}): Promise<Device> {
  return create({ ...options, core: options.core ?? (module ??= await compileCore()) });
}

/** As `createDeviceSync` of the main entry; the core comes from this module. */
export function createDeviceSync(options: DeviceOptions = {}): Device {
  return createSync({ ...options, core: options.core ?? (module ??= new WebAssembly.Module(core as BufferSource)) });
}

/** As `compileCore` of the main entry; the core comes from this module. */
export function compileCore(source: CoreSource = core): Promise<WebAssembly.Module> {
  return compile(source);
}
