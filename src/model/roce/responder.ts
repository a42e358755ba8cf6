/**
 * The responder of a connection: it joins packets to messages, fills receive requests, and answers
 * with ACKs and NAKs (InfiniBand architecture 1.4, 9.7.5 and 9.8.2).
 */
import { IBV_WC_LOC_LEN_ERR, IBV_WC_SUCCESS, IBV_WC_WITH_IMM } from "../../abi/verbs.js";
import { IBV_EVENT_QP_REQ_ERR } from "../../abi/verbsConstants.js";
import { readNumber } from "../../packet/bytes.js";
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

export class Responder {
  readonly #owner: ResponderOwner;
  /** The payloads of the unfinished message; null between messages. */
  #parts: Uint8Array[] | null = null;
  #length = 0;
  /** The number of complete messages. */
  #msn = 0;
  /** Whether a NAK for the expected packet has been sent. */
  #asked = false;

  constructor(owner: ResponderOwner) {
    this.#owner = owner;
  }

  /** Starts a new connection. */
  reset(): void {
    this.#parts = null;
    this.#msn = 0;
    this.#asked = false;
  }

  /** Handles one packet of a request. */
  take(packet: ArrivedPacket): void {
    if (this.#owner.reliable) this.#takeReliably(packet);
    else this.#takeUnreliably(packet);
  }

  #takeReliably(packet: ArrivedPacket): void {
    const owner = this.#owner;
    const { expected, counters } = owner;
    const { psn, ackRequest } = packet;
    const ahead = psnDistance(psn, expected);
    if (ahead < 0) {
      counters.duplicate_request++;
      if (ackRequest) this.#answer(psnAfter(expected, -1), ACK);
      return;
    }
    if (ahead > 0) {
      counters.out_of_sequence++;
      if (!this.#asked) this.#answer(expected, NAK_SEQUENCE);
      this.#asked = true;
      return;
    }
    const part = partOf(packet, owner.mtu);
    if (part === null || part.begins !== (this.#parts === null)) {
      this.#answer(psn, NAK_INVALID_REQUEST);
      owner.fail(IBV_EVENT_QP_REQ_ERR);
      return;
    }
    if (part.begins && !this.#hasRequest()) {
      this.#asked = true;
      this.#answer(psn, KIND_RNR | owner.minRnrTimer);
      return;
    }
    this.#asked = false;
    owner.expected = psnAfter(psn);
    const fits = this.#add(part);
    if (!fits) this.#answer(psn, NAK_INVALID_REQUEST);
    else if (ackRequest) this.#answer(psn, ACK);
    if (!fits) owner.fail();
  }

  #takeUnreliably(packet: ArrivedPacket): void {
    const owner = this.#owner;
    if (packet.psn !== owner.expected) {
      owner.counters.out_of_sequence++;
      this.#parts = null;
    }
    owner.expected = psnAfter(packet.psn);
    const part = partOf(packet, owner.mtu);
    if (part === null || (part.begins && !this.#hasRequest())) this.#parts = null;
    else if ((part.begins || this.#parts !== null) && !this.#add(part)) owner.fail();
  }

  /**
   * Whether there is a receive request, and room for its completion, so that a message can begin. The
   * message has taken the request then.
   */
  #hasRequest(): boolean {
    const { receive, counters } = this.#owner;
    const ready = receive.begin();
    if (!ready) counters.out_of_buffer++;
    return ready;
  }

  /**
   * Appends a part to the message. Returns false when the message exceeds the receive request,
   * which then completes with an error.
   */
  #add({ begins, ends, solicited, immediate, payload }: Part): boolean {
    const { receive, peer } = this.#owner;
    if (begins || this.#parts === null) {
      this.#parts = [];
      this.#length = 0;
    }
    this.#parts.push(payload);
    this.#length += payload.length;
    const fits = this.#length <= receive.room;
    if (fits && !ends) return true;
    const parts = this.#parts;
    this.#parts = null;
    this.#msn += fits ? 1 : 0;
    const wc_flags = immediate === null ? 0 : IBV_WC_WITH_IMM;
    if (fits) receive.complete(IBV_WC_SUCCESS, parts, { imm_data: immediate ?? 0, wc_flags, src_qp: peer }, solicited);
    else receive.complete(IBV_WC_LOC_LEN_ERR, [], {});
    return fits;
  }

  #answer(psn: number, syndrome: number): void {
    this.#owner.answer(psn, syndrome, this.#msn & 0xffffff);
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
