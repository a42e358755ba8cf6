/** The core and node:crypto agree: on every length, key size, ICV and batch. */
import { expect, test } from "vitest";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";
import { nodeSeal } from "./support/nodeGcm.js";
import { bytesIn, cipherOf, emptyIcv, open, openMany, seal, sealMany, type Packet } from "./support/packets.js";
import { rounds } from "../../support/tier.js";

const KEY_SIZES = [16, 24, 32];
const ICV_SIZES = [8, 12, 16];

interface Cipher {
  key: Uint8Array;
  cipher: number;
}

function drawCipher(core: Core, random: Random, size = KEY_SIZES[random.below(3)]!): Cipher {
  const key = bytesIn(random, size);
  return { key, cipher: cipherOf(core, key) };
}

function drawPacket(random: Random, { cipher }: Cipher, length: number): Packet {
  const aadLength = random.chance(0.7) ? (random.chance(0.5) ? 8 : 12) : random.below(300);
  return {
    cipher,
    nonce: bytesIn(random, 12),
    aad: bytesIn(random, aadLength),
    data: bytesIn(random, length),
    icv: emptyIcv(ICV_SIZES[random.below(3)]!),
    skew: random.below(16),
  };
}

/** What node:crypto makes of a packet. */
function sealedBy({ key }: Cipher, packet: Packet): Packet {
  return { ...packet, ...nodeSeal(key, packet.nonce, packet.aad, packet.data, packet.icv.length) };
}

function checkOne(core: Core, cipher: Cipher, packet: Packet): void {
  const what = `key ${cipher.key.length}, data ${packet.data.length}, AAD ${packet.aad.length}`;
  const wanted = sealedBy(cipher, packet);
  const sealed = seal(core, packet);
  expect(Buffer.compare(sealed.data, wanted.data), what).toBe(0);
  expect(Buffer.compare(sealed.icv, wanted.icv), what).toBe(0);
  const opened = open(core, wanted);
  expect(opened.good, what).toBe(true);
  expect(Buffer.compare(opened.data, packet.data), what).toBe(0);
}

test.each(KEY_SIZES)(
  "every length from 0 to 2,100 bytes, keys of %i bytes",
  async (size) => {
    const core = await loadOpenCore();
    const random = new Random(seedFor(`lengths, key ${size}`));
    const cipher = drawCipher(core, random, size);
    for (let length = 0; length <= 2100; length++) checkOne(core, cipher, drawPacket(random, cipher, length));
  },
  60_000,
);

test("every length of AAD up to 520 bytes, and the longest", async () => {
  const core = await loadOpenCore();
  const random = new Random(seedFor("AAD"));
  const cipher = drawCipher(core, random);
  const lengths = [...Array.from({ length: 521 }, (_, i) => i), 4096, 65_535];
  for (const length of lengths) {
    checkOne(core, cipher, { ...drawPacket(random, cipher, random.below(200)), aad: bytesIn(random, length) });
  }
});

test("long data, whose counters carry", async () => {
  const core = await loadOpenCore();
  const random = new Random(seedFor("long"));
  for (const size of KEY_SIZES) {
    const cipher = drawCipher(core, random, size);
    // Counters end in 0 behind 4,064 bytes, and every 4,096 from there.
    for (const page of [4064, 8160, 12256, 65504, 65504 + 4096]) {
      for (const more of [-129, -112, -16, -1, 0, 1, 15, 16, 17, 111, 112, 113, 128]) {
        checkOne(core, cipher, drawPacket(random, cipher, page + more));
      }
    }
    checkOne(core, cipher, drawPacket(random, cipher, 262_144));
  }
});

function checkMany(core: Core, ciphers: readonly Cipher[], packets: readonly Packet[], what: string): void {
  const wanted = packets.map((packet, n) => sealedBy(ciphers[n]!, packet));
  for (const [n, { data, icv }] of sealMany(core, packets).entries()) {
    expect(Buffer.compare(data, wanted[n]!.data), `${what}: packet ${n}`).toBe(0);
    expect(Buffer.compare(icv, wanted[n]!.icv), `${what}: ICV of packet ${n}`).toBe(0);
  }
  for (const [n, { data, good }] of openMany(core, wanted).entries()) {
    expect(good, `${what}: packet ${n}`).toBe(true);
    expect(Buffer.compare(data, packets[n]!.data), `${what}: packet ${n}, opened`).toBe(0);
  }
}

test("batches of every size, of one cipher", async () => {
  const core = await loadOpenCore();
  const random = new Random(seedFor("batches"));
  const cipher = drawCipher(core, random);
  for (let count = 0; count <= 100; count++) {
    const longest = random.chance(0.5) ? 130 : 1500;
    const equal = random.chance(0.5) ? random.below(longest) : undefined;
    const packets = Array.from({ length: count }, () => drawPacket(random, cipher, equal ?? random.below(longest)));
    checkMany(core, packets.map(() => cipher), packets, `batch of ${count}`); // prettier-ignore
  }
});

test("the largest batch, and long packets among short ones", async () => {
  const core = await loadOpenCore();
  const random = new Random(seedFor("large batches"));
  const cipher = drawCipher(core, random);
  for (const lengths of [() => 64, () => (random.chance(0.1) ? 9000 : random.below(100)), () => random.below(16)]) {
    const packets = Array.from({ length: 256 }, () => drawPacket(random, cipher, lengths()));
    checkMany(core, packets.map(() => cipher), packets, "batch of 256"); // prettier-ignore
  }
});

test("batches of many ciphers, in any order", async () => {
  const core = await loadOpenCore();
  const random = new Random(seedFor("mixes"));
  const all = Array.from({ length: 12 }, () => drawCipher(core, random));
  for (let round = 0; round < rounds(60); round++) {
    const stays = random.chance(0.5) ? 0.9 : 0.3;
    let cipher = all[0]!;
    const ciphers = Array.from({ length: random.between(1, 64) }, () => {
      if (!random.chance(stays)) cipher = all[random.below(all.length)]!;
      return cipher;
    });
    const packets = ciphers.map((one) => drawPacket(random, one, random.below(random.chance(0.2) ? 2000 : 200)));
    checkMany(core, ciphers, packets, `mix ${round}`);
  }
});
