/** AES-GCM of node:crypto, which tests for Node hold the core to. */
import { createCipheriv, createDecipheriv, type CipherGCMTypes } from "node:crypto";

export interface Sealed {
  data: Uint8Array;
  icv: Uint8Array;
}

export function nodeSeal(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  data: Uint8Array,
  authTagLength: number,
): Sealed {
  const cipher = createCipheriv(algorithm(key), key, nonce, { authTagLength });
  cipher.setAAD(aad);
  const sealed = Buffer.concat([cipher.update(data), cipher.final()]);
  return { data: new Uint8Array(sealed), icv: new Uint8Array(cipher.getAuthTag()) };
}

/** The data; undefined where the ICV is wrong. */
export function nodeOpen(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, sealed: Sealed): Uint8Array | undefined {
  const decipher = createDecipheriv(algorithm(key), key, nonce, { authTagLength: sealed.icv.length });
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.icv);
  const data = decipher.update(sealed.data);
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return new Uint8Array(data);
}

function algorithm(key: Uint8Array): CipherGCMTypes {
  return `aes-${key.length * 8}-gcm` as CipherGCMTypes;
}
