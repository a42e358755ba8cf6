/** GHASH of the core against the reference of test/oracle. Only in Node: the compiler makes the module. */
import { beforeAll, expect, test } from "vitest";
import { Random } from "../../oracle/generate/frame.js";
import { ghash } from "../../oracle/esp/ghash.js";
import { seedFor } from "../support/core.js";
import { HashCore, type Packet } from "./support/hashCore.js";

let core: HashCore;
const random = new Random(seedFor("ghash"));

beforeAll(async () => {
  core = await HashCore.make();
});

function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

function hex(block: Uint8Array): string {
  return Buffer.from(block).toString("hex");
}

function expectRight(h: Uint8Array, packet: Packet, got: Uint8Array): void {
  if (hex(got) === hex(ghash(h, packet.aad, packet.data))) return;
  expect.fail(`GHASH is wrong: H ${hex(h)} AAD ${hex(packet.aad)} data ${hex(packet.data)}`);
}

test("Test case 2 of the GCM specification", () => {
  core.setKey(Buffer.from("66e94bd4ef8a2c3b884cfa59ca342b2e", "hex"));
  const data = Buffer.from("0388dace60b6a392f328c2b971b2fe78", "hex");
  expect(hex(core.one({ aad: bytes(0), data }))).toBe("f38cbb1ad69223dcc3457ae5b6b0f885");
});

test("Single bits of hash key and data", () => {
  for (let bit = 0; bit < 128; bit++) {
    const h = new Uint8Array(16);
    h[bit >> 3] = 0x80 >> (bit & 7);
    core.setKey(h);
    for (const other of [0, 1, 7, 8, 63, 64, 119, 120, 121, 126, 127, random.below(128)]) {
      const data = new Uint8Array(16);
      data[other >> 3] = 0x80 >> (other & 7);
      const packet = { aad: bytes(0), data };
      expectRight(h, packet, core.one(packet));
    }
  }
});

test("Data of every length up to 600 bytes", () => {
  for (let length = 0; length <= 600; length++) {
    const h = bytes(16);
    core.setKey(h);
    const packet = { aad: bytes(random.pick([8, 12])), data: bytes(length) };
    expectRight(h, packet, core.one(packet));
  }
});

test("AAD of every length up to 100 bytes, and longer", () => {
  const h = bytes(16);
  core.setKey(h);
  for (let length = 0; length <= 100; length++) {
    const packet = { aad: bytes(length), data: bytes(random.below(300)) };
    expectRight(h, packet, core.one(packet));
  }
  for (const length of [255, 256, 300, 1000, 4095, 65535]) {
    const packet = { aad: bytes(length), data: bytes(40) };
    expectRight(h, packet, core.one(packet));
  }
});

test("Long data", () => {
  for (const length of [1400, 1500, 4096, 9000, 65535, 65536, 200_000]) {
    const h = bytes(16);
    core.setKey(h);
    const packet = { aad: bytes(8), data: bytes(length) };
    expectRight(h, packet, core.one(packet));
  }
});

test("Batches of every size, of one length and of many", () => {
  for (let count = 1; count <= 32; count++) {
    for (const draw of [() => 64, () => 576, () => random.below(200), () => random.pick([0, 1, 16, 64, 300, 1400])]) {
      const h = bytes(16);
      core.setKey(h);
      const packets = Array.from({ length: count }, () => ({
        aad: bytes(random.pick([8, 12, 0, 20])),
        data: bytes(draw()),
      }));
      core.many(packets).forEach((got, n) => expectRight(h, packets[n]!, got));
    }
  }
});

test("Nothing of hash key or data is left after a wipe", () => {
  const left = () => {
    core.setKey(bytes(16));
    for (const length of [5, 64, 600]) core.one({ aad: bytes(8), data: bytes(length) });
    core.many(Array.from({ length: 16 }, () => ({ aad: bytes(8), data: bytes(100) })));
    const before = hex(core.scratch);
    core.exports.wipeHash();
    const after = hex(core.scratch);
    expect(after).not.toBe(before);
    return after;
  };
  expect(left()).toBe(left());
});
