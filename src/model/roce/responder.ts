/**
 * The responder of a connection: it joins packets to messages, fills receive requests, works on memory
 * that the peer names, and answers (InfiniBand architecture 1.4, 9.7.5 and 9.8.2).
 */
import { IBV_WC_LOC_LEN_ERR, IBV_WC_SUCCESS, IBV_WC_WITH_IMM } from "../../abi/verbs.js";
import {
  IBV_ACCESS_REMOTE_WRITE,
  IBV_EVENT_QP_ACCESS_ERR,
  IBV_EVENT_QP_REQ_ERR,
  IBV_WC_LOC_PROT_ERR,
  IBV_WC_RECV_RDMA_WITH_IMM,
} from "../../abi/verbsConstants.js";
import { joined } from "../../packet/bytes.js";
import type { ReceiveQueue } from "../queue/receiveQueue.js";
import { MAX_MESSAGE } from "../base/port/ports.js";
import { answerTo, type AnswerBytes, type AnswerOwner } from "./answers.js";
import type { RemoteMemory } from "./extendedHeaders.js";
import {
  ACK,
  KIND_RNR,
  NAK_INVALID_REQUEST,
  NAK_REMOTE_ACCESS,
  NAK_REMOTE_OPERATION,
  NAK_SEQUENCE,
  psnAfter,
  psnDistance,
  READ_REQUEST,
  WRITE_FIRST,
} from "./opcodes.js";
import type { ArrivedPacket } from "./packet.js";
import { answeredIn, isAnswered, partOf, type MessagePart } from "./requestPart.js";

/** The part of a queue pair that its responder uses. */
export interface ResponderOwner extends AnswerOwner {
  /** RC: a missing packet is requested again until it arrives. */
  readonly reliable: boolean;
  readonly minRnrTimer: number;
  readonly peer: number;
  readonly receive: ReceiveQueue;
  /** The PSN of the next packet. */
  expected: number;
  /** Sends an acknowledgement; only for RC. */
  answer(psn: number, syndrome: number, msn: number): void;
  /** Sends an answer with bytes; only for RC. */
  respond(psn: number, bytes: AnswerBytes, msn: number): void;
  /** Moves the queue pair to ERR. `event` (IBV_EVENT_*) says why where no completion does. */
  fail(event?: number): void;
}

const NO_BYTES = new Uint8Array(0);

/** An unfinished WRITE. */
interface Target {
  readonly remote: RemoteMemory;
  readonly length: number;
  /** Bytes written. */
  readonly written: number;
}

/** An atomic operation that was done: a repeated request gets the same answer. */
interface Done {
  readonly psn: number;
  readonly original: bigint;
}

export class Responder {
  private readonly _owner: ResponderOwner;
  /** The payloads of the unfinished SEND; null between messages. */
  private _parts: Uint8Array[] | null = null;
  private _length = 0;
  /** The memory of the unfinished WRITE; null between messages. */
  private _target: Target | null = null;
  /** The last atomic operations, as many as the peer may have in flight. */
  private readonly _atomics: Done[] = [];
  /** The number of complete messages. */
  private _msn = 0;
  /** Whether a NAK for the expected packet has been sent. */
  private _asked = false;

  constructor(owner: ResponderOwner) {
    this._owner = owner;
  }

