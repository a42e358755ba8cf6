/**
 * No address, branch or selection of the ciphers depends on a key, a hash key, a nonce, AAD or data, but for the verdict on a
 * packet (docs/constant-time.md). The walker (walker/machine.ts) goes through the compiled module with all of them left open.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sectionsOf } from "../../../src/engine/sections.js";
import { Area } from "../../../src/abi/engine.js";
import { rewrite } from "../../../src/engine/sharedModule.js";
import { hexOf } from "../../../src/base/hex.js";
import { compile, type Sources } from "./support/compile.js";
import { ROOT } from "../../support/root.js";
import { Ciphers, type Shape } from "./support/walker/ciphers.js";
import { Leak } from "./support/walker/machine.js";
import { DEEP } from "../../support/tier.js";

const KEYS = [16, 24, 32];
const ICVS = [8, 12, 16];
/** Every way of a short packet, borders of groups of key stream and of lanes of GHASH, and more than 256 counters. */
const LENGTHS = [
  ...Array.from({ length: 36 }, (_, n) => n),
  ...[
    47, 48, 63, 64, 65, 95, 96, 100, 111, 112, 113, 127, 128, 129, 239, 240, 241, 256, 383, 384, 400, 416, 425, 426,
    427,
  ],
  ...[428, 429, 430, 431, 432, 433, 448, 500, 576, 600, 1400, 4080, 4096, 4112, 5003],
];
const AADS = [0, 1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 16, 17, 20, 24, 40, 300, 500];

/** What a host does with ciphers, in all shapes of packets. */
function everything(ciphers: Ciphers): void {
  const all = KEYS.map((length) => ciphers.create(length));
  const [first, second, third] = all as [number, number, number];
  for (const data of LENGTHS)
    bothWays(ciphers, all[data % 3]!, { aad: data % 2 === 0 ? 8 : 12, data, icv: ICVS[data % 3]! });
  for (const aad of AADS) bothWays(ciphers, second, { aad, data: 3 * aad, icv: 16 });
  for (const icv of ICVS) bothWays(ciphers, third, { aad: 8, data: 64, icv });
  for (const count of [1, 2, 7, 8, 15, 16, 17, 31, 32, 33]) {
    for (const data of [0, 20, 64, 300]) many(ciphers, [first], alike(count, data));
    many(ciphers, [second], mixed(count));
    many(ciphers, [first, first, second, third, third, third, first], mixed(count));
  }
  many(ciphers, [third], alike(32, 1400));
  ciphers.setKey(first, 32);
  // Packets of either kind can be the first of a key.
  ciphers.open(first, { aad: 8, data: 30, icv: 16, good: true });
  ciphers.seal(first, { aad: 8, data: 100, icv: 16 });
  for (const cipher of all) ciphers.release(cipher);
  ciphers.limit(0);
  for (let tries = 0; ciphers.create(16) !== 0; tries++) if (tries > 1000) throw new Error("memory has no end");
}

function bothWays(ciphers: Ciphers, cipher: number, shape: Shape): void {
  ciphers.seal(cipher, shape);
  for (const good of [false, true]) ciphers.open(cipher, { ...shape, good });
}

function many(ciphers: Ciphers, of: number[], shapes: Shape[]): void {
  ciphers.sealMany(of, shapes);
  ciphers.openMany(of, shapes);
}

function alike(count: number, data: number): Shape[] {
  return Array.from({ length: count }, (_, n) => ({ aad: 8, data, icv: 16, good: n % 3 !== 0 }));
}

function mixed(count: number): Shape[] {
  const icv = (n: number): number => ICVS[n % 3]!;
  return Array.from({ length: count }, (_, n) => ({
    aad: (n * 5) % 29,
    data: (n * 97) % 331,
    icv: icv(n),
    good: n % 2 === 0,
  }));
}

