/** The pool of cores, loaded when the first is asked for: a process with one core does without it. */
import type { DevicePool, PoolOptions } from "./pool.js";

/**
 * Opens a device whose frames are steered by several cores: the same objects, rules and outcomes. To be closed, which ends its threads.
 * @throws SteeringError EINVAL an option out of its range
 */
export async function createDevicePool(options: PoolOptions = {}): Promise<DevicePool> {
  const { openPool } = await import("./pool.js");
  return openPool(options);
}
