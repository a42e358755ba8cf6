/** Ciphers come and go: what stays of a key is nothing, and memory that ends is no cipher. */
import { describe, expect, test } from "vitest";
import { SAMPLES_SIZE } from "../../../src/abi/engine.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";
import { bytesIn, cipherOf, emptyIcv, open, openMany, seal, sealMany, type Packet } from "./support/packets.js";

/** Bytes of a cipher that are compared as one piece: enough that no other key has the same by chance. */
const PIECE = 64;
const BLOCK = 16;
/** As in assembly/crypto/cipherLayout.ts. */
const HANDLE_SIZE = 48;
/** As in assembly/crypto/expanded.ts. */
const MAX_CIPHERS = 4096;

/** A cipher's memory in pieces, but for those that begin with zeros or are one byte over and over. */
function piecesOf(core: Core, from: number, to: number): Set<string> {
  const pieces = new Set<string>();
  for (let at = from; at + PIECE <= to; at += PIECE) {
    const piece = core.u8.subarray(at, at + PIECE);
    if (isEmpty(core, at)) continue;
    if (piece.some((byte) => byte !== piece[0])) pieces.add(String(piece));
  }
  return pieces;
}

/** Where in memory one of the pieces lies, at a multiple of 16; -1 for nowhere. */
function findPiece(core: Core, pieces: ReadonlySet<string>, size = PIECE): number {
  for (let at = 0; at + size <= core.u8.length; at += BLOCK) {
    if (isEmpty(core, at)) continue;
    if (pieces.has(String(core.u8.subarray(at, at + size)))) return at;
  }
  return -1;
}

/** Most of memory is, and nothing that is looked for begins so. */
function isEmpty(core: Core, at: number): boolean {
  const word = at >> 2;
  const { u32 } = core;
  return (u32[word]! | u32[word + 1]! | u32[word + 2]! | u32[word + 3]!) === 0;
}

/** Blocks that say all: the start of a key, and its hash key; of 192-bit keys, which Chromium does not know, the start. */
async function blocksOf(key: Uint8Array): Promise<Set<string>> {
  const blocks = new Set([String(key.subarray(0, BLOCK))]);
  if (key.length === 24) return blocks;
  const name = "AES-CBC";
  const imported = await crypto.subtle.importKey("raw", key as BufferSource, name, false, ["encrypt"]);
  const zeros = new Uint8Array(BLOCK);
  const enciphered = await crypto.subtle.encrypt({ name, iv: zeros }, imported, zeros);
  return blocks.add(String(new Uint8Array(enciphered, 0, BLOCK)));
}

function drawPackets(random: Random, cipher: number, lengths: readonly number[]): Packet[] {
  return lengths.map((length) => ({
    cipher,
    nonce: bytesIn(random, 12),
    aad: bytesIn(random, 8),
    data: bytesIn(random, length),
    icv: emptyIcv(16),
  }));
}

/** Sends a packet through a cipher, which expands it. @returns the address of the expanded cipher */
function expanded(core: Core, random: Random, cipher: number): number {
  expect(core.u32[cipher >> 2], "before its first packet").toBe(0);
  seal(core, drawPackets(random, cipher, [64])[0]!);
  return core.u32[cipher >> 2]!;
}

/** Addresses that ciphers note, which tell nothing (ORDERS_SIZE of assembly/memory.ts). */
const ORDERS_SIZE = 256;

/** What ciphers work on lies between samples, these addresses, and columns. */
function expectNoSecrets(core: Core, what: string): void {
  const secrets = core.u8.subarray(core.samples + SAMPLES_SIZE + ORDERS_SIZE, core.columns);
  expect(secrets.length).toBeGreaterThan(8192);
  expect(
    secrets.findIndex((byte) => byte !== 0),
    what,
  ).toBe(-1);
}

