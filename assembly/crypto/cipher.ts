/**
 * The life of a cipher: created from a key, changed to another key, overwritten and freed. In: a
 * key of 16, 24 or 32 bytes. Out: the address of a cipher (cipherLayout.ts).
 */
import { allocate, release } from "../arena";
import { CIPHER_HASH, CIPHER_ROUNDS, CIPHER_SIZE } from "./cipherLayout";
import { setFirstRounds } from "./counters";
import { wipeHash } from "./ghash";
import { setHashKey } from "./hashKey";
import { BLOCK_SIZE, ZEROS } from "./planes";
import { expandKey, setRoundKeys } from "./roundKeys";
import { EXPANDED, FIRSTS, wipe } from "./scratch";
import { closeStream, fly, openStream, orderBlocks } from "./stream";

/**
 * Creates a cipher for the key of 16, 24 or 32 bytes at the address `key`; 0 when memory is full.
 * The key itself is not kept.
 */
export function createCipher(key: usize, length: u32): usize {
  const cipher = allocate(<u32>CIPHER_SIZE);
  if (cipher != 0) setCipherKey(cipher, key, length);
  return cipher;
}

/** Changes the key of a cipher. Nothing of the former key remains. */
export function setCipherKey(cipher: usize, key: usize, length: u32): void {
  wipe(cipher, CIPHER_SIZE);
  wipeHash();
  store<u32>(cipher, length / 4 + 6, CIPHER_ROUNDS);
  expandKey(key, length);
  setRoundKeys(cipher);
  setFirstRounds(cipher);
  wipe(EXPANDED, 15 * BLOCK_SIZE);
  openStream(cipher);
  orderBlocks(ZEROS, ZEROS, FIRSTS);
  fly();
  setHashKey(cipher + CIPHER_HASH, FIRSTS);
  closeStream(1, 0);
}

/** Overwrites a cipher and frees it. */
export function releaseCipher(cipher: usize): void {
  wipe(cipher, CIPHER_SIZE);
  wipeHash();
  release(cipher, <u32>CIPHER_SIZE);
}
