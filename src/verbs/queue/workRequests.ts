/**
 * ibv_wr_post(3): send requests that are built call by call, and posted together.
 *
 *     ibv_wr_start -> (builder -> setters) ... -> ibv_wr_complete or ibv_wr_abort
 */
import {
  IBV_WR_ATOMIC_CMP_AND_SWP,
  IBV_WR_ATOMIC_FETCH_AND_ADD,
  IBV_WR_ATOMIC_WRITE,
  IBV_WR_BIND_MW,
  IBV_WR_FLUSH,
  IBV_WR_LOCAL_INV,
  IBV_WR_RDMA_READ,
  IBV_WR_RDMA_WRITE,
  IBV_WR_RDMA_WRITE_WITH_IMM,
  IBV_WR_SEND,
  IBV_WR_SEND_WITH_IMM,
  IBV_WR_SEND_WITH_INV,
  IBV_WR_TSO,
} from "../../abi/verbs.js";
import { describe, unsigned } from "../../base/checks.js";
import { inCall, mistyped, refuse } from "../../errors.js";
import type { AddressHandle } from "../../model/queue/addressHandle.js";
import { ExtendedQueuePair, type InlineBuffer } from "../../model/queuePair/extendedQueuePair.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { ScatterEntry } from "../../model/queue/scatter.js";

export type { ExtendedQueuePair, InlineBuffer } from "../../model/queuePair/extendedQueuePair.js";

function extended(qp: ExtendedQueuePair): ExtendedQueuePair {
  if (qp instanceof ExtendedQueuePair) return qp;
  mistyped(`qp must be an ExtendedQueuePair, not ${describe(qp)}`);
}

/** Runs a builder or a setter. What it keeps for `ibv_wr_complete` to refuse takes its name, too. */
function building(call: string, qp: ExtendedQueuePair, build: () => void): void {
  inCall(call, () => {
    extended(qp);
    build();
    qp.nameKept(call);
  });
}

/**
 * The extended form of a queue pair, the same object in every call (ibv_wr_post(3)). Its `wr_id` and
 * `wr_flags` are those of the requests that are begun after they were set.
 * @throws EINVAL if it was made without IBV_QP_INIT_ATTR_SEND_OPS_FLAGS
 * @example
 * const qpx = ibv_qp_to_qp_ex(qp);
 * ibv_wr_start(qpx);
 * qpx.wr_id = 1n;
 * qpx.wr_flags = IBV_SEND_SIGNALED;
 * ibv_wr_send(qpx);
 * ibv_wr_set_sge(qpx, mr.lkey, frame, frame.length);
 * ibv_wr_complete(qpx);
 */
export function ibv_qp_to_qp_ex(qp: QueuePair): ExtendedQueuePair {
  return inCall("ibv_qp_to_qp_ex", () => ExtendedQueuePair.of(qp));
}

/**
 * Begins a posting.
 * @throws EINVAL if one has begun already
 */
export function ibv_wr_start(qp: ExtendedQueuePair): void {
  inCall("ibv_wr_start", () => extended(qp).start());
}

/**
 * Posts the requests that were built since `ibv_wr_start`, all or none. Their frames have run their
 * whole way when the call returns.
 * @throws the first refusal of a builder or setter: ENOMEM for too many entries or too much inline
 *   data, EINVAL for flags
 * @throws EINVAL if a setter is missing; or as `ibv_post_send`, with the index of the request
 */
export function ibv_wr_complete(qp: ExtendedQueuePair): 0 {
  return inCall("ibv_wr_complete", () => {
    extended(qp).complete();
    return 0;
  });
}

/**
 * Forgets the requests that were built since `ibv_wr_start`.
 * @throws EINVAL without `ibv_wr_start`
 */
export function ibv_wr_abort(qp: ExtendedQueuePair): void {
  inCall("ibv_wr_abort", () => extended(qp).abort());
}

// Builders. EINVAL without ibv_wr_start; EOPNOTSUPP where send_ops_flags does not have the operation.

/** Begins a request that sends a frame, a datagram or a message. */
export function ibv_wr_send(qp: ExtendedQueuePair): void {
  building("ibv_wr_send", qp, () => qp.build(IBV_WR_SEND));
}

/** Begins a request that sends a datagram or a message with immediate data. */
export function ibv_wr_send_imm(qp: ExtendedQueuePair, imm_data: number): void {
  building("ibv_wr_send_imm", qp, () => {
    qp.build(IBV_WR_SEND_WITH_IMM, { imm_data: unsigned("imm_data", imm_data, 32) });
  });
}

/** MODEL: no queue pair has the operation. @throws EOPNOTSUPP always */
export function ibv_wr_send_inv(qp: ExtendedQueuePair, _invalidate_rkey: number): void {
  building("ibv_wr_send_inv", qp, () => qp.build(IBV_WR_SEND_WITH_INV));
}

/** MODEL: no queue pair segments; max_tso is 0. @throws EOPNOTSUPP always */
export function ibv_wr_send_tso(qp: ExtendedQueuePair, _hdr: Uint8Array, _hdr_sz: number, _mss: number): void {
  building("ibv_wr_send_tso", qp, () => qp.build(IBV_WR_TSO));
}

/**
 * Begins a request that writes memory of the peer.
 * @param remote_addr an address in the region of `rkey`: `iova` of the peer's region is its first
 */
export function ibv_wr_rdma_write(qp: ExtendedQueuePair, rkey: number, remote_addr: bigint | number): void {
  building("ibv_wr_rdma_write", qp, () => qp.build(IBV_WR_RDMA_WRITE, { wr: { rdma: { rkey, remote_addr } } }));
}

