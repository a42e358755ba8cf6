/**
 * The additional attributes of mlx5dv_create_qp(3) and mlx5dv_create_cq(3): checks them, and
 * creates queue pairs and completion queues with them (docs/queues.md).
 */
import { IBV_QPT_DRIVER, IBV_QPT_RAW_PACKET } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import type { Context } from "../base/context.js";
import { ExtendedCompletionQueue, type CompletionQueueAttributes } from "../queue/extendedCompletionQueue.js";
import { checkObject, unsigned, wrongType } from "../../base/checks.js";
import type { QueuePair, QueuePairAttributes } from "./queuePair.js";
import { createExtended, type ExtendedAttributes as ExtendedMembers } from "./createExtended.js";
import type { RssAttributes } from "./rssQueuePair.js";
import { WorkQueue, type WorkQueueAttributes } from "../queue/workQueue.js";

/** `struct mlx5dv_qp_init_attr`. Fields without their bit in `comp_mask` are ignored. */
export interface DeviceQueuePairAttributes {
  /** Bits MLX5DV_QP_INIT_ATTR_MASK_... */
  comp_mask: number | bigint;
  /** Bits MLX5DV_QP_CREATE_... */
  create_flags?: number | undefined;
  dc_init_attr?: unknown;
  send_ops_flags?: number | bigint | undefined;
}

/** `struct mlx5dv_cq_init_attr`. Fields without their bit in `comp_mask` are ignored. */
export interface DeviceCompletionQueueAttributes {
  /** Bits MLX5DV_CQ_INIT_ATTR_MASK_... */
  comp_mask: number | bigint;
  /** Bits MLX5DV_CQE_RES_FORMAT_... */
  cqe_comp_res_format?: number | undefined;
  /** Bits MLX5DV_CQ_INIT_ATTR_FLAGS_... */
  flags?: number | undefined;
  /** Bytes: 64 or 128. */
  cqe_size?: number | undefined;
}

/** Attributes of ibv_create_qp_ex(3). */
export type ExtendedAttributes = (QueuePairAttributes | RssAttributes) & ExtendedMembers;

/** enum mlx5dv_qp_init_attr_mask */
export const QpMask = { create_flags: 1, dc: 2, send_ops_flags: 4, dci_streams: 8 } as const;

/** enum mlx5dv_qp_create_flags */
export const QpFlag = {
  tunnel_offloads: 1 << 0,
  self_loopback_uc: 1 << 1,
  self_loopback_mc: 1 << 2,
  disable_scatter_to_cqe: 1 << 3,
  allow_scatter_to_cqe: 1 << 4,
  packet_based_credit_mode: 1 << 5,
  sig_pipelining: 1 << 6,
  ooo_dp: 1 << 7,
} as const;

/** enum mlx5dv_cq_init_attr_mask */
export const CqMask = { compressed_cqe: 1, flags: 2, cqe_size: 4 } as const;
/** enum mlx5dv_cq_init_attr_flags */
export const CqFlag = { cqe_pad: 1 } as const;
/** enum mlx5dv_cqe_comp_res_format */
export const CqeFormat = { hash: 1, csum: 2, csum_stridx: 4 } as const;

const RAW_ALONE = QpFlag.tunnel_offloads | QpFlag.self_loopback_uc | QpFlag.self_loopback_mc;
const LACKING = QpFlag.packet_based_credit_mode | QpFlag.sig_pipelining | QpFlag.ooo_dp;
const SCATTER = QpFlag.disable_scatter_to_cqe | QpFlag.allow_scatter_to_cqe;
const CQE_SIZES = [64, 128];
const FORMATS: readonly number[] = Object.values(CqeFormat);
const CITE_QP = "mlx5dv_create_qp: mlx5_qp_attr";
const CITE_CQ = "mlx5dv_create_cq: mlx5_cq_attr";

/**
 * Creates a queue pair.
 * @param more the attributes of mlx5dv, or null
 * @throws EINVAL for unknown bits, and for flags that the type does not take or that exclude each
 *   other; EOPNOTSUPP for features that the device lacks; the errors of ibv_create_qp_ex
 */
export function createDeviceQueuePair(
  context: Context,
  attributes: ExtendedAttributes,
  more: DeviceQueuePairAttributes | null,
): QueuePair {
  if (more === null) return createExtended(context, attributes);
  checkObject("mlx5_qp_attr", more);
  const { qp_type } = attributes;
  const mask = knownBits("mlx5_qp_attr.comp_mask", more.comp_mask, bitsOf(QpMask), CITE_QP);
  checkMask(qp_type, mask);
  const flags = (mask & QpMask.create_flags) === 0 ? 0 : checkedFlags(qp_type, more.create_flags ?? 0);
  const qp = createExtended(context, attributes);
  qp.selfLoopback = {
    unicast: (flags & QpFlag.self_loopback_uc) !== 0,
    multicast: (flags & QpFlag.self_loopback_mc) !== 0,
  };
  return qp;
}

