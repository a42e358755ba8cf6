// Compares the AES-GCM reference with OpenSSL through node:crypto.
import { createCipheriv, createDecipheriv, type CipherGCMTypes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { seedFor } from "../../assembly/support/core.js";
import { gcmOpen, gcmSeal, plainKey } from "./gcm.js";
import { Random } from "../generate/random.js";

const SIZES = [16, 24, 32];
const ICVS = [8, 12, 16];

describe("the reference's AES-GCM", () => {
  it("seals and opens as OpenSSL does", () => {
    const random = new Random(seedFor("gcm"));
    const bytes = (length: number): Uint8Array => Uint8Array.from(random.bytes(length));
    for (let round = 0; round < 240; round++) {
      const [size, icvLength] = [SIZES[round % 3] ?? 0, ICVS[Math.floor(round / 3) % 3] ?? 0];
      const [key, nonce, aad] = [bytes(size), bytes(12), bytes(random.pick([0, 8, 12, 16, 33]))];
      const data = bytes(random.pick([0, 1, 15, 16, 17, 31, 64, random.below(400)]));
      const name = `aes-${8 * size}-gcm` as CipherGCMTypes;
      const theirs = createCipheriv(name, key, nonce, { authTagLength: icvLength }).setAAD(aad);
      const sealed = Uint8Array.from(Buffer.concat([theirs.update(data), theirs.final()]));

      const ready = plainKey(key);
      const ours = gcmSeal(ready, nonce, aad, data, icvLength);
      expect(ours).toEqual({ data: sealed, icv: Uint8Array.from(theirs.getAuthTag()) });
      expect(gcmOpen(ready, nonce, aad, ours)).toEqual(data);

      const bit = random.below(8 * (data.length + icvLength));
      const wrong = { data: ours.data.slice(), icv: ours.icv.slice() };
      const [where, at] = bit < 8 * data.length ? [wrong.data, bit] : [wrong.icv, bit - 8 * data.length];
      where[at >> 3] = (where[at >> 3] ?? 0) ^ (1 << (at & 7));
      const opened = createDecipheriv(name, key, nonce, { authTagLength: icvLength }).setAAD(aad).setAuthTag(wrong.icv);
      opened.update(wrong.data);
      expect(() => opened.final()).toThrow();
      expect(gcmOpen(ready, nonce, aad, wrong)).toBeNull();
    }
  });
});
