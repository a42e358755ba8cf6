/** ibv_create_ah(3). */
import { AddressHandle, type AddressAttributes } from "../model/queue/addressHandle.js";
import type { ProtectionDomain } from "../model/base/context.js";
import { living } from "../model/base/handle.js";

export type { AddressAttributes, AddressHandle, GlobalRoute } from "../model/queue/addressHandle.js";

/**
 * An address handle: where a datagram goes. Ports are Ethernet, so `is_global` is 1 and the GRH says the way.
 * @throws EINVAL no such port or GID, addresses of two families, a destination whose MAC is not known (see `dmac`); ENOMEM
 */
export function ibv_create_ah(pd: ProtectionDomain, attr: AddressAttributes): AddressHandle {
  return new AddressHandle("ibv_create_ah", pd, attr);
}

export function ibv_destroy_ah(ah: AddressHandle): 0 {
  living("ibv_destroy_ah", "ah", ah, AddressHandle).destroy("ibv_destroy_ah");
  return 0;
}
