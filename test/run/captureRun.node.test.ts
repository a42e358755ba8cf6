/** Captures in bursts, summed by what frames have in common: the same sums as with an object for every frame. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { MAX_FRAME } from "../../src/abi/engine.js";
import { reportText, type Skipped } from "../../src/cli/report/report.js";
import { CaptureRun, wireLengthOf } from "../../src/run/captureRun.js";
import { cannotRun, loadScenario, type FrameInput, type LoadedScenario } from "../../src/scenario/index.js";
import { createDevicePool } from "../../src/index.js";
import type { Outcome } from "../../src/model/traffic/outcome.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { CaptureDecoder, FrameColumns, readCapture } from "../../src/packet/capture/read.js";
import { PcapWriter } from "../../src/packet/capture/writer.js";
import { seedFor } from "../assembly/support/core.js";
import { randomFrame } from "../oracle/generate/frame.js";
import { Random } from "../oracle/generate/random.js";
import { sampleOf } from "../support/tier.js";
import { withRules } from "../scenario/support/documents.js";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const EXAMPLES = here("../../examples");
const CAPTURES = here("../captures");

const captures = [
  join(EXAMPLES, "everyday.pcap"),
  join(EXAMPLES, "strongswan.pcap"),
  ...readdirSync(CAPTURES)
    .filter((name) => /\.pcap(ng)?$/.test(name))
    .map((name) => join(CAPTURES, name)),
].map((path) => new Uint8Array(readFileSync(path)));

/** What is said of a frame one by one. */
interface Said {
  number: number;
  tag: number | null;
  verdict: string;
  reason: string | null;
  to: string[];
  copies: string[];
  rules: string[];
}

function said(number: number, { tag, verdict, reason, to, copies, rules }: Outcome, own: number | null = tag): Said {
  const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name);
  return { number, tag: own, verdict, reason, to: names(to), copies: names(copies), rules: names(rules) };
}

interface Ran {
  said: Said[];
  skipped: Skipped;
}

/** With an object for every frame. */
async function byObjects(loaded: LoadedScenario, files: readonly Uint8Array[]): Promise<Ran> {
  const ran = { said: [] as Said[], skipped: new Map<string, { frames: number; bytes: number }>() };
  let number = 0;
  for (const file of files) {
    for await (const frames of readCapture(file)) {
      const inputs: (FrameInput & { number: number })[] = [];
      for (const { bytes, linkType, time, wireLength: said } of frames) {
        number++;
        const wireLength = Math.max(said, bytes.length);
        const why = cannotRun(linkType, bytes.length);
        if (why === null) inputs.push({ number, bytes, linkType, time, wireLength });
        else skip(ran.skipped, why, wireLength);
      }
      ran.said.push(...loaded.run(inputs).map((outcome, i) => said(inputs[i]!.number, outcome)));
    }
  }
  return ran;
}

function skip(skipped: Map<string, { frames: number; bytes: number }>, why: string, bytes: number): void {
  const sum = skipped.get(why) ?? { frames: 0, bytes: 0 };
  skipped.set(why, { frames: sum.frames + 1, bytes: sum.bytes + bytes });
}

/** In bursts; files come in chunks of so many bytes. */
function byColumns(loaded: LoadedScenario, files: readonly Uint8Array[], size: number): Ran {
  const run = new CaptureRun(loaded, 1);
  const ran = { said: [] as Said[], skipped: new Map<string, { frames: number; bytes: number }>() };
  const columns = new FrameColumns();
  let number = 1;
  for (const file of files) {
    const decoder = new CaptureDecoder();
    for (let first = 0; first < file.length; first += size) {
      const chunk = file.subarray(first, first + size);
      for (let at = 0; at < chunk.length;) {
        at = decoder.read(chunk, at, columns);
        run.run(
          columns,
          columns.count,
          number,
          (row, wireLength) => {
            expect(wireLength).toBe(wireLengthOf(columns, row));
            skip(ran.skipped, cannotRun(columns.linkTypes[row]!, columns.lengths[row]!)!, wireLength);
          },
          (_, own, __, tag, { outcome }) => ran.said.push(said(own, outcome, tag)),
        );
        number += columns.count;
      }
    }
  }
  run.flush();
  return ran;
}

/** Both ways, on two devices; the other one of so many cores. */
async function agree(document: object, files: readonly Uint8Array[], size: number, workers = 1): Promise<Said[]> {
  const one = await loadScenario(document);
  const other = await loadScenario(document, {}, (options) => createDevicePool({ ...options, workers }));
  expect(one.sumsAlone).toBe(true);
  const [wanted, got] = [await byObjects(one, files), byColumns(other, files, size)];
  expect(got.said).toEqual(wanted.said);
  const report = (loaded: LoadedScenario, { skipped }: Ran): string =>
    reportText((_, text) => text, loaded, "read", skipped);
  expect(report(other, got)).toBe(report(one, wanted));
  expect(other.failures()).toEqual(one.failures());
  expect(other.device.reasons()).toEqual(one.device.reasons());
  return got.said;
}

const examples = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, JSON.parse(readFileSync(join(EXAMPLES, name), "utf8")) as Record<string, unknown>] as const);
/** Where queues have buffers or peers, or ports cables, frames are objects. */
const summed = examples.filter(([, { queues = [], connect, messages }]) => {
  return connect === undefined && messages === undefined && !(queues as object[]).some((queue) => "buffers" in queue);
});

