/** mlx5dv_create_qp(3), mlx5dv_create_cq(3), mlx5dv_create_wq: queues of the verbs with attributes of the driver. */
import { inCall } from "../../errors.js";
import { checkObject } from "../../base/checks.js";
import { Context, ProtectionDomain } from "../../model/base/context.js";
import {
  CqeFormat,
  CqFlag,
  CqMask,
  createDeviceCompletionQueue,
  createDeviceQueuePair,
  createDeviceWorkQueue,
  QpFlag,
  QpMask,
  WqMask,
  type DeviceCompletionQueueAttributes,
  type DeviceQueuePairAttributes,
  type DeviceWorkQueueAttributes,
  type ExtendedAttributes,
} from "../../model/queuePair/deviceAttributes.js";
import type { CompletionQueueAttributes, ExtendedCompletionQueue } from "../../model/queue/extendedCompletionQueue.js";
import { living } from "../../model/base/handle.js";
import type { WorkQueue, WorkQueueAttributes } from "../../model/queue/workQueue.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";

export type {
  DeviceCompletionQueueAttributes,
  DeviceQueuePairAttributes,
  DeviceWorkQueueAttributes,
} from "../../model/queuePair/deviceAttributes.js";

export const MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS = QpMask.create_flags;
export const MLX5DV_QP_INIT_ATTR_MASK_DC = QpMask.dc;
export const MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS = QpMask.send_ops_flags;
export const MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS = QpMask.dci_streams;

export const MLX5DV_QP_CREATE_TUNNEL_OFFLOADS = QpFlag.tunnel_offloads;
export const MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC = QpFlag.self_loopback_uc;
export const MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC = QpFlag.self_loopback_mc;
export const MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE = QpFlag.disable_scatter_to_cqe;
export const MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE = QpFlag.allow_scatter_to_cqe;
export const MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE = QpFlag.packet_based_credit_mode;
export const MLX5DV_QP_CREATE_SIG_PIPELINING = QpFlag.sig_pipelining;
export const MLX5DV_QP_CREATE_OOO_DP = QpFlag.ooo_dp;

export const MLX5DV_DCTYPE_DCT = 1;
export const MLX5DV_DCTYPE_DCI = 2;

export const MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE = CqMask.compressed_cqe;
export const MLX5DV_CQ_INIT_ATTR_MASK_FLAGS = CqMask.flags;
export const MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE = CqMask.cqe_size;
export const MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD = CqFlag.cqe_pad;

export const MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ = WqMask.striding_rq;

export const MLX5DV_CQE_RES_FORMAT_HASH = CqeFormat.hash;
export const MLX5DV_CQE_RES_FORMAT_CSUM = CqeFormat.csum;
export const MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX = CqeFormat.csum_stridx;

/**
 * Makes a queue pair as `ibv_create_qp_ex` does, with attributes of the driver
 * (mlx5dv_create_qp(3)).
 * @param mlx5_qp_attr driver attributes; without them the call is `ibv_create_qp_ex`
 * @throws EINVAL if a bit is unknown, or flags do not fit the type or exclude each other
 * @throws EOPNOTSUPP for dynamic connections, send operations, packet-based credits, signature
 *   pipelining, out-of-order reception
 * @throws as `ibv_create_qp_ex`
 */
export function mlx5dv_create_qp(
  context: Context,
  qp_attr: ExtendedAttributes,
  mlx5_qp_attr?: DeviceQueuePairAttributes | null,
): QueuePair {
  return inCall("mlx5dv_create_qp", () => {
    living("context", context, Context);
    checkObject("qp_attr", qp_attr);
    living("qp_attr.pd", qp_attr.pd, ProtectionDomain);
    return createDeviceQueuePair(context, qp_attr, mlx5_qp_attr ?? null);
  });
}

/**
 * Makes a completion queue as `ibv_create_cq_ex` does, with attributes of the driver
 * (mlx5dv_create_cq(3)).
 * @param mlx5_cq_attr driver attributes; without them the call is `ibv_create_cq_ex`
 * @throws EINVAL if a bit is unknown, `cqe_size` is not 64 or 128, padding is asked for without
 *   128, or the compression format is missing
 * @throws as `ibv_create_cq_ex`
 */
export function mlx5dv_create_cq(
  context: Context,
  cq_attr: CompletionQueueAttributes,
  mlx5_cq_attr?: DeviceCompletionQueueAttributes | null,
): ExtendedCompletionQueue {
  return inCall("mlx5dv_create_cq", () => {
    living("context", context, Context);
    return createDeviceCompletionQueue(context, cq_attr, mlx5_cq_attr ?? null);
  });
}

/**
 * Makes a work queue as `ibv_create_wq` does, with attributes of the driver.
 * @param mlx5_wq_attr driver attributes; without them the call is `ibv_create_wq`
 * @throws EINVAL if a bit of `comp_mask` is unknown
 * @throws EOPNOTSUPP for MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ
 * @throws as `ibv_create_wq`
 */
export function mlx5dv_create_wq(
  context: Context,
  wq_init_attr: WorkQueueAttributes,
  mlx5_wq_attr?: DeviceWorkQueueAttributes | null,
): WorkQueue {
  return inCall("mlx5dv_create_wq", () => createDeviceWorkQueue(context, wq_init_attr, mlx5_wq_attr ?? null));
}
