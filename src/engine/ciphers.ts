/** Ciphers of the core: keys made ready (src/abi/cipher.ts). What a key passes through on its way is overwritten. */
import type { Core } from "./core.js";

/** A cipher of a key of 16, 24 or 32 bytes; its address, 0 when memory is full. */
export function createCipher(core: Core, key: Uint8Array): number {
  const { staging, exports } = core;
  core.u8.set(key, staging);
  const cipher = exports.createCipher(staging, key.length) >>> 0;
  core.u8.fill(0, staging, staging + key.length);
  return cipher;
}

/** Overwrites a cipher, and gives it back. */
export function releaseCipher(core: Core, cipher: number): void {
  core.exports.releaseCipher(cipher);
}
