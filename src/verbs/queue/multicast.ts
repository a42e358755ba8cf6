/** ibv_attach_mcast(3). */
import { inCall } from "../../errors.js";
import type { GidInput } from "../../model/base/port/gids.js";
import { living } from "../../model/base/handle.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { attachMulticast, detachMulticast } from "../../model/queuePair/multicast.js";

/**
 * Attaches a UD queue pair to a multicast group (ibv_attach_mcast(3)): it gets the datagrams to this
 * GID that arrive on its port, each once however often it is attached.
 * @param gid the group: ff00::/8, or an IPv4 group such as "239.1.1.1"
 * @param lid 16 bits that mean nothing on Ethernet
 * @throws EINVAL if the queue pair is not of type UD or has no port yet, or the GID is no group
 * @throws ENOMEM if the group has `max_mcast_qp_attach` queue pairs, or the device no memory left
 */
export function ibv_attach_mcast(qp: QueuePair, gid: GidInput, lid: number): 0 {
  return inCall("ibv_attach_mcast", () => {
    attachMulticast(living("qp", qp, QueuePair), gid, lid);
    return 0;
  });
}

/**
 * Detaches a queue pair from a multicast group (ibv_attach_mcast(3)).
 * @throws EINVAL if it is not attached
 */
export function ibv_detach_mcast(qp: QueuePair, gid: GidInput, lid: number): 0 {
  return inCall("ibv_detach_mcast", () => {
    detachMulticast(living("qp", qp, QueuePair), gid, lid);
    return 0;
  });
}
