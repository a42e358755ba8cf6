/** Queue pairs that send and receive, for tests of sending. */
import type { Device, DeviceOptions } from "../../../src/index.js";
import { createDevice } from "../../../src/index.js";
import type { CompletionQueue } from "../../../src/model/queue/completionQueue.js";
import type { Context, MemoryRegion, ProtectionDomain } from "../../../src/model/base/context.js";
import type { QueuePair, QueuePairAttributes, QueuePairCapabilities } from "../../../src/model/queuePair/queuePair.js";
import type { ReceiveRequest } from "../../../src/model/queue/receiveQueue.js";
import type { SendRequest } from "../../../src/model/queuePair/sendQueue.js";
import * as v from "../../../src/verbs/index.js";

const CAP: QueuePairCapabilities = {
  max_send_wr: 16,
  max_recv_wr: 16,
  max_send_sge: 4,
  max_recv_sge: 1,
  max_inline_data: 128,
};

/** A device with one queue pair in RTS, memory, and the objects that they need. */
export interface Station {
  device: Device;
  context: Context;
  pd: ProtectionDomain;
  cq: CompletionQueue;
  qp: QueuePair;
  memory: Uint8Array;
  mr: MemoryRegion;
}

export interface StationOptions extends DeviceOptions {
  type?: number;
  /** Port of the queue pair. */
  port?: number;
  attributes?: Partial<QueuePairAttributes>;
  cqe?: number;
}

export async function openStation(options: StationOptions = {}): Promise<Station> {
  const { type = v.IBV_QPT_RAW_PACKET, port = 1, attributes = {}, cqe = 64, ...device } = options;
  const made = await createDevice(device);
  const context = v.ibv_open_device(made);
  const pd = v.ibv_alloc_pd(context);
  const cq = v.ibv_create_cq(context, cqe);
  const memory = new Uint8Array(65_536);
  const mr = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap: CAP, qp_type: type, ...attributes });
  climb(qp, port);
  return { device: made, context, pd, cq, qp, memory, mr };
}

/** The transitions of the manual page for queue pairs of datagrams and raw packets. */
export function climb(qp: QueuePair, port_num = 1, steps = 3): void {
  const ud = qp.qp_type === v.IBV_QPT_UD;
  const init = v.IBV_QP_STATE | v.IBV_QP_PORT | (ud ? v.IBV_QP_PKEY_INDEX | v.IBV_QP_QKEY : 0);
  const attr = { port_num, pkey_index: 0, qkey: 0x8001_0000, sq_psn: 0xfffffe };
  if (steps > 0) v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, ...attr }, init);
  if (steps > 1) v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTR }, v.IBV_QP_STATE);
  const rts = v.IBV_QP_STATE | (ud ? v.IBV_QP_SQ_PSN : 0);
  if (steps > 2) v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTS, ...attr }, rts);
}

/** A request for these bytes, which are written to the station's memory at `at`. */
export function request(station: Station, bytes: Uint8Array, more: Partial<SendRequest> = {}, at = 0): SendRequest {
  station.memory.set(bytes, at);
  const addr = station.memory.subarray(at, at + bytes.length);
  return { wr_id: 1, sg_list: [{ addr, lkey: station.mr.lkey }], opcode: v.IBV_WR_SEND, ...more };
}

/** Posts receive buffers of 2 KiB in the upper half of the memory; completions are numbered from 100 on. */
export function postBuffers(station: Station, count: number): void {
  for (let i = 0; i < count; i++) {
    const addr = station.memory.subarray(32_768 + 2048 * i, 32_768 + 2048 * (i + 1));
    const wr: ReceiveRequest = { wr_id: 100 + i, sg_list: [{ addr, lkey: station.mr.lkey }] };
    v.ibv_post_recv(station.qp, wr);
  }
}

/** The content of the i-th buffer. */
export function received(station: Station, i: number, length: number): Uint8Array {
  return station.memory.slice(32_768 + 2048 * i, 32_768 + 2048 * i + length);
}
