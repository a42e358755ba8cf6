/**
 * A cipher: a key of AES, expanded for sealing and opening.
 *
 *     | rounds 4 | 0 12 | round key 0, as a block, its last byte 0: 16 | 0 32 |
 *     | round keys 0 to 14, in planes 15 x 128 | first rounds of counters 8 x 128 | hash key HASH_SIZE |
 * All of it except the number of rounds is secret. Round keys from the first on have 0x63 in every
 * byte, for the S-box (round.ts).
 */
import { HASH_SIZE } from "./hashKey";
import { GROUP_SIZE } from "./planes";

export const CIPHER_ROUNDS: usize = 0;
/** 0 at the place of the last byte of the counter: counters.ts. */
export const CIPHER_WHITENER: usize = 16;
export const CIPHER_ROUND_KEYS: usize = 64;
export const CIPHER_FIRST_ROUNDS: usize = CIPHER_ROUND_KEYS + 15 * GROUP_SIZE;
export const CIPHER_HASH: usize = CIPHER_FIRST_ROUNDS + 8 * GROUP_SIZE;
export const CIPHER_SIZE: usize = CIPHER_HASH + HASH_SIZE;
