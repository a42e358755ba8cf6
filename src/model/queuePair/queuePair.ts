/** Queue pairs: their attributes, their state, their send queue and their receive queue. */
import { Op, QUEUE_DATAGRAMS, QUEUE_READ, QUEUE_READY, QUEUE_SINK } from "../../abi/engine.js";
import {
  IBV_QPS_ERR,
  IBV_QPS_RESET,
  IBV_QPS_RTR,
  IBV_QPS_RTS,
  IBV_QPT_RAW_PACKET,
  IBV_QPT_UD,
} from "../../abi/verbs.js";
import { IBV_EVENT_QP_LAST_WQE_REACHED } from "../../abi/verbsConstants.js";
import type { BatchDestination } from "../../engine/batch.js";
import { refuse } from "../../errors.js";
import type { CompletionQueue } from "../queue/completionQueue.js";
import { Context, ProtectionDomain } from "../base/context.js";
import type { FrameTarget } from "../base/target.js";
import { checkRoom } from "../queue/numbers.js";
import { Handle, living, retire } from "../base/handle.js";
import { portOf } from "../base/port/ports.js";
import {
  changedState,
  isConnected,
  RESET_STATE,
  STATE_NAMES,
  type QueuePairChange,
  type QueuePairState,
} from "../queue/states.js";
import { depthOf, PostedBuffers } from "../queue/postedBuffers.js";
import { checkAttributes, type CheckedAttributes, type QueuePairAttributes } from "./queuePairAttributes.js";
import type { SharedReceiveQueue } from "../queue/sharedReceiveQueue.js";
import {
  ReceiveQueue,
  type ArrivedDatagram,
  type Posting,
  type Receiver,
  type ReceiveRequest,
} from "../queue/receiveQueue.js";
import type { TransportCounters } from "../roce/counters.js";
import { psnAfter } from "../roce/opcodes.js";
import { datagramRule, type ConnectedRule } from "../roce/connectionRule.js";
import { readDatagram } from "../roce/datagram.js";
import { Transport } from "../roce/transport.js";
import type { PrintedFields } from "../../base/printable.js";
import { postList, type BadRequest } from "../queue/scatter.js";
import { SendQueue, type SendRequest } from "./sendQueue.js";

export type { QueuePairAttributes, QueuePairCapabilities } from "./queuePairAttributes.js";

/** The result of `ibv_query_qp`: `struct ibv_qp_attr`. */
export interface QueuePairReport extends QueuePairState {
  cur_qp_state: number;
  cap: CheckedAttributes["cap"];
}

/**
 * Whether a queue pair's own frames are looped back to it: unicast frames, and multicast frames.
 */
export interface SelfLoopback {
  readonly unicast: boolean;
  readonly multicast: boolean;
}

const DATAGRAMS = QUEUE_READY | QUEUE_DATAGRAMS;
const NO_SELF_LOOPBACK: SelfLoopback = { unicast: false, multicast: false };

export class QueuePair extends Handle implements Receiver {
  readonly argument = "qp";
  readonly qp_num: number;
  readonly qp_type: number;
  readonly handle: number;
  /** Its name in outcomes: `qp:NAME`. */
  readonly label: string;
  /** Null for a sink. */
  readonly pd: ProtectionDomain | null;
  readonly context: Context;
  /** Own frames that its flows match as if they had ALLOW_LOOP_BACK (mlx5dv_create_qp). */
  selfLoopback: SelfLoopback = NO_SELF_LOOPBACK;
  /** Whether its multicast groups do not get its own datagrams (IBV_QP_CREATE_BLOCK_SELF_MCAST_LB). */
  blocksOwnMulticast = false;
  /**
   * @internal Reads and makes the packets of a connection; null for raw packet and UD queue pairs.
   */
  readonly transport: Transport | null;
  private readonly _attributes: CheckedAttributes | null;
  private readonly _receive: ReceiveQueue | null;
  private readonly _send: SendQueue | null;
  /** An object of its own: packets change its PSNs. */
  private _state: QueuePairState = { ...RESET_STATE };
  /** The rule of a UD queue pair that receives, for datagrams with its number. */
  private _datagrams: ConnectedRule | null = null;

  protected constructor(
    pd: ProtectionDomain | Context,
    attributes: CheckedAttributes | null,
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
    this._attributes = attributes;
    this._receive = attributes === null ? null : this._receiveQueue(attributes, handle);
    this._send =
      attributes === null
        ? null
        : new SendQueue(this, attributes.send_cq, attributes.cap, Number(attributes.sq_sig_all) !== 0);
    this.transport = this._receive !== null && isConnected(this.qp_type) ? new Transport(this, this._receive) : null;
    this.handle = handle;
    if (!this.isRss) {
      device.queues.set(handle, this);
      device.receivers.set(number, this);
    }
    device.hardware.inventory.add("qp");
  }

