/** A message on its way: its packets (InfiniBand architecture 1.4, 9.4), and how far it is. */
import { IBV_WC_SUCCESS } from "../../abi/verbs.js";
import { IBV_WC_LOC_PROT_ERR } from "../../abi/verbsConstants.js";
import { bytesOf, joined } from "../../packet/bytes.js";
import { isRevoked, type PostedBuffer } from "../queue/postedBuffers.js";
import { lengthOf, scatter } from "../queue/scatter.js";
import { atomicOf, rethOf, type AtomicOperands, type RemoteMemory } from "./extendedHeaders.js";
import type { OutgoingPacket } from "./frame.js";
import {
  psnAfter,
  SEND_FIRST,
  SEND_LAST,
  SEND_LAST_WITH_IMMEDIATE,
  SEND_MIDDLE,
  SEND_ONLY,
  SEND_ONLY_WITH_IMMEDIATE,
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
  /** Whether it waits for the answers of READ and of atomic operations before it (IBV_SEND_FENCE). */
  readonly fence: boolean;
  /** What the answers of READ and of atomic operations are written to; else null. */
  readonly into: LocalMemory | null;
  /** The request, which is completed with an IBV_WC_ status. */
  readonly request: { done(status: number): void };
}

/** Memory that answers are written to. */
export type LocalMemory = Omit<PostedBuffer, "wr_id">;

/** The fields that differ between packets of a connection. The opcode has no queue pair type. */
export type RequestPacket = Pick<OutgoingPacket, "opcode" | "psn" | "solicited" | "ackRequest" | "headers" | "payload">;

/** A message with packet sequence numbers. */
export interface Transfer {
  readonly message: Message;
  readonly first: number;
  /** The number of its packets: of requests, or for READ of answers. */
  readonly count: number;
  /** The answers to READ or an atomic operation so far. */
  readonly parts: Uint8Array[];
  /** The answer that was missing and has been requested again last; -1 for none. */
  gap: number;
  /** The next packet to send, the number that was ever sent, and of those acknowledged: all from the first one. */
  next: number;
  sent: number;
  acknowledged: number;
}

/** The number of packet sequence numbers that a message takes. */
export function packetsOf({ into, payload }: Message, mtu: number): number {
  const length = into === null ? payload.length : lengthOf(into.views);
  return Math.max(1, Math.ceil(length / mtu));
}

export function transferOf(message: Message, first: number, count: number): Transfer {
  return { message, first, count, parts: [], gap: -1, next: 0, sent: 0, acknowledged: 0 };
}

/** Whether a message waits for answers with bytes. */
export function waitsForBytes({ message, acknowledged, count }: Transfer): boolean {
  return message.into !== null && acknowledged < count;
}

/** The next packet of a message. READ requests the bytes that are not there yet at once. */
export function nextPacket(transfer: Transfer, mtu: number, reliable: boolean): RequestPacket {
  const { message, first, count, next } = transfer;
  const { operation, payload, immediate, solicited, remote } = message;
  if (message.into !== null) return requestOf(transfer, message.into, mtu);
  const last = next === count - 1;
  return {
    opcode: operation + partOf(next, count, immediate !== null),
    psn: psnAfter(first, next),
    solicited: last && solicited,
    ackRequest: last && reliable,
    headers: headersOf(next === 0 ? remote : null, payload.length, last ? immediate : null),
    payload: [payload.subarray(next * mtu, (next + 1) * mtu)],
  };
}

/** The request of READ, for the bytes that are not there yet, or that of an atomic operation. */
function requestOf({ message, first, next }: Transfer, { views }: LocalMemory, mtu: number): RequestPacket {
  const { operation, operands, solicited } = message;
  const { address, rkey } = message.remote as RemoteMemory;
  const done = next * mtu;
  const rest = { address: address + BigInt(done), rkey };
  const header = operands === null ? rethOf(rest, lengthOf(views) - done) : atomicOf(rest, operands);
  const psn = psnAfter(first, next);
  return { opcode: operation, psn, solicited, ackRequest: true, headers: [header], payload: [] };
}

const NO_HEADERS: readonly Uint8Array[] = [];

function headersOf(remote: RemoteMemory | null, length: number, immediate: number | null): readonly Uint8Array[] {
  if (remote === null && immediate === null) return NO_HEADERS;
  const reth = remote === null ? NO_HEADERS : [rethOf(remote, length)];
  return immediate === null ? reth : [...reth, bytesOf(immediate, 4)];
}

/** Writes the answers. @returns the status of the request: its memory may not be registered any more */
export function stored({ message: { into, operands }, parts }: Transfer): number {
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
