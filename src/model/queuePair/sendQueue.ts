/**
 * The send queue of a queue pair. `post` checks a request, makes the frame and the completion, and
 * steers the frame to its end before it returns. A message completes after all its frames.
 */
import {
  IBV_QPS_ERR,
  IBV_QPS_RTS,
  IBV_QPT_UD,
  IBV_SEND_INLINE,
  IBV_SEND_IP_CSUM,
  IBV_SEND_SIGNALED,
  IBV_SEND_SOLICITED,
  IBV_WC_SEND,
  IBV_WC_SUCCESS,
  IBV_WC_WR_FLUSH_ERR,
} from "../../abi/verbs.js";
import { refusalOf, refuse, SteeringError } from "../../errors.js";
import { joined } from "../../packet/bytes.js";
import { AddressHandle } from "../queue/addressHandle.js";
import { completion, type PolledRequest, type CompletionQueue } from "../queue/completionQueue.js";
import type { ProtectionDomain } from "../base/context.js";
import { datagramFrame, type Datagram } from "../roce/datagram.js";
import { checkObject, unsigned } from "../../base/checks.js";
import { living } from "../base/handle.js";
import { withChecksums } from "./checksumOffload.js";
import { checkFrameLength, MTU_BYTES } from "../base/port/ports.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { STATE_NAMES, type QueuePairState } from "../queue/states.js";
import { checkViews, lengthOf, viewsOf } from "../queue/scatter.js";
import type { SendRequest } from "./sendRequest.js";
import { checkOperation } from "./sendOperations.js";
import { completedAs, immediateOf, isAnswered, messageOf } from "./messages.js";
import type { LocalMemory, Message } from "../roce/transfer.js";
import type { Transport } from "../roce/transport.js";

export type { DatagramAddress, SendRequest } from "./sendRequest.js";

/** The sizes of a send queue. */
export interface SendLimits {
  readonly max_send_wr: number;
  readonly max_send_sge: number;
  readonly max_inline_data: number;
}

/** The part of a queue pair that its send queue uses. */
export interface SendingQueuePair {
  readonly device: DeviceBase;
  readonly destroyed: boolean;
  readonly state: number;
  readonly qp_type: number;
  readonly qp_num: number;
  readonly pd: ProtectionDomain | null;
  readonly attributes: Readonly<QueuePairState>;
  readonly transport: Transport | null;
  /** Takes the packet sequence number of the next packet. */
  takePsn(): number;
}

/** A request that can be sent. */
interface CheckedRequest {
  readonly wr: SendRequest;
  readonly flags: number;
  readonly views: readonly Uint8Array[];
  /** What a connection sends; null for other queue pairs. */
  readonly message: Omit<Message, "request"> | null;
  readonly datagram: Omit<Datagram, "psn"> | null;
  /** Whether it gives a completion when it succeeds. */
  readonly completes: boolean;
}

/** Requests of the same posting that are checked and not sent yet. */
interface Before {
  readonly requests: number;
  readonly completions: number;
}

const NONE_BEFORE: Before = { requests: 0, completions: 0 };
/** The states in which a queue pair takes send requests. */
const SENDING: readonly number[] = [IBV_QPS_RTS, IBV_QPS_ERR];
const HELD = "the bytes must lie in the region of the lkey";
const PRIVILEGED_QKEY = 0x8000_0000;

export class SendQueue {
  private readonly _qp: SendingQueuePair;
  private readonly _completions: CompletionQueue;
  private readonly _limits: SendLimits;
  private readonly _signalsAll: boolean;
  /**
   * Requests posted, and requests whose entry is free again, counted since the queue was created.
   */
  private _tail = 0;
  private _head = 0;

  constructor(qp: SendingQueuePair, completions: CompletionQueue, limits: SendLimits, signalsAll: boolean) {
    this._qp = qp;
    this._completions = completions;
    this._limits = limits;
    this._signalsAll = signalsAll;
  }

  /**
   * Posts one request.
   * @throws EINVAL for a state that does not send, an operation or flag that the queue pair does
   *   not have, memory outside its regions, or bytes that are not a frame; ENOMEM when the queue or
   *   its completion queue is full
   */
  post(wr: SendRequest): void {
    this._send(this._check(wr, NONE_BEFORE));
  }

