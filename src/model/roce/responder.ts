/**
 * The responder of a connection: it joins packets to messages, fills receive requests, and answers
 * with ACKs and NAKs (InfiniBand architecture 1.4, 9.7.5 and 9.8.2).
 */
import { IBV_WC_LOC_LEN_ERR, IBV_WC_SUCCESS, IBV_WC_WITH_IMM } from "../../abi/verbs.js";
import { IBV_EVENT_QP_REQ_ERR } from "../../abi/verbsConstants.js";
import { joined, readNumber } from "../../packet/bytes.js";
import type { ReceiveQueue } from "../queue/receiveQueue.js";
import type { TransportCounters } from "./counters.js";
import {
  ACK,
  KIND_RNR,
  NAK_INVALID_REQUEST,
  NAK_SEQUENCE,
  psnAfter,
  psnDistance,
  SEND_FIRST,
  SEND_LAST,
  SEND_LAST_WITH_IMMEDIATE,
  SEND_ONLY,
  SEND_ONLY_WITH_IMMEDIATE,
  SERVICE,
} from "./opcodes.js";
import type { ArrivedPacket } from "./packet.js";

/** The part of a queue pair that its responder uses. */
export interface ResponderOwner {
  /** RC: a missing packet is requested again until it arrives. */
  readonly reliable: boolean;
  /** Bytes. */
  readonly mtu: number;
  readonly minRnrTimer: number;
  readonly peer: number;
  readonly receive: ReceiveQueue;
  readonly counters: TransportCounters;
  /** The PSN of the next packet. */
  expected: number;
  /** Sends an acknowledgement; only for RC. */
  answer(psn: number, syndrome: number, msn: number): void;
  /** Moves the queue pair to ERR. `event` (IBV_EVENT_*) says why where no completion does. */
  fail(event?: number): void;
}

const IMMEDIATE_LENGTH = 4;

/** A packet of a message, parsed. */
interface Part {
  readonly begins: boolean;
  readonly ends: boolean;
  readonly solicited: boolean;
  readonly immediate: number | null;
  readonly payload: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);

export class Responder {
  private readonly _owner: ResponderOwner;
  /** The payloads of the unfinished message; null between messages. */
  private _parts: Uint8Array[] | null = null;
  private _length = 0;
  /** The number of complete messages. */
  private _msn = 0;
  /** Whether a NAK for the expected packet has been sent. */
  private _asked = false;

  constructor(owner: ResponderOwner) {
    this._owner = owner;
  }

  /** Starts a new connection. */
  reset(): void {
    this._parts = null;
    this._msn = 0;
    this._asked = false;
  }

  /** Handles one packet of a request. */
  take(packet: ArrivedPacket): void {
    if (this._owner.reliable) this._takeReliably(packet);
    else this._takeUnreliably(packet);
  }

  private _takeReliably(packet: ArrivedPacket): void {
    const owner = this._owner;
    const { expected, counters } = owner;
    const { psn, ackRequest } = packet;
    const ahead = psnDistance(psn, expected);
    if (ahead < 0) {
      counters.duplicate_request++;
      if (ackRequest) this._answer(psnAfter(expected, -1), ACK);
      return;
    }
    if (ahead > 0) {
      counters.out_of_sequence++;
      if (!this._asked) this._answer(expected, NAK_SEQUENCE);
      this._asked = true;
      return;
    }
    const part = partOf(packet, owner.mtu);
    if (part === null || part.begins !== (this._parts === null)) {
      this._answer(psn, NAK_INVALID_REQUEST);
      owner.fail(IBV_EVENT_QP_REQ_ERR);
      return;
    }
    const bytes = this._bytesOf(part);
    if (part.begins && !this._hasRequest()) {
      this._asked = true;
      this._answer(psn, KIND_RNR | owner.minRnrTimer);
      return;
    }
    this._asked = false;
    owner.expected = psnAfter(psn);
    const fits = this._add(part, bytes);
    if (!fits) this._answer(psn, NAK_INVALID_REQUEST);
    else if (ackRequest) this._answer(psn, ACK);
    if (!fits) owner.fail();
  }

  private _takeUnreliably(packet: ArrivedPacket): void {
    const owner = this._owner;
    if (packet.psn !== owner.expected) {
      owner.counters.out_of_sequence++;
      this._parts = null;
    }
    owner.expected = psnAfter(packet.psn);
    const part = partOf(packet, owner.mtu);
    if (part === null || (part.begins && !this._hasRequest())) this._parts = null;
    else if ((part.begins || this._parts !== null) && !this._add(part, this._bytesOf(part))) owner.fail();
  }

  /**
   * Whether there is a receive request, and room for its completion, so that a message can begin. The
   * message has taken the request then.
   */
  private _hasRequest(): boolean {
    const { receive, counters } = this._owner;
    const ready = receive.begin();
    if (!ready) counters.out_of_buffer++;
    return ready;
  }

  /**
   * A copy of what a part brings, the bytes of the whole message if it ends one: the array of the frame
   * belongs to the program. It is made before anything changes: without memory for it the packet is not
   * taken, and the sender sends it again.
   */
  private _bytesOf({ begins, ends, payload }: Part): Uint8Array {
    return !ends || begins || this._parts === null ? payload.slice() : joined(...this._parts, payload);
  }

  /**
   * Appends a part to the message; `bytes` are those of `_bytesOf`. Returns false when the message exceeds
   * the receive request, which then completes with an error.
   */
  private _add({ begins, ends, solicited, immediate, payload }: Part, bytes: Uint8Array): boolean {
    const { receive, peer } = this._owner;
    if (begins || this._parts === null) {
      this._parts = [];
      this._length = 0;
    }
    this._parts.push(bytes);
    this._length += payload.length;
    const fits = this._length <= receive.room;
    if (fits && !ends) return true;
    this._parts = null;
    this._msn += fits ? 1 : 0;
    const wc_flags = immediate === null ? 0 : IBV_WC_WITH_IMM;
    if (fits) receive.complete(IBV_WC_SUCCESS, bytes, { imm_data: immediate ?? 0, wc_flags, src_qp: peer }, solicited);
    else receive.complete(IBV_WC_LOC_LEN_ERR, NO_BYTES, {});
    return fits;
  }

  private _answer(psn: number, syndrome: number): void {
    this._owner.answer(psn, syndrome, this._msn & 0xffffff);
  }
}

/**
 * Parses a packet. Null for other operations, and for a length that is wrong at this position of a
 * message.
 */
function partOf({ opcode, solicited, content }: ArrivedPacket, mtu: number): Part | null {
  const operation = opcode & ~SERVICE;
  if (operation > SEND_ONLY_WITH_IMMEDIATE) return null;
  const begins = operation === SEND_FIRST || operation >= SEND_ONLY;
  const ends = operation >= SEND_LAST;
  const withImmediate = operation === SEND_LAST_WITH_IMMEDIATE || operation === SEND_ONLY_WITH_IMMEDIATE;
  if (withImmediate && content.length < IMMEDIATE_LENGTH) return null;
  const payload = withImmediate ? content.subarray(IMMEDIATE_LENGTH) : content;
  const least = ends ? (begins ? 0 : 1) : mtu;
  if (payload.length < least || payload.length > mtu) return null;
  return { begins, ends, solicited, immediate: withImmediate ? readNumber(content, 0, 32) : null, payload };
}
