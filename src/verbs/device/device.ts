/** ibv_open_device(3), ibv_alloc_pd(3), ibv_reg_mr(3). */
import { inCall } from "../../errors.js";
import { checkOptions } from "../../base/checks.js";
import { Context, MemoryRegion, ProtectionDomain } from "../../model/base/context.js";
import type { Device } from "../../model/device/device.js";
import type { DeviceFunction } from "../../model/device/function.js";
import { living } from "../../model/base/handle.js";
import { bits64Of } from "../../model/base/limits.js";

export type { Context, MemoryRegion, ProtectionDomain } from "../../model/base/context.js";

/** What the process may do that opens a device. */
export interface Capabilities {
  /** Whether it may steer: without, ibv_create_flow is EPERM. @default true */
  cap_net_raw?: boolean;
}

/**
 * Opens a device: the PF of a `Device`, or one of its functions (`device.function(1)`).
 * @param device stands where C has an entry of the device list
 * @param capabilities `cap_net_raw: false` opens without the privilege to steer: `ibv_create_flow`
 *   is EPERM then
 * @returns a context; `device.close()` is EBUSY until `ibv_close_device`
 * @example
 * const context = ibv_open_device(await createDevice({ vports: 1 }));
 */
export function ibv_open_device(device: Device | DeviceFunction, capabilities: Capabilities = {}): Context {
  return inCall("ibv_open_device", () => {
    checkOptions("capabilities", capabilities, { cap_net_raw: "boolean" });
    return new Context(device, capabilities.cap_net_raw ?? true);
  });
}

/**
 * Closes a context (ibv_open_device(3)). Objects that were made on it stay: they can be used and
 * destroyed, until the device is closed.
 * @throws EINVAL if it is closed already
 */
export function ibv_close_device(context: Context): 0 {
  return inCall("ibv_close_device", () => {
    living("context", context, Context).close();
    return 0;
  });
}

/**
 * Allocates a protection domain (ibv_alloc_pd(3)).
 * @throws EINVAL if the context is closed
 */
export function ibv_alloc_pd(context: Context): ProtectionDomain {
  return inCall("ibv_alloc_pd", () => new ProtectionDomain(context));
}

/**
 * Frees a protection domain (ibv_alloc_pd(3)).
 * @throws EBUSY if a queue pair, memory region or address handle of it is alive
 */
export function ibv_dealloc_pd(pd: ProtectionDomain): 0 {
  return inCall("ibv_dealloc_pd", () => {
    living("pd", pd, ProtectionDomain).dealloc();
    return 0;
  });
}

/**
 * Registers memory (ibv_reg_mr(3)). Scatter entries name views of the same buffer and the `lkey`.
 * @param addr the memory; a view of a larger buffer is taken as it is
 * @param length bytes of `addr`; all of them if undefined
 * @param access bits IBV_ACCESS_*; receive buffers need IBV_ACCESS_LOCAL_WRITE
 * @returns the region; peers name its first byte by `iova`, where C has the address of `addr`
 * @throws EINVAL if `length` is beyond `addr`, a flag is unknown, or IBV_ACCESS_REMOTE_WRITE or
 *   _REMOTE_ATOMIC is without _LOCAL_WRITE
 * @throws EOPNOTSUPP for on-demand paging and flushes
 */
export function ibv_reg_mr(
  pd: ProtectionDomain,
  addr: Uint8Array,
  length: number | undefined,
  access: number,
): MemoryRegion {
  return inCall("ibv_reg_mr", () => new MemoryRegion(pd, addr, length, access));
}

/**
 * Registers memory whose first byte has the address `iova` for peers (ibv_reg_mr(3)).
 * @throws as `ibv_reg_mr`; EINVAL if the region would end after 2^64
 */
export function ibv_reg_mr_iova(
  pd: ProtectionDomain,
  addr: Uint8Array,
  length: number | undefined,
  iova: bigint | number,
  access: number,
): MemoryRegion {
  return inCall("ibv_reg_mr_iova", () => new MemoryRegion(pd, addr, length, access, bits64Of("iova", iova)));
}

/**
 * Ends the registration of memory (ibv_reg_mr(3)). A receive request that names it completes with
 * IBV_WC_LOC_PROT_ERR when a frame or a message takes it, and its queue goes to ERR.
 */
export function ibv_dereg_mr(mr: MemoryRegion): 0 {
  return inCall("ibv_dereg_mr", () => {
    living("mr", mr, MemoryRegion).dereg();
    return 0;
  });
}