  /**
   * Posts all requests, or none.
   * @throws as `post`; `path` has the index of the request
   */
  postAll(requests: readonly SendRequest[]): void {
    const before = { requests: 0, completions: 0 };
    const checked = requests.map((wr, i) => {
      const one = numbered(i, () => this._check(wr, before));
      before.requests++;
      before.completions += one.completes ? 1 : 0;
      return one;
    });
    // Frames of a request may have reset or destroyed the queue pair: the rest is forgotten then.
    for (const one of checked) if (!this._qp.destroyed && SENDING.includes(this._qp.state)) this._send(one);
  }

  private _check(wr: SendRequest, before: Before): CheckedRequest {
    const qp = this._qp;
    const { state } = qp;
    // Frames of an earlier request in the list may have destroyed the queue pair.
    if (qp.destroyed) refuse({ code: "EINVAL", reason: "object_destroyed", path: "qp", value: qp });
    if (!SENDING.includes(state)) {
      const hint = "move it to RTS first";
      refuse({ code: "EINVAL", reason: "bad_state", path: "qp", value: STATE_NAMES[state], hint });
    }
    const flags = unsigned("wr.send_flags", wr.send_flags ?? 0, 32);
    checkOperation(qp, wr.opcode, flags);
    const { views, regions } = this._memory(wr, flags);
    const datagram = qp.qp_type === IBV_QPT_UD ? this._datagram(wr, flags, views) : null;
    const message = qp.transport === null ? null : messageOf(qp, wr, flags, { views, regions });
    if (message === null && datagram === null) checkFrameLength("wr.sg_list", lengthOf(views));
    const completes = state === IBV_QPS_ERR || this._signalsAll || (flags & IBV_SEND_SIGNALED) !== 0;
    this._checkRoom(completes, before);
    return { wr, flags, views, message, datagram, completes };
  }

  private _send({ wr, flags, views, message, datagram, completes }: CheckedRequest): void {
    const qp = this._qp;
    const { transport } = qp;
    if (qp.state === IBV_QPS_ERR) {
      this._completions.add(completion(wr.wr_id, IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, 0, qp.qp_num, 0));
      return;
    }
    if (transport !== null && message !== null) {
      const request = new SentRequest(this, wr, ++this._tail, completes, lengthOf(views));
      transport.post({ ...message, request });
      return;
    }
    const frame = datagram === null ? joined(...views) : datagramFrame({ ...datagram, psn: qp.takePsn() });
    const sent = (flags & IBV_SEND_IP_CSUM) === 0 ? frame : withChecksums(qp.device, frame);
    const place = ++this._tail;
    if (completes) this._complete(wr, place, IBV_WC_SUCCESS, lengthOf(views));
    qp.device.transmit(qp, sent);
  }

  /** Frees all entries: every posted request has been sent. */
  forget(): void {
    this._head = this._tail;
  }

  private _memory(wr: SendRequest, flags: number): LocalMemory {
    const { max_send_sge, max_inline_data } = this._limits;
    const views = viewsOf(wr, max_send_sge);
    if ((flags & IBV_SEND_INLINE) === 0) {
      const pd = this._qp.pd as ProtectionDomain;
      const regions = isAnswered(wr.opcode)
        ? checkViews(
            pd,
            wr,
            views,
            (region, view) => region.takes(view),
            `${HELD}, which must allow IBV_ACCESS_LOCAL_WRITE`,
          )
        : checkViews(pd, wr, views, (region, view) => region.holds(view), HELD);
      return { views, regions };
    }
    const length = lengthOf(views);
    if (length <= max_inline_data) return { views, regions: [] };
    const hint = `max_inline_data is ${max_inline_data}`;
    return refuse({ code: "EINVAL", reason: "out_of_range", path: "wr.sg_list", value: `${length} bytes`, hint });
  }

