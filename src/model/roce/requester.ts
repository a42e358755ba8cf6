/**
 * The requester of a connection: it sends messages, and handles ACKs, NAKs and retries (InfiniBand
 * architecture 1.4, 9.7.3 and 9.8.1).
 *
 * Where packets are under way after a message (cables with a delay), the next message follows at once:
 * several are in flight, and complete in their order. One timer is about the oldest packet that is not
 * acknowledged. Where packets arrive at once, so do their answers: a message that is unanswered then is
 * sent again at once, before the next one begins.
 *
 *     packets of all messages --> acknowledged: complete, from the first message on
 *       ^                 |
 *       |                 +--> no answer in time, NAK of a gap --> one retry less
 *       |                 +--> RNR NAK: wait as long as the peer asks  --> one RNR retry less
 *       +-- again from the first packet that is not acknowledged <--+
 */
import {
  IBV_WC_REM_ACCESS_ERR,
  IBV_WC_REM_INV_REQ_ERR,
  IBV_WC_REM_OP_ERR,
  IBV_WC_RETRY_EXC_ERR,
  IBV_WC_RNR_RETRY_EXC_ERR,
  IBV_WC_SUCCESS,
  IBV_WC_WR_FLUSH_ERR,
} from "../../abi/verbs.js";
import { Deadline } from "../base/time/deadlines.js";
import { lengthOf } from "../queue/scatter.js";
import type { TransportCounters } from "./counters.js";
import {
  KIND_ACK,
  KIND_RNR,
  NAK_INVALID_REQUEST,
  NAK_REMOTE_ACCESS,
  NAK_REMOTE_OPERATION,
  NAK_SEQUENCE,
  psnDistance,
  SYNDROME_KIND,
} from "./opcodes.js";
import { rnrTime } from "./rnrTimer.js";
import {
  nextPacket,
  packetsOf,
  stored,
  transferOf,
  waitsForBytes,
  type Message,
  type RequestPacket,
  type Transfer,
} from "./transfer.js";

/** The part of a queue pair that its requester uses. */
export interface RequesterOwner {
  readonly reliable: boolean;
  /** Bytes. */
  readonly mtu: number;
  readonly retryCount: number;
  readonly rnrRetry: number;
  /** READ and atomic operations that may wait for their answers at a time (max_rd_atomic). */
  readonly readDepth: number;
  /** Whether it waits for its peer as if frames took time, even where they do not. */
  readonly realTime: boolean;
  /** Nanoseconds to wait for an acknowledgement; null: without an end. */
  readonly ackTimeout: bigint | null;
  readonly counters: TransportCounters;
  /** Takes `count` packet sequence numbers; returns the first. */
  takePsns(count: number): number;
  /**
   * Sends a packet. Returns whether it is under way; else the answers of the peer have reached
   * `acknowledged`.
   */
  send(packet: RequestPacket): boolean;
  /** Lets a deadline wait for so many nanoseconds from now. */
  wait(deadline: Deadline, nanoseconds: bigint): void;
  cancel(deadline: Deadline): void;
  /** Moves the queue pair to ERR. */
  fail(): void;
}

/** An RNR retry of 7 has no end where time passes between the tries. */
const ENDLESS = 7;

/** Packets in flight: numbers are compared within half of their 24 bits. */
const MAX_PACKETS = 1 << 22;

/** Waits for acknowledgements, or for as long as a peer without a receive request asks. */
export class RetryTimer extends Deadline {
  constructor(private readonly _requester: Requester) {
    super();
  }

  override due(): void {
    this._requester.timedOut();
  }
}

const STATUS: Readonly<Record<number, number>> = {
  [NAK_INVALID_REQUEST]: IBV_WC_REM_INV_REQ_ERR,
  [NAK_REMOTE_ACCESS]: IBV_WC_REM_ACCESS_ERR,
  [NAK_REMOTE_OPERATION]: IBV_WC_REM_OP_ERR,
};

export class Requester {
  private readonly _owner: RequesterOwner;
  /** Messages that have not begun. */
  private readonly _waiting: Message[] = [];
  /** Messages that have, in their order. All but the first have no acknowledged packet. */
  private readonly _flight: Transfer[] = [];
  private readonly _timer = new RetryTimer(this);
  /** No message before this place in `_flight` has a packet to send. */
  private _cursor = 0;
  private _running = false;
  /** The syndrome with which the peer refused the first packet that is not acknowledged, or null. */
  private _nak: number | null = null;
  /** Whether the peer has asked to wait: nothing is sent until the timer is due. */
  private _held = false;
  /** Whether packets are under way: their answers come in time. */
  private _isUnderWay = false;
  /** Retries without progress so far, and those after an RNR NAK. */
  private _tries = 0;
  private _rnrTries = 0;

