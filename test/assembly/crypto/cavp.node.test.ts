/** NIST's vectors for validation programs (CAVP gcmtestvectors), with the IV and the tag lengths that RFC 4106 allows. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { loadOpenCore } from "../../support/openCore.js";
import { bytesOf, cipherOf, emptyIcv, open, seal } from "./support/packets.js";

const core = await loadOpenCore();

/** Names as the files have them; a case that must be refused has FAIL and no PT. */
type Case = Partial<Record<"Key" | "IV" | "PT" | "CT" | "AAD" | "Tag" | "FAIL", string>>;

function read(name: string): Case[] {
  const text = gunzipSync(readFileSync(new URL(`../../vectors/cavp/${name}.rsp.gz`, import.meta.url))).toString();
  return text
    .split(/^Count = \d+$/m)
    .slice(1)
    .map((part) => Object.fromEntries([...part.matchAll(/^(\w+)(?: = ?(\w*))?$/gm)].map(([, k, v]) => [k, v ?? ""])));
}

function packetOf({ Key, IV, AAD }: Case): { cipher: number; nonce: Uint8Array; aad: Uint8Array } {
  return { cipher: cipherOf(core, bytesOf(Key!)), nonce: bytesOf(IV!), aad: bytesOf(AAD!) };
}

test.each([128, 192, 256])("gcmEncryptExtIV%i", (bits) => {
  const cases = read(`gcmEncryptExtIV${bits}`);
  expect(cases.length).toBe(375);
  for (const one of cases) {
    const packet = packetOf(one);
    const sealed = seal(core, { ...packet, data: bytesOf(one.PT!), icv: emptyIcv(one.Tag!.length / 2) });
    expect(sealed.data).toEqual(bytesOf(one.CT!));
    expect(sealed.icv).toEqual(bytesOf(one.Tag!));
    core.exports.releaseCipher(packet.cipher);
  }
});

test.each([128, 192, 256])("gcmDecrypt%i", (bits) => {
  const cases = read(`gcmDecrypt${bits}`);
  expect(cases.length).toBe(375);
  let refused = 0;
  for (const one of cases) {
    const packet = packetOf(one);
    const opened = open(core, { ...packet, data: bytesOf(one.CT!), icv: bytesOf(one.Tag!) });
    const fails = one.FAIL !== undefined;
    expect(opened.good).toBe(!fails);
    expect(opened.data).toEqual(bytesOf(fails ? one.CT! : one.PT!));
    if (fails) refused++;
    core.exports.releaseCipher(packet.cipher);
  }
  expect(refused).toBeGreaterThan(150);
});
