/** ibv_open_device(3), ibv_alloc_pd(3), ibv_reg_mr(3). */
import { Context, MemoryRegion, ProtectionDomain } from "../model/base/context.js";
import type { Device } from "../model/device/device.js";
import type { DeviceFunction } from "../model/device/function.js";
import { living } from "../model/base/handle.js";

export type { Context, MemoryRegion, ProtectionDomain } from "../model/base/context.js";

/** What the process may do that opens a device. */
export interface Capabilities {
  /** Whether it may steer: without, ibv_create_flow is EPERM. @default true */
  cap_net_raw?: boolean;
}

/** Opens a device, which is its PF, or another function of one; it stands where C has an entry of the device list. */
export function ibv_open_device(device: Device | DeviceFunction, { cap_net_raw = true }: Capabilities = {}): Context {
  return new Context("ibv_open_device", device, false, cap_net_raw);
}

/** Closes a context. @throws EBUSY while something made on it is alive */
export function ibv_close_device(context: Context): 0 {
  living("ibv_close_device", "context", context, Context).close("ibv_close_device");
  return 0;
}

export function ibv_alloc_pd(context: Context): ProtectionDomain {
  return new ProtectionDomain("ibv_alloc_pd", context);
}

/** @throws EBUSY while a queue pair or memory region of it is alive */
export function ibv_dealloc_pd(pd: ProtectionDomain): 0 {
  living("ibv_dealloc_pd", "pd", pd, ProtectionDomain).dealloc("ibv_dealloc_pd");
  return 0;
}

/** Registers `length` bytes of a view (all of it when left out). Receive buffers need IBV_ACCESS_LOCAL_WRITE. */
export function ibv_reg_mr(
  pd: ProtectionDomain,
  addr: Uint8Array,
  length: number | undefined,
  access: number,
): MemoryRegion {
  return new MemoryRegion("ibv_reg_mr", pd, addr, length, access);
}

export function ibv_dereg_mr(mr: MemoryRegion): 0 {
  living("ibv_dereg_mr", "mr", mr, MemoryRegion).dereg("ibv_dereg_mr");
  return 0;
}
