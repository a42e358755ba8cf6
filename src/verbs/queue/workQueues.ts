/** ibv_create_wq(3), ibv_modify_wq(3), ibv_create_rwq_ind_table(3). */
import { inCall } from "../../errors.js";
import type { Context } from "../../model/base/context.js";
import { living } from "../../model/base/handle.js";
import { IndirectionTable, type IndirectionTableAttributes } from "../../model/queue/indirectionTable.js";
import type { ReceiveRequest } from "../../model/queue/receiveQueue.js";
import type { BadRequest } from "../../model/queue/scatter.js";
import { WorkQueue, type WorkQueueAttributes, type WorkQueueChange } from "../../model/queue/workQueue.js";

export type { IndirectionTable, IndirectionTableAttributes } from "../../model/queue/indirectionTable.js";
export type { WorkQueue, WorkQueueAttributes, WorkQueueChange } from "../../model/queue/workQueue.js";

/**
 * Makes a work queue in state RESET (ibv_create_wq(3)). It receives in RDY.
 * @throws EINVAL if a value is beyond a limit of the device, or the type is not IBV_WQT_RQ
 * @throws EOPNOTSUPP if a create flag or another bit of `comp_mask` is set
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_create_wq(context: Context, wq_init_attr: WorkQueueAttributes): WorkQueue {
  return inCall("ibv_create_wq", () => WorkQueue.create(context, wq_init_attr));
}

/**
 * Changes the state of a work queue (ibv_modify_wq(3)).
 * @throws EINVAL if `curr_wq_state` is not its state, or there is no such step
 * @throws EOPNOTSUPP if flags are changed
 */
export function ibv_modify_wq(wq: WorkQueue, wq_attr: WorkQueueChange): 0 {
  return inCall("ibv_modify_wq", () => {
    living("wq", wq, WorkQueue).modify(wq_attr);
    return 0;
  });
}

/**
 * Posts a list of receive requests, linked by `next`, to a work queue.
 * @param bad_wr gets the first bad request in `wr`; those before it are posted
 * @throws as `ibv_post_recv`
 */
export function ibv_post_wq_recv(wq: WorkQueue, wr: ReceiveRequest, bad_wr?: BadRequest<ReceiveRequest>): 0 {
  return inCall("ibv_post_wq_recv", () => {
    living("wq", wq, WorkQueue).post(wr, bad_wr);
    return 0;
  });
}

/**
 * Destroys a work queue (ibv_create_wq(3)).
 * @throws EBUSY if an indirection table or a TIR leads to it
 */
export function ibv_destroy_wq(wq: WorkQueue): 0 {
  return inCall("ibv_destroy_wq", () => {
    living("wq", wq, WorkQueue).destroy();
    return 0;
  });
}

/**
 * Makes an indirection table for RSS (ibv_create_rwq_ind_table(3)).
 * @param init_attr `ind_tbl` has 2^`log_ind_tbl_size` work queues
 * @throws EINVAL if there are too many or too few queues
 * @throws EOPNOTSUPP if `comp_mask` is not 0
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_create_rwq_ind_table(context: Context, init_attr: IndirectionTableAttributes): IndirectionTable {
  return inCall("ibv_create_rwq_ind_table", () => IndirectionTable.create(context, init_attr));
}

/**
 * Destroys an indirection table (ibv_create_rwq_ind_table(3)).
 * @throws EBUSY if a queue pair uses it
 */
export function ibv_destroy_rwq_ind_table(rwq_ind_table: IndirectionTable): 0 {
  return inCall("ibv_destroy_rwq_ind_table", () => {
    living("rwq_ind_table", rwq_ind_table, IndirectionTable).destroy();
    return 0;
  });
}