describe.each([16, 24, 32])("keys of %i bytes", (size) => {
  test("nothing of a cipher that is given back stays in memory", async () => {
    const core = await loadOpenCore();
    const random = new Random(seedFor(`release, ${size}`));
    const before = core.exports.arenaUsed() >>> 0;
    const key = bytesIn(random, size);
    const cipher = cipherOf(core, key);
    const bytes = (core.exports.arenaUsed() >>> 0) - before - HANDLE_SIZE;
    const at = expanded(core, random, cipher);
    const pieces = piecesOf(core, at, at + bytes);
    expect(pieces.size).toBeGreaterThan(50);
    expect(findPiece(core, pieces)).toBe(at);
    core.exports.releaseCipher(cipher);
    expect(findPiece(core, pieces)).toBe(-1);
    expect(findPiece(core, await blocksOf(key), BLOCK)).toBe(-1);
    // But for the arena's links to the next free blocks.
    for (const [from, to] of [
      [at, at + bytes],
      [cipher, cipher + HANDLE_SIZE],
    ] as const)
      // prettier-ignore
      expect(core.u8.subarray(from + 16, to).some((byte) => byte !== 0)).toBe(false);
    expect(core.exports.arenaUsed() >>> 0).toBe(before);
  });

  test("another key takes the place of the first, and leaves nothing of it", async () => {
    const core = await loadOpenCore();
    const random = new Random(seedFor(`re-key, ${size}`));
    const before = core.exports.arenaUsed() >>> 0;
    const [first, second] = [bytesIn(random, size), bytesIn(random, random.pick([16, 24, 32]))];
    const cipher = cipherOf(core, first);
    const used = core.exports.arenaUsed() >>> 0;
    const bytes = used - before - HANDLE_SIZE;
    const at = expanded(core, random, cipher);
    const pieces = piecesOf(core, at, at + bytes);
    // What counters share follows from one byte of a key: two keys may have some of it in common.
    const other = await loadOpenCore();
    const start = expanded(other, random, cipherOf(other, second));
    for (let from = start; from + PIECE <= start + bytes; from += BLOCK)
      pieces.delete(String(other.u8.subarray(from, from + PIECE)));
    expect(pieces.size).toBeGreaterThan(50);
    core.u8.set(second, core.staging);
    core.exports.setCipherKey(cipher, core.staging, second.length);
    core.u8.fill(0, core.staging, core.staging + second.length);
    expect(findPiece(core, pieces)).toBe(-1);
    expect(findPiece(core, await blocksOf(first), BLOCK)).toBe(-1);
    expect(core.exports.arenaUsed() >>> 0).toBe(used);
    const packets = drawPackets(random, cipher, [100]);
    const fresh = cipherOf(core, second);
    expect(seal(core, packets[0]!)).toEqual(seal(core, { ...packets[0]!, cipher: fresh }));
    expect(seal(core, packets[0]!)).not.toEqual(seal(core, { ...packets[0]!, cipher: cipherOf(core, first) }));
  });

  test("nothing stays in memory of what a call works on", async () => {
    const core = await loadOpenCore();
    const random = new Random(seedFor(`scratch, ${size}`));
    const cipher = cipherOf(core, bytesIn(random, size));
    expectNoSecrets(core, "createCipher");
    for (const length of [0, 5, 64, 111, 112, 113, 128, 300, 1400, 4064, 4065, 9000]) {
      const [packet] = drawPackets(random, cipher, [length]);
      const sealed = { ...packet!, ...seal(core, packet!) };
      expectNoSecrets(core, `seal ${length}`);
      open(core, sealed);
      expectNoSecrets(core, `open ${length}`);
      open(core, { ...sealed, nonce: bytesIn(random, 12) });
      expectNoSecrets(core, `open ${length}, refused`);
    }
    for (let count = 2; count < 40; count += 3) {
      const packets = drawPackets(
        random,
        cipher,
        Array.from({ length: count }, () => random.below(700)),
      );
      const sealed = sealMany(core, packets).map((result, n): Packet => ({ ...packets[n]!, ...result }));
      expectNoSecrets(core, `seal ${count} packets`);
      openMany(core, sealed.map((one, n) => (n % 3 === 0 ? { ...one, nonce: bytesIn(random, 12) } : one))); // prettier-ignore
      expectNoSecrets(core, `open ${count} packets`);
    }
    core.exports.releaseCipher(cipher);
    expectNoSecrets(core, "releaseCipher");
  });
});

