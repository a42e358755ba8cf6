/** ibv_create_wq(3), ibv_modify_wq(3), ibv_create_rwq_ind_table(3). */
import type { Context } from "../model/base/context.js";
import { living } from "../model/base/handle.js";
import { IndirectionTable, type IndirectionTableAttributes } from "../model/queue/indirectionTable.js";
import type { ReceiveRequest } from "../model/queue/receiveQueue.js";
import type { BadRequest } from "../model/queue/scatter.js";
import { WorkQueue, type WorkQueueAttributes, type WorkQueueChange } from "../model/queue/workQueue.js";

export type { IndirectionTable, IndirectionTableAttributes } from "../model/queue/indirectionTable.js";
export type { WorkQueue, WorkQueueAttributes, WorkQueueChange } from "../model/queue/workQueue.js";

/**
 * A work queue in state RESET; it receives in RDY.
 * @throws EINVAL a limit of the device, another type than IBV_WQT_RQ; EOPNOTSUPP create flags, other bits of `comp_mask`; ENOMEM
 */
export function ibv_create_wq(context: Context, wq_init_attr: WorkQueueAttributes): WorkQueue {
  return WorkQueue.create("ibv_create_wq", context, wq_init_attr);
}

/** @throws EINVAL a state that it is not in, a step that there is not; EOPNOTSUPP flags */
export function ibv_modify_wq(wq: WorkQueue, wq_attr: WorkQueueChange): 0 {
  living("ibv_modify_wq", "wq", wq, WorkQueue).modify("ibv_modify_wq", wq_attr);
  return 0;
}

/** Posts a list of receive requests. @throws at the first bad one, which is then `bad_wr.wr`; those before it are posted */
export function ibv_post_wq_recv(wq: WorkQueue, wr: ReceiveRequest, bad_wr?: BadRequest<ReceiveRequest>): 0 {
  living("ibv_post_wq_recv", "wq", wq, WorkQueue).post("ibv_post_wq_recv", wr, bad_wr);
  return 0;
}

/** @throws EBUSY while an indirection table or a TIR leads to it */
export function ibv_destroy_wq(wq: WorkQueue): 0 {
  living("ibv_destroy_wq", "wq", wq, WorkQueue).destroy("ibv_destroy_wq");
  return 0;
}

/** 2^log_ind_tbl_size work queues. @throws EINVAL too many, or fewer queues; EOPNOTSUPP `comp_mask`; ENOMEM */
export function ibv_create_rwq_ind_table(context: Context, init_attr: IndirectionTableAttributes): IndirectionTable {
  return IndirectionTable.create("ibv_create_rwq_ind_table", context, init_attr);
}

/** @throws EBUSY while a queue pair has it */
export function ibv_destroy_rwq_ind_table(rwq_ind_table: IndirectionTable): 0 {
  const call = "ibv_destroy_rwq_ind_table";
  living(call, "rwq_ind_table", rwq_ind_table, IndirectionTable).destroy(call);
  return 0;
}