/** Begins a request that writes memory of the peer, and completes a receive request there. */
export function ibv_wr_rdma_write_imm(
  qp: ExtendedQueuePair,
  rkey: number,
  remote_addr: bigint | number,
  imm_data: number,
): void {
  building("ibv_wr_rdma_write_imm", qp, () => {
    const wr = { rdma: { rkey, remote_addr } };
    qp.build(IBV_WR_RDMA_WRITE_WITH_IMM, { wr, imm_data: unsigned("imm_data", imm_data, 32) });
  });
}

/** Begins a request that reads memory of the peer. */
export function ibv_wr_rdma_read(qp: ExtendedQueuePair, rkey: number, remote_addr: bigint | number): void {
  building("ibv_wr_rdma_read", qp, () => qp.build(IBV_WR_RDMA_READ, { wr: { rdma: { rkey, remote_addr } } }));
}

/** Begins a request that swaps a number of 64 bits of the peer if it is `compare`, and returns what it was. */
export function ibv_wr_atomic_cmp_swp(
  qp: ExtendedQueuePair,
  rkey: number,
  remote_addr: bigint | number,
  compare: bigint | number,
  swap: bigint | number,
): void {
  building("ibv_wr_atomic_cmp_swp", qp, () => {
    qp.build(IBV_WR_ATOMIC_CMP_AND_SWP, { wr: { atomic: { rkey, remote_addr, compare_add: compare, swap } } });
  });
}

/** Begins a request that adds to a number of 64 bits of the peer, and returns what it was. */
export function ibv_wr_atomic_fetch_add(
  qp: ExtendedQueuePair,
  rkey: number,
  remote_addr: bigint | number,
  add: bigint | number,
): void {
  building("ibv_wr_atomic_fetch_add", qp, () => {
    qp.build(IBV_WR_ATOMIC_FETCH_AND_ADD, { wr: { atomic: { rkey, remote_addr, compare_add: add } } });
  });
}

/** MODEL: no queue pair has the operation. @throws EOPNOTSUPP always */
export function ibv_wr_atomic_write(
  qp: ExtendedQueuePair,
  _rkey: number,
  _remote_addr: bigint,
  _atomic_wr: Uint8Array,
): void {
  building("ibv_wr_atomic_write", qp, () => qp.build(IBV_WR_ATOMIC_WRITE));
}

/** MODEL: no queue pair has the operation. @throws EOPNOTSUPP always */
export function ibv_wr_flush(
  qp: ExtendedQueuePair,
  _rkey: number,
  _remote_addr: bigint,
  _len: number,
  _type: number,
  _level: number,
): void {
  building("ibv_wr_flush", qp, () => qp.build(IBV_WR_FLUSH));
}

/** MODEL: there are no memory windows. @throws EOPNOTSUPP always */
export function ibv_wr_bind_mw(qp: ExtendedQueuePair, _mw: unknown, _rkey: number, _bind_info: unknown): void {
  building("ibv_wr_bind_mw", qp, () => qp.build(IBV_WR_BIND_MW));
}

/** MODEL: there are no memory windows. @throws EOPNOTSUPP always */
export function ibv_wr_local_inv(qp: ExtendedQueuePair, _invalidate_rkey: number): void {
  building("ibv_wr_local_inv", qp, () => qp.build(IBV_WR_LOCAL_INV));
}

// Setters of the last request. EINVAL without a request, and for a second setter of data.

/**
 * Sets the data of the request: one entry.
 * @param lkey of the region that holds the bytes
 * @param length bytes of `addr`; all if undefined
 */
export function ibv_wr_set_sge(qp: ExtendedQueuePair, lkey: number, addr: Uint8Array, length?: number): void {
  building("ibv_wr_set_sge", qp, () => qp.setEntries(1, [{ addr, length, lkey }]));
}

/**
 * Sets the data of the request: entries one after the other.
 * @param num_sge entries of the list that are used; with 0 the list may be null
 */
export function ibv_wr_set_sge_list(
  qp: ExtendedQueuePair,
  num_sge: number,
  sg_list: readonly ScatterEntry[] | null,
): void {
  building("ibv_wr_set_sge_list", qp, () => qp.setEntries(num_sge, sg_list));
}

/**
 * Sets the data of the request: a copy of these bytes, without a region.
 * @param length bytes of `addr`; all if undefined
 */
export function ibv_wr_set_inline_data(qp: ExtendedQueuePair, addr: Uint8Array, length?: number): void {
  building("ibv_wr_set_inline_data", qp, () => qp.setInline(1, [{ addr, length }]));
}

/**
 * Sets the data of the request: copies of these bytes, one after the other.
 * @param num_buf buffers of the list that are used; with 0 the list may be null
 */
export function ibv_wr_set_inline_data_list(
  qp: ExtendedQueuePair,
  num_buf: number,
  buf_list: readonly InlineBuffer[] | null,
): void {
  building("ibv_wr_set_inline_data_list", qp, () => qp.setInline(num_buf, buf_list));
}

/** Sets the destination of a datagram. */
export function ibv_wr_set_ud_addr(
  qp: ExtendedQueuePair,
  ah: AddressHandle,
  remote_qpn: number,
  remote_qkey: number,
): void {
  building("ibv_wr_set_ud_addr", qp, () => qp.setAddress({ ah, remote_qpn, remote_qkey }));
}

/** MODEL: there are no XRC queue pairs. @throws EOPNOTSUPP always */
export function ibv_wr_set_xrc_srqn(qp: ExtendedQueuePair, _remote_srqn: number): void {
  inCall("ibv_wr_set_xrc_srqn", () => {
    extended(qp);
    const hint = "queue pairs of type IBV_QPT_XRC_SEND do not exist here";
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "qp", value: qp, hint });
  });
}
