/** Sums of parts of a run, added: they are those of the whole, also after they went through JSON. */
import { describe, expect, it } from "vitest";
import { CaptureRun } from "../../../src/run/captureRun.js";
import { addParts, PartRecorder, type PartSums } from "../../../src/run/parts/partSums.js";
import { divisionOf } from "../../../src/run/parts/division.js";
import { FrameShare } from "../../../src/run/parts/share.js";
import { CaptureDecoder, FrameColumns } from "../../../src/packet/capture/read.js";
import { PcapngWriter } from "../../../src/packet/capture/writer.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/load.js";
import { seedFor } from "../../assembly/support/core.js";
import { randomFrame } from "../../oracle/generate/frame.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const DOCUMENT = {
  flowsteer: 1,
  queues: [{ name: "web" }, { name: "rest" }],
  counters: [{ name: "bulk", flow_counter_bulk_log_size: 2 }],
  tables: [{ name: "root", level: 0 }],
  rules: [
    {
      name: "tcp",
      table: "root",
      match: { "outer.ip_protocol": "tcp" },
      actions: [
        { count: "bulk", offset: 2 },
        {
          modify: [
            { copy: "outer.tcp_dport", into: "misc2.metadata_reg_c_1" },
            { set: "outer.dmac", to: "02:00:00:00:00:01" },
          ],
        },
        { queue: "web" },
      ],
    },
    { name: "v6", table: "root", priority: 1, match: { "outer.ip_version": 6 }, actions: ["drop"] },
    { name: "udp", table: "root", priority: 2, match: { "outer.ip_protocol": "udp" }, actions: [{ queue: "rest" }] },
  ],
  flowCounters: [{ name: "verbs", points: [{ index: 0, counts: "packets" }] }],
  flows: [{ name: "all", type: "all_default", queue: "rest", specs: [{ count: "verbs" }] }],
};

const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }] });

function columnsOf(frames: readonly Uint8Array[]): FrameColumns {
  const columns = new FrameColumns();
  const bytes = [writer.header(), ...frames.map((frame) => writer.frame({ time: 0n, bytes: frame }))];
  const whole = new Uint8Array(bytes.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of bytes) {
    whole.set(part, at);
    at += part.length;
  }
  new CaptureDecoder().read(whole, 0, columns);
  return columns;
}

function steer(loaded: LoadedScenario, columns: FrameColumns, first: number): void {
  const run = new CaptureRun(loaded, 1);
  run.run(columns, columns.count, first, () => undefined, null);
  run.flush();
}

/** Everything that a report reads. */
function sumsOf(loaded: LoadedScenario): unknown {
  const { tally, counters, flowCounters } = loaded;
  return {
    all: tally.all,
    ends: tally.ends,
    rewritten: [...tally.rewritten],
    registers: [...tally.registers].map(([name, { frames, values }]) => [name, frames, [...values]]),
    rules: loaded.hitRules.map((rule) => tally.rule(rule)),
    counters: [0, 1, 2, 3].map((offset) => counters.get("bulk")?.read(offset)),
    flowCounters: flowCounters.get("verbs")?.values(),
  };
}

const overJson = (part: PartSums): PartSums => JSON.parse(JSON.stringify(part)) as PartSums;

describe("sums of parts", () => {
  const random = new Random(seedFor("parts"));
  const frames = Array.from({ length: rounds(2000) }, () => Uint8Array.from(randomFrame(random).bytes));

  it("are those of the whole, in the same order", async () => {
    const whole = await loadScenario(DOCUMENT);
    steer(whole, columnsOf(frames), 1);
    const merged = await loadScenario(DOCUMENT);
    const worker = await loadScenario(DOCUMENT);
    const recorder = new PartRecorder(worker);
    for (let first = 0; first < frames.length;) {
      const end = first + random.between(1, 90);
      steer(worker, columnsOf(frames.slice(first, end)), first + 1);
      addParts(merged, [overJson(recorder.take())]);
      first = end;
    }
    expect(sumsOf(merged)).toEqual(sumsOf(whole));
    expect(whole.tally.rule(whole.rules.get("tcp")!).frames).toBeGreaterThan(0);
  });

  it("are those of the whole where shares alternate", async () => {
    const whole = await loadScenario(DOCUMENT);
    steer(whole, columnsOf(frames), 1);
    const parts: PartSums[] = [];
    for (const index of [0, 1, 2]) {
      const worker = await loadScenario(DOCUMENT);
      const recorder = new PartRecorder(worker);
      const columns = columnsOf(frames);
      new FrameShare(worker.device, { index, of: 3, by: "connections" }).keep(columns);
      expect(columns.count).toBeLessThan(frames.length);
      steer(worker, columns, 1);
      parts.push(overJson(recorder.take()));
    }
    const merged = await loadScenario(DOCUMENT);
    addParts(merged, parts);
    expect(sumsOf(merged)).toEqual(sumsOf(whole));
  });
});