  /** @internal */
  static create(pd: ProtectionDomain, attributes: QueuePairAttributes, name?: string): QueuePair {
    const { device } = living("pd", pd, ProtectionDomain);
    const checked = checkAttributes(pd, attributes);
    const { send_cq, recv_cq, cap, srq } = checked;
    checkRoom(device);
    // All frames of a connection go to the transport, which manages the buffers.
    const depth = isConnected(checked.qp_type) ? 0 : depthOf(cap.max_recv_wr);
    const handle = device.core.exports.createQueue(0, recv_cq.handle, depth);
    const queue = new QueuePair(pd, checked, device.allocated(handle), name);
    if (srq !== null) device.core.exports.shareBuffers(handle, srq.handle);
    pd.users++;
    if (srq !== null) srq.users++;
    send_cq.users++;
    recv_cq.users++;
    return queue;
  }

  /**
   * @internal Creates a queue that takes every frame, without buffers and completions. Tests and tools send
   * frames to it.
   */
  static createSink(context: Context, name: string, port = 1): QueuePair {
    const { device } = living("context", context, Context);
    portOf("port", device, port);
    checkRoom(device);
    const handle = device.allocated(device.core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0));
    const queue = new QueuePair(context, null, handle, name);
    queue._state = { ...RESET_STATE, port_num: port };
    context.users++;
    return queue;
  }

  private _receiveQueue({ qp_type, recv_cq, cap, srq }: CheckedAttributes, handle: number): ReceiveQueue {
    const own = (): PostedBuffers => new PostedBuffers(this.device, handle, cap.max_recv_wr, !isConnected(qp_type));
    return new ReceiveQueue(this, recv_cq, cap, srq ?? own());
  }

  /** @internal */
  protected override printedFields(): PrintedFields {
    const fields = super.printedFields();
    return this.isRss ? fields : { ...fields, state: this.isSink ? "sink" : STATE_NAMES[this.state] };
  }

  /** Whether it takes every frame, without buffers and completions. */
  get isSink(): boolean {
    return this._attributes === null;
  }

  /** Whether RSS passes its frames to other queues; it then has no receive queue. */
  get isRss(): boolean {
    return false;
  }

  /** The action that delivers frames to it. */
  get target(): FrameTarget {
    return { op: this.isRss ? Op.rss : Op.queue, operand: this.handle };
  }

  get state(): number {
    return this._state.qp_state;
  }

  /** The attributes that `modify` has set. */
  get attributes(): Readonly<QueuePairState> {
    return this._state;
  }

  get number(): number {
    return this.qp_num;
  }

  /** Whether the core chooses the receive requests of its frames. */
  get takesFrames(): boolean {
    return this.transport === null;
  }

  /**
   * The counters of an RC or UC queue pair, under the names of Linux's port counters; null for
   * other types.
   */
  get hw_counters(): Readonly<TransportCounters> | null {
    return this.transport === null ? null : { ...this.transport.counters };
  }

  get posting(): Posting {
    if (this.state === IBV_QPS_ERR) return "flushed";
    return this.state === IBV_QPS_RESET ? "refused" : "kept";
  }

  datagramIn(frame: Uint8Array): ArrivedDatagram {
    return readDatagram(frame);
  }

  get qp_context(): unknown {
    return this._attributes?.qp_context ?? null;
  }

  /** Null for a sink, and so is `recv_cq`. */
  get send_cq(): CompletionQueue | null {
    return this._attributes?.send_cq ?? null;
  }

  get recv_cq(): CompletionQueue | null {
    return this._attributes?.recv_cq ?? null;
  }

  /** The shared receive queue that it takes requests from, or null. */
  get srq(): SharedReceiveQueue | null {
    return this._attributes?.srq ?? null;
  }

  /** @internal ibv_modify_qp: RESET -> INIT -> RTR -> RTS, and from every state to RESET and ERR. */
  modify(attr: QueuePairChange, mask: number): void {
    if (this._attributes === null) this._noSink();
    const next = changedState(this.device, this.qp_type, this._state, attr, mask);
    if (this.state < IBV_QPS_RTR && next.qp_state === IBV_QPS_RTR) this._open(next);
    this._become(next);
  }

  /** Installs the rule for packets with its number. @throws ENOMEM */
  private _open(next: QueuePairState): void {
    this.transport?.open(next);
    if (this.qp_type !== IBV_QPT_UD) return;
    const port = portOf("qp.port_num", this.device, next.port_num);
    this._datagrams = datagramRule(this.context.function, port, this.qp_num, this.handle);
  }

  private _close(): void {
    this.transport?.close();
    this._datagrams?.remove();
    this._datagrams = null;
  }

  /** Moves to ERR: the connection is broken, or the memory of a request is not registered any more. */
  fail(): void {
    if (this.destroyed || !this._receives) return;
    this._become({ ...this._state, qp_state: IBV_QPS_ERR });
  }

  /** @internal Reports an asynchronous event of its context (IBV_EVENT_*). */
  report(event_type: number): void {
    this.context.asyncEvents.report(event_type, "qp", this);
  }

  private _become(next: Readonly<QueuePairState>): void {
    this._state = { ...next };
    const { state, transport } = this;
    const ready = this._receives;
    const { exports } = this.device.core;
    exports.setQueueFlags(this.handle, ready ? this._readyFlags : 0);
    if (this._readyFlags === DATAGRAMS) exports.setDatagrams(this.handle, this.qp_num, next.qkey);
    if (!ready) this._close();
    if (state === IBV_QPS_RESET) {
      transport?.forget();
      this._receive?.forget();
      this._send?.forget();
    }
    if (state === IBV_QPS_ERR) {
      transport?.flush();
      this._receive?.flush();
      // Its requests stay in the shared receive queue: there are no more completions of it.
      if (this.srq !== null) this.report(IBV_EVENT_QP_LAST_WQE_REACHED);
    }
  }

  private get _receives(): boolean {
    return this.state === IBV_QPS_RTR || this.state === IBV_QPS_RTS;
  }

  private get _readyFlags(): number {
    if (this.qp_type === IBV_QPT_UD) return DATAGRAMS;
    return this.transport === null ? QUEUE_READY : QUEUE_READY | QUEUE_SINK | QUEUE_READ;
  }

  /** @internal ibv_query_qp: the attributes of its creation, and those that `modify` has set. */
  query(): { attr: QueuePairReport; init_attr: QueuePairAttributes } {
    const attributes = this._attributes;
    if (attributes === null) this._noSink();
    const cap = { ...attributes.cap };
    return {
      attr: { ...this._state, cur_qp_state: this.state, cap },
      init_attr: { ...attributes, cap: { ...cap } },
    };
  }

  /** @internal ibv_post_recv: posts the requests of a list up to the first that is refused. */
  post(request: ReceiveRequest, bad?: BadRequest<ReceiveRequest>): void {
    const receive = this._receive;
    if (receive === null) this._noSink();
    postList(request, bad, (wr) => receive.post(wr));
  }

  /** @internal ibv_post_send: posts the requests of a list up to the first that is refused. */
  postSend(request: SendRequest, bad?: BadRequest<SendRequest>): void {
    const send = this._send;
    if (send === null) this._noSink();
    postList(request, bad, (wr) => send.post(wr));
  }

  /** @internal ibv_wr_complete: posts all requests, or none. */
  postAll(requests: readonly SendRequest[]): void {
    const send = this._send;
    if (send === null) this._noSink();
    send.postAll(requests);
  }

  /** Takes `count` packet sequence numbers for packets to send; returns the first. */
  takePsn(count = 1): number {
    const psn = this._state.sq_psn;
    this._state.sq_psn = psnAfter(psn, count);
    return psn;
  }

  /** Sets the PSN of the next packet that it expects. */
  expectPsn(rq_psn: number): void {
    this._state.rq_psn = rq_psn;
  }

  /** @internal The lengths of the receive buffers that wait, the oldest first. */
  get bufferLengths(): readonly number[] {
    return this._receive?.lengths ?? [];
  }

  /** A frame has used a receive request; it may have been too long for the buffer. @returns false if the queue pair must fail */
  arrive(destination: BatchDestination, tag: number): boolean {
    return this._receive?.arrive(destination, tag) ?? true;
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    this.context.asyncEvents.checkAcknowledged("qp", this);
    retire("qp", this, "destroy the actions and flows that lead to it, and detach it from its multicast groups first");
    this.context.asyncEvents.forget(this);
    this.release();
    this.device.hardware.inventory.remove("qp");
    (this.pd ?? this.context).users--;
    if (this._attributes === null) return;
    this._attributes.send_cq.users--;
    this._attributes.recv_cq.users--;
    if (this._attributes.srq !== null) this._attributes.srq.users--;
  }

  /** Releases its part of the core. */
  protected release(): void {
    this._close();
    this.transport?.forget();
    this.device.core.exports.destroyQueue(this.handle);
    this.device.queues.delete(this.handle);
    this.device.receivers.delete(this.qp_num);
  }

  private _noSink(): never {
    const hint = "a sink is always ready and takes no requests";
    refuse({ code: "EINVAL", reason: "bad_object", path: "qp", value: this, hint });
  }
}
