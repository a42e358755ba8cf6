/**
 * The requester of a connection: it divides messages into packets, sends them, and handles ACKs,
 * NAKs and retries (InfiniBand architecture 1.4, 9.7.3 and 9.8.1).
 *
 * Where packets arrive at once, so do their answers: what is unanswered after a round is sent again at
 * once. Where packets are under way after a round (cables with a delay), the message waits on the clock:
 *
 *     round --> answers --> all acknowledged: complete
 *       ^          |
 *       |          +--> none, or not all: wait for the time-out --> one retry less
 *       |          +--> RNR NAK: wait as long as the peer asks  --> one RNR retry less
 *       +----------+--> NAK of a gap: one retry less
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
import { IBV_WC_LOC_PROT_ERR } from "../../abi/verbsConstants.js";
import { Deadline } from "../base/time/deadlines.js";
import { bytesOf, joined } from "../../packet/bytes.js";
import { isRevoked, type PostedBuffer } from "../queue/postedBuffers.js";
import { lengthOf, scatter } from "../queue/scatter.js";
import { atomicOf, rethOf, type AtomicOperands, type RemoteMemory } from "./extendedHeaders.js";
import type { TransportCounters } from "./counters.js";
import { rnrTime } from "./rnrTimer.js";
import type { OutgoingPacket } from "./frame.js";
import {
  KIND_ACK,
  KIND_RNR,
  NAK_INVALID_REQUEST,
  NAK_REMOTE_ACCESS,
  NAK_REMOTE_OPERATION,
  NAK_SEQUENCE,
  psnAfter,
  psnDistance,
  SEND_FIRST,
  SEND_LAST,
  SEND_LAST_WITH_IMMEDIATE,
  SEND_MIDDLE,
  SEND_ONLY,
  SEND_ONLY_WITH_IMMEDIATE,
  SYNDROME_KIND,
} from "./opcodes.js";

/** The message of one send request. */
export interface Message {
  /** SEND_FIRST, WRITE_FIRST, READ_REQUEST, COMPARE_SWAP or FETCH_ADD. */
  readonly operation: number;
  /** The bytes to send; none of READ and of atomic operations. */
  readonly payload: Uint8Array;
  readonly solicited: boolean;
  /** The immediate data, or null. */
  readonly immediate: number | null;
  /** The memory of the peer; null for SEND. */
  readonly remote: RemoteMemory | null;
  /** The operands of an atomic operation, or null. */
  readonly operands: AtomicOperands | null;
  /** What the answers of READ and of atomic operations are written to; else null. */
  readonly into: LocalMemory | null;
  /** The request, which is completed with an IBV_WC_ status. */
  readonly request: { done(status: number): void };
}

/** Memory that answers are written to. */
export type LocalMemory = Omit<PostedBuffer, "wr_id">;

/** The fields that differ between packets of a connection. The opcode has no queue pair type. */
export type RequestPacket = Pick<OutgoingPacket, "opcode" | "psn" | "solicited" | "ackRequest" | "headers" | "payload">;

/** The part of a queue pair that its requester uses. */
export interface RequesterOwner {
  readonly reliable: boolean;
  /** Bytes. */
  readonly mtu: number;
  readonly retryCount: number;
  readonly rnrRetry: number;
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

/** The message that is being sent. */
interface Transfer {
  readonly message: Message;
  readonly first: number;
  /** The number of its packets: of requests, or for READ of answers. */
  readonly count: number;
  /** The answers to READ or an atomic operation so far. */
  readonly parts: Uint8Array[];
  /** The answer that was missing and has been requested again last; -1 for none. */
  gap: number;
  /** The number of packets sent, and of those acknowledged; both count from the first packet. */
  sent: number;
  acknowledged: number;
  /** The syndrome with which the peer refused the next packet to be acknowledged, or null. */
  nak: number | null;
  /** Retries without progress so far, and those after an RNR NAK. */
  tries: number;
  rnrTries: number;
  /** Whether packets of the last round are under way: their answers come in time. */
  isUnderWay: boolean;
}

/** What `_judge` says besides a status: the next round begins, or the message waits on the clock. */
const AGAIN = -1;
const WAITS = -2;

/** An RNR retry of 7 has no end where time passes between the tries. */
const ENDLESS = 7;

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
  private readonly _waiting: Message[] = [];
  private readonly _timer = new RetryTimer(this);
  private _transfer: Transfer | null = null;
  private _running = false;
  /** Whether the message that is being sent waits on the clock. */
  private _paused = false;

  constructor(owner: RequesterOwner) {
    this._owner = owner;
  }

  /**
   * Appends a message and sends all that wait. A message that is posted during the call waits for
   * its turn. MODEL: a message is sent when the one before it is acknowledged.
   */
  post(message: Message): void {
    this._waiting.push(message);
    this._run();
  }

