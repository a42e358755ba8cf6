/** The receiving end of a connection: packets become messages (InfiniBand architecture 1.4, 9.7.5 and 9.8.2). */
import { IBV_WC_LOC_LEN_ERR, IBV_WC_SUCCESS, IBV_WC_WITH_IMM } from "../../abi/verbs.js";
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

/** What the receiving end asks of its queue pair. */
export interface ResponderOwner {
  /** RC: every packet is asked for until it is there. */
  readonly reliable: boolean;
  /** Bytes. */
  readonly mtu: number;
  readonly minRnrTimer: number;
  readonly peer: number;
  readonly receive: ReceiveQueue;
  readonly counters: TransportCounters;
  /** PSN of the packet that comes next. */
  expected: number;
  /** Sends an acknowledgement; nobody is asked for one of UC. */
  answer(psn: number, syndrome: number, msn: number): void;
  /** To ERR. */
  fail(): void;
}

const IMMEDIATE_LENGTH = 4;

/** A packet of a message, taken apart. */
interface Part {
  readonly begins: boolean;
  readonly ends: boolean;
  readonly immediate: number | null;
  readonly payload: Uint8Array;
}

export class Responder {
  readonly #owner: ResponderOwner;
  /** What has come of the message under way; null between messages. */
  #parts: Uint8Array[] | null = null;
  #length = 0;
  /** Messages complete. */
  #msn = 0;
  /** The peer knows that the expected packet is missing. */
  #asked = false;

  constructor(owner: ResponderOwner) {
    this.#owner = owner;
  }

  /** A connection begins. */
  reset(): void {
    this.#parts = null;
    this.#msn = 0;
    this.#asked = false;
  }

  /** A packet of a request. */
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
      owner.fail();
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

  /** Whether a message can begin. */
  #hasRequest(): boolean {
    const { receive, counters } = this.#owner;
    const ready = receive.room !== null && !receive.completionsFull;
    if (!ready) counters.out_of_buffer++;
    return ready;
  }

  /** One part more. False where it is too much for the request, which is then completed. */
  #add({ begins, ends, immediate, payload }: Part): boolean {
    const { receive, peer } = this.#owner;
    if (begins || this.#parts === null) {
      this.#parts = [];
      this.#length = 0;
    }
    this.#parts.push(payload);
    this.#length += payload.length;
    const fits = this.#length <= (receive.room ?? 0);
    if (fits && !ends) return true;
    const parts = this.#parts;
    this.#parts = null;
    this.#msn += fits ? 1 : 0;
    const wc_flags = immediate === null ? 0 : IBV_WC_WITH_IMM;
    if (fits) receive.complete(IBV_WC_SUCCESS, parts, { imm_data: immediate ?? 0, wc_flags, src_qp: peer });
    else receive.complete(IBV_WC_LOC_LEN_ERR, [], {});
    return fits;
  }

  #answer(psn: number, syndrome: number): void {
    this.#owner.answer(psn, syndrome, this.#msn & 0xffffff);
  }
}

/** Null for other operations, and for lengths that a packet in its place cannot have. */
function partOf({ opcode, content }: ArrivedPacket, mtu: number): Part | null {
  const operation = opcode & ~SERVICE;
  if (operation > SEND_ONLY_WITH_IMMEDIATE) return null;
  const begins = operation === SEND_FIRST || operation >= SEND_ONLY;
  const ends = operation >= SEND_LAST;
  const withImmediate = operation === SEND_LAST_WITH_IMMEDIATE || operation === SEND_ONLY_WITH_IMMEDIATE;
  if (withImmediate && content.length < IMMEDIATE_LENGTH) return null;
  const payload = withImmediate ? content.subarray(IMMEDIATE_LENGTH) : content;
  const least = ends ? (begins ? 0 : 1) : mtu;
  if (payload.length < least || payload.length > mtu) return null;
  return { begins, ends, immediate: withImmediate ? readNumber(content, 0, 32) : null, payload };
}