test("packets that are sealed leave neither key stream nor the cipher's secrets elsewhere", async () => {
  const core = await loadOpenCore();
  const random = new Random(seedFor("elsewhere"));
  const cipher = cipherOf(core, bytesIn(random, 16));
  const packets = drawPackets(random, cipher, [64, 1400, 20, 576]);
  const sealed = sealMany(core, packets);
  const stream = new Set<string>();
  for (const [n, { data }] of sealed.entries()) {
    const bytes = data.map((byte, at) => byte ^ packets[n]!.data[at]!);
    for (let at = 0; at + BLOCK <= bytes.length; at += BLOCK) stream.add(String(bytes.subarray(at, at + BLOCK)));
  }
  expect(stream.size).toBe(4 + 87 + 1 + 36);
  expect(findPiece(core, stream, BLOCK)).toBe(-1);
});

test("without memory there is no cipher, and nothing is held", async () => {
  for (const limit of [0, 1024, 16_384, 65_536, 262_144]) {
    const core = await loadOpenCore();
    core.exports.limitArena(limit);
    const random = new Random(seedFor("full"));
    const ciphers: number[] = [];
    while (true) {
      const used = core.exports.arenaUsed() >>> 0;
      const cipher = cipherOf(core, bytesIn(random, 16));
      if (cipher === 0) {
        expect(core.exports.arenaUsed() >>> 0).toBe(used);
        break;
      }
      ciphers.push(cipher);
    }
    expect(core.exports.arenaUsed() >>> 0).toBeLessThanOrEqual(limit);
    for (const cipher of ciphers) {
      const [packet] = drawPackets(random, cipher, [200]);
      expect(open(core, { ...packet!, ...seal(core, packet!) }).data).toEqual(packet!.data);
    }
    // What one gives back is enough for another.
    const last = ciphers.pop();
    if (last !== undefined) {
      core.exports.releaseCipher(last);
      ciphers.push(cipherOf(core, bytesIn(random, 32)));
      expect(ciphers.at(-1)).not.toBe(0);
    }
    for (const cipher of ciphers) core.exports.releaseCipher(cipher);
    expect(core.exports.arenaUsed() >>> 0).toBe(0);
  }
});

test("more ciphers than are expanded at a time seal and open alike, in any order", async () => {
  const core = await loadOpenCore();
  const random = new Random(seedFor("many"));
  const empty = core.exports.arenaUsed() >>> 0;
  const keys = Array.from({ length: MAX_CIPHERS + 40 }, () => bytesIn(random, random.pick([16, 24, 32])));
  const ciphers = keys.map((key) => cipherOf(core, key));
  const expandedNow = (): number => ciphers.filter((cipher) => core.u32[cipher >> 2] !== 0).length;
  // No packet needs memory.
  core.exports.limitArena(0);
  const [packet] = drawPackets(random, 0, [100]);
  const sealed = ciphers.map((cipher) => seal(core, { ...packet!, cipher }));
  expect(expandedNow()).toBe(MAX_CIPHERS);
  expect(core.u32[ciphers[39]! >> 2], "the oldest ones made room").toBe(0);
  expect(core.u32[ciphers[40]! >> 2]).not.toBe(0);
  const check = (n: number): void => {
    const cipher = ciphers[n]!;
    expect(open(core, { ...packet!, ...sealed[n]!, cipher }), `cipher ${n}`).toMatchObject({ data: packet!.data });
  };
  for (let n = 0; n < 300; n++) check(random.below(ciphers.length));
  // The one that was expanded last, one in the middle, the oldest, and one that is not expanded.
  for (const n of [ciphers.length - 1, 2000, 41, ciphers.findIndex((cipher) => core.u32[cipher >> 2] === 0)]) {
    core.exports.releaseCipher(ciphers[n]!);
    for (const list of [keys, ciphers, sealed]) list.splice(n, 1);
  }
  for (let n = 0; n < ciphers.length; n += 97) check(n);
  while (ciphers.length > 0) {
    const n = random.below(ciphers.length);
    if (ciphers.length % 500 === 0) check(n);
    core.exports.releaseCipher(ciphers[n]!);
    for (const list of [ciphers, sealed]) list.splice(n, 1);
  }
  expect(core.exports.arenaUsed() >>> 0).toBe(empty);
});
