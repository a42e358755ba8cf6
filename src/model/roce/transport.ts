/**
 * The transport of an RC or UC queue pair (docs/queues.md, "Connected queue pairs"): the rule that
 * finds its packets, its requester and its responder. Packets arrive here while the core is idle,
 * so that answers can be sent at once.
 */
import { IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_RC } from "../../abi/verbs.js";
import { IBV_EVENT_COMM_EST } from "../../abi/verbsConstants.js";
import { bytesOf } from "../../packet/bytes.js";
import { routeOf, type AddressAttributes, type Route } from "../queue/addressHandle.js";
import { mtuBytes } from "../base/ports.js";
import type { Context } from "../base/context.js";
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
  readonly #qp: ConnectedQueuePair;
  readonly #requester = new Requester(this);
  readonly #responder = new Responder(this);
  #rule: ConnectedRule | null = null;
  #route: Route | null = null;
  /** Whether a packet has arrived since the queue pair moved to RTR. */
  #established = false;

  constructor(qp: ConnectedQueuePair, receive: ReceiveQueue) {
    this.#qp = qp;
    this.reliable = qp.qp_type === IBV_QPT_RC;
    this.receive = receive;
  }

  /**
   * Opens the connection when the queue pair moves to RTR with the attributes `state`. @throws
   * ENOMEM, with nothing changed
   */
  open(call: string, state: QueuePairState): void {
    const { device, context, handle, qp_num } = this.#qp;
    const route = routeOf(call, "attr.ah_attr", device, state.ah_attr as AddressAttributes);
    this.#rule = connectionRule(call, context.function, route, qp_num, handle);
    this.#route = route;
    this.#responder.reset();
    this.#established = false;
  }

  /** Closes the connection: removes the rule, so that no more packets arrive. */
  close(): void {
    this.#rule?.remove();
    this.#rule = null;
  }

  /** Sends a message, after those posted before it. */
  post(message: Message): void {
    this.#requester.post(message);
  }

  /** Completes all unfinished messages with a flush error. */
  flush(): void {
    this.#requester.flush();
  }

  /** Removes all unfinished messages without completions. */
  forget(): void {
    this.#requester.forget();
  }

  /** Handles a frame that the rule delivered. */
  arrive(frame: Uint8Array): void {
    // An earlier packet of the same batch may have closed the connection.
    if (this.#rule === null) return;
    const packet = readPacket(frame);
    if (typeof packet === "string") {
      this.counters[packet]++;
      return;
    }
    if ((packet.opcode & SERVICE) !== this.#service) return;
    if (!this.#established && this.#qp.state === IBV_QPS_RTR) this.#qp.report(IBV_EVENT_COMM_EST);
    this.#established = true;
    if (!this.reliable || packet.opcode !== ACKNOWLEDGE) this.#responder.take(packet);
    else if (packet.content.length !== AETH_LENGTH) this.counters.malformed++;
    else this.#requester.acknowledged(packet.psn, packet.content[0] ?? 0);
  }

  get mtu(): number {
    return mtuBytes(this.#qp.attributes.path_mtu);
  }

  get minRnrTimer(): number {
    return this.#qp.attributes.min_rnr_timer;
  }

  get retryCount(): number {
    return this.#qp.attributes.retry_cnt;
  }

  get rnrRetry(): number {
    return this.#qp.attributes.rnr_retry;
  }

  get peer(): number {
    return this.#qp.attributes.dest_qp_num;
  }

  get expected(): number {
    return this.#qp.attributes.rq_psn;
  }

  set expected(psn: number) {
    this.#qp.expectPsn(psn);
  }

  takePsns(count: number): number {
    return this.#qp.takePsn(count);
  }

  send({ opcode, ...packet }: RequestPacket): void {
    this.#transmit({ ...packet, opcode: this.#service | opcode });
  }

  answer(psn: number, syndrome: number, msn: number): void {
    const headers = [Uint8Array.of(syndrome), bytesOf(msn, AETH_LENGTH - 1)];
    const opcode = this.#service | ACKNOWLEDGE;
    this.#transmit({ opcode, psn, solicited: false, ackRequest: false, headers, payload: [] });
  }

  fail(event?: number): void {
    const { state } = this.#qp;
    if (state !== IBV_QPS_RTR && state !== IBV_QPS_RTS) return;
    this.#qp.fail();
    if (event !== undefined) this.#qp.report(event);
  }

  get #service(): number {
    return this.reliable ? SERVICE_RC : SERVICE_UC;
  }

  #transmit(packet: RequestPacket): void {
    const route = this.#route;
    if (route === null) return;
    const { qp_num: source_qpn, attributes } = this.#qp;
    const call = "ibv_post_send";
    const pkey = route.port.pkey(call, "pkey_index", attributes.pkey_index);
    this.#qp.device.transmit(call, this.#qp, roceFrame(route, { ...packet, source_qpn, remote_qpn: this.peer, pkey }));
  }
}
