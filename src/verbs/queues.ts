/** ibv_create_qp(3), ibv_create_qp_ex(3), ibv_modify_qp(3), ibv_query_qp(3), ibv_post_recv(3). */
import { Context, ProtectionDomain } from "../model/base/context.js";
import { living } from "../model/base/handle.js";
import { QueuePair, type QueuePairAttributes, type QueuePairReport } from "../model/queue/queuePair.js";
import type { QueuePairChange } from "../model/queue/states.js";
import type { ReceiveRequest } from "../model/queue/receiveQueue.js";
import type { BadRequest } from "../model/queue/scatter.js";
import { createExtended, type SpreadingAttributes } from "../model/queue/rssQueuePair.js";

export type {
  QueuePair,
  QueuePairAttributes,
  QueuePairCapabilities,
  QueuePairReport,
} from "../model/queue/queuePair.js";
export type { QueuePairChange } from "../model/queue/states.js";
export type { ReceiveRequest } from "../model/queue/receiveQueue.js";
export type { BadRequest, ScatterEntry } from "../model/queue/scatter.js";
export type { ReceiveHashConfiguration, SpreadingAttributes } from "../model/queue/rssQueuePair.js";

/**
 * A queue pair in state RESET; it receives in RTR and RTS, and sends in RTS.
 * @throws EINVAL a limit of the device, another device's queue; EOPNOTSUPP a type that the device lacks; ENOMEM
 */
export function ibv_create_qp(pd: ProtectionDomain, qp_init_attr: QueuePairAttributes): QueuePair {
  return QueuePair.create("ibv_create_qp", pd, qp_init_attr);
}

/**
 * The same, with the protection domain among the attributes. With IND_TABLE and RX_HASH in `comp_mask` a raw packet queue pair
 * that spreads what it gets over the work queues of `rwq_ind_tbl`, and can do nothing else.
 * @throws EINVAL hash fields that exclude each other, a key that has not 40 bytes; EOPNOTSUPP other bits of `comp_mask`, other
 * hash functions and fields; ENOMEM
 */
export function ibv_create_qp_ex(
  context: Context,
  qp_init_attr: (QueuePairAttributes | SpreadingAttributes) & { comp_mask: number; pd: ProtectionDomain },
): QueuePair {
  const call = "ibv_create_qp_ex";
  living(call, "context", context, Context);
  living(call, "qp_init_attr.pd", qp_init_attr.pd, ProtectionDomain);
  return createExtended(call, context, qp_init_attr);
}

/**
 * Changes the attributes of `attr` that `attr_mask` names; all or none.
 * @throws EINVAL a step that the state machine does not have, an attribute that it must have or cannot have, a value out of
 * range; EOPNOTSUPP what the device lacks
 */
export function ibv_modify_qp(qp: QueuePair, attr: QueuePairChange, attr_mask: number): 0 {
  const call = "ibv_modify_qp";
  living(call, "qp", qp, QueuePair).modify(call, attr, attr_mask);
  return 0;
}

/** What C fills into `attr` and `init_attr`. `attr_mask` is a hint, and not needed: all attributes are there. */
export function ibv_query_qp(
  qp: QueuePair,
  _attr_mask?: number,
): { attr: QueuePairReport; init_attr: QueuePairAttributes } {
  return living("ibv_query_qp", "qp", qp, QueuePair).query("ibv_query_qp");
}

/** Posts a list of receive requests. @throws at the first bad one, which is then `bad_wr.wr`; those before it are posted */
export function ibv_post_recv(qp: QueuePair, wr: ReceiveRequest, bad_wr?: BadRequest<ReceiveRequest>): 0 {
  living("ibv_post_recv", "qp", qp, QueuePair).post("ibv_post_recv", wr, bad_wr);
  return 0;
}

/** @throws EBUSY while an action or a flow leads to it */
export function ibv_destroy_qp(qp: QueuePair): 0 {
  living("ibv_destroy_qp", "qp", qp, QueuePair).destroy("ibv_destroy_qp");
  return 0;
}