describe("FrameShare", () => {
  it("puts frames between the same outer addresses together, however they are read", async () => {
    const random = new Random(seedFor("shares"));
    const { device } = await loadScenario(DOCUMENT);
    const shareOf = new Map<string, number>();
    let pairs = 0;
    for (let round = 0; round < rounds(3000); round++) {
      const frame = Uint8Array.from(randomFrame(random).bytes);
      const [parsed] = device.parseBatch([frame]);
      const { fields = {} } = parsed ?? {};
      const ends = ["ipv4", "ipv6"]
        .flatMap((family) => [fields[`outer.${family}_src`], fields[`outer.${family}_dst`]])
        .filter((end) => end !== undefined);
      if (ends.length !== 2) continue;
      const found = [0, 1, 2, 3, 4].filter((index) => {
        const columns = columnsOf([frame]);
        new FrameShare(device, { index, of: 5, by: "connections" }).keep(columns);
        return columns.count === 1;
      });
      expect(found).toHaveLength(1);
      const pair = ends.sort().join(" ");
      expect(found[0]).toBe(shareOf.get(pair) ?? found[0]);
      if (shareOf.has(pair)) pairs++;
      shareOf.set(pair, found[0] as number);
    }
    expect(new Set(shareOf.values()).size).toBeGreaterThan(1);
    expect(pairs).toBeGreaterThan(0);
  });
});

describe("divisionOf", () => {
  const aso = (match: object, actions: readonly unknown[] = []): object => ({
    flowsteer: 1,
    queues: [{ name: "web" }],
    asoObjects: [{ name: "seen", first_hit: [] }],
    tables: [
      { name: "root", level: 0 },
      { name: "next", level: 1 },
    ],
    rules: [
      {
        name: "a",
        table: "root",
        match,
        actions: [...actions, { aso: { object: "seen", flags: "first_hit_set", return_reg_c: 1 } }, { table: "next" }],
      },
    ],
  });
  const both = { "outer.ipv4_src": "10.0.0.1", "outer.ipv4_dst": "10.0.0.2" };

  it.each([
    ["no state", DOCUMENT, { by: "anyhow" }],
    ["both addresses", aso(both), { by: "connections" }],
    [
      "a network",
      aso({ ...both, "outer.ipv4_src": "10.0.0.0/8" }),
      { by: "never", why: expect.stringContaining("rule a") as string },
    ],
    [
      "one address",
      aso({ "outer.ipv4_src": "10.0.0.1" }),
      { by: "never", why: expect.stringContaining("seen[0]") as string },
    ],
    [
      "a changed address",
      aso(both, [{ modify: [{ set: "outer.ipv4_src", to: "10.0.0.9" }] }]),
      { by: "never", why: expect.stringContaining("changes header fields") as string },
    ],
    ["a changed register", aso(both, [{ modify: [{ set: "misc2.metadata_reg_c_0", to: 1 }] }]), { by: "connections" }],
  ])("%s", async (_, document, division) => {
    expect(divisionOf(await loadScenario(document))).toEqual(division);
  });
});

describe("a decoder that begins between two records", () => {
  it("reads the same frames after the context of that place", () => {
    const section = (linkTypes: readonly number[]): Uint8Array[] => {
      const one = new PcapngWriter({ interfaces: linkTypes.map((linkType) => ({ linkType })) });
      const frames = [0, 1, 2, 3].map((n) =>
        one.frame({ time: BigInt(n) * 1000n, bytes: new Uint8Array(60 + n), interfaceId: n % linkTypes.length }),
      );
      return [one.header(), ...frames];
    };
    const records = [...section([1, 101]), ...section([113])];
    const file = Uint8Array.from(records.flatMap((bytes) => [...bytes]));
    const shown = (frames: readonly object[]): unknown =>
      frames.map((frame) => ({ ...frame, number: 0, bytes: [...(frame as { bytes: Uint8Array }).bytes] }));
    const all = shown(new CaptureDecoder().push(file)) as unknown[];
    let at = 0;
    for (const record of records) {
      at += record.length;
      const decoder = new CaptureDecoder();
      const before = decoder.push(file.subarray(0, at)).length;
      expect(decoder.completeBytes).toBe(at);
      const other = new CaptureDecoder();
      for (const { offset, length } of decoder.context) other.push(file.subarray(offset, offset + length));
      expect(shown(other.push(file.subarray(at)))).toEqual(all.slice(before));
    }
  });
});
