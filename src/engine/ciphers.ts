/** Ciphers of the core: keys made ready (src/abi/cipher.ts). What a key passes through on its way is overwritten. */
import type { Core } from "./core.js";

/** Creates a cipher from a key of 16, 24 or 32 bytes. @returns its address, or 0 when memory is full */
export function createCipher(core: Core, key: Uint8Array): number {
  const { staging, exports } = core;
  core.u8.set(key, staging);
  const cipher = exports.createCipher(staging, key.length) >>> 0;
  core.u8.fill(0, staging, staging + key.length);
  return cipher;
}

/** Overwrites a cipher with zeros and frees it. */
export function releaseCipher(core: Core, cipher: number): void {
  core.exports.releaseCipher(cipher);
}
