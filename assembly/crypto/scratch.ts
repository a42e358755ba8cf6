/**
 * Scratch memory for sealing and opening.
 *
 *     orders   | ways of the states in flight | counters |
 *     secrets  | states in flight | first rounds of a packet | first groups | tails | digests | round keys being made |
 * Secrets are overwritten before a call ends.
 */
import { ORDERS, SECRETS } from "../memory";
import { BLOCK_SIZE, GROUP_SIZE } from "./planes";

/** Packets of one cipher that are sealed or opened together. */
export const MAX_RUN: usize = 32;
/** States that run the rounds together. */
export const FLIGHT: usize = 4;

/** For each state in flight | address of the addend of its blocks 4 | address of the sum 4 |. */
export const WAYS: usize = ORDERS;
export const WAY_SIZE: usize = 8;
/** Counter blocks before their conversion to planes. */
export const COUNTERS: usize = WAYS + FLIGHT * WAY_SIZE;

/** States in flight, in planes. */
export const STATES: usize = SECRETS;
/** The current packet after its first rounds, in parts (counters.ts). */
export const FIRST_ROUND: usize = STATES + FLIGHT * GROUP_SIZE;
export const SECOND_ROUND: usize = FIRST_ROUND + GROUP_SIZE;
export const COLUMN: usize = SECOND_ROUND + GROUP_SIZE;
export const COLUMN_TWICE: usize = COLUMN + GROUP_SIZE;
/** The first eight blocks of key stream of each packet that needs eight or more. */
export const FIRSTS: usize = COLUMN_TWICE + GROUP_SIZE;
/** Blocks of key stream that do not fill a group: of all packets, one after the other. */
export const TAILS: usize = FIRSTS + MAX_RUN * GROUP_SIZE;
/** GHASH of each packet. */
export const DIGESTS: usize = TAILS + MAX_RUN * GROUP_SIZE;
/** Round keys in the layout of FIPS 197, before their conversion to planes. */
export const EXPANDED: usize = DIGESTS + MAX_RUN * BLOCK_SIZE;

/** Overwrites `bytes` bytes, a multiple of 16. */
export function wipe(address: usize, bytes: usize): void {
  for (const end = address + bytes; address < end; address += 16) v128.store(address, i64x2.splat(0));
}
