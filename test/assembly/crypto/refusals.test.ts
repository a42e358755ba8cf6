/** A packet that is not what was sealed is refused, whatever bit of it is wrong, and stays as it is. */
import { describe, expect, test } from "vitest";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";
import {
  bytesIn,
  cipherOf,
  emptyIcv,
  open,
  openMany,
  seal,
  sealMany,
  type Packet,
  type Result,
} from "./support/packets.js";
import { rounds } from "../../support/tier.js";

const core = await loadOpenCore();
const random = new Random(seedFor("refusals"));

function drawPacket(cipher: number, length: number, icv: number): Packet {
  const [nonce, aad] = [bytesIn(random, 12), bytesIn(random, random.chance(0.5) ? 8 : 12)];
  return { cipher, nonce, aad, data: bytesIn(random, length), icv: emptyIcv(icv), skew: random.below(16) };
}

/** The packet with one bit of one part turned. */
function withBit(packet: Packet, part: "nonce" | "aad" | "data" | "icv", bit: number): Packet {
  const bytes = packet[part].slice();
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return { ...packet, [part]: bytes };
}

function everyBit(packet: Packet): [what: string, packet: Packet][] {
  return (["nonce", "aad", "data", "icv"] as const).flatMap((part) =>
    Array.from({ length: packet[part].length * 8 }, (_, bit): [string, Packet] => [
      `bit ${bit} of ${part}`,
      withBit(packet, part, bit),
    ]),
  );
}

function expectRefused(what: string, packet: Packet, { good, data, icv }: Result): void {
  expect(good, what).toBe(false);
  expect(String(data), what).toBe(String(packet.data));
  expect(String(icv), what).toBe(String(packet.icv));
}

describe.each([16, 24, 32])("keys of %i bytes", (size) => {
  test.each([
    [8, 0],
    [12, 1],
    [16, 37],
    [16, 96],
    [8, 130],
    [12, 300],
  ])("every bit of a packet with an ICV of %i bytes and %i of data", (icv, length) => {
    const cipher = cipherOf(core, bytesIn(random, size));
    const packet = drawPacket(cipher, length, icv);
    const sealed = { ...packet, ...seal(core, packet) };
    for (const [what, wrong] of everyBit(sealed)) expectRefused(what, wrong, open(core, wrong));
    expect(open(core, sealed).good).toBe(true);
    core.exports.releaseCipher(cipher);
  });
});

test("an ICV that is shortened or grows, data that does, AAD that becomes data", () => {
  const cipher = cipherOf(core, bytesIn(random, 16));
  const packet = drawPacket(cipher, 64, 16);
  const { nonce, aad, data, icv } = { ...packet, ...seal(core, packet) };
  const joined = Uint8Array.of(...data, ...icv);
  const wrong: Packet[] = [
    { cipher, nonce, aad, data: joined.slice(0, 72), icv: joined.slice(72) },
    { cipher, nonce, aad, data: joined.slice(0, 56), icv: joined.slice(56, 72) },
    { cipher, nonce, aad: aad.slice(4), data: Uint8Array.of(...aad.slice(0, 4), ...data), icv },
    { cipher, nonce, aad: Uint8Array.of(...aad, 0), data, icv },
    { cipher, nonce, aad, data: Uint8Array.of(...data, 0), icv },
    { cipher: cipherOf(core, bytesIn(random, 16)), nonce, aad, data, icv },
  ];
  for (const [n, one] of wrong.entries()) expectRefused(`packet ${n}`, one, open(core, one));
});

test("wrong packets among right ones", () => {
  const ciphers = [16, 24, 32].map((size) => cipherOf(core, bytesIn(random, size)));
  for (let round = 0; round < rounds(40); round++) {
    const sizes = random.chance(0.5) ? 120 : 700;
    const packets = Array.from({ length: random.between(2, 70) }, (_, n) =>
      drawPacket(ciphers[Math.floor(n / 40) % 3]!, random.below(sizes), [8, 12, 16][random.below(3)]!),
    );
    const sealed = sealMany(core, packets).map((result, n): Packet => ({ ...packets[n]!, ...result }));
    const wrong = sealed.map((packet) => (random.chance(0.3) ? random.pick(everyBit(packet))[1] : packet));
    for (const [n, result] of openMany(core, wrong).entries()) {
      if (wrong[n] !== sealed[n]) expectRefused(`round ${round}, packet ${n}`, wrong[n]!, result);
      else expect([result.good, String(result.data)]).toEqual([true, String(packets[n]!.data)]);
    }
  }
});
