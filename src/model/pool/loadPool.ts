/** Loads the code of the worker pool on first use: a process with one core never loads it. */
import type { DevicePool, PoolOptions } from "./pool.js";

/**
 * Opens a device that steers frames on several cores. Objects, rules and outcomes are those of
 * `createDevice`. `close` ends the worker threads.
 * @param options the options of `createDevice`, and the number of `workers`
 * @returns the device, once all threads run
 * @throws SteeringError EINVAL for an option out of range
 * @example
 * const device = await createDevicePool({ workers: 4 });
 * const outcomes = device.receiveBatch(1, frames);
 * device.close();
 */
export async function createDevicePool(options: PoolOptions = {}): Promise<DevicePool> {
  const { openPool } = await import("./pool.js");
  return openPool(options);
}
