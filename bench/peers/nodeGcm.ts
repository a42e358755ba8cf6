/**
 * AES-GCM of node:crypto as a peer: one synchronous call a packet, a reused key object, no joined
 * buffers.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type CipherGCMTypes, type KeyObject } from "node:crypto";
import type { GcmPeer, Sealed } from "./gcm.js";

export class NodeGcm implements GcmPeer {
  readonly name = "node:crypto";
  readonly #algorithm: CipherGCMTypes;
  readonly #key: KeyObject;

  constructor(key: Uint8Array) {
    this.#algorithm = `aes-${key.length * 8}-gcm` as CipherGCMTypes;
    this.#key = createSecretKey(key);
  }

  seal(nonce: Uint8Array, aad: Uint8Array, data: Uint8Array): Sealed {
    const cipher = createCipheriv(this.#algorithm, this.#key, nonce);
    cipher.setAAD(aad);
    const sealed = cipher.update(data);
    cipher.final();
    return { data: sealed, icv: cipher.getAuthTag() };
  }

  open(nonce: Uint8Array, aad: Uint8Array, { data, icv }: Sealed): Uint8Array {
    const decipher = createDecipheriv(this.#algorithm, this.#key, nonce);
    decipher.setAAD(aad);
    decipher.setAuthTag(icv);
    const opened = decipher.update(data);
    decipher.final();
    return opened;
  }
}
