/** Connected RC and UC queue pairs, for tests of messages and of the rules on their path. */
import { createDevice, Device, type DeviceOptions } from "../../../src/index.js";
import type { CompletionQueue } from "../../../src/model/queue/completionQueue.js";
import type { Context, MemoryRegion, ProtectionDomain } from "../../../src/model/base/context.js";
import type { DeviceFunction } from "../../../src/model/device/function.js";
import type { QueuePair, QueuePairAttributes } from "../../../src/model/queuePair/queuePair.js";
import type { QueuePairChange } from "../../../src/model/queue/states.js";
import type { SendRequest } from "../../../src/model/queuePair/sendQueue.js";
import * as v from "../../../src/verbs/index.js";

const CAP = { max_send_wr: 16, max_recv_wr: 16, max_send_sge: 2, max_recv_sge: 2, max_inline_data: 64 };
/** Requests are read from the lower half of the memory, messages are written to the upper half. */
const HALF = 1 << 19;
const SLOT = 1 << 16;

/**
 * One end of a connection. It has two completion queues, so that tests can tell send from receive
 * completions.
 */
export interface End {
  readonly device: Device;
  readonly context: Context;
  readonly pd: ProtectionDomain;
  readonly sent: CompletionQueue;
  readonly received: CompletionQueue;
  readonly qp: QueuePair;
  readonly memory: Uint8Array;
  readonly mr: MemoryRegion;
  readonly port: number;
}

export interface EndOptions {
  type?: number;
  port?: number;
  attributes?: Partial<QueuePairAttributes>;
  cqe?: number;
}

export function openEnd(of: Device | DeviceFunction, options: EndOptions = {}): End {
  const { type = v.IBV_QPT_RC, port = 1, attributes = {}, cqe = 64 } = options;
  const context = v.ibv_open_device(of);
  const pd = v.ibv_alloc_pd(context);
  const sent = v.ibv_create_cq(context, cqe);
  const received = v.ibv_create_cq(context, cqe);
  const memory = new Uint8Array(2 * HALF);
  const mr = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const qp = v.ibv_create_qp(pd, { send_cq: sent, recv_cq: received, cap: CAP, qp_type: type, ...attributes });
  const { device } = context;
  if (!(device instanceof Device)) throw new Error("no device");
  return { device, context, pd, sent, received, qp, memory, mr, port };
}

const PATH = v.IBV_QP_AV | v.IBV_QP_PATH_MTU | v.IBV_QP_DEST_QPN | v.IBV_QP_RQ_PSN;
const RC_RTR = PATH | v.IBV_QP_MAX_DEST_RD_ATOMIC | v.IBV_QP_MIN_RNR_TIMER;
const RC_RTS = v.IBV_QP_SQ_PSN | v.IBV_QP_MAX_QP_RD_ATOMIC | v.IBV_QP_RETRY_CNT | v.IBV_QP_RNR_RETRY | v.IBV_QP_TIMEOUT;
const INIT = v.IBV_QP_PKEY_INDEX | v.IBV_QP_PORT | v.IBV_QP_ACCESS_FLAGS;

/**
 * The attributes of the end for its peer and itself, changed by `change`; `sgid_index` is also the
 * index of the peer's GID.
 */
export function attributesOf(end: End, peer: End, change: QueuePairChange = {}, sgid_index = 0): QueuePairChange {
  const { gid, mac } = addressOf(peer, sgid_index);
  return {
    pkey_index: 0,
    port_num: end.port,
    qp_access_flags: 0,
    path_mtu: v.IBV_MTU_1024,
    dest_qp_num: peer.qp.qp_num,
    rq_psn: 0,
    sq_psn: 0,
    ah_attr: { is_global: 1, port_num: end.port, grh: { dgid: gid, sgid_index, hop_limit: 64 }, dmac: mac },
    max_rd_atomic: 1,
    max_dest_rd_atomic: 1,
    min_rnr_timer: 12,
    timeout: 14,
    retry_cnt: 7,
    rnr_retry: 7,
    ...change,
  };
}

/** GID and MAC of the port of an end. */
function addressOf({ device, port }: End, index: number): { gid: Uint8Array; mac: Uint8Array } {
  const { gids, mac } = device.hardware.ports[port - 1] as (typeof device.hardware.ports)[number];
  return { gid: gids[index] as Uint8Array, mac };
}

