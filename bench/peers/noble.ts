/**
 * AES-GCM of @noble/ciphers as a peer, in JavaScript only. It is a package of the folder `ciphers`,
 * so that only a measuring run installs it.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { GcmPeer, Sealed } from "./gcm.js";

// From here and from the bundle in build/bench/ alike.
const FOLDER = new URL("../../bench/peers/ciphers/", import.meta.url);
const MODULE = new URL("node_modules/@noble/ciphers/aes.js", FOLDER);
const ICV = 16;

interface Aes {
  gcm: (
    key: Uint8Array,
    nonce: Uint8Array,
    aad: Uint8Array,
  ) => { encrypt: (data: Uint8Array) => Uint8Array; decrypt: (sealed: Uint8Array) => Uint8Array };
}

/**
 * A factory of such peers, or the reason why there is none. A missing package is installed on
 * request.
 */
export async function loadNoble(
  install: boolean,
): Promise<{ make: (key: Uint8Array) => GcmPeer } | { skipped: string }> {
  if (!existsSync(MODULE) && install) {
    spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: fileURLToPath(FOLDER), stdio: "ignore" });
  }
  if (!existsSync(MODULE)) return { skipped: "not installed: npm ci --prefix bench/peers/ciphers" };
  const aes = (await import(MODULE.href)) as Aes;
  return { make: (key) => new Noble(aes, key) };
}

class Noble implements GcmPeer {
  readonly name = "@noble/ciphers";
  readonly #aes: Aes;
  readonly #key: Uint8Array;

  constructor(aes: Aes, key: Uint8Array) {
    this.#aes = aes;
    this.#key = key;
  }

  seal(nonce: Uint8Array, aad: Uint8Array, data: Uint8Array): Sealed {
    const sealed = this.#aes.gcm(this.#key, nonce, aad).encrypt(data);
    return { data: sealed.subarray(0, data.length), icv: sealed.subarray(data.length) };
  }

  /** Takes data and ICV as `seal` gave them: concatenated in one buffer. */
  open(nonce: Uint8Array, aad: Uint8Array, { data }: Sealed): Uint8Array {
    const joined = new Uint8Array(data.buffer, data.byteOffset, data.length + ICV);
    return this.#aes.gcm(this.#key, nonce, aad).decrypt(joined);
  }
}
