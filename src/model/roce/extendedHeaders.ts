/**
 * The extended transport headers of operations on memory (InfiniBand architecture 1.4, 9.3 and 9.5).
 *
 *     RETH:         | address 8 | R_Key 4 | length 4 |
 *     AETH:         | syndrome 1 | MSN 3 |
 *     AtomicETH:    | address 8 | R_Key 4 | swap or add 8 | compare 8 |
 *     AtomicAckETH: | original value 8 |
 */
import { bytesOf, joined, readBits, readNumber } from "../../packet/bytes.js";

export const RETH_LENGTH = 16;
export const AETH_LENGTH = 4;
export const ATOMIC_LENGTH = 28;
/** Bytes that an atomic operation works on. */
export const ATOMIC_SIZE = 8;
export const IMMEDIATE_LENGTH = 4;

/** Memory of the peer. */
export interface RemoteMemory {
  readonly address: bigint;
  readonly rkey: number;
}

/** The operands of an atomic operation; FETCH_ADD ignores `compare`. */
export interface AtomicOperands {
  readonly swapOrAdd: bigint;
  readonly compare: bigint;
}

export function rethOf({ address, rkey }: RemoteMemory, length: number): Uint8Array {
  return joined(bytesOf(address, 8), bytesOf(rkey, 4), bytesOf(length, 4));
}

export function atomicOf({ address, rkey }: RemoteMemory, { swapOrAdd, compare }: AtomicOperands): Uint8Array {
  return joined(bytesOf(address, 8), bytesOf(rkey, 4), bytesOf(swapOrAdd, 8), bytesOf(compare, 8));
}

export function aethOf(syndrome: number, msn: number): Uint8Array {
  return joined(Uint8Array.of(syndrome), bytesOf(msn, AETH_LENGTH - 1));
}

/** The memory that a RETH or an AtomicETH names. */
export function remoteIn(header: Uint8Array): RemoteMemory {
  return { address: readBits(header, 0, 64), rkey: readNumber(header, 64, 32) };
}

/** The length of a RETH. */
export function lengthIn(reth: Uint8Array): number {
  return readNumber(reth, 96, 32);
}

export function operandsIn(atomic: Uint8Array): AtomicOperands {
  return { swapOrAdd: readBits(atomic, 96, 64), compare: readBits(atomic, 160, 64) };
}