  /** Starts a new connection. */
  reset(): void {
    this._lose();
    this._atomics.length = 0;
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
    const { psn, opcode, ackRequest } = packet;
    const ahead = psnDistance(psn, expected);
    if (ahead < 0) {
      counters.duplicate_request++;
      if (isAnswered(opcode)) this._repeat(packet);
      else if (ackRequest) this._answer(psnAfter(expected, -1), ACK);
      return;
    }
    if (ahead > 0) {
      counters.out_of_sequence++;
      if (!this._asked) this._answer(expected, NAK_SEQUENCE);
      this._asked = true;
      return;
    }
    if (isAnswered(opcode)) {
      this._takeAnswered(packet);
      return;
    }
    const part = partOf(packet, owner.mtu);
    const nak = part === null ? NAK_INVALID_REQUEST : this._checkPart(part);
    if (part === null || nak !== null) {
      this._refuse(psn, nak ?? NAK_INVALID_REQUEST);
      return;
    }
    const bytes = this._bytesOf(part);
    if (this._needsRequest(part) && !this._hasRequest()) {
      this._asked = true;
      this._answer(psn, KIND_RNR | owner.minRnrTimer);
      return;
    }
    this._asked = false;
    owner.expected = psnAfter(psn);
    const refused = this._add(part, bytes);
    if (refused !== null) this._answer(psn, refused);
    else if (ackRequest) this._answer(psn, ACK);
    if (refused !== null) owner.fail();
  }

  private _takeUnreliably(packet: ArrivedPacket): void {
    const owner = this._owner;
    if (packet.psn !== owner.expected) {
      owner.counters.out_of_sequence++;
      this._lose();
    }
    owner.expected = psnAfter(packet.psn);
    const part = partOf(packet, owner.mtu);
    if (part === null) {
      this._lose();
      return;
    }
    // A new message ends one whose last packet is missing.
    if (part.begins) this._lose();
    else if (!this._unfinished) return;
    if (this._checkPart(part) !== null || (this._needsRequest(part) && !this._hasRequest())) {
      this._lose();
      return;
    }
    if (this._add(part, this._bytesOf(part)) !== null) owner.fail();
  }

  /** READ and atomic operations. */
  private _takeAnswered(packet: ArrivedPacket): void {
    const owner = this._owner;
    const { psn } = packet;
    const request = answeredIn(packet);
    const bytes = request === null || this._unfinished ? NAK_INVALID_REQUEST : answerTo(owner, request);
    if (typeof bytes === "number") {
      this._refuse(psn, bytes);
      return;
    }
    this._asked = false;
    this._msn++;
    const isAtomic = typeof bytes === "bigint";
    if (isAtomic) this._keep({ psn, original: bytes });
    owner.expected = psnAfter(psn, isAtomic ? 1 : bytes.length);
    this._respond(psn, bytes);
  }

  private _keep(done: Done): void {
    this._atomics.push(done);
    if (this._atomics.length > this._owner.maxReads) this._atomics.shift();
  }

  /** A READ is carried out again. An atomic operation gets its answer again. */
  private _repeat(packet: ArrivedPacket): void {
    const { psn } = packet;
    const request = answeredIn(packet);
    if (request?.operation !== READ_REQUEST) {
      const done = this._atomics.find((one) => one.psn === psn);
      if (done !== undefined) this._respond(psn, done.original);
      return;
    }
    const bytes = answerTo(this._owner, request);
    if (typeof bytes === "number") this._refuse(psn, bytes);
    else this._respond(psn, bytes);
  }

  private _respond(psn: number, bytes: AnswerBytes): void {
    this._owner.respond(psn, bytes, this._msn & 0xffffff);
  }

  private get _unfinished(): boolean {
    return this._parts !== null || this._target !== null;
  }

  /** Forgets the unfinished message. */
  private _lose(): void {
    this._parts = null;
    this._target = null;
  }

