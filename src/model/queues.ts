/** Completion queues and queue pairs, as far as received frames need them. */
import { QUEUE_READY, QUEUE_SINK, Reason } from "../abi/engine.js";
import {
  IBV_QPS_ERR,
  IBV_QPS_INIT,
  IBV_QPS_RESET,
  IBV_QPS_RTR,
  IBV_QPS_RTS,
  IBV_QPT_RAW_PACKET,
  IBV_WC_LOC_LEN_ERR,
  IBV_WC_RECV,
  IBV_WC_SUCCESS,
  IBV_WC_WR_FLUSH_ERR,
} from "../abi/verbs.js";
import type { BatchDestination } from "../engine/batch.js";
import { refuse } from "../errors.js";
import { Context, ProtectionDomain } from "./context.js";
import { describe, Handle, living, retire, unsigned } from "./handle.js";

/** Names of the states of a raw packet QP, by number. */
const STATE_NAMES: Readonly<Record<number, string>> = {
  [IBV_QPS_RESET]: "RESET",
  [IBV_QPS_INIT]: "INIT",
  [IBV_QPS_RTR]: "RTR",
  [IBV_QPS_RTS]: "RTS",
  [IBV_QPS_ERR]: "ERR",
};

/** The way up; RESET and ERR can be had from everywhere. */
const NEXT: Readonly<Record<number, number>> = {
  [IBV_QPS_RESET]: IBV_QPS_INIT,
  [IBV_QPS_INIT]: IBV_QPS_RTR,
  [IBV_QPS_RTR]: IBV_QPS_RTS,
};

/** `struct ibv_wc`. MODEL: it has the flow tag, which C reads from an extended completion by `ibv_wc_read_flow_tag`. */
export interface WorkCompletion {
  wr_id: bigint | number;
  status: number;
  opcode: number;
  /** Bytes written to the receive buffer. */
  byte_len: number;
  qp_num: number;
  /** Tag of the rule that delivered the frame, 0 without one. */
  flow_tag: number;
}

/** `struct ibv_sge` */
export interface ScatterEntry {
  addr: Uint8Array;
  length?: number | undefined;
  lkey: number;
}

/** `struct ibv_recv_wr` */
export interface ReceiveRequest {
  wr_id: bigint | number;
  sg_list: readonly ScatterEntry[];
  num_sge?: number | undefined;
  next?: ReceiveRequest | null | undefined;
}

const MAX_CQE = 2 ** 22;
const MAX_RECV_WR = 2 ** 15;
const MAX_SGE = 30;

export class CompletionQueue extends Handle {
  readonly context: Context;
  readonly cqe: number;
  readonly handle: number;
  readonly #held: WorkCompletion[] = [];

  constructor(call: string, context: Context, cqe: number) {
    living(call, "context", context, Context);
    unsigned(call, "cqe", cqe, 31);
    if (cqe < 1 || cqe > MAX_CQE) {
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: "cqe", value: cqe, hint: `1 to ${MAX_CQE}` });
    }
    const handle = context.device.allocated(call, context.device.core.exports.createCompletionQueue(cqe));
    super(context.device, `cq${context.device.nextNumber("cq")}`);
    this.context = context;
    this.cqe = cqe;
    this.handle = handle;
    context.users++;
  }

  /** A completion that the core has counted already. */
  push(completion: WorkCompletion): void {
    this.#held.push(completion);
  }

  /** A completion that the core knows nothing of. */
  add(completion: WorkCompletion): void {
    this.device.core.exports.holdCompletion(this.handle);
    this.#held.push(completion);
  }

  /** The oldest completions, at most `count`. */
  poll(count: number): WorkCompletion[] {
    const taken = this.#held.splice(0, count);
    this.device.core.exports.takeCompletions(this.handle, taken.length);
    return taken;
  }

  destroy(call: string): void {
    retire(call, "cq", this, "destroy its queue pairs first");
    this.device.core.exports.destroyCompletionQueue(this.handle);
    this.context.users--;
  }
}

/** `struct ibv_qp_init_attr`, the fields that receiving reads. */
export interface QueuePairAttributes {
  qp_context?: unknown;
  send_cq: CompletionQueue;
  recv_cq: CompletionQueue;
  cap: { max_recv_wr: number; max_recv_sge: number; max_send_wr?: number; max_send_sge?: number };
  qp_type: number;
}

export class QueuePair extends Handle {
  readonly qp_num: number;
  readonly qp_type: number;
  readonly handle: number;
  /** What outcomes call it. */
  readonly label: string;
  /** Null for a sink. */
  readonly pd: ProtectionDomain | null;
  readonly context: Context;
  readonly #attributes: QueuePairAttributes | null;
  readonly #posted: ReceiveRequest[] = [];
  readonly #depth: number;
  #state: number = IBV_QPS_RESET;
  /** Requests posted and taken, counted over the life of the queue. */
  #tail = 0;
  #head = 0;