/** RESET to RTS, or the transitions from the `first` on, up to `steps`. */
export function raise(end: End, attr: QueuePairChange, steps = 3, first = 0): void {
  const reliable = end.qp.qp_type === v.IBV_QPT_RC;
  const rts = reliable ? RC_RTS : v.IBV_QP_SQ_PSN;
  const masks = [INIT, reliable ? RC_RTR : PATH, rts];
  for (const [i, qp_state] of [v.IBV_QPS_INIT, v.IBV_QPS_RTR, v.IBV_QPS_RTS].slice(0, steps).entries()) {
    if (i < first) continue;
    v.ibv_modify_qp(end.qp, { ...attr, qp_state }, v.IBV_QP_STATE | (masks[i] as number));
  }
}

/** Connects two ends in both directions. */
export function join(a: End, b: End, change: QueuePairChange = {}, sgid_index = 0): void {
  raise(a, attributesOf(a, b, change, sgid_index));
  raise(b, attributesOf(b, a, change, sgid_index));
}

/** Two devices of one port each, with IPv4 GIDs at index 1, without a cable. */
export async function openPair(options: DeviceOptions = {}): Promise<[Device, Device]> {
  const left = await createDevice({ name: "left", gids: [["10.0.0.1"]], ...options });
  const right = await createDevice({ name: "right", gids: [["10.0.0.2"]], ...options });
  return [left, right];
}

/** A cable with a monitor. */
export interface Wire {
  /** The frames that crossed it, lost frames included. */
  readonly frames: Uint8Array[];
  /** Returns the frame for the other end, null for none. */
  onFrame: (frame: Uint8Array, index: number) => Uint8Array | null;
}

export function connectWatched(left: Device, right: Device): Wire {
  const wire: Wire = { frames: [], onFrame: (frame) => frame };
  const lead = (to: Device) => (frame: Uint8Array) => {
    wire.frames.push(frame);
    const out = wire.onFrame(frame, wire.frames.length - 1);
    if (out !== null) to.receive(1, out);
  };
  left.connect(1, lead(right));
  right.connect(1, lead(left));
  return wire;
}

/** Bytes that differ from each other. */
export function pattern(length: number, seed = 1): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (seed * 37 + i * 7 + (i >> 8)) & 0xff);
}

/** A signaled SEND of these bytes. */
export function post(end: End, bytes: Uint8Array, more: Partial<SendRequest> = {}): void {
  end.memory.set(bytes, 0);
  const sg_list = [{ addr: end.memory.subarray(0, bytes.length), lkey: end.mr.lkey }];
  v.ibv_post_send(end.qp, { wr_id: 1, sg_list, opcode: v.IBV_WR_SEND, send_flags: v.IBV_SEND_SIGNALED, ...more });
}

/** Posts receive requests of `size` bytes, numbered from 100 on. */
export function postReceives(end: End, count = 4, size = SLOT, first = 0): void {
  for (let i = first; i < first + count; i++) {
    const addr = end.memory.subarray(HALF + SLOT * i, HALF + SLOT * i + size);
    v.ibv_post_recv(end.qp, { wr_id: 100 + i, sg_list: [{ addr, lkey: end.mr.lkey }] });
  }
}

/** The content of the i-th request. */
export function inSlot(end: End, i: number, length: number): Uint8Array {
  return end.memory.slice(HALF + SLOT * i, HALF + SLOT * i + length);
}

/** Completions: number of the request and status. */
export function statuses(queue: CompletionQueue): [number, number][] {
  return v.ibv_poll_cq(queue, 99).map(({ wr_id, status }) => [Number(wr_id), status]);
}

/** Opcode and PSN of a RoCE frame over IPv6 or IPv4 without options. */
export function packetOf(frame: Uint8Array): { opcode: number; psn: number; dst_qp: number; length: number } {
  const bth = 14 + (frame[12] === 0x08 ? 20 : 40) + 8;
  const number = (at: number): number => ((frame[at] ?? 0) << 16) | ((frame[at + 1] ?? 0) << 8) | (frame[at + 2] ?? 0);
  return { opcode: frame[bth] ?? 0, psn: number(bth + 9), dst_qp: number(bth + 5), length: frame.length };
}
