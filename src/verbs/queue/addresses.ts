/** ibv_create_ah(3). */
import { inCall } from "../../errors.js";
import { AddressHandle, type AddressAttributes } from "../../model/queue/addressHandle.js";
import type { ProtectionDomain } from "../../model/base/context.js";
import { living } from "../../model/base/handle.js";

export type { AddressAttributes, AddressHandle, GlobalRoute } from "../../model/queue/addressHandle.js";

/**
 * Makes an address handle: the destination of a datagram (ibv_create_ah(3)). Ports are Ethernet, so
 * `attr.is_global` is 1 and `attr.grh` has the GIDs.
 * @param attr `port_num` counts from 1, `grh.sgid_index` is an index of the port's GID table
 * @throws EINVAL if the port or GID does not exist, the addresses are of two families, or the MAC
 *   of the destination is not known (`attr.dmac` gives it)
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_create_ah(pd: ProtectionDomain, attr: AddressAttributes): AddressHandle {
  return inCall("ibv_create_ah", () => new AddressHandle(pd, attr));
}

/** Destroys an address handle (ibv_create_ah(3)). */
export function ibv_destroy_ah(ah: AddressHandle): 0 {
  return inCall("ibv_destroy_ah", () => {
    living("ah", ah, AddressHandle).destroy();
    return 0;
  });
}
