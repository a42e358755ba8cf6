/** Parses packets of requests (InfiniBand architecture 1.4, 9.4). */
import { readNumber } from "../../packet/bytes.js";
import {
  ATOMIC_LENGTH,
  IMMEDIATE_LENGTH,
  lengthIn,
  remoteIn,
  RETH_LENGTH,
  type RemoteMemory,
} from "./extendedHeaders.js";
import {
  COMPARE_SWAP,
  FETCH_ADD,
  READ_REQUEST,
  SEND_FIRST,
  SEND_LAST,
  SEND_LAST_WITH_IMMEDIATE,
  SEND_ONLY,
  SEND_ONLY_WITH_IMMEDIATE,
  SERVICE,
  WRITE_FIRST,
  WRITE_ONLY_WITH_IMMEDIATE,
} from "./opcodes.js";
import type { ArrivedPacket } from "./packet.js";

/** A packet of SEND or RDMA WRITE. */
export interface MessagePart {
  /** SEND_FIRST or WRITE_FIRST. */
  readonly operation: number;
  readonly begins: boolean;
  readonly ends: boolean;
  readonly solicited: boolean;
  readonly immediate: number | null;
  readonly payload: Uint8Array;
  /** The memory that a WRITE begins to write, and how many bytes it has; else null. */
  readonly remote: RemoteMemory | null;
  readonly length: number;
}

/** A request whose answer has bytes. */
export interface AnsweredRequest {
  /** READ_REQUEST, COMPARE_SWAP or FETCH_ADD. */
  readonly operation: number;
  readonly remote: RemoteMemory;
  /** The RETH or AtomicETH. */
  readonly header: Uint8Array;
}

/** The request of READ or of an atomic operation in a packet; null for other operations and lengths. */
export function answeredIn({ opcode, content }: ArrivedPacket): AnsweredRequest | null {
  const operation = opcode & ~SERVICE;
  if (!isAnswered(opcode) || content.length !== (operation === READ_REQUEST ? RETH_LENGTH : ATOMIC_LENGTH)) return null;
  return { operation, remote: remoteIn(content), header: content };
}

/** Whether a packet requests an answer with bytes. */
export function isAnswered(opcode: number): boolean {
  return [READ_REQUEST, COMPARE_SWAP, FETCH_ADD].includes(opcode & ~SERVICE);
}

/**
 * Parses a packet of SEND or WRITE. Null for other operations, and for a length that is wrong at this
 * position of a message.
 */
export function partOf({ opcode, solicited, content }: ArrivedPacket, mtu: number): MessagePart | null {
  const code = opcode & ~SERVICE;
  if (code > WRITE_ONLY_WITH_IMMEDIATE) return null;
  const operation = code < WRITE_FIRST ? SEND_FIRST : WRITE_FIRST;
  const part = code - operation;
  const begins = part === SEND_FIRST || part >= SEND_ONLY;
  const ends = part >= SEND_LAST;
  const withImmediate = part === SEND_LAST_WITH_IMMEDIATE || part === SEND_ONLY_WITH_IMMEDIATE;
  const reth = begins && operation === WRITE_FIRST ? RETH_LENGTH : 0;
  const headers = reth + (withImmediate ? IMMEDIATE_LENGTH : 0);
  if (content.length < headers) return null;
  const payload = content.subarray(headers);
  const least = ends ? (begins ? 0 : 1) : mtu;
  if (payload.length < least || payload.length > mtu) return null;
  return {
    operation,
    begins,
    ends,
    solicited,
    immediate: withImmediate ? readNumber(content, 8 * reth, 32) : null,
    payload,
    remote: reth === 0 ? null : remoteIn(content),
    length: reth === 0 ? 0 : lengthIn(content),
  };
}