/** Random headers, tunnels among them, some cut, some whose record says less than it holds. */
function randomCapture(random: Random, count: number): Uint8Array {
  const writer = new PcapWriter({ linkType: 1 });
  const frames = Array.from({ length: count }, (_, n) => {
    const { bytes } = randomFrame(random);
    const part = random.chance(0.1)
      ? Uint8Array.from(bytes.slice(0, random.below(bytes.length)))
      : Uint8Array.from(bytes);
    const frame = writer.frame({ time: BigInt(n) * 1000n, bytes: part, wireLength: bytes.length });
    if (random.chance(0.05)) new DataView(frame.buffer).setUint32(12, random.below(60), true);
    return frame;
  });
  return new Uint8Array(Buffer.concat([writer.header(), ...frames]));
}

describe("a capture in bursts", () => {
  it("is for most examples", () => {
    expect(summed.length).toBeGreaterThan(8);
  });

  it.each(sampleOf(summed))(
    "%s: comes to the same ends and sums as frame by frame",
    async (_, { frames: __, expect: ___, ...document }) => {
      const files = [...captures, randomCapture(new Random(seedFor("capture")), 1500)];
      expect((await agree(document, files, 1 << 20)).length).toBeGreaterThan(1500);
    },
  );

  it.each(sampleOf(summed))("%s: is the same on two cores", async (_, { frames: __, expect: ___, ...document }) => {
    await agree(document, [randomCapture(new Random(seedFor("capture of a pool")), 1500), ...captures], 1 << 20, 2);
  });

  it("is the same in chunks of any size", async () => {
    const [, { frames: _, expect: __, ...document }] = summed[0]!;
    const random = new Random(seedFor("capture chunks"));
    for (let n = 0; n < 4; n++) await agree(document, captures.slice(0, 8), random.between(1, 3000));
    // So many pieces that some are spread and some are not.
    await agree(document, [randomCapture(random, 6000)], 20_000, 2);
  });

  it.each([1, 2])(
    "takes frames that are as long as they can be, and no longer ones, with %i workers",
    async (workers) => {
      const [, { frames: _, expect: __, ...document }] = summed[0]!;
      const writer = new PcapWriter({ linkType: 1, snapLength: MAX_FRAME + 1 });
      const lengths = Array.from({ length: 40 }, (___, n) => (n % 25 === 20 ? MAX_FRAME + 1 : MAX_FRAME - n));
      const frames = lengths.map((length, n) => writer.frame({ time: BigInt(n), bytes: new Uint8Array(length) }));
      const file = new Uint8Array(Buffer.concat([writer.header(), ...frames]));
      const all = await agree(document, [file], file.length, workers);
      expect(all.length).toBe(lengths.filter((length) => length <= MAX_FRAME).length);
    },
  );

  it("begins anew on a device where another run has not come to its end", async () => {
    const [, { frames: _, expect: __, ...document }] = summed[0]!;
    const loaded = await loadScenario(document);
    const twin = await loadScenario(document);
    const columns = new FrameColumns();
    new CaptureDecoder().read(captures[0]!, 0, columns);
    const runOn = (one: LoadedScenario): CaptureRun => {
      const run = new CaptureRun(one, 1);
      run.run(columns, columns.count, 1, () => undefined, null);
      return run;
    };
    runOn(loaded);
    runOn(loaded).flush();
    runOn(twin).flush();
    expect(loaded.tally.all.frames).toBe(columns.count);
    expect(loaded.tally.ends).toEqual(twin.tally.ends);
  });

  it.each([1, 2])("sums more kinds of ends than are kept at once, with %i workers", async (workers) => {
    const random = new Random(seedFor("capture registers"));
    const writer = new PcapWriter({ linkType: 1 });
    const frames = Array.from({ length: 6500 }, (_, n) => {
      const bytes = buildFrame([
        { header: "ethernet" },
        { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
        { header: "udp", source_port: n % 5500, destination_port: random.chance(0.9) ? 1 : random.between(2, 3) },
        { header: "payload", bytes: "00".repeat(random.below(60)) },
      ]);
      return writer.frame({ time: BigInt(n) * 1000n, bytes });
    });
    const file = new Uint8Array(Buffer.concat([writer.header(), ...frames]));
    const register = "misc2.metadata_reg_c_1";
    const changes = [
      { copy: "outer.udp_sport", into: register },
      { set: "outer.ip_ttl_hoplimit", to: 9 },
    ];
    const document = {
      ...withRules(
        { name: "kept", match: { "outer.udp_dport": 1 }, actions: [{ tag: 7 }, { modify: changes }, { queue: "web" }] },
        { name: "dropped", match: { "outer.udp_dport": 2 }, actions: ["drop"] },
      ),
      expect: {
        frames: [
          { frame: 5000, verdict: "miss" },
          { frame: 7000, verdict: "miss" },
        ],
      },
    };
    const all = await agree(document, [file], 1 << 16, workers);
    expect(new Set(all.map(({ rules }) => rules[0]))).toEqual(new Set(["kept", "dropped", undefined]));
  });
});
