/** flowsteer farm cuts captures without an index: where the records that it found are wrong, the answer is still right. */
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { buildFrame } from "../../../src/packet/builder/build.js";
import { PcapWriter } from "../../../src/packet/capture/writer.js";
import { seedFor } from "../../assembly/support/core.js";
import { flowsteer, scratch } from "../support/command.js";
import { pcap, pcapng } from "./support/captures.js";
import { FileServer } from "./support/files.js";
import { withOneWorker } from "./support/oneWorker.js";
import { HAS_REDIS } from "./support/redis.js";

const SCENARIO = "examples/everyday.json";
const seed = seedFor("farm spans");

/** Frames that hold a capture with frames of 64 bytes: from within one the records of the inner capture are found. */
function nested(): Uint8Array {
  const inner = new PcapWriter({ linkType: 1 });
  const small = Array.from({ length: 200 }, () => inner.frame({ time: 0n, bytes: new Uint8Array(64).fill(1) }));
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "10.0.0.1", destination: "10.0.1.1" },
    { header: "udp", source_port: 1, destination_port: 443 },
    { header: "payload", bytes: Buffer.concat(small).toString("hex") },
  ]);
  const outer = new PcapWriter({ linkType: 1 });
  return Buffer.concat([outer.header(), ...Array.from({ length: 100 }, () => outer.frame({ time: 0n, bytes: frame }))]);
}

/** The record in the middle of a capture has a length that no frame can have. */
function damaged(): Uint8Array {
  const bytes = pcap({ frames: 2000, seed });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 24;
  while (at < bytes.length / 2) at += 16 + view.getUint32(at + 8, true);
  view.setUint32(at + 8, 2 ** 31, true);
  return bytes;
}

describe.skipIf(!HAS_REDIS)("flowsteer farm run", () => {
  const redisUrl = withOneWorker();

  /** How many indexes were made. */
  async function indexes(): Promise<number> {
    const client = new Redis(redisUrl());
    const keys = await client.keys("flowsteer:*:index-*");
    client.disconnect();
    return keys.length;
  }

  it.each([
    ["whose frames hold captures", nested, true],
    ["that is damaged in the middle", damaged, true],
    ["that breaks off", () => pcap({ frames: 2000, seed }).slice(0, -5), false],
    ["with two sections", () => pcapng({ frames: 2000, seed }), true],
    ["with a section that breaks off", () => pcapng({ frames: 2000, seed }).slice(0, -5), true],
  ])("prints of a capture %s what one machine prints", async (_, make, needsIndex) => {
    const file = scratch("spans.pcap", make());
    const wanted = await flowsteer(["run", SCENARIO, file]);
    const args = ["farm", "run", SCENARIO, file, "--redis", redisUrl()];
    const before = await indexes();
    expect(await flowsteer([...args, "--piece", "100k"])).toEqual(wanted);
    expect((await indexes()) - before).toBe(needsIndex ? 1 : 0);
    expect(await flowsteer([...args, "--piece", "1G"])).toEqual(wanted);
  });

  it("reads a capture by HTTP once, but for where it looks for records", async () => {
    const bytes = pcap({ frames: 8000, seed });
    const server = await FileServer.start(bytes);
    try {
      const wanted = await flowsteer(["run", SCENARIO, scratch("http.pcap", bytes)]);
      const ended = await flowsteer(["farm", "run", SCENARIO, server.url, "--redis", redisUrl(), "--piece", "2M"]);
      expect(ended.out.replace(/from \S+/, "")).toEqual(wanted.out.replace(/from \S+/, ""));
      expect(server.given).toBeGreaterThan(bytes.length);
      expect(server.given).toBeLessThan(1.2 * bytes.length);
    } finally {
      server.end();
    }
  });
});