  /** Removes all messages that are not complete, and returns them. */
  forget(): Message[] {
    const all = [...(this._transfer === null ? [] : [this._transfer.message]), ...this._waiting.splice(0)];
    this._transfer = null;
    this._resume();
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
    const transfer = this._transfer;
    if (transfer === null) return;
    const place = psnDistance(psn, transfer.first);
    if (place < transfer.acknowledged || place >= transfer.sent) return;
    const positive = (syndrome & SYNDROME_KIND) === KIND_ACK;
    // Only answers with bytes acknowledge what they answer.
    if (positive && transfer.message.into !== null) return;
    const before = transfer.acknowledged;
    transfer.acknowledged = positive ? place + 1 : place;
    this._answered(transfer, before, positive ? null : syndrome);
  }

  /** Handles an answer with bytes, to READ or an atomic operation. */
  responded(psn: number, payload: Uint8Array): void {
    const transfer = this._transfer;
    if (transfer === null) return;
    const { into } = transfer.message;
    const place = psnDistance(psn, transfer.first);
    if (into === null || place < transfer.acknowledged || place >= transfer.sent) return;
    const before = transfer.acknowledged;
    const { mtu, counters } = this._owner;
    if (place > before) {
      // A missing answer is requested again, once: later answers of the same request may be in transit.
      const isNew = transfer.gap !== before;
      transfer.gap = before;
      if (isNew) this._answered(transfer, before, NAK_SEQUENCE);
      return;
    }
    if (payload.length !== Math.min(mtu, lengthOf(into.views) - before * mtu)) {
      counters.malformed++;
      return;
    }
    transfer.parts.push(payload.slice());
    transfer.acknowledged++;
    this._answered(transfer, before, null);
  }

  /** Goes on after an answer, before which `before` packets were acknowledged. @param nak its syndrome, or null */
  private _answered(transfer: Transfer, before: number, nak: number | null): void {
    if (nak !== null || this._paused) transfer.nak = nak;
    if (!this._paused) return;
    this._resume();
    this._run(this._judge(transfer, before));
  }

  /** The time of the timer has come. */
  timedOut(): void {
    const transfer = this._transfer;
    if (transfer === null) return;
    this._paused = false;
    // After an RNR NAK the next round was only waited for.
    this._run(transfer.nak === null ? this._retry(transfer) : AGAIN);
  }

  /** Sends what waits, until a message waits on the clock. @param verdict on the message that waited */
  private _run(verdict = AGAIN): void {
    if (this._running || this._paused) return;
    this._running = true;
    try {
      let status = verdict;
      for (let next = this._next(); next !== null; next = this._next()) {
        if (status === AGAIN) status = this._owner.reliable ? this._untilJudged(next) : this._sendOnce(next);
        if (this._transfer === next) {
          if (status === WAITS) return;
          this._transfer = null;
          if (status === IBV_WC_SUCCESS) status = stored(next);
          next.message.request.done(status);
          if (status !== IBV_WC_SUCCESS) this._owner.fail();
        }
        status = AGAIN;
      }
    } finally {
      this._running = false;
    }
  }

  /** The message that is being sent, or the next one; null when none waits. */
  private _next(): Transfer | null {
    if (this._transfer !== null) return this._transfer;
    const message = this._waiting.shift();
    if (message === undefined) return null;
    const length = message.into === null ? message.payload.length : lengthOf(message.into.views);
    const count = Math.max(1, Math.ceil(length / this._owner.mtu));
    const first = this._owner.takePsns(count);
    const none = { parts: [], gap: -1, sent: 0, acknowledged: 0, nak: null, tries: 0, rnrTries: 0, isUnderWay: false };
    this._transfer = { message, first, count, ...none };
    return this._transfer;
  }

  /** Sends in rounds until the message ends, or waits. If it is flushed or forgotten on the way, that was its end. */
  private _untilJudged(transfer: Transfer): number {
    let verdict = AGAIN;
    while (verdict === AGAIN && this._transfer === transfer) {
      const before = transfer.acknowledged;
      this._round(transfer);
      if (this._transfer === transfer) verdict = this._judge(transfer, before);
    }
    return verdict;
  }

  /** UC: a message needs no answer. */
  private _sendOnce(transfer: Transfer): number {
    this._round(transfer);
    return IBV_WC_SUCCESS;
  }

