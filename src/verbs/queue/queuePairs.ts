/** ibv_create_qp(3), ibv_create_qp_ex(3), ibv_modify_qp(3), ibv_query_qp(3), ibv_post_recv(3). */
import { inCall } from "../../errors.js";
import { checkObject } from "../../base/checks.js";
import { Context, ProtectionDomain } from "../../model/base/context.js";
import { living } from "../../model/base/handle.js";
import { QueuePair, type QueuePairAttributes, type QueuePairReport } from "../../model/queuePair/queuePair.js";
import type { QueuePairChange } from "../../model/queue/states.js";
import type { ReceiveRequest } from "../../model/queue/receiveQueue.js";
import type { BadRequest } from "../../model/queue/scatter.js";
import { fill, type Out } from "../out.js";
import { createExtended, type ExtendedAttributes } from "../../model/queuePair/createExtended.js";
import type { RssAttributes } from "../../model/queuePair/rssQueuePair.js";

export type {
  QueuePair,
  QueuePairAttributes,
  QueuePairCapabilities,
  QueuePairReport,
} from "../../model/queuePair/queuePair.js";
export type { QueuePairChange } from "../../model/queue/states.js";
export type { ReceiveRequest } from "../../model/queue/receiveQueue.js";
export type { BadRequest, ScatterEntry } from "../../model/queue/scatter.js";
export type { ExtendedAttributes } from "../../model/queuePair/createExtended.js";
export type { ReceiveHashConfiguration, RssAttributes } from "../../model/queuePair/rssQueuePair.js";

/**
 * Makes a queue pair in state RESET (ibv_create_qp(3)). It receives in RTR and RTS, and sends in
 * RTS.
 * @param qp_init_attr IBV_QPT_RAW_PACKET, _UD, _RC or _UC; `cap` is in requests, scatter entries
 *   and bytes
 * @throws EINVAL if a value is beyond a limit of the device, or a queue is of another device
 * @throws EOPNOTSUPP if the device does not have the type
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_create_qp(pd: ProtectionDomain, qp_init_attr: QueuePairAttributes): QueuePair {
  return inCall("ibv_create_qp", () => QueuePair.create(pd, qp_init_attr));
}

/**
 * Makes a queue pair from extended attributes (ibv_create_qp_ex(3)). With
 * IBV_QP_INIT_ATTR_IND_TABLE and _RX_HASH in `comp_mask` it is an RSS queue pair: it spreads frames
 * over the work queues of `rwq_ind_tbl`, and cannot send or post. With _SEND_OPS_FLAGS, the calls
 * `ibv_wr_*` build requests of the operations in `send_ops_flags`.
 * @param qp_init_attr as for `ibv_create_qp`, with `pd`; `rx_hash_conf.rx_hash_key` has 40 bytes
 * @throws EINVAL as `ibv_create_qp`; and if hash fields exclude each other, or the key is not 40
 *   bytes
 * @throws EOPNOTSUPP if a bit of `comp_mask`, the hash function or a hash field is unknown, or the
 *   device does not build one of the operations
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_create_qp_ex(
  context: Context,
  qp_init_attr: (QueuePairAttributes | RssAttributes) & ExtendedAttributes,
): QueuePair {
  return inCall("ibv_create_qp_ex", () => {
    living("context", context, Context);
    checkObject("qp_init_attr", qp_init_attr);
    living("qp_init_attr.pd", qp_init_attr.pd, ProtectionDomain);
    return createExtended(context, qp_init_attr);
  });
}

/**
 * Changes the attributes of a queue pair that `attr_mask` names: all, or none (ibv_modify_qp(3)).
 * @param attr_mask bits IBV_QP_*
 * @throws EINVAL if the state machine has no such step, an attribute is missing, not allowed, or
 *   out of range
 * @throws EOPNOTSUPP if the device does not support an attribute
 * @example
 * ibv_modify_qp(qp, { qp_state: IBV_QPS_INIT, port_num: 1 }, IBV_QP_STATE | IBV_QP_PORT);
 */
export function ibv_modify_qp(qp: QueuePair, attr: QueuePairChange, attr_mask: number): 0 {
  return inCall("ibv_modify_qp", () => {
    living("qp", qp, QueuePair).modify(attr, attr_mask);
    return 0;
  });
}

/**
 * The attributes of a queue pair (ibv_query_qp(3)). `attr_mask` is a hint: all attributes are
 * returned.
 */
export function ibv_query_qp(qp: QueuePair, attr_mask?: number | null): QueuePairQuery;
/**
 * As in C: fills the structs, and returns 0 (ibv_query_qp(3)).
 * @param attr gets all attributes, whatever the mask
 * @param init_attr gets those of the creation; null for none
 */
export function ibv_query_qp(
  qp: QueuePair,
  attr: Out<QueuePairReport>,
  attr_mask: number,
  init_attr: Out<QueuePairAttributes> | null,
): 0;
export function ibv_query_qp(
  qp: QueuePair,
  attr?: Out<QueuePairReport> | number | null,
  _attr_mask?: number,
  init_attr?: Out<QueuePairAttributes> | null,
): QueuePairQuery | 0 {
  return inCall("ibv_query_qp", () => {
    const found = living("qp", qp, QueuePair).query();
    if (attr === undefined || attr === null || typeof attr === "number") return found;
    fill("attr", attr, found.attr);
    if (init_attr !== undefined && init_attr !== null) fill("init_attr", init_attr, found.init_attr);
    return 0;
  });
}

/** What `ibv_query_qp` returns without out parameters. */
export interface QueuePairQuery {
  attr: QueuePairReport;
  init_attr: QueuePairAttributes;
}

/**
 * Posts a list of receive requests, linked by `next` (ibv_post_recv(3)).
 * @param wr `sg_list` entries are `{ addr: view, length, lkey }`, lengths in bytes
 * @param bad_wr gets the first bad request in `wr`; those before it are posted
 * @throws EINVAL if the state does not receive, or memory is not of the region
 * @throws ENOMEM if the queue is full
 */
export function ibv_post_recv(qp: QueuePair, wr: ReceiveRequest, bad_wr?: BadRequest<ReceiveRequest>): 0 {
  return inCall("ibv_post_recv", () => {
    living("qp", qp, QueuePair).post(wr, bad_wr);
    return 0;
  });
}

/**
 * Destroys a queue pair (ibv_create_qp(3)).
 * @throws EBUSY if an action or a flow leads to it
 */
export function ibv_destroy_qp(qp: QueuePair): 0 {
  return inCall("ibv_destroy_qp", () => {
    living("qp", qp, QueuePair).destroy();
    return 0;
  });
}
