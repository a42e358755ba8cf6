/** What a responder answers to READ and to atomic operations (InfiniBand architecture 1.4, 9.4.4 and 9.4.5). */
import { IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_REMOTE_READ } from "../../abi/verbsConstants.js";
import { MAX_MESSAGE } from "../base/port/ports.js";
import type { TransportCounters } from "./counters.js";
import { ATOMIC_SIZE, lengthIn, operandsIn, type RemoteMemory } from "./extendedHeaders.js";
import { COMPARE_SWAP, NAK_INVALID_REQUEST, NAK_REMOTE_ACCESS, READ_REQUEST } from "./opcodes.js";
import type { AnsweredRequest } from "./requestPart.js";

/** The part of a queue pair that gives access to memory. */
export interface AnswerOwner {
  /** Bytes. */
  readonly mtu: number;
  /** IBV_ACCESS_REMOTE_*: what the queue pair allows. */
  readonly access: number;
  /** The READs and atomic operations of the peer that it takes at a time. */
  readonly maxReads: number;
  readonly counters: TransportCounters;
  /** The memory that the peer names; null where it may not use it like that. */
  remote(memory: RemoteMemory, length: number, access: number): Uint8Array | null;
}

/** The contents of the packets of an answer: those of READ, or the original value of an atomic operation. */
export type AnswerBytes = readonly Uint8Array[] | bigint;

const NO_BYTES = new Uint8Array(0);

/** Carries a request out. @returns a NAK where the queue pair or the memory does not allow it */
export function answerTo(owner: AnswerOwner, request: AnsweredRequest): AnswerBytes | number {
  const reads = request.operation === READ_REQUEST;
  const access = reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_ATOMIC;
  if (owner.maxReads === 0 || (owner.access & access) === 0) return NAK_INVALID_REQUEST;
  const answer = reads ? read(owner, request) : atomic(owner, request);
  if (answer === NAK_REMOTE_ACCESS) owner.counters.resp_remote_access_errors++;
  return answer;
}

function read(owner: AnswerOwner, { remote, header }: AnsweredRequest): readonly Uint8Array[] | number {
  const length = lengthIn(header);
  if (length > MAX_MESSAGE) return NAK_INVALID_REQUEST;
  // Without bytes the key is not compared.
  const bytes = length === 0 ? NO_BYTES : owner.remote(remote, length, IBV_ACCESS_REMOTE_READ);
  if (bytes === null) return NAK_REMOTE_ACCESS;
  const { mtu } = owner;
  const count = Math.max(1, Math.ceil(length / mtu));
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * mtu, (i + 1) * mtu));
}

/** MODEL: numbers in memory are little-endian, as on x86-64. */
function atomic(owner: AnswerOwner, { operation, remote, header }: AnsweredRequest): bigint | number {
  if (remote.address % BigInt(ATOMIC_SIZE) !== 0n) return NAK_INVALID_REQUEST;
  const bytes = owner.remote(remote, ATOMIC_SIZE, IBV_ACCESS_REMOTE_ATOMIC);
  if (bytes === null) return NAK_REMOTE_ACCESS;
  const view = new DataView(bytes.buffer, bytes.byteOffset, ATOMIC_SIZE);
  const original = view.getBigUint64(0, true);
  const { swapOrAdd, compare } = operandsIn(header);
  if (operation !== COMPARE_SWAP) view.setBigUint64(0, BigInt.asUintN(64, original + swapOrAdd), true);
  else if (original === compare) view.setBigUint64(0, swapOrAdd, true);
  return original;
}