  /** What answers mean for a message, of which `before` packets were acknowledged before them. */
  private _judge(transfer: Transfer, before: number): number {
    const { counters, rnrRetry } = this._owner;
    const { acknowledged, count, nak, isUnderWay } = transfer;
    if (acknowledged === count) return IBV_WC_SUCCESS;
    if (acknowledged > before) transfer.tries = transfer.rnrTries = 0;
    if (nak === null) return isUnderWay ? this._pause(this._owner.ackTimeout) : this._retry(transfer);
    if ((nak & SYNDROME_KIND) === KIND_RNR) {
      if (transfer.rnrTries++ < rnrRetry || (isUnderWay && rnrRetry === ENDLESS)) {
        return isUnderWay ? this._pause(rnrTime(nak)) : AGAIN;
      }
      counters.rnr_nak_retry_err++;
      return IBV_WC_RNR_RETRY_EXC_ERR;
    }
    if (nak === NAK_REMOTE_ACCESS) counters.req_remote_access_errors++;
    return nak === NAK_SEQUENCE ? this._retry(transfer) : (STATUS[nak] ?? IBV_WC_REM_OP_ERR);
  }

  /** A round without a new acknowledgement is one retry. */
  private _retry(transfer: Transfer): number {
    const { counters, retryCount } = this._owner;
    if (transfer.nak === null) counters.local_ack_timeout_err++;
    else counters.packet_seq_err++;
    return transfer.tries++ < retryCount ? AGAIN : IBV_WC_RETRY_EXC_ERR;
  }

  private _pause(nanoseconds: bigint | null): number {
    this._paused = true;
    if (nanoseconds !== null) this._owner.wait(this._timer, nanoseconds);
    return WAITS;
  }

  private _resume(): void {
    this._paused = false;
    if (this._timer.waits) this._owner.cancel(this._timer);
  }

  /** Sends all packets that are not acknowledged, until the peer refuses one. */
  private _round(transfer: Transfer): void {
    transfer.nak = null;
    transfer.isUnderWay = this._owner.realTime;
    const { count } = transfer;
    if (transfer.message.into !== null) {
      transfer.sent = count;
      transfer.isUnderWay = this._owner.send(this._request(transfer));
      return;
    }
    for (let i = transfer.acknowledged; i < count && transfer.nak === null && this._transfer === transfer; i++) {
      transfer.sent = Math.max(transfer.sent, i + 1);
      const isUnderWay = this._owner.send(this._packet(transfer, i));
      transfer.isUnderWay ||= isUnderWay;
    }
  }

  /** The request of READ, for the bytes that are not there yet, or that of an atomic operation. */
  private _request({ message, first, acknowledged }: Transfer): RequestPacket {
    const { operation, operands, solicited } = message;
    const { address, rkey } = message.remote as RemoteMemory;
    const done = acknowledged * this._owner.mtu;
    const rest = { address: address + BigInt(done), rkey };
    const { views } = message.into as LocalMemory;
    const header = operands === null ? rethOf(rest, lengthOf(views) - done) : atomicOf(rest, operands);
    const psn = psnAfter(first, acknowledged);
    return { opcode: operation, psn, solicited, ackRequest: true, headers: [header], payload: [] };
  }

  private _packet({ message, first, count }: Transfer, i: number): RequestPacket {
    const { mtu, reliable } = this._owner;
    const { operation, payload, immediate, solicited, remote } = message;
    const last = i === count - 1;
    return {
      opcode: operation + partOf(i, count, immediate !== null),
      psn: psnAfter(first, i),
      solicited: last && solicited,
      ackRequest: last && reliable,
      headers: headersOf(i === 0 ? remote : null, payload.length, last ? immediate : null),
      payload: [payload.subarray(i * mtu, (i + 1) * mtu)],
    };
  }
}

const NO_HEADERS: readonly Uint8Array[] = [];

function headersOf(remote: RemoteMemory | null, length: number, immediate: number | null): readonly Uint8Array[] {
  if (remote === null && immediate === null) return NO_HEADERS;
  const reth = remote === null ? NO_HEADERS : [rethOf(remote, length)];
  return immediate === null ? reth : [...reth, bytesOf(immediate, 4)];
}

/** Writes the answers. @returns the status of the request: its memory may not be registered any more */
function stored({ message: { into, operands }, parts }: Transfer): number {
  if (into === null) return IBV_WC_SUCCESS;
  if (isRevoked(into)) return IBV_WC_LOC_PROT_ERR;
  const bytes = joined(...parts);
  // An atomic operation returns a number, in the byte order of the host.
  scatter(into.views, operands === null ? bytes : bytes.reverse());
  return IBV_WC_SUCCESS;
}

/** The operation of packet `i`, relative to FIRST. */
function partOf(i: number, count: number, immediate: boolean): number {
  if (count === 1) return immediate ? SEND_ONLY_WITH_IMMEDIATE : SEND_ONLY;
  if (i === 0) return SEND_FIRST;
  if (i < count - 1) return SEND_MIDDLE;
  return immediate ? SEND_LAST_WITH_IMMEDIATE : SEND_LAST;
}
