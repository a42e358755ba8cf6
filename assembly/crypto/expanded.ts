/**
 * Expands keys at their first packet. A cipher takes 16 kB and a handle 48 bytes, so associations that
 * carry no packets cost next to nothing. In: a handle. Out: its cipher.
 *
 * Memory for ciphers is reserved when a handle is created, so a packet never lacks it. Up to
 * MAX_CIPHERS handles have a cipher each; more share those, and the key that was expanded first
 * makes room. What is sealed and opened is the same.
 *
 * What is known of all ciphers lies in memory beside them, where handles name it: a copy of the memory
 * is enough to expand keys.
 *
 *     | handles 4 | ciphers 4 | the unused ones, a list 4 | the one expanded first, of a ring 4 |     the pool
 *
 * Invariants: ciphers = min(handles, MAX_CIPHERS); a cipher is either unused or in the ring, which is in
 * the order of expansion.
 */
import { allocate, release } from "../arena";
import {
  CIPHER_BEFORE,
  CIPHER_HANDLE,
  CIPHER_HASH,
  CIPHER_NEXT,
  CIPHER_ROUNDS,
  CIPHER_SIZE,
  CIPHER_WHITENER,
  HANDLE_CIPHER,
  HANDLE_KEY,
  HANDLE_KEY_LENGTH,
  HANDLE_POOL,
} from "./cipherLayout";
import { setFirstRounds } from "./counters";
import { setHashKey } from "./hashKey";
import { BLOCK_SIZE, ZEROS } from "./planes";
import { expandKey, setRoundKeys } from "./roundKeys";
import { EXPANDED, FIRSTS, wipe } from "./scratch";
import { closeStream, fly, openStream, orderBlocks } from "./stream";

/** 64 MiB of addresses; of ciphers that no packet has used one page each takes memory. */
const MAX_CIPHERS: u32 = 4096;

const POOL_HANDLES: usize = 0;
const POOL_CIPHERS: usize = 4;
const POOL_UNUSED: usize = 8;
const POOL_OLDEST: usize = 12;
const POOL_SIZE: u32 = 16;

namespace Ciphers {
  /** The pool; 0 without handles. */
  export let pool: usize = 0;
}

/** Makes sure that one more handle can be expanded. Returns the pool; 0 when memory is full. */
export function reserve(): usize {
  const pool = Ciphers.pool != 0 ? Ciphers.pool : newPool();
  if (pool == 0) return 0;
  if (load<u32>(pool, POOL_CIPHERS) < MAX_CIPHERS) {
    const cipher = allocate(<u32>CIPHER_SIZE);
    if (cipher == 0) {
      dropUnused(pool);
      return 0;
    }
    putAside(pool, cipher);
    store<u32>(pool, load<u32>(pool, POOL_CIPHERS) + 1, POOL_CIPHERS);
  }
  store<u32>(pool, load<u32>(pool, POOL_HANDLES) + 1, POOL_HANDLES);
  return pool;
}

function newPool(): usize {
  const pool = allocate(POOL_SIZE);
  if (pool != 0) memory.fill(pool, 0, POOL_SIZE);
  Ciphers.pool = pool;
  return pool;
}

/** Frees a pool without handles. */
function dropUnused(pool: usize): void {
  if (load<u32>(pool, POOL_HANDLES) != 0) return;
  Ciphers.pool = 0;
  release(pool, POOL_SIZE);
}

/** Gives back the memory of a handle that is not expanded. */
export function giveBack(pool: usize): void {
  const handles = load<u32>(pool, POOL_HANDLES) - 1;
  const ciphers = load<u32>(pool, POOL_CIPHERS);
  store<u32>(pool, handles, POOL_HANDLES);
  if (handles >= ciphers) return;
  const cipher: usize = load<u32>(pool, POOL_UNUSED);
  store<u32>(pool, load<u32>(cipher, CIPHER_NEXT), POOL_UNUSED);
  store<u64>(cipher, 0, CIPHER_NEXT);
  release(cipher, <u32>CIPHER_SIZE);
  store<u32>(pool, ciphers - 1, POOL_CIPHERS);
  dropUnused(pool);
}

/** Overwrites the cipher of a handle. */
export function collapse(handle: usize): void {
  const cipher: usize = load<u32>(handle, HANDLE_CIPHER);
  if (cipher == 0) return;
  const pool: usize = load<u32>(handle, HANDLE_POOL);
  store<u32>(handle, 0, HANDLE_CIPHER);
  const next: usize = load<u32>(cipher, CIPHER_NEXT);
  const before: usize = load<u32>(cipher, CIPHER_BEFORE);
  link(before, next);
  if (<usize>load<u32>(pool, POOL_OLDEST) == cipher) store<u32>(pool, next == cipher ? 0 : <u32>next, POOL_OLDEST);
  wipe(cipher, CIPHER_SIZE);
  putAside(pool, cipher);
}

/** The cipher of a handle. */
// @ts-ignore: decorator
@inline
export function expanded(handle: usize): usize {
  const cipher: usize = load<u32>(handle, HANDLE_CIPHER);
  return cipher != 0 ? cipher : expand(handle);
}

function expand(handle: usize): usize {
  const cipher = take(load<u32>(handle, HANDLE_POOL));
  store<u32>(cipher, <u32>handle, CIPHER_HANDLE);
  store<u32>(handle, <u32>cipher, HANDLE_CIPHER);
  fill(cipher, handle + HANDLE_KEY, load<u32>(handle, HANDLE_KEY_LENGTH));
  return cipher;
}

/** Expands a key of `length` bytes. Nothing remains of what the cipher was before. */
function fill(cipher: usize, key: usize, length: u32): void {
  wipe(cipher + CIPHER_WHITENER, CIPHER_SIZE - CIPHER_WHITENER);
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

/** An unused cipher, or the oldest; it becomes the newest. */
function take(pool: usize): usize {
  const cipher: usize = load<u32>(pool, POOL_UNUSED);
  const oldest: usize = load<u32>(pool, POOL_OLDEST);
  if (cipher == 0) {
    store<u32>(load<u32>(oldest, CIPHER_HANDLE), 0, HANDLE_CIPHER);
    store<u32>(pool, load<u32>(oldest, CIPHER_NEXT), POOL_OLDEST);
    return oldest;
  }
  store<u32>(pool, load<u32>(cipher, CIPHER_NEXT), POOL_UNUSED);
  if (oldest == 0) {
    store<u32>(pool, <u32>cipher, POOL_OLDEST);
    link(cipher, cipher);
  } else {
    link(load<u32>(oldest, CIPHER_BEFORE), cipher);
    link(cipher, oldest);
  }
  return cipher;
}

function putAside(pool: usize, cipher: usize): void {
  store<u32>(cipher, load<u32>(pool, POOL_UNUSED), CIPHER_NEXT);
  store<u32>(pool, <u32>cipher, POOL_UNUSED);
}

// @ts-ignore: decorator
@inline
function link(cipher: usize, next: usize): void {
  store<u32>(cipher, <u32>next, CIPHER_NEXT);
  store<u32>(next, <u32>cipher, CIPHER_BEFORE);
}