describe("The release core", () => {
  const module = (): Uint8Array => readFileSync(join(ROOT, "build/release/core.wasm"));

  test.runIf(DEEP)("takes the same way whatever the secrets are, over every instruction", () => {
    const ciphers = new Ciphers(module());
    everything(ciphers);
    expect([...ciphers.missed()]).toEqual([]);
    expect(ciphers.machine.touched.size).toBeGreaterThan(10);
  });

  test("keeps nothing of a cipher that was released", () => {
    const ciphers = new Ciphers(module());
    for (const length of KEYS) {
      const cipher = ciphers.create(length);
      ciphers.seal(cipher, { aad: 8, data: 1400, icv: 16 });
      ciphers.open(cipher, { aad: 8, data: 30, icv: 16, good: true });
      ciphers.sealMany([cipher], alike(32, 300));
      expect(ciphers.left.length).toBeGreaterThan(0);
      ciphers.release(cipher);
      expect(ciphers.left).toEqual([]);
    }
  });
});

/** The exports that the walker calls, without the rest of the core. */
const ENTRY = "assembly/ciphersAlone.ts";
const ALONE = `
  import { growToArena } from "./arena";
  import { closeRows } from "./rows";
  export { limitArena } from "./arena";
  export { areaAddress } from "./areas";
  export { growRows as openRows, openBytes } from "./rows";
  export { createCipher, releaseCipher, setCipherKey } from "./crypto/cipher";
  export { open, openMany, seal, sealMany } from "./crypto/gcm";
  export function openMemory(): bool {
    if (!growToArena()) return false;
    closeRows();
    return true;
  }
`;

/** The check of what was decrypted, its verdict a byte that is public. */
const TRAILER = `
  ${ALONE}
  import { isTrailer } from "./esp/trailer";
  export function checkTrailer(data: usize, length: u32, verdict: usize): void {
    store<u8>(verdict, u8(isTrailer(data, length)));
  }
`;

/** Whether the check took packets of all pad lengths the same way, whatever their other bytes are. */
function checkTrailers(module: Uint8Array): void {
  const { machine } = new Ciphers(module);
  const data = machine.call("areaAddress", Area.bytes);
  const verdict = machine.call("areaAddress", Area.staging);
  for (const length of [0, 1, 2, 3, 16, 255, 256, 257, 258, 1400])
    for (const padding of [0, 1, 2, 14, 15, 254, 255])
      for (const good of [false, true]) {
        machine.hide(data, length);
        if (length >= 2) machine.write(data + length - 2, Uint8Array.of(padding));
        machine.verdicts.set(verdict, good);
        machine.call("checkTrailer", data, length, verdict);
        const fits = padding + 2 <= length;
        expect(machine.read(verdict, 1)).toEqual(Uint8Array.of(Number(fits && (good || padding === 0))));
      }
}

interface Fault {
  what: string;
  file: string;
  from: string;
  to: string;
  leak: RegExp;
}

