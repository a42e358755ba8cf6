/** Vectors that others have published. */
import { describe, expect, test } from "vitest";
import { loadOpenCore } from "../../support/openCore.js";
import esp from "../../vectors/esp-gcm.json" with { type: "json" };
import wycheproof from "../../vectors/wycheproof-aes-gcm.json" with { type: "json" };
import { bytesOf, cipherOf, emptyIcv, open, seal } from "./support/packets.js";

const core = await loadOpenCore();

describe("draft-mcgrew-gcm-test-01: AES-GCM ESP", () => {
  test.each(esp.cases)("case $n", ({ key, salt, iv, aad, plaintext, ciphertext, icv }) => {
    const cipher = cipherOf(core, bytesOf(key));
    const packet = { cipher, nonce: bytesOf(salt + iv), aad: bytesOf(aad) };
    const sealed = seal(core, { ...packet, data: bytesOf(plaintext), icv: emptyIcv(16) });
    expect(sealed.data).toEqual(bytesOf(ciphertext));
    expect(sealed.icv).toEqual(bytesOf(icv));
    const opened = open(core, { ...packet, data: bytesOf(ciphertext), icv: bytesOf(icv) });
    expect(opened.good).toBe(true);
    expect(opened.data).toEqual(bytesOf(plaintext));
    core.exports.releaseCipher(cipher);
  });
});

test("Wycheproof: AES-GCM with an IV of 96 bits", () => {
  const seen = new Set<string>();
  for (const { tcId, key, iv, aad, msg, ct, tag, result } of wycheproof.tests) {
    const cipher = cipherOf(core, bytesOf(key));
    const packet = { cipher, nonce: bytesOf(iv), aad: bytesOf(aad) };
    const opened = open(core, { ...packet, data: bytesOf(ct), icv: bytesOf(tag) });
    expect(opened.good, `test ${tcId}`).toBe(result === "valid");
    expect(opened.data, `test ${tcId}`).toEqual(bytesOf(result === "valid" ? msg : ct));
    const sealed = seal(core, { ...packet, data: bytesOf(msg), icv: emptyIcv(16) });
    expect(sealed.data, `test ${tcId}`).toEqual(bytesOf(ct));
    if (result === "valid") expect(sealed.icv, `test ${tcId}`).toEqual(bytesOf(tag));
    else expect(sealed.icv, `test ${tcId}`).not.toEqual(bytesOf(tag));
    core.exports.releaseCipher(cipher);
    seen.add(`${key.length * 4} ${result}`);
  }
  expect([...seen].sort()).toEqual([
    "128 invalid",
    "128 valid",
    "192 invalid",
    "192 valid",
    "256 invalid",
    "256 valid",
  ]);
});