  private _datagram(wr: SendRequest, flags: number, payload: readonly Uint8Array[]): Omit<Datagram, "psn"> {
    const qp = this._qp;
    const ud = wr.wr?.ud;
    checkObject("wr.wr.ud", ud);
    const { pd, route } = living("wr.wr.ud.ah", ud.ah, AddressHandle);
    const path = "wr.wr.ud.ah";
    if (pd !== qp.pd) {
      const hint = "create it on the protection domain of the queue pair";
      refuse({ code: "EINVAL", reason: "bad_object", path, value: ud.ah, hint });
    }
    const { port_num, qkey, pkey_index } = qp.attributes;
    if (route.port.number !== port_num) {
      const hint = `the queue pair is on port ${port_num}`;
      refuse({ code: "EINVAL", reason: "bad_route", path, value: ud.ah, hint });
    }
    const remote_qpn = unsigned("wr.wr.ud.remote_qpn", ud.remote_qpn, 24);
    const asked = unsigned("wr.wr.ud.remote_qkey", ud.remote_qkey, 32);
    const length = lengthOf(payload);
    if (length > MTU_BYTES) {
      const hint = `a datagram is one packet of at most ${MTU_BYTES} bytes`;
      refuse({ code: "EINVAL", reason: "bad_frame", path: "wr.sg_list", value: `${length} bytes`, hint });
    }
    return {
      route,
      source_qpn: qp.qp_num,
      remote_qpn,
      remote_qkey: asked >= PRIVILEGED_QKEY ? qkey : asked,
      pkey: qp.device.hardware.ports[port_num - 1]?.pkey("pkey_index", pkey_index) ?? 0,
      solicited: (flags & IBV_SEND_SOLICITED) !== 0,
      immediate: immediateOf(wr),
      payload,
    };
  }

  /** Refuses a request without a free entry, or without room for its completion. */
  private _checkRoom(completes: boolean, before: Before): void {
    const { max_send_wr } = this._limits;
    if (this._tail - this._head + before.requests >= max_send_wr) {
      const hint = `max_send_wr is ${max_send_wr}: poll the completion of a request to free its entry and all before it`;
      refuse({ code: "ENOMEM", reason: "queue_full", path: "qp", value: this._qp, hint });
    }
    if (!completes || this._completions.room > before.completions) return;
    const hint = "poll the completion queue first";
    refuse({ code: "ENOMEM", reason: "completions_full", path: "qp.send_cq", value: this._completions, hint });
  }

  /** Completes the request at `place`. Polling the completion frees its entry and all before it. */
  private _complete(wr: SendRequest, place: number, status: number, length: number): void {
    this.complete(new SentRequest(this, wr, place, true, length), status, length);
  }

  /** Completes a request. */
  complete(request: SentRequest, status: number, length: number): void {
    const wc = completion(request.wr_id, status, request.opcode, length, this._qp.qp_num, 0);
    this._completions.add(wc, request);
  }

  /** Frees the entry at `place` and all before it. */
  free(place: number): void {
    this._head = Math.max(this._head, place);
  }
}

/** A request in its queue, until its completion is polled. */
export class SentRequest implements PolledRequest {
  readonly wr_id: bigint | number;
  /** IBV_WC_ operation of its completion. */
  readonly opcode: number;
  private readonly _queue: SendQueue;
  private readonly _place: number;
  /** Whether it gives a completion when it succeeds. */
  private readonly _completes: boolean;
  private readonly _length: number;

  constructor(queue: SendQueue, { wr_id, opcode }: SendRequest, place: number, completes: boolean, length: number) {
    this.wr_id = wr_id;
    this.opcode = completedAs(opcode);
    this._queue = queue;
    this._place = place;
    this._completes = completes;
    this._length = length;
  }

  /** The transport is done with its message, with an IBV_WC_ status. */
  done(status: number): void {
    const succeeded = status === IBV_WC_SUCCESS;
    if (this._completes || !succeeded) this._queue.complete(this, status, succeeded ? this._length : 0);
  }

  polled(): void {
    this._queue.free(this._place);
  }
}

/** Runs a check of request `i`; the path of a refusal then says `wr[i]`. */
function numbered<T>(i: number, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    return refuse({ ...refusalOf(error), path: error.path?.replace(/^wr\b/, `wr[${i}]`) });
  }
}
