/**
 * The life of a cipher: created from a key, changed to another key, overwritten and freed. In: a
 * key of 16, 24 or 32 bytes. Out: the handle of a cipher (cipherLayout.ts).
 */
import { allocate, release } from "../arena";
import { HANDLE_KEY, HANDLE_KEY_LENGTH, HANDLE_POOL, HANDLE_SIZE } from "./cipherLayout";
import { collapse, giveBack, reserve } from "./expanded";
import { wipeHash } from "./ghash";
import { wipe } from "./scratch";

/**
 * Creates a cipher for the key of 16, 24 or 32 bytes at the address `key`; 0 when memory is full.
 * The first packet expands the key.
 */
export function createCipher(key: usize, length: u32): usize {
  const handle = allocate(<u32>HANDLE_SIZE);
  if (handle == 0) return 0;
  const pool = reserve();
  if (pool == 0) {
    release(handle, <u32>HANDLE_SIZE);
    return 0;
  }
  wipe(handle, HANDLE_SIZE);
  store<u32>(handle, <u32>pool, HANDLE_POOL);
  keepKey(handle, key, length);
  return handle;
}

/** Changes the key of a cipher. Nothing of the former key remains. */
export function setCipherKey(handle: usize, key: usize, length: u32): void {
  const pool: usize = load<u32>(handle, HANDLE_POOL);
  overwrite(handle);
  store<u32>(handle, <u32>pool, HANDLE_POOL);
  keepKey(handle, key, length);
}

/** Overwrites a cipher and frees it. */
export function releaseCipher(handle: usize): void {
  const pool: usize = load<u32>(handle, HANDLE_POOL);
  overwrite(handle);
  giveBack(pool);
  release(handle, <u32>HANDLE_SIZE);
}

function keepKey(handle: usize, key: usize, length: u32): void {
  store<u32>(handle, length, HANDLE_KEY_LENGTH);
  memory.copy(handle + HANDLE_KEY, key, length);
}

function overwrite(handle: usize): void {
  collapse(handle);
  wipe(handle, HANDLE_SIZE);
  wipeHash();
}
