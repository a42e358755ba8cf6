/**
 * Device commands for queues that verbs made: mlx5dv_devx_qp_modify(3) and its relatives. docs/devx.md
 * says which fields there are. Lengths are those of `mlx5dv_devx_obj_query`.
 */
import { inCall } from "../../errors.js";
import { living } from "../../model/base/handle.js";
import type { Context } from "../../model/base/context.js";
import { Command } from "../../model/devx/command.js";
import { askQueue, type Queue } from "../../model/devx/queue/commands.js";
import { CompletionQueue } from "../../model/queue/completionQueue.js";
import { IndirectionTable } from "../../model/queue/indirectionTable.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { SharedReceiveQueue } from "../../model/queue/sharedReceiveQueue.js";
import { WorkQueue } from "../../model/queue/workQueue.js";

type Buffers = [input: Uint8Array, inlen: number | undefined, output: Uint8Array, outlen: number | undefined];

/**
 * Runs a device command that queries a queue pair: QUERY_QP of RC, UC and UD ones, QUERY_RQ of raw packet ones (`qp_num` is the number of its
 * receive queue).
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_query`
 */
export function mlx5dv_devx_qp_query(
  qp: QueuePair,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_qp_query", () =>
    ask("query", living("qp", qp, QueuePair), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that changes a queue pair: RST2INIT_QP, INIT2RTR_QP, RTR2RTS_QP, INIT2INIT_QP, RTS2RTS_QP, 2RST_QP, 2ERR_QP.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_modify`
 */
export function mlx5dv_devx_qp_modify(
  qp: QueuePair,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_qp_modify", () =>
    ask("modify", living("qp", qp, QueuePair), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that queries a completion queue: QUERY_CQ.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_query`
 */
export function mlx5dv_devx_cq_query(
  cq: CompletionQueue,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_cq_query", () =>
    ask("query", living("cq", cq, CompletionQueue), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that changes a completion queue: MODIFY_CQ, of which the model has no field.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_modify`
 */
export function mlx5dv_devx_cq_modify(
  cq: CompletionQueue,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_cq_modify", () =>
    ask("modify", living("cq", cq, CompletionQueue), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that queries a work queue: QUERY_RQ.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_query`
 */
export function mlx5dv_devx_wq_query(
  wq: WorkQueue,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_wq_query", () =>
    ask("query", living("wq", wq, WorkQueue), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that changes a work queue: MODIFY_RQ.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_modify`
 */
export function mlx5dv_devx_wq_modify(
  wq: WorkQueue,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_wq_modify", () =>
    ask("modify", living("wq", wq, WorkQueue), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that queries a shared receive queue: QUERY_RMP with its `srqn`.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_query`
 */
export function mlx5dv_devx_srq_query(
  srq: SharedReceiveQueue,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_srq_query", () =>
    ask("query", living("srq", srq, SharedReceiveQueue), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that changes a shared receive queue: MODIFY_RMP, its limit.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_modify`
 */
export function mlx5dv_devx_srq_modify(
  srq: SharedReceiveQueue,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_srq_modify", () =>
    ask("modify", living("srq", srq, SharedReceiveQueue), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that queries an indirection table: QUERY_RQT.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_query`
 */
export function mlx5dv_devx_ind_tbl_query(
  ind_tbl: IndirectionTable,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_ind_tbl_query", () =>
    ask("query", living("ind_tbl", ind_tbl, IndirectionTable), [input, inlen, output, outlen]),
  );
}

/**
 * Runs a device command that changes an indirection table: MODIFY_RQT, other queues in the same number of places.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_modify`
 */
export function mlx5dv_devx_ind_tbl_modify(
  ind_tbl: IndirectionTable,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_ind_tbl_modify", () =>
    ask("modify", living("ind_tbl", ind_tbl, IndirectionTable), [input, inlen, output, outlen]),
  );
}

function ask(does: "query" | "modify", queue: Queue & { context: Context }, buffers: Buffers): 0 {
  askQueue(new Command(queue.context, ...buffers), queue, does);
  return 0;
}
