/**
 * The requester of a connection: it divides messages into packets, sends them, and handles ACKs,
 * NAKs and retries (InfiniBand architecture 1.4, 9.7.3 and 9.8.1).
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
import { bytesOf } from "../../packet/bytes.js";
import type { TransportCounters } from "./counters.js";
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
  readonly payload: Uint8Array;
  readonly solicited: boolean;
  /** The immediate data, or null. */
  readonly immediate: number | null;
  /** The request, which is completed with an IBV_WC_ status. */
  readonly request: { done(status: number): void };
}

/** The fields that differ between packets of a connection. The opcode has no queue pair type. */
export type RequestPacket = Pick<OutgoingPacket, "opcode" | "psn" | "solicited" | "ackRequest" | "headers" | "payload">;

/** The part of a queue pair that its requester uses. */
export interface RequesterOwner {
  readonly reliable: boolean;
  /** Bytes. */
  readonly mtu: number;
  readonly retryCount: number;
  readonly rnrRetry: number;
  readonly counters: TransportCounters;
  /** Takes `count` packet sequence numbers; returns the first. */
  takePsns(count: number): number;
  /** Sends a packet. The answers of the peer reach `acknowledged` before this call returns. */
  send(packet: RequestPacket): void;
  /** Moves the queue pair to ERR. */
  fail(): void;
}

/** The message that is being sent. */
interface Transfer {
  readonly message: Message;
  readonly first: number;
  /** The number of its packets. */
  readonly count: number;
  /** The number of packets sent, and of those acknowledged; both count from the first packet. */
  sent: number;
  acknowledged: number;
  /** The syndrome with which the peer refused the next packet to be acknowledged, or null. */
  nak: number | null;
}

const STATUS: Readonly<Record<number, number>> = {
  [NAK_INVALID_REQUEST]: IBV_WC_REM_INV_REQ_ERR,
  [NAK_REMOTE_ACCESS]: IBV_WC_REM_ACCESS_ERR,
  [NAK_REMOTE_OPERATION]: IBV_WC_REM_OP_ERR,
};

export class Requester {
  private readonly _owner: RequesterOwner;
  private readonly _waiting: Message[] = [];
  private _transfer: Transfer | null = null;
  private _running = false;

  constructor(owner: RequesterOwner) {
    this._owner = owner;
  }

  /**
   * Appends a message and sends all that wait. A message that is posted during the call waits for
   * its turn.
   */
  post(message: Message): void {
    this._waiting.push(message);
    if (this._running) return;
    this._running = true;
    try {
      for (let next = this._next(); next !== null; next = this._next()) this._carry(next);
    } finally {
      this._running = false;
    }
  }

  /** Removes all messages that are not complete, and returns them. */
  forget(): Message[] {
    const all = [...(this._transfer === null ? [] : [this._transfer.message]), ...this._waiting.splice(0)];
    this._transfer = null;
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
    transfer.acknowledged = positive ? place + 1 : place;
    if (!positive) transfer.nak = syndrome;
  }

  /** The message that is being sent, or the next one; null when none waits. */
  private _next(): Transfer | null {
    if (this._transfer !== null) return this._transfer;
    const message = this._waiting.shift();
    if (message === undefined) return null;
    const count = Math.max(1, Math.ceil(message.payload.length / this._owner.mtu));
    const first = this._owner.takePsns(count);
    this._transfer = { message, first, count, sent: 0, acknowledged: 0, nak: null };
    return this._transfer;
  }

  /** Sends one message to its end. If it is flushed or forgotten on the way, that was its end. */
  private _carry(transfer: Transfer): void {
    const status = this._owner.reliable ? this._untilAcknowledged(transfer) : this._round(transfer);
    if (this._transfer !== transfer) return;
    this._transfer = null;
    transfer.message.request.done(status);
    if (status !== IBV_WC_SUCCESS) this._owner.fail();
  }

  /**
   * Sends in rounds until all packets are acknowledged or the retries are used up. A round without
   * a new acknowledgement is one retry.
   */
  private _untilAcknowledged(transfer: Transfer): number {
    const { counters, retryCount, rnrRetry } = this._owner;
    let tries = 0;
    let rnrTries = 0;
    while (this._transfer === transfer) {
      const before = transfer.acknowledged;
      this._round(transfer);
      const { acknowledged, count, nak } = transfer;
      if (acknowledged === count) break;
      if (acknowledged > before) tries = rnrTries = 0;
      if (nak !== null && (nak & SYNDROME_KIND) === KIND_RNR) {
        if (rnrTries++ < rnrRetry) continue;
        counters.rnr_nak_retry_err++;
        return IBV_WC_RNR_RETRY_EXC_ERR;
      }
      if (nak !== null && nak !== NAK_SEQUENCE) return STATUS[nak] ?? IBV_WC_REM_OP_ERR;
      if (nak === null) counters.local_ack_timeout_err++;
      else counters.packet_seq_err++;
      if (tries++ >= retryCount) return IBV_WC_RETRY_EXC_ERR;
    }
    return IBV_WC_SUCCESS;
  }

  /** Sends all packets that are not acknowledged, until the peer refuses one. */
  private _round(transfer: Transfer): number {
    transfer.nak = null;
    const { count } = transfer;
    for (let i = transfer.acknowledged; i < count && transfer.nak === null && this._transfer === transfer; i++) {
      transfer.sent = Math.max(transfer.sent, i + 1);
      this._owner.send(this._packet(transfer, i));
    }
    return IBV_WC_SUCCESS;
  }

  private _packet({ message, first, count }: Transfer, i: number): RequestPacket {
    const { mtu, reliable } = this._owner;
    const { payload, immediate, solicited } = message;
    const last = i === count - 1;
    return {
      opcode: operation(i, count, immediate !== null),
      psn: psnAfter(first, i),
      solicited: last && solicited,
      ackRequest: last && reliable,
      headers: last && immediate !== null ? [bytesOf(immediate, 4)] : [],
      payload: [payload.subarray(i * mtu, (i + 1) * mtu)],
    };
  }
}

function operation(i: number, count: number, immediate: boolean): number {
  if (count === 1) return immediate ? SEND_ONLY_WITH_IMMEDIATE : SEND_ONLY;
  if (i === 0) return SEND_FIRST;
  if (i < count - 1) return SEND_MIDDLE;
  return immediate ? SEND_LAST_WITH_IMMEDIATE : SEND_LAST;
}
