/** ibv_create_srq(3), ibv_create_srq_ex(3), ibv_modify_srq(3), ibv_query_srq(3), ibv_post_srq_recv(3). */
import {
  IBV_SRQ_INIT_ATTR_PD,
  IBV_SRQ_INIT_ATTR_TYPE,
  IBV_SRQT_BASIC,
  IBV_SRQT_TM,
  IBV_SRQT_XRC,
} from "../../abi/verbsConstants.js";
import { checkObject, unsigned } from "../../base/checks.js";
import { inCall, refuse } from "../../errors.js";
import { Context, type ProtectionDomain } from "../../model/base/context.js";
import { living } from "../../model/base/handle.js";
import type { ReceiveRequest } from "../../model/queue/receiveQueue.js";
import type { BadRequest } from "../../model/queue/scatter.js";
import {
  SharedReceiveQueue,
  type SharedQueueAttributes,
  type SharedQueueLimits,
} from "../../model/queue/sharedReceiveQueue.js";
import { given, type Out } from "../out.js";

export type {
  SharedQueueAttributes,
  SharedQueueLimits,
  SharedReceiveQueue,
} from "../../model/queue/sharedReceiveQueue.js";

/** `struct ibv_srq_init_attr_ex` */
export interface SharedQueueAttributesEx extends SharedQueueAttributes {
  /** Bits IBV_SRQ_INIT_ATTR_*; without _PD the call is refused. */
  comp_mask: number;
  /** IBV_SRQT_BASIC, read with IBV_SRQ_INIT_ATTR_TYPE. */
  srq_type?: number | undefined;
  pd?: ProtectionDomain | undefined;
}

/**
 * Makes a shared receive queue (ibv_create_srq(3)). Queue pairs use it that are made with `srq`.
 * @throws EINVAL if a size is beyond a limit of the device
 * @throws ENOMEM if the device has no memory left
 * @example
 * const srq = ibv_create_srq(pd, { attr: { max_wr: 64, max_sge: 1 } });
 */
export function ibv_create_srq(pd: ProtectionDomain, srq_init_attr: SharedQueueAttributes): SharedReceiveQueue {
  return inCall("ibv_create_srq", () => new SharedReceiveQueue(pd, srq_init_attr));
}

/**
 * Makes a shared receive queue from extended attributes (ibv_create_srq_ex(3)).
 * @throws EOPNOTSUPP for XRC, tag matching and unknown bits
 * @throws EINVAL as `ibv_create_srq`, or without a protection domain
 */
export function ibv_create_srq_ex(context: Context, srq_init_attr_ex: SharedQueueAttributesEx): SharedReceiveQueue {
  return inCall("ibv_create_srq_ex", () => {
    living("context", context, Context);
    checkObject("srq_init_attr_ex", srq_init_attr_ex);
    const { comp_mask = 0, srq_type = IBV_SRQT_BASIC, pd } = srq_init_attr_ex as Partial<SharedQueueAttributesEx>;
    const known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
    const path = "srq_init_attr_ex.comp_mask";
    if ((unsigned(path, comp_mask, 32) & ~known) !== 0) {
      const hint = "there are no XRC domains and no tag matching here: set TYPE and PD only";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value: comp_mask, hint });
    }
    if ((comp_mask & IBV_SRQ_INIT_ATTR_TYPE) !== 0) checkType(srq_type);
    if ((comp_mask & IBV_SRQ_INIT_ATTR_PD) === 0) {
      const hint = "set IBV_SRQ_INIT_ATTR_PD";
      refuse({ code: "EINVAL", reason: "missing_attribute", path, value: comp_mask, hint });
    }
    if (pd?.context !== context && pd?.device === context.device) {
      const hint = "use a protection domain of this context";
      refuse({ code: "EINVAL", reason: "bad_object", path: "srq_init_attr_ex.pd", value: pd, hint });
    }
    return new SharedReceiveQueue(pd as ProtectionDomain, srq_init_attr_ex);
  });
}

function checkType(type: number): void {
  if (type === IBV_SRQT_BASIC) return;
  const code = type === IBV_SRQT_XRC || type === IBV_SRQT_TM ? "EOPNOTSUPP" : "EINVAL";
  const hint = "use IBV_SRQT_BASIC";
  refuse({ code, reason: "unsupported", path: "srq_init_attr_ex.srq_type", value: type, hint });
}

/**
 * Sets the limit or the size of a shared receive queue (ibv_modify_srq(3)):
 * IBV_EVENT_SRQ_LIMIT_REACHED comes when fewer requests than `srq_limit` wait, once.
 * @param srq_attr_mask IBV_SRQ_LIMIT, IBV_SRQ_MAX_WR
 * @throws EINVAL for a limit above `max_wr`, a size below the requests that wait, and any size where
 *   the device lacks IBV_DEVICE_SRQ_RESIZE
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_modify_srq(
  srq: SharedReceiveQueue,
  srq_attr: Partial<SharedQueueLimits>,
  srq_attr_mask: number,
): 0 {
  return inCall("ibv_modify_srq", () => {
    living("srq", srq, SharedReceiveQueue).modify(srq_attr, srq_attr_mask);
    return 0;
  });
}

/**
 * The sizes of a shared receive queue and its limit, 0 after its event (ibv_query_srq(3)).
 * @param srq_attr filled if given; the call then returns 0
 */
export function ibv_query_srq(srq: SharedReceiveQueue, srq_attr?: null): Required<SharedQueueLimits>;
export function ibv_query_srq(srq: SharedReceiveQueue, srq_attr: Out<SharedQueueLimits>): 0;
export function ibv_query_srq(
  srq: SharedReceiveQueue,
  srq_attr?: Out<SharedQueueLimits> | null,
): Required<SharedQueueLimits> | 0 {
  return inCall("ibv_query_srq", () => {
    const found = living("srq", srq, SharedReceiveQueue).query();
    return given<Required<SharedQueueLimits>>("srq_attr", srq_attr, found);
  });
}

/**
 * Posts a list of receive requests, linked by `next`, for all queue pairs of a shared receive queue
 * (ibv_post_srq_recv(3)).
 * @param bad_recv_wr gets the first bad request in `wr`; those before it are posted
 * @throws EINVAL if memory is not of the region
 * @throws ENOMEM if the queue is full
 */
export function ibv_post_srq_recv(
  srq: SharedReceiveQueue,
  recv_wr: ReceiveRequest,
  bad_recv_wr?: BadRequest<ReceiveRequest>,
): 0 {
  return inCall("ibv_post_srq_recv", () => {
    living("srq", srq, SharedReceiveQueue).post(recv_wr, bad_recv_wr);
    return 0;
  });
}

/**
 * Destroys a shared receive queue. Requests that wait in it are forgotten.
 * @throws EBUSY if a queue pair uses it, or an event of it is not acknowledged
 */
export function ibv_destroy_srq(srq: SharedReceiveQueue): 0 {
  return inCall("ibv_destroy_srq", () => {
    living("srq", srq, SharedReceiveQueue).destroy();
    return 0;
  });
}
