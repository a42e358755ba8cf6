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
import type { Context, ProtectionDomain } from "../base/context.js";
import type { Deadline } from "../base/time/deadlines.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { QueuePairState } from "../queue/states.js";
import type { ReceiveQueue } from "../queue/receiveQueue.js";
import { connectionRule, type ConnectedRule } from "./connectionRule.js";
import { noCounts, type TransportCounters } from "./counters.js";
import { roceFrame } from "./frame.js";
import type { AnswerBytes } from "./answers.js";
import { AETH_LENGTH, aethOf, ATOMIC_SIZE, type RemoteMemory } from "./extendedHeaders.js";
import {
  ACK,
  ACKNOWLEDGE,
  ATOMIC_ACKNOWLEDGE,
  READ_RESPONSE_FIRST,
  READ_RESPONSE_LAST,
  READ_RESPONSE_MIDDLE,
  READ_RESPONSE_ONLY,
  psnAfter,
  SERVICE,
  SERVICE_RC,
  SERVICE_UC,
} from "./opcodes.js";
import { readPacket } from "./packet.js";
import { Requester, type RequesterOwner } from "./requester.js";
import { Responder, type ResponderOwner } from "./responder.js";
import type { Message, RequestPacket } from "./transfer.js";

/** The part of a queue pair that its transport uses. */
export interface ConnectedQueuePair {
  readonly device: DeviceBase;
  readonly context: Context;
  readonly pd: ProtectionDomain | null;
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
    const { opcode, psn, content } = packet;
    if (!this.reliable || opcode < READ_RESPONSE_FIRST || opcode > ATOMIC_ACKNOWLEDGE) this._responder.take(packet);
    else if (content.length < (opcode === READ_RESPONSE_MIDDLE ? 0 : AETH_LENGTH)) this.counters.malformed++;
    else if (opcode === ACKNOWLEDGE) this._requester.acknowledged(psn, content[0] ?? 0);
    else this._requester.responded(psn, opcode === READ_RESPONSE_MIDDLE ? content : content.subarray(AETH_LENGTH));
  }

  get access(): number {
    return this._qp.attributes.qp_access_flags;
  }

  get maxReads(): number {
    return this._qp.attributes.max_dest_rd_atomic;
  }

  remote({ address, rkey }: RemoteMemory, length: number, access: number): Uint8Array | null {
    return this._qp.pd?.regions.get(rkey)?.remote(address, length, access) ?? null;
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

  get readDepth(): number {
    return this._qp.attributes.max_rd_atomic;
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

  send(packet: RequestPacket): boolean {
    return this._transmit(packet);
  }

  answer(psn: number, syndrome: number, msn: number): void {
    this._reply(ACKNOWLEDGE, psn, [aethOf(syndrome, msn)], []);
  }

  respond(psn: number, bytes: AnswerBytes, msn: number): void {
    const aeth = aethOf(ACK, msn);
    if (typeof bytes === "bigint") {
      this._reply(ATOMIC_ACKNOWLEDGE, psn, [aeth, bytesOf(bytes, ATOMIC_SIZE)], []);
      return;
    }
    for (const [i, payload] of bytes.entries()) {
      // A packet may have closed the connection.
      if (this._rule === null) return;
      const opcode = responseOpcode(i, bytes.length);
      this._reply(opcode, psnAfter(psn, i), opcode === READ_RESPONSE_MIDDLE ? [] : [aeth], [payload]);
    }
  }

  private _reply(opcode: number, psn: number, headers: readonly Uint8Array[], payload: readonly Uint8Array[]): void {
    this._transmit({ opcode, psn, solicited: false, ackRequest: false, headers, payload });
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

  private _transmit({ opcode, psn, solicited, ackRequest, headers, payload }: RequestPacket): boolean {
    return inCall("ibv_post_send", () => {
      const route = this._route;
      if (route === null) return false;
      const { qp_num: source_qpn, attributes } = this._qp;
      const pkey = route.port.pkey("pkey_index", attributes.pkey_index);
      const frame = roceFrame(route, {
        opcode: this._service | opcode,
        source_qpn,
        remote_qpn: this.peer,
        pkey,
        psn,
        solicited,
        ackRequest,
        headers,
        payload,
      });
      return this._qp.device.transmit(this._qp, frame);
    });
  }
}

function responseOpcode(i: number, count: number): number {
  if (count === 1) return READ_RESPONSE_ONLY;
  if (i === 0) return READ_RESPONSE_FIRST;
  return i < count - 1 ? READ_RESPONSE_MIDDLE : READ_RESPONSE_LAST;
}
