/**
 * The handle of a cipher, which the host and jobs know: a key of AES, and where it is expanded.
 *
 *     | cipher, or 0: 4 | bytes of the key 4 | pool of ciphers 4 | 0 4 | key 32 |
 *
 * A cipher: a key of AES, expanded for sealing and opening (expanded.ts).
 *
 *     | rounds 4 | handle 4 | next 4 | before 4 | round key 0, as a block, its last byte 0: 16 | 0 32 |
 *     | round keys 0 to 14, in planes 15 x 128 | first rounds of counters 8 x 128 | hash key HASH_SIZE |
 * The key is secret, and what a cipher has from round key 0 on. Round keys from the first on have 0x63
 * in every byte, for the S-box (round.ts).
 */
import { HASH_SIZE } from "./hashKey";
import { GROUP_SIZE } from "./planes";

export const HANDLE_CIPHER: usize = 0;
export const HANDLE_KEY_LENGTH: usize = 4;
export const HANDLE_POOL: usize = 8;
export const HANDLE_KEY: usize = 16;
export const HANDLE_SIZE: usize = HANDLE_KEY + 32;

export const CIPHER_ROUNDS: usize = 0;
export const CIPHER_HANDLE: usize = 4;
export const CIPHER_NEXT: usize = 8;
export const CIPHER_BEFORE: usize = 12;
/** 0 at the place of the last byte of the counter: counters.ts. */
export const CIPHER_WHITENER: usize = 16;
export const CIPHER_ROUND_KEYS: usize = 64;
export const CIPHER_FIRST_ROUNDS: usize = CIPHER_ROUND_KEYS + 15 * GROUP_SIZE;
export const CIPHER_HASH: usize = CIPHER_FIRST_ROUNDS + 8 * GROUP_SIZE;
export const CIPHER_SIZE: usize = CIPHER_HASH + HASH_SIZE;