function checkMask(qp_type: number, mask: number): void {
  const path = "mlx5_qp_attr.comp_mask";
  if ((mask & (QpMask.dc | QpMask.dci_streams)) !== 0) {
    const code = qp_type === IBV_QPT_DRIVER ? "EOPNOTSUPP" : "EINVAL";
    const hint = "DC needs a queue pair of type IBV_QPT_DRIVER, which this device does not have";
    refuse({ code, reason: "unsupported", path, value: mask, hint, cite: CITE_QP });
  }
  if ((mask & QpMask.send_ops_flags) === 0) return;
  const hint = "the device has none of the operations mlx5dv_wr_*; send_ops_flags of qp_attr names those of ibv_wr_*";
  refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value: mask, hint, cite: CITE_QP });
}

function checkedFlags(qp_type: number, value: number): number {
  const path = "mlx5_qp_attr.create_flags";
  const flags = knownBits(path, value, bitsOf(QpFlag), CITE_QP);
  const clash = (hint: string): never =>
    refuse({ code: "EINVAL", reason: "bad_create_flags", path, value, hint, cite: CITE_QP });
  if ((flags & SCATTER) === SCATTER) clash("set DISABLE_SCATTER_TO_CQE or ALLOW_SCATTER_TO_CQE, not both");
  if ((flags & RAW_ALONE) !== 0 && qp_type !== IBV_QPT_RAW_PACKET) {
    clash("TUNNEL_OFFLOADS and TIR_ALLOW_SELF_LOOPBACK need the type IBV_QPT_RAW_PACKET");
  }
  if ((flags & LACKING) === 0) return flags;
  const hint = "clear PACKET_BASED_CREDIT_MODE, SIG_PIPELINING and OOO_DP";
  return refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value, hint, cite: CITE_QP });
}

/**
 * Creates a completion queue. MODEL: completions are objects, so `cqe_size` and compression have no
 * visible effect.
 * @throws EINVAL for unknown bits and sizes; the errors of ibv_create_cq_ex
 */
export function createDeviceCompletionQueue(
  context: Context,
  attributes: CompletionQueueAttributes,
  more: DeviceCompletionQueueAttributes | null,
): ExtendedCompletionQueue {
  if (more !== null) checkCompletionQueue(more);
  return ExtendedCompletionQueue.create(context, attributes);
}

function checkCompletionQueue(more: DeviceCompletionQueueAttributes): void {
  checkObject("mlx5_cq_attr", more);
  const mask = knownBits("mlx5_cq_attr.comp_mask", more.comp_mask, bitsOf(CqMask), CITE_CQ);
  const { cqe_comp_res_format = 0, flags = 0, cqe_size = 0 } = more;
  const bad = (path: string, value: number, hint: string): never =>
    refuse({ code: "EINVAL", reason: "out_of_range", path: `mlx5_cq_attr.${path}`, value, hint, cite: CITE_CQ });
  if ((mask & CqMask.compressed_cqe) !== 0) {
    const formats = knownBits("mlx5_cq_attr.cqe_comp_res_format", cqe_comp_res_format, bitsOf(CqeFormat), CITE_CQ);
    // SPEC: one of them. rdma-core's own test expects EINVAL for two (tests/test_mlx5_cq.py, v44).
    if (!FORMATS.includes(formats)) bad("cqe_comp_res_format", formats, "set one of HASH, CSUM and CSUM_STRIDX");
  }
  const sized = (mask & CqMask.cqe_size) !== 0;
  if (sized && !CQE_SIZES.includes(unsigned("mlx5_cq_attr.cqe_size", cqe_size, 16))) {
    bad("cqe_size", cqe_size, "use 64 or 128");
  }
  if ((mask & CqMask.flags) === 0) return;
  const pads = knownBits("mlx5_cq_attr.flags", flags, bitsOf(CqFlag), CITE_CQ) !== 0;
  if (pads && !(sized && cqe_size === 128)) bad("flags", flags, "CQE_PAD needs a cqe_size of 128");
}

/** `struct mlx5dv_wq_init_attr` */
export interface DeviceWorkQueueAttributes {
  /** Bits MLX5DV_WQ_INIT_ATTR_MASK_... */
  comp_mask: number | bigint;
  striding_rq_attrs?: unknown;
}

/** enum mlx5dv_wq_init_attr_mask */
export const WqMask = { striding_rq: 1 } as const;

/**
 * Creates a work queue.
 * @param more the attributes of mlx5dv, or null
 * @throws EINVAL for unknown bits; EOPNOTSUPP for strides; the errors of ibv_create_wq
 */
export function createDeviceWorkQueue(
  context: Context,
  attributes: WorkQueueAttributes,
  more: DeviceWorkQueueAttributes | null,
): WorkQueue {
  if (more !== null) {
    checkObject("mlx5_wq_attr", more);
    const path = "mlx5_wq_attr.comp_mask";
    const value = knownBits(path, more.comp_mask, WqMask.striding_rq, "mlx5dv_query_device");
    const hint = "the device has no striding receive queues: striding_rq_caps of mlx5dv_query_device are 0";
    if (value !== 0) refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value, hint });
  }
  return WorkQueue.create(context, attributes);
}

const bitsOf = (bits: Readonly<Record<string, number>>): number =>
  Object.values(bits).reduce((all, bit) => all | bit, 0);

/** Checks that a value has known bits only. @throws EINVAL */
function knownBits(path: string, value: number | bigint = 0, known: number, cite: string): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number") wrongType(path, "a number", value);
  if (Number.isInteger(number) && number >= 0 && number <= known && (number & ~known) === 0) return number;
  const hint = `the defined bits are 0x${known.toString(16)}`;
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint, cite });
}
