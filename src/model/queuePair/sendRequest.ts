/** The requests of ibv_post_send(3). */
import type { AddressHandle } from "../queue/addressHandle.js";
import type { WorkRequest } from "../queue/scatter.js";

/** `struct ibv_send_wr`, with the fields that raw frames, datagrams and messages use. */
export interface SendRequest extends WorkRequest {
  next?: SendRequest | null | undefined;
  /**
   * IBV_WR_SEND; for datagrams and messages also IBV_WR_SEND_WITH_IMM; for messages IBV_WR_RDMA_*
   * and IBV_WR_ATOMIC_*.
   */
  opcode: number;
  /** Bits IBV_SEND_... @default 0 */
  send_flags?: number | undefined;
  /** The immediate data of IBV_WR_SEND_WITH_IMM and IBV_WR_RDMA_WRITE_WITH_IMM. @default 0 */
  imm_data?: number | undefined;
  wr?: SendTarget | undefined;
}

/** The union `wr`: the member of the operation. */
export interface SendTarget {
  ud?: DatagramAddress | undefined;
  rdma?: RemoteAddress | undefined;
  atomic?: AtomicRequest | undefined;
}

/** The memory of the peer: member `rdma` of the union `wr`, for RDMA WRITE and READ. */
export interface RemoteAddress {
  remote_addr: bigint | number;
  rkey: number;
}

/** Member `atomic` of the union `wr`. */
export interface AtomicRequest extends RemoteAddress {
  /** The value to add, or to compare with. */
  compare_add: bigint | number;
  /** The value to swap. @default 0 */
  swap?: bigint | number | undefined;
}

/** The destination of a datagram: member `ud` of the union `wr`. */
export interface DatagramAddress {
  ah: AddressHandle;
  remote_qpn: number;
  /** The Q_Key to send. If its highest bit is set, the queue pair's own Q_Key is sent instead. */
  remote_qkey: number;
}
