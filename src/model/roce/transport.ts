/**
 * The transport of an RC or UC queue pair (docs/queues.md, "Connected queue pairs"): the rule that
 * finds its packets, its requester and its responder. Packets arrive here while the core is idle,
 * so that answers can be sent at once.
 */
import { inCall } from "../../errors.js";
import { IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_RC } from "../../abi/verbs.js";
import { IBV_EVENT_COMM_EST } from "../../abi/verbsConstants.js";
import { bytesOf } from "../../packet/bytes.js";
import { routeOf, type AddressAttributes, type Route } from "../queue/addressHandle.js";
import { mtuBytes } from "../base/port/ports.js";
import type { Context } from "../base/context.js";
import type { Deadline } from "../base/time/deadlines.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { QueuePairState } from "../queue/states.js";
import type { ReceiveQueue } from "../queue/receiveQueue.js";
import { connectionRule, type ConnectedRule } from "./connectionRule.js";
import { noCounts, type TransportCounters } from "./counters.js";
import { roceFrame } from "./frame.js";
import { ACKNOWLEDGE, SERVICE, SERVICE_RC, SERVICE_UC } from "./opcodes.js";
import { readPacket } from "./packet.js";
import { Requester, type Message, type RequesterOwner, type RequestPacket } from "./requester.js";
import { Responder, type ResponderOwner } from "./responder.js";

/** | syndrome 1 | MSN 3 | */
const AETH_LENGTH = 4;

/** The part of a queue pair that its transport uses. */
export interface ConnectedQueuePair {
  readonly device: DeviceBase;
  readonly context: Context;
  /** The queue's handle in the core. */
  readonly handle: number;
  readonly qp_num: number;
  readonly qp_type: number;
  readonly state: number;
  readonly attributes: Readonly<QueuePairState>;
  /** Takes `count` packet sequence numbers; returns the first. */
  takePsn(count: number): number;
  /** Sets the PSN of the next packet that the queue pair expects. */
  expectPsn(psn: number): void;
  /** Moves the queue pair to ERR: the connection is broken. */
  fail(): void;
  /** Reports an asynchronous event of the queue pair (IBV_EVENT_*). */
  report(event_type: number): void;
}

export class Transport implements RequesterOwner, ResponderOwner {
  readonly reliable: boolean;
  readonly receive: ReceiveQueue;
  readonly counters: TransportCounters = noCounts();
  private readonly _qp: ConnectedQueuePair;
  private readonly _requester = new Requester(this);
  private readonly _responder = new Responder(this);
  private _rule: ConnectedRule | null = null;
  private _route: Route | null = null;
  /** Whether a packet has arrived since the queue pair moved to RTR. */
  private _established = false;

  constructor(qp: ConnectedQueuePair, receive: ReceiveQueue) {
    this._qp = qp;
    this.reliable = qp.qp_type === IBV_QPT_RC;
    this.receive = receive;
  }

  /**
   * Opens the connection when the queue pair moves to RTR with the attributes `state`. @throws
   * ENOMEM, with nothing changed
   */
  open(state: QueuePairState): void {
    const { device, context, handle, qp_num } = this._qp;
    const route = routeOf("attr.ah_attr", device, state.ah_attr as AddressAttributes);
    this._rule = connectionRule(context.function, route, qp_num, handle);
    this._route = route;
    this._responder.reset();
    this._established = false;
  }

  /** Closes the connection: removes the rule, so that no more packets arrive. */
  close(): void {
    this._rule?.remove();
    this._rule = null;
  }

  /** Sends a message, after those posted before it. */
  post(message: Message): void {
    this._requester.post(message);
  }

  /** Completes all unfinished messages with a flush error. */
  flush(): void {
    this._requester.flush();
  }

  /** Removes all unfinished messages without completions. */
  forget(): void {
    this._requester.forget();
  }

  /** Handles a frame that the rule delivered. */
  arrive(frame: Uint8Array): void {
    // An earlier packet of the same batch may have closed the connection.
    if (this._rule === null) return;
    const packet = readPacket(frame);
    if (typeof packet === "string") {
      this.counters[packet]++;
      return;
    }
    if ((packet.opcode & SERVICE) !== this._service) return;
    if (!this._established && this._qp.state === IBV_QPS_RTR) this._qp.report(IBV_EVENT_COMM_EST);
    this._established = true;
    if (!this.reliable || packet.opcode !== ACKNOWLEDGE) this._responder.take(packet);
    else if (packet.content.length !== AETH_LENGTH) this.counters.malformed++;
    else this._requester.acknowledged(packet.psn, packet.content[0] ?? 0);
  }

  get mtu(): number {
    return mtuBytes(this._qp.attributes.path_mtu);
  }

  get minRnrTimer(): number {
    return this._qp.attributes.min_rnr_timer;
  }

  get retryCount(): number {
    return this._qp.attributes.retry_cnt;
  }

  get realTime(): boolean {
    return this._qp.device.realTime;
  }

  get rnrRetry(): number {
    return this._qp.attributes.rnr_retry;
  }

  get peer(): number {
    return this._qp.attributes.dest_qp_num;
  }

  get expected(): number {
    return this._qp.attributes.rq_psn;
  }

  set expected(psn: number) {
    this._qp.expectPsn(psn);
  }

  takePsns(count: number): number {
    return this._qp.takePsn(count);
  }

  /** SPEC: exactly 4.096 us times two to the power of `timeout`; devices take up to four times as long. 0 waits without end. */
  get ackTimeout(): bigint | null {
    const { timeout } = this._qp.attributes;
    return timeout === 0 ? null : 4096n << BigInt(timeout);
  }

  wait(deadline: Deadline, nanoseconds: bigint): void {
    const { clock } = this._qp.device;
    clock.set(deadline, clock.now() + nanoseconds);
  }

  cancel(deadline: Deadline): void {
    this._qp.device.clock.cancel(deadline);
  }

  send({ opcode, ...packet }: RequestPacket): boolean {
    return this._transmit({ ...packet, opcode: this._service | opcode });
  }

  answer(psn: number, syndrome: number, msn: number): void {
    const headers = [Uint8Array.of(syndrome), bytesOf(msn, AETH_LENGTH - 1)];
    const opcode = this._service | ACKNOWLEDGE;
    this._transmit({ opcode, psn, solicited: false, ackRequest: false, headers, payload: [] });
  }

  fail(event?: number): void {
    const { state } = this._qp;
    if (state !== IBV_QPS_RTR && state !== IBV_QPS_RTS) return;
    this._qp.fail();
    if (event !== undefined) this._qp.report(event);
  }

  private get _service(): number {
    return this.reliable ? SERVICE_RC : SERVICE_UC;
  }

  private _transmit(packet: RequestPacket): boolean {
    return inCall("ibv_post_send", () => {
      const route = this._route;
      if (route === null) return false;
      const { qp_num: source_qpn, attributes } = this._qp;
      const pkey = route.port.pkey("pkey_index", attributes.pkey_index);
      const frame = roceFrame(route, { ...packet, source_qpn, remote_qpn: this.peer, pkey });
      return this._qp.device.transmit(this._qp, frame);
    });
  }
}
