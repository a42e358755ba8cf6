/** Finding the next record of a capture from any place on. */
import { describe, expect, it } from "vitest";
import { joined } from "../../src/packet/bytes.js";
import { findRecord, recordFinder, type RecordFinder } from "../../src/packet/capture/boundary.js";
import { PcapngWriter, PcapWriter } from "../../src/packet/capture/writer.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";
import { rounds } from "../support/tier.js";

const WRITERS = {
  pcap: () => new PcapWriter({ linkType: 1 }),
  pcapng: () => new PcapngWriter({ interfaces: [{ linkType: 1 }] }),
};

/** A capture of random frames, and where its records begin. */
function captureOf(random: Random, writer: PcapWriter | PcapngWriter): { bytes: Uint8Array; begins: number[] } {
  const frames = Array.from({ length: random.between(20, 200) }, (_, n) => {
    const fill = random.chance(0.5) ? () => 0 : () => random.below(256);
    const bytes = Uint8Array.from({ length: random.between(14, 600) }, fill);
    return writer.frame({ time: 1_767_225_600_000_000_000n + BigInt(n) * 1_000_000n, bytes });
  });
  const parts = [writer.header(), ...frames];
  let end = 0;
  const begins = parts.map(({ length }) => (end += length) - length).slice(1);
  return { bytes: joined(...parts), begins };
}

describe("findRecord", () => {
  it.each(["pcap", "pcapng"] as const)("finds the next record of a %s file from any byte on", (format) => {
    const random = new Random(seedFor(`boundary ${format}`));
    for (let round = 0; round < rounds(100); round++) {
      const { bytes, begins } = captureOf(random, WRITERS[format]());
      const finder = recordFinder(bytes.subarray(0, 64)) as RecordFinder;
      const from = random.between(begins[0] ?? 0, bytes.length);
      const next = begins.find((begin) => begin >= from) ?? bytes.length;
      const found = findRecord(finder, bytes.subarray(from), from, true);
      expect(from + (found ?? NaN)).toBe(next);
    }
  });

  it("needs more bytes where too few records follow", () => {
    const { bytes, begins } = captureOf(new Random(1), WRITERS.pcap());
    const finder = recordFinder(bytes) as RecordFinder;
    const [, second = 0] = begins;
    expect(findRecord(finder, bytes.subarray(second, second + 100), second, false)).toBeNull();
    expect(findRecord(finder, bytes.subarray(second), second, false)).toBe(0);
  });

  it("knows no finder for other files, and for old ones whose lengths may be exchanged", () => {
    expect(recordFinder(new Uint8Array(64))).toBeNull();
    expect(recordFinder(new Uint8Array(3))).toBeNull();
    const { bytes } = captureOf(new Random(1), WRITERS.pcap());
    new DataView(bytes.buffer, bytes.byteOffset).setUint16(6, 2, true);
    expect(recordFinder(bytes)).toBeNull();
  });
});
