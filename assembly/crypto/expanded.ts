/**
 * Expands keys at their first packet. A cipher takes 16 kB and a handle 48 bytes, so associations that
 * carry no packets cost next to nothing. In: a handle. Out: its cipher.
 *
 * Memory for ciphers is reserved when a handle is created, so a packet never lacks it. Up to
 * MAX_CIPHERS handles have a cipher each; more share those, and the key that was expanded first
 * makes room. What is sealed and opened is the same.
 *
 * Invariants: `count` = min(`handles`, MAX_CIPHERS); a cipher is either unused or in the ring.
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
} from "./cipherLayout";
import { setFirstRounds } from "./counters";
import { setHashKey } from "./hashKey";
import { BLOCK_SIZE, ZEROS } from "./planes";
import { expandKey, setRoundKeys } from "./roundKeys";
import { EXPANDED, FIRSTS, wipe } from "./scratch";
import { closeStream, fly, openStream, orderBlocks } from "./stream";

/** 64 MiB of addresses; of ciphers that no packet has used one page each takes memory. */
const MAX_CIPHERS: u32 = 4096;

namespace Ciphers {
  export let handles: u32 = 0;
  export let count: u32 = 0;
  /** A list of the unused ones. */
  export let unused: usize = 0;
  /** The one that was expanded first, of a ring in the order of expansion. */
  export let oldest: usize = 0;
}

/** Makes sure that one more handle can be expanded; false when memory is full. */
export function reserve(): bool {
  if (Ciphers.count < MAX_CIPHERS) {
    const cipher = allocate(<u32>CIPHER_SIZE);
    if (cipher == 0) return false;
    putAside(cipher);
    Ciphers.count++;
  }
  Ciphers.handles++;
  return true;
}

/** Gives back the memory of a handle that is not expanded. */
export function giveBack(): void {
  if (--Ciphers.handles >= Ciphers.count) return;
  const cipher = Ciphers.unused;
  Ciphers.unused = load<u32>(cipher, CIPHER_NEXT);
  store<u64>(cipher, 0, CIPHER_NEXT);
  release(cipher, <u32>CIPHER_SIZE);
  Ciphers.count--;
}

/** Overwrites the cipher of a handle. */
export function collapse(handle: usize): void {
  const cipher: usize = load<u32>(handle, HANDLE_CIPHER);
  if (cipher == 0) return;
  store<u32>(handle, 0, HANDLE_CIPHER);
  const next: usize = load<u32>(cipher, CIPHER_NEXT);
  const before: usize = load<u32>(cipher, CIPHER_BEFORE);
  link(before, next);
  if (Ciphers.oldest == cipher) Ciphers.oldest = next == cipher ? 0 : next;
  wipe(cipher, CIPHER_SIZE);
  putAside(cipher);
}

/** The cipher of a handle. */
// @ts-ignore: decorator
@inline
export function expanded(handle: usize): usize {
  const cipher: usize = load<u32>(handle, HANDLE_CIPHER);
  return cipher != 0 ? cipher : expand(handle);
}

function expand(handle: usize): usize {
  const cipher = take();
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
function take(): usize {
  const cipher = Ciphers.unused;
  const oldest = Ciphers.oldest;
  if (cipher == 0) {
    store<u32>(load<u32>(oldest, CIPHER_HANDLE), 0, HANDLE_CIPHER);
    Ciphers.oldest = load<u32>(oldest, CIPHER_NEXT);
    return oldest;
  }
  Ciphers.unused = load<u32>(cipher, CIPHER_NEXT);
  if (oldest == 0) {
    Ciphers.oldest = cipher;
    link(cipher, cipher);
  } else {
    link(load<u32>(oldest, CIPHER_BEFORE), cipher);
    link(cipher, oldest);
  }
  return cipher;
}

function putAside(cipher: usize): void {
  store<u32>(cipher, <u32>Ciphers.unused, CIPHER_NEXT);
  Ciphers.unused = cipher;
}

// @ts-ignore: decorator
@inline
function link(cipher: usize, next: usize): void {
  store<u32>(cipher, <u32>next, CIPHER_NEXT);
  store<u32>(next, <u32>cipher, CIPHER_BEFORE);
}