  private constructor(
    pd: ProtectionDomain | Context,
    attributes: QueuePairAttributes | null,
    handle: number,
    name?: string,
  ) {
    const { device } = pd;
    const number = device.nextNumber("qp") + 1;
    super(device, name ?? `qp${number}`);
    this.qp_num = number;
    this.label = `qp:${this.name}`;
    this.qp_type = attributes?.qp_type ?? IBV_QPT_RAW_PACKET;
    this.pd = pd instanceof ProtectionDomain ? pd : null;
    this.context = pd instanceof ProtectionDomain ? pd.context : pd;
    this.#attributes = attributes;
    this.#depth = attributes === null ? 0 : depthOf(attributes.cap.max_recv_wr);
    this.handle = handle;
    device.queuePairs.set(handle, this);
  }

  static create(call: string, pd: ProtectionDomain, attributes: QueuePairAttributes, name?: string): QueuePair {
    living(call, "pd", pd, ProtectionDomain);
    if (attributes.qp_type !== IBV_QPT_RAW_PACKET) {
      const hint = "this release has IBV_QPT_RAW_PACKET";
      refuse({ code: "EOPNOTSUPP", call, reason: "unsupported", path: "qp_type", value: attributes.qp_type, hint });
    }
    const sendCq = completionQueueOf(call, pd, "send_cq", attributes.send_cq);
    const recvCq = completionQueueOf(call, pd, "recv_cq", attributes.recv_cq);
    bounded(call, "cap.max_recv_wr", attributes.cap.max_recv_wr, MAX_RECV_WR);
    bounded(call, "cap.max_recv_sge", attributes.cap.max_recv_sge, MAX_SGE);
    const { device } = pd;
    const depth = depthOf(attributes.cap.max_recv_wr);
    const handle = device.allocated(call, device.core.exports.createQueue(0, recvCq.handle, depth));
    const queue = new QueuePair(pd, { ...attributes, cap: { ...attributes.cap } }, handle, name);
    pd.users++;
    sendCq.users++;
    recvCq.users++;
    return queue;
  }