const FAULTS: Fault[] = [
  {
    what: "an S-box in memory, looked up by a byte of a key",
    file: "assembly/crypto/roundKeys.ts",
    from: "return firstWord(STATES) ^ 0x63636363;",
    to: "return firstWord(STATES) ^ load<u32>(STATES + (word & 0xff));",
    leak: /an address depends on a secret/,
  },
  {
    what: "a table of GHASH, looked up by a byte of the data",
    file: "assembly/crypto/blocks.ts",
    from: "const bh = highNibbles(b);",
    to: "tables += i8x16.extract_lane_u(a, 3) << 4;\n  const bh = highNibbles(b);",
    leak: /an address depends on a secret/,
  },
  {
    what: "a doubling that branches on a bit of the hash key",
    file: "assembly/crypto/hashKey.ts",
    from: "high = (high >> 1) ^ (carry & 0xe100000000000000);",
    to: "high = high >> 1;\n    if (carry != 0) high ^= 0xe100000000000000;",
    leak: /a (branch|selection) depends on a secret/,
  },
  {
    what: "a comparison of tags that stops at the first difference",
    file: "assembly/crypto/gcm.ts",
    from: "if (length == 16) return !v128.any_true(v128.xor(v128.load(icv), tag));",
    to: `v128.store(DIGESTS, tag);
  if (length == 16) {
    for (let n: usize = 0; n < 16; n++) if (load<u8>(icv + n) != load<u8>(DIGESTS + n)) return false;
    return true;
  }`,
    leak: /a (branch|selection) depends on a secret/,
  },
  {
    what: "a secret that goes through memory before it is an address",
    file: "assembly/crypto/ghash.ts",
    from: "v128.store(out, v128.xor(sum, lengthsTimesH(hash, aadLength, length)));",
    to: `store<u8>(LIST, i8x16.extract_lane_u(sum, 0));
  v128.store(out, v128.xor(sum, lengthsTimesH(hash, aadLength, length)));
  store<u8>(out, load<u8>(out) ^ load<u8>(ZERO + (load<u32>(LIST) & 15)));`,
    leak: /an address depends on a secret/,
  },
  {
    what: "a division of a word of a key",
    file: "assembly/crypto/roundKeys.ts",
    from: "let word = load<u32>(at - 4);",
    to: "let word = load<u32>(at - 4);\n    word -= word / 255 - word / 255;\n    word += word % 257;",
    leak: /the time of an instruction depends on a secret/,
  },
];

/** The sections that say what a module does: globals, start, calls, code, data. */
const DOES = [6, 8, 9, 10, 11];

function behaviourOf(module: Uint8Array): string[] {
  return sectionsOf(module)
    .filter(({ id }) => DOES.includes(id))
    .map(({ id, body }) => `${id} ${hexOf(body)}`);
}

test("the module that pools share is the one that was walked through, but for its memory", () => {
  const module = new Uint8Array(readFileSync(join(ROOT, "build/release/core.wasm")));
  const behaviour = behaviourOf(module);
  expect(behaviour.length).toBeGreaterThan(3);
  expect(behaviourOf(rewrite(module).bytes)).toEqual(behaviour);
});

describe.runIf(DEEP)("The check of the ESP trailer", () => {
  test("tells its pad length and its verdict, nothing else", async () => {
    checkTrailers(await compile(ENTRY, { [ENTRY]: TRAILER }));
  });

  test("would tell more if it stopped at the first wrong byte", async () => {
    const file = "assembly/esp/trailer.ts";
    const from = "wrong |= (<u32>load<u8>(pad + n)) ^ (n + 1);";
    const source = readFileSync(join(ROOT, file), "utf8");
    expect(source.split(from)).toHaveLength(2);
    const changed = source.replace(from, "if (<u32>load<u8>(pad + n) != n + 1) return false;");
    const module = await compile(ENTRY, { [ENTRY]: TRAILER, [file]: changed });
    expect(() => checkTrailers(module)).toThrow(/a branch depends on a secret/);
  });
});

describe.runIf(DEEP)("The walker notices", () => {
  test.each(FAULTS)("$what", async ({ file, from, to, leak }) => {
    const source = readFileSync(join(ROOT, file), "utf8");
    expect(source.split(from)).toHaveLength(2);
    const sources: Sources = { [ENTRY]: ALONE, [file]: source.replace(from, to) };
    const ciphers = new Ciphers(await compile(ENTRY, sources));
    const walk = (): void => everything(ciphers);
    expect(walk).toThrow(Leak);
    expect(walk).toThrow(leak);
  });

  test("a way that no packet has taken", async () => {
    const file = "assembly/crypto/ghash.ts";
    const from = "const count = countBlocks(aadLength, length);";
    const source = readFileSync(join(ROOT, file), "utf8");
    expect(source.split(from)).toHaveLength(2);
    const changed = source.replace(from, `${from}\n  if (length == 1234) store<u8>(load<u8>(data), 0);`);
    const ciphers = new Ciphers(await compile(ENTRY, { [ENTRY]: ALONE, [file]: changed }));
    everything(ciphers);
    expect([...ciphers.missed()]).toHaveLength(1);
  });
});
