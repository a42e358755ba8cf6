/** Ciphers of the core: keys made ready (src/abi/cipher.ts). What a key passes through on its way is overwritten. */
import {
  JOB_AAD,
  JOB_CIPHER,
  JOB_DATA,
  JOB_ICV,
  JOB_ICV_LENGTH,
  JOB_LENGTH,
  JOB_NONCE,
  JOB_SIZE,
} from "../abi/cipher.js";
import type { Core } from "./core.js";

const BLOCK = 16;
const ID_NONCE = new TextEncoder().encode("flowsteer id");

/** Creates a cipher from a key of 16, 24 or 32 bytes. @returns its address, or 0 when memory is full */
export function createCipher(core: Core, key: Uint8Array): number {
  const { staging, exports } = core;
  core.u8.set(key, staging);
  const cipher = exports.createCipher(staging, key.length) >>> 0;
  core.u8.fill(0, staging, staging + key.length);
  return cipher;
}

/**
 * A text that tells the keys of two ciphers apart without telling a key: one sealed block of zeros,
 * under a nonce of its own.
 */
export function cipherId(core: Core, cipher: number): string {
  const { staging, exports, u8 } = core;
  const [data, icv] = [staging + JOB_SIZE, staging + JOB_SIZE + BLOCK];
  const size = JOB_SIZE + 2 * BLOCK;
  u8.fill(0, staging, staging + size);
  const view = new DataView(u8.buffer, staging, JOB_SIZE);
  view.setUint32(JOB_CIPHER, cipher, true);
  view.setUint32(JOB_DATA, data, true);
  view.setUint32(JOB_LENGTH, BLOCK, true);
  view.setUint32(JOB_ICV, icv, true);
  view.setUint32(JOB_AAD, icv, true);
  view.setUint8(JOB_ICV_LENGTH, BLOCK);
  u8.set(ID_NONCE, staging + JOB_NONCE);
  exports.seal(staging);
  const id = String.fromCharCode(...u8.subarray(data, data + BLOCK));
  u8.fill(0, staging, staging + size);
  return id;
}

/** Overwrites a cipher with zeros and frees it. */
export function releaseCipher(core: Core, cipher: number): void {
  core.exports.releaseCipher(cipher);
}