  /** A queue that takes every frame, without buffers and completions: where tests and tools send frames. */
  static createSink(call: string, context: Context, name: string): QueuePair {
    living(call, "context", context, Context);
    const { device } = context;
    const handle = device.allocated(call, device.core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0));
    const queue = new QueuePair(context, null, handle, name);
    context.users++;
    return queue;
  }

  /** Takes every frame, without buffers and completions. */
  get isSink(): boolean {
    return this.#attributes === null;
  }

  get state(): number {
    return this.#state;
  }

  /** ibv_modify_qp: RESET -> INIT -> RTR -> RTS, to RESET and ERR from everywhere. */
  modify(call: string, state: number): void {
    if (this.#attributes === null) {
      refuse({ code: "EINVAL", call, reason: "bad_object", path: "qp", value: this, hint: "a sink is always ready" });
    }
    const next = NEXT[this.#state];
    const legal = state === IBV_QPS_RESET || state === IBV_QPS_ERR || state === this.#state || state === next;
    if (!legal) {
      const up = next === undefined ? "" : `${STATE_NAMES[next]}, `;
      const hint = `from ${STATE_NAMES[this.#state]} to ${up}RESET or ERR`;
      refuse({ code: "EINVAL", call, reason: "bad_state", path: "attr.qp_state", value: state, hint });
    }
    this.#state = state;
    this.device.core.exports.setQueueFlags(
      this.handle,
      state === IBV_QPS_RTR || state === IBV_QPS_RTS ? QUEUE_READY : 0,
    );
    if (state === IBV_QPS_RESET) this.#forget();
    if (state === IBV_QPS_ERR) this.#flush();
  }

  /** ibv_post_recv: all requests of the list up to the first bad one. */
  post(call: string, request: ReceiveRequest): void {
    for (let wr: ReceiveRequest | null | undefined = request; wr; wr = wr.next) this.#postOne(call, wr);
  }

  #postOne(call: string, wr: ReceiveRequest): void {
    const attributes = this.#attributes;
    if (attributes === null || this.#state === IBV_QPS_RESET) {
      const hint = "move it to INIT first";
      refuse({ code: "EINVAL", call, reason: "bad_state", path: "qp", value: STATE_NAMES[this.#state], hint });
    }
    const count = wr.num_sge ?? wr.sg_list.length;
    bounded(call, "wr.num_sge", count, Math.min(attributes.cap.max_recv_sge, wr.sg_list.length));
    const entries = wr.sg_list.slice(0, count);
    let length = 0;
    for (const [i, entry] of entries.entries()) length += this.#checkEntry(call, `wr.sg_list[${i}]`, entry);
    if (this.#tail - this.#head >= attributes.cap.max_recv_wr) {
      const hint = `${attributes.cap.max_recv_wr} requests are posted`;
      refuse({ code: "ENOMEM", call, reason: "queue_full", path: "qp", value: this, hint });
    }
    const copy = { wr_id: wr.wr_id, sg_list: entries.map((entry) => ({ ...entry })) };
    if (this.#state === IBV_QPS_ERR) {
      attributes.recv_cq.add(this.#completion(copy, IBV_WC_WR_FLUSH_ERR, 0, 0));
      return;
    }
    this.#posted[this.#tail % this.#depth] = copy;
    this.#tail++;
    this.device.core.exports.postBuffer(this.handle, length);
  }

  #checkEntry(call: string, path: string, { addr, length, lkey }: ScatterEntry): number {
    if (!(addr instanceof Uint8Array)) {
      throw new TypeError(`${call}: ${path}.addr must be a Uint8Array, not ${describe(addr)}`);
    }
    const size = unsigned(call, `${path}.length`, length ?? addr.length, 32);
    const region = this.pd?.regions.get(lkey);
    if (region === undefined) {
      const hint = "the lkey of a region of the queue pair's protection domain";
      refuse({ code: "EINVAL", call, reason: "bad_key", path: `${path}.lkey`, value: lkey, hint });
    }
    if (size > addr.length || !region.takes(addr.subarray(0, size))) {
      const hint = "a view inside the registered bytes, which allow IBV_ACCESS_LOCAL_WRITE";
      refuse({ code: "EINVAL", call, reason: "outside_memory_region", path: `${path}.addr`, value: addr, hint });
    }
    return size;
  }

  /** A frame has arrived: its bytes go to the buffer that the core chose, and the completion is made. */
  arrive(destination: BatchDestination, tag: number): void {
    const attributes = this.#attributes;
    if (attributes === null) return;
    const request = this.#posted[destination.request % this.#depth];
    if (request === undefined) return;
    this.#head++;
    const tooShort = destination.status === (Reason.receive_buffer_too_short as number);
    const length = tooShort ? 0 : scatter(request.sg_list, destination.frame);
    const status = tooShort ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
    attributes.recv_cq.push(this.#completion(request, status, length, tag));
  }

  #completion(wr: ReceiveRequest, status: number, length: number, tag: number): WorkCompletion {
    return { wr_id: wr.wr_id, status, opcode: IBV_WC_RECV, byte_len: length, qp_num: this.qp_num, flow_tag: tag };
  }

  #forget(): void {
    this.device.core.exports.clearQueue(this.handle);
    this.#head = this.#tail;
  }

  /** Posted requests of a queue pair in error complete with a flush error. */
  #flush(): void {
    const attributes = this.#attributes;
    for (let i = this.#head; i < this.#tail && attributes !== null; i++) {
      const wr = this.#posted[i % this.#depth];
      if (wr !== undefined) attributes.recv_cq.add(this.#completion(wr, IBV_WC_WR_FLUSH_ERR, 0, 0));
    }
    this.#forget();
  }

  destroy(call: string): void {
    retire(call, "qp", this, "destroy the actions that lead to it first");
    this.device.core.exports.destroyQueue(this.handle);
    this.device.queuePairs.delete(this.handle);
    (this.pd ?? this.context).users--;
    if (this.#attributes === null) return;
    this.#attributes.send_cq.users--;
    this.#attributes.recv_cq.users--;
  }
}

/** A living completion queue of the device that the protection domain is on. */
function completionQueueOf(call: string, pd: ProtectionDomain, path: string, queue: CompletionQueue): CompletionQueue {
  living(call, path, queue, CompletionQueue);
  if (queue.device !== pd.device) refuse({ code: "EINVAL", call, reason: "other_device", path, value: queue });
  return queue;
}

function depthOf(requests: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(requests, 1)));
}

function bounded(call: string, path: string, value: number, most: number): void {
  unsigned(call, path, value, 32);
  if (value > most) refuse({ code: "EINVAL", call, reason: "out_of_range", path, value, hint: `0 to ${most}` });
}

function scatter(entries: readonly ScatterEntry[], frame: Uint8Array): number {
  let at = 0;
  for (const { addr, length } of entries) {
    const part = frame.subarray(at, at + (length ?? addr.length));
    addr.set(part);
    at += part.length;
  }
  return at;
}