  /** Refuses a packet with a NAK: the connection is broken. */
  private _refuse(psn: number, nak: number): void {
    this._lose();
    this._answer(psn, nak);
    this._owner.fail(nak === NAK_REMOTE_ACCESS ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
  }

  /** Why a packet cannot follow those before it, or may not write: a NAK. Null for a good one. */
  private _checkPart(part: MessagePart): number | null {
    const { operation, begins, ends, payload } = part;
    if (begins === this._unfinished) return NAK_INVALID_REQUEST;
    if (operation !== WRITE_FIRST) return begins || this._parts !== null ? null : NAK_INVALID_REQUEST;
    const target = this._targetOf(part);
    if (target === null || (this._owner.access & IBV_ACCESS_REMOTE_WRITE) === 0) return NAK_INVALID_REQUEST;
    const end = target.written + payload.length;
    if (target.length > MAX_MESSAGE || (ends ? end !== target.length : end >= target.length))
      return NAK_INVALID_REQUEST;
    // The whole memory is checked before its first byte is written.
    const length = begins ? target.length : payload.length;
    if (length === 0 || this._memoryOf(target, length) !== null) return null;
    this._owner.counters.resp_remote_access_errors++;
    return NAK_REMOTE_ACCESS;
  }

  /** The WRITE that a packet begins or continues; null for another message. */
  private _targetOf({ remote, length }: MessagePart): Target | null {
    return remote === null ? this._target : { remote, length, written: 0 };
  }

  /** The next bytes that a WRITE writes; null where it may not. */
  private _memoryOf({ remote: { address, rkey }, written }: Target, length: number): Uint8Array | null {
    const remote = { address: address + BigInt(written), rkey };
    return this._owner.remote(remote, length, IBV_ACCESS_REMOTE_WRITE);
  }

  /** Whether a packet takes a receive request, or needs one that is there. */
  private _needsRequest({ operation, begins, immediate }: MessagePart): boolean {
    return operation === WRITE_FIRST ? immediate !== null : begins;
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
   * A copy of what a part brings, the bytes of the whole SEND if it ends one: the array of the frame
   * belongs to the program. It is made before anything changes: without memory for it the packet is not
   * taken, and the sender sends it again.
   */
  private _bytesOf({ operation, ends, begins, payload }: MessagePart): Uint8Array {
    if (operation === WRITE_FIRST) return payload;
    return !ends || begins || this._parts === null ? payload.slice() : joined(...this._parts, payload);
  }

  /**
   * Appends a part to the message; `bytes` are those of `_bytesOf`. Returns a NAK when the message
   * exceeds the receive request, or its memory is gone; the request then completes with an error.
   */
  private _add(part: MessagePart, bytes: Uint8Array): number | null {
    if (part.operation === WRITE_FIRST) return this._write(part);
    const { begins, ends, payload } = part;
    const { receive } = this._owner;
    if (begins || this._parts === null) {
      this._parts = [];
      this._length = 0;
    }
    this._parts.push(bytes);
    this._length += payload.length;
    const fits = this._length <= receive.room;
    if (fits && !ends) return null;
    this._parts = null;
    if (!fits) receive.complete(IBV_WC_LOC_LEN_ERR, NO_BYTES, {});
    else if (receive.isRevoked) receive.complete(IBV_WC_LOC_PROT_ERR, NO_BYTES, {});
    else return this._received(part, bytes, {});
    return fits ? NAK_REMOTE_OPERATION : NAK_INVALID_REQUEST;
  }

  /** Writes the bytes of a part. A WRITE takes a receive request only for immediate data. */
  private _write(part: MessagePart): null {
    const { ends, immediate, payload } = part;
    const target = this._targetOf(part) as Target;
    // Without bytes the key is not compared.
    if (payload.length > 0) this._memoryOf(target, payload.length)?.set(payload);
    const written = target.written + payload.length;
    this._target = ends ? null : { ...target, written };
    if (!ends) return null;
    if (immediate === null) this._msn++;
    else this._received(part, NO_BYTES, { opcode: IBV_WC_RECV_RDMA_WITH_IMM, byte_len: written });
    return null;
  }

  /** Completes the receive request of a message. */
  private _received({ immediate, solicited }: MessagePart, bytes: Uint8Array, more: object): null {
    const { receive, peer } = this._owner;
    this._msn++;
    const wc_flags = immediate === null ? 0 : IBV_WC_WITH_IMM;
    const fields = { imm_data: immediate ?? 0, wc_flags, src_qp: peer, ...more };
    receive.complete(IBV_WC_SUCCESS, bytes, fields, solicited);
    return null;
  }

  private _answer(psn: number, syndrome: number): void {
    this._owner.answer(psn, syndrome, this._msn & 0xffffff);
  }
}