  constructor(owner: RequesterOwner) {
    this._owner = owner;
  }

  /**
   * Appends a message and sends all that can be sent. A message that is posted during the call waits for
   * its turn.
   */
  post(message: Message): void {
    this._waiting.push(message);
    this._run();
  }

  /** Removes all messages that are not complete, and returns them. */
  forget(): Message[] {
    const all = [...this._flight.splice(0).map(({ message }) => message), ...this._waiting.splice(0)];
    this._emptied();
    return all;
  }

  /** Removes all messages that are not complete; they complete with a flush error. */
  flush(): void {
    for (const { request } of this.forget()) request.done(IBV_WC_WR_FLUSH_ERR);
  }

  /**
   * Handles an ACK or NAK: the peer has all packets before `psn`, and with a positive `syndrome`
   * that one too.
   */
  acknowledged(psn: number, syndrome: number): void {
    const positive = (syndrome & SYNDROME_KIND) === KIND_ACK;
    const transfer = this._withPacket(psn);
    // Only answers with bytes acknowledge what they answer.
    if (transfer === null || (positive && transfer.message.into !== null)) return;
    if (this._acknowledgeBefore(transfer)) {
      const place = psnDistance(psn, transfer.first);
      this._progress(transfer, positive ? place + 1 : place);
      if (!positive) this._nak = syndrome;
    }
    this._run();
  }

  /** Handles an answer with bytes, to READ or an atomic operation. */
  responded(psn: number, payload: Uint8Array): void {
    const transfer = this._withPacket(psn);
    const into = transfer?.message.into ?? null;
    if (transfer === null || into === null) return;
    if (this._acknowledgeBefore(transfer)) {
      const { acknowledged, parts } = transfer;
      const { mtu, counters } = this._owner;
      if (psnDistance(psn, transfer.first) > acknowledged) this._missing(transfer);
      else if (payload.length === Math.min(mtu, lengthOf(into.views) - acknowledged * mtu)) {
        parts.push(payload.slice());
        this._progress(transfer, acknowledged + 1);
      } else counters.malformed++;
    }
    this._run();
  }

  /** The time of the timer has come. */
  timedOut(): void {
    if (this._flight.length === 0) return;
    // After an RNR NAK the packets were only held.
    if (this._held) this._again();
    else this._retry("local_ack_timeout_err");
    this._run();
  }

  /** The message that has sent a packet with this number and has no acknowledgement of it; null for none. */
  private _withPacket(psn: number): Transfer | null {
    for (const transfer of this._flight) {
      const place = psnDistance(psn, transfer.first);
      if (place < transfer.acknowledged) return null;
      if (place < transfer.count) return place < transfer.sent ? transfer : null;
    }
    return null;
  }

  /** An answer to a message acknowledges all before it. False if the answer of one of these is missing. */
  private _acknowledgeBefore(transfer: Transfer): boolean {
    for (const earlier of this._flight) {
      if (earlier === transfer) return true;
      if (waitsForBytes(earlier)) {
        this._missing(earlier);
        return false;
      }
      this._progress(earlier, earlier.count);
    }
    return true;
  }

  /** A missing answer is requested again, once: later answers of the same request may be in transit. */
  private _missing(transfer: Transfer): void {
    if (transfer.gap !== transfer.acknowledged) this._nak = NAK_SEQUENCE;
    transfer.gap = transfer.acknowledged;
  }

  private _progress(transfer: Transfer, acknowledged: number): void {
    if (acknowledged === transfer.acknowledged) return;
    transfer.acknowledged = acknowledged;
    this._tries = this._rnrTries = 0;
    // The time-out begins again, but not what the peer has asked for.
    if (!this._held) this._cancel();
  }

  /** Does all that can be done now. */
  private _run(): void {
    if (this._running) return;
    this._running = true;
    try {
      while (this._step());
      if (this._flight.length > 0 && !this._timer.waits) this._wait(this._owner.ackTimeout);
    } finally {
      this._running = false;
    }
  }

