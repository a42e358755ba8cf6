/**
 * Prefetches a cipher. With many associations in turn, the tables of each are not in the CPU cache.
 * Reads of all their lines overlap when they are issued before any result is needed. The cipher of
 * the previous packet is in the cache already.
 */
import { CIPHER_FIRST_ROUNDS, CIPHER_HASH, CIPHER_ROUND_KEYS, CIPHER_ROUNDS } from "./cipherLayout";
import { BLOCKS_SIZE } from "./hashKey";
import { GROUP_SIZE } from "./planes";
import { DIGESTS } from "./scratch";

namespace Warm {
  export let cipher: usize = 0;
}

const LINE: usize = 64;

// @ts-ignore: decorator
@inline
export function warm(cipher: usize): void {
  if (cipher != Warm.cipher) bringNear(cipher);
}

/**
 * Reads the parts that every packet needs: the round keys, the first rounds of the first counters,
 * and the tables for blocks.
 */
function bringNear(cipher: usize): void {
  Warm.cipher = cipher;
  const keys = cipher + CIPHER_ROUND_KEYS;
  const first = cipher + CIPHER_FIRST_ROUNDS;
  const hash = cipher + CIPHER_HASH;
  let read = load<u64>(first) ^ load<u64>(first, LINE);
  read ^= readAll(keys, keys + <usize>(load<u32>(cipher, CIPHER_ROUNDS) + 1) * GROUP_SIZE);
  read ^= readAll(hash, hash + BLOCKS_SIZE);
  // The store keeps the compiler from removing the reads. The digest overwrites it.
  store<u64>(DIGESTS, read);
}

/** Reads every line between two addresses, and up to three lines after them. */
// @ts-ignore: decorator
@inline
function readAll(from: usize, to: usize): u64 {
  let read: u64 = 0;
  for (; from < to; from += 4 * LINE) {
    read ^= load<u64>(from) ^ load<u64>(from, LINE) ^ load<u64>(from, 2 * LINE) ^ load<u64>(from, 3 * LINE);
  }
  return read;
}
