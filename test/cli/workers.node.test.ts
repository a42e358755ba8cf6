/** flowsteer run --workers: whatever is written is the same, byte for byte, by however many. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildFrame } from "../../src/packet/builder/build.js";
import { PcapngWriter } from "../../src/packet/capture/writer.js";
import { seedFor } from "../assembly/support/core.js";
import { withRules } from "../scenario/support/documents.js";
import { randomFrame } from "../oracle/generate/frame.js";
import { Random } from "../oracle/generate/random.js";
import { flowsteer, scratch } from "./support/command.js";
import { DEEP } from "../support/tier.js";

const FRAMES = DEEP ? 2500 : 500;
const NO_PARSER = 147;

/** Each port in its own register: as many ends as ports, beside those of rules. */
const SCENARIO = scratch(
  "workers.json",
  JSON.stringify(
    withRules(
      {
        name: "kept",
        match: { "outer.udp_dport": 1 },
        actions: [
          { tag: 7 },
          { modify: [{ copy: "outer.udp_sport", into: "misc2.metadata_reg_c_1" }] },
          { queue: "web" },
        ],
      },
      { name: "v6", match: { "outer.ip_version": 6 }, actions: ["drop"] },
    ),
  ),
);

/** Frames of rules and of none, some cut, on interfaces of which one has no parser. */
function capture(random: Random): Uint8Array {
  const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }, { linkType: NO_PARSER }, { linkType: 101 }] });
  const udp = (port: number): Uint8Array =>
    buildFrame([
      { header: "ethernet" },
      { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
      { header: "udp", source_port: port, destination_port: 1 },
      { header: "payload", bytes: "00".repeat(random.below(400)) },
    ]);
  const frames = Array.from({ length: FRAMES }, (_, n) => {
    const whole = random.chance(0.9) ? udp(random.below(65536)) : Uint8Array.from(randomFrame(random).bytes);
    const bytes = random.chance(0.05) ? whole.slice(0, random.below(whole.length)) : whole;
    // The first frame has no parser, so a limit never leaves the message out.
    const interfaceId = n === 0 ? 1 : random.chance(0.02) ? random.between(1, 2) : 0;
    return writer.frame({ time: BigInt(n) * 1000n, bytes, wireLength: whole.length, interfaceId });
  });
  return Buffer.concat([writer.header(), ...frames]);
}

describe("--workers", () => {
  const file = scratch("workers.pcapng", capture(new Random(seedFor("workers"))));

  it.each([
    ["the report"],
    ["lines of JSON", "--json"],
    ["CSV", "--format", "csv"],
    ["NDJSON", "--format", "ndjson"],
    ["the report of frames up to a limit", "--limit", String(Math.floor((8 * FRAMES) / 15))],
  ])("is the same with 1, 2 and 3: %s", async (_, ...options) => {
    const one = await flowsteer(["run", SCENARIO, file, ...options]);
    expect(one.code).toBe(0);
    expect(one.err).toContain(`not parsed: link type private use (${NO_PARSER})`);
    expect(one.out.length).toBeGreaterThan(200);
    for (const workers of ["2", "3"]) {
      expect(await flowsteer(["run", SCENARIO, file, ...options, "--workers", workers])).toEqual(one);
    }
  });

  it("is the same with 1, 2 and 3: Parquet", async () => {
    const [one, ...others] = await Promise.all(
      ["1", "2", "3"].map(async (workers) => {
        const path = scratch(`workers-${workers}.parquet`);
        const options = ["--format", "parquet", "--output", path, "--workers", workers];
        expect((await flowsteer(["run", SCENARIO, file, ...options])).code).toBe(0);
        return readFileSync(path);
      }),
    );
    for (const other of others) expect(other.equals(one as Buffer)).toBe(true);
  });
});