  /** Does one thing. @returns whether there may be more to do now */
  private _step(): boolean {
    const [first] = this._flight;
    if (first !== undefined && first.acknowledged === first.count) this._complete(stored(first));
    else if (this._nak !== null) this._refused(this._nak);
    else if (this._held) return false;
    else if (!this._sendNext()) {
      // What is not under way gets no answer any more.
      if (this._flight.length > 0 && !this._isUnderWay) this._retry("local_ack_timeout_err");
      else return this._begin();
    }
    return true;
  }

  /** Completes the first message. An error breaks the connection. */
  private _complete(status: number): void {
    const first = this._flight.shift();
    this._cursor = Math.max(0, this._cursor - 1);
    if (this._flight.length === 0) this._emptied();
    first?.message.request.done(status);
    if (status !== IBV_WC_SUCCESS) this._owner.fail();
  }

  /** Nothing is in flight. */
  private _emptied(): void {
    this._nak = null;
    this._held = false;
    this._cursor = this._tries = this._rnrTries = 0;
    this._cancel();
  }

  /** The peer refuses the first packet that is not acknowledged. */
  private _refused(nak: number): void {
    const { counters, rnrRetry } = this._owner;
    this._nak = null;
    if (nak === NAK_SEQUENCE) this._retry("packet_seq_err");
    else if ((nak & SYNDROME_KIND) !== KIND_RNR) {
      if (nak === NAK_REMOTE_ACCESS) counters.req_remote_access_errors++;
      this._complete(STATUS[nak] ?? IBV_WC_REM_OP_ERR);
    } else if (this._rnrTries++ < rnrRetry || (this._isUnderWay && rnrRetry === ENDLESS)) {
      this._held = this._isUnderWay;
      if (this._held) this._wait(rnrTime(nak));
      else this._again();
    } else {
      counters.rnr_nak_retry_err++;
      this._complete(IBV_WC_RNR_RETRY_EXC_ERR);
    }
  }

  /** A round without a new acknowledgement is one retry. */
  private _retry(reason: "local_ack_timeout_err" | "packet_seq_err"): void {
    const { counters, retryCount } = this._owner;
    counters[reason]++;
    if (this._tries++ < retryCount) this._again();
    else this._complete(IBV_WC_RETRY_EXC_ERR);
  }

  /** Sends all packets without an acknowledgement again. */
  private _again(): void {
    for (const transfer of this._flight) transfer.next = transfer.acknowledged;
    this._cursor = 0;
    this._held = false;
    this._isUnderWay = this._owner.realTime;
    this._cancel();
  }

  /** Sends the next packet of the messages in flight. @returns false for none */
  private _sendNext(): boolean {
    for (; this._cursor < this._flight.length; this._cursor++) {
      const transfer = this._flight[this._cursor] as Transfer;
      transfer.next = Math.max(transfer.next, transfer.acknowledged);
      if (transfer.next === transfer.count) continue;
      this._send(transfer);
      return true;
    }
    return false;
  }

  private _send(transfer: Transfer): void {
    const { mtu, reliable } = this._owner;
    const { message, next, count } = transfer;
    const after = message.into === null ? next + 1 : count;
    transfer.sent = Math.max(transfer.sent, after);
    const isUnderWay = this._owner.send(nextPacket(transfer, mtu, reliable));
    transfer.next = after;
    this._isUnderWay ||= isUnderWay;
    // UC needs no answer.
    if (!reliable && after === count) transfer.acknowledged = count;
  }

  /** Begins the next message, if it may be in flight beside those before it. */
  private _begin(): boolean {
    const [message] = this._waiting;
    if (message === undefined) return false;
    const { mtu, readDepth, realTime } = this._owner;
    const count = packetsOf(message, mtu);
    if (this._flight.length === 0) this._isUnderWay = realTime;
    else {
      const reads = this._flight.filter(waitsForBytes).length;
      if (reads > 0 && (message.fence || (message.into !== null && reads >= readDepth))) return false;
      if (this._flight.reduce((sum, one) => sum + one.count, count) > MAX_PACKETS) return false;
    }
    this._waiting.shift();
    this._flight.push(transferOf(message, this._owner.takePsns(count), count));
    return true;
  }

  private _wait(nanoseconds: bigint | null): void {
    if (nanoseconds !== null) this._owner.wait(this._timer, nanoseconds);
  }

  private _cancel(): void {
    if (this._timer.waits) this._owner.cancel(this._timer);
  }
}
