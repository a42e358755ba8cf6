/** Reported trouble with RSS and ESP (test/explain/cases/README.md): the answers that were right. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openTracer, why, type HashChoice, type Trace } from "../../src/explain/index.js";
import { importRules } from "../../src/import/index.js";
import { decodeAll } from "../packet/support/captureHelpers.js";
import { loadScenario, type LoadedScenario } from "../../src/scenario/index.js";

const file = (name: string): URL => new URL(`cases/${name}`, import.meta.url);
const load = (name: string): Promise<LoadedScenario> => loadScenario(readFileSync(file(name), "utf8"));
const framesOf = (name: string): Uint8Array[] => decodeAll(readFileSync(file(name))).frames.map(({ bytes }) => bytes);

async function imported(name: string): Promise<LoadedScenario> {
  return loadScenario(
    JSON.stringify(importRules([{ file: name, text: readFileSync(file(name), "utf8") }], { lenient: true }).scenario),
  );
}

function hashOf({ steps }: Trace): HashChoice | undefined {
  return steps.flatMap((step) => (step.kind === "action" ? (step.hash ?? []) : [])).at(-1);
}

describe("RSS", () => {
  it("of IPv4 addresses: all IPv6 frames have a hash of nothing, and share entry 0", async () => {
    const { device, frames } = await load("rss-ipv4-only.json");
    const bytes = frames[11]?.bytes as Uint8Array;
    expect(hashOf((await openTracer(device)).trace(1, bytes))).toMatchObject({
      fields: [],
      leftOut: [
        { fields: ["outer.ipv4_src", "outer.ipv4_dst"], cause: "absent", sentence: "the outer packet is IPv6" },
        {
          fields: ["outer.ipv6_src", "outer.ipv6_dst", "outer.udp_sport", "outer.udp_dport"],
          cause: "unselected",
          sentence: "the hash does not select them",
        },
      ],
      input: "",
      entry: 0,
      entries: 4,
    });
    const { sentence, reasons } = await why(device, 1, bytes, { kind: "queue", name: "rxq1" });
    expect(sentence.replaceAll("\u00a0", " ")).toContain(
      "which gave this one to wq:rxq0: the hash has no input: all frames without one share entry 0 of 4; left out: " +
        "outer.ipv4_src, outer.ipv4_dst, because the outer packet is IPv6",
    );
    expect(reasons).toMatchObject([{ kind: "action", action: "rss", hash: { entry: 0 } }]);
  });

  it("of the inner packet spreads connections in IP in IP", async () => {
    const { device } = await imported("rss-ipip-inner.txt");
    const tracer = await openTracer(device);
    const hashes = framesOf("rss-ipip-inner.pcap").map((bytes) => hashOf(tracer.trace(1, bytes)));
    const inner = hashes.filter((hash) => hash?.fields[0]?.field === "inner.ipv4_src");
    expect(inner.length).toBeGreaterThanOrEqual(8);
    expect(new Set(inner.map((hash) => hash?.entry)).size).toBeGreaterThan(1);
  });

  it("with a key that repeats 16 bits gives both directions one queue", async () => {
    const { device } = await imported("rss-symmetric-key.txt");
    const tracer = await openTracer(device);
    const byEnds = new Map<string, Set<number>>();
    for (const bytes of framesOf("rss-symmetric-key.pcap")) {
      const hash = hashOf(tracer.trace(1, bytes)) as HashChoice;
      const ends = hash.fields.map(({ value }) => value).sort();
      byEnds.set(ends.join(), (byEnds.get(ends.join()) ?? new Set()).add(hash.hash));
    }
    expect(byEnds.size).toBeGreaterThan(1);
    for (const hashes of byEnds.values()) expect(hashes.size).toBe(1);
  });

  it("over GTP-U fields is refused", () => {
    const { findings } = importRules([{ file: "t.txt", text: readFileSync(file("rss-gtpu.txt"), "utf8") }], {
      lenient: true,
    });
    expect(findings.map(({ reason }) => reason).join("\n")).toContain("the device does not hash this");
  });
});

describe("ESP", () => {
  it("opens short packets, padded or not; the second copy of each has a number that was received", async () => {
    const { device } = await load("esp-short-packet.json");
    const tracer = await openTracer(device);
    const traces = framesOf("esp-short-packet.pcap").map((bytes) => tracer.trace(1, bytes, { commit: true }));
    expect(traces.map(({ outcome }) => outcome.reason)).toEqual([0, 1, 2, 3].flatMap(() => [null, "esp_replay"]));
    const failed = traces.flatMap(({ steps }) => steps.flatMap((step) => (step.kind === "action" ? step.failed : [])));
    expect(failed.flatMap((one) => one?.sentence ?? [])).toEqual(
      [1, 2, 3, 4].map((n) => `has the sequence number ${n}, which counts as received before; the window ends at ${n}`),
    );
  });
});

describe("flows for multicast", () => {
  it("that overlap: a priority changes nothing on a ConnectX, and DONT_TRAP does", async () => {
    const { device, frames } = await load("multicast-overlap.json");
    const target = { kind: "queue", name: "listener B" } as const;
    const { sentence, mistake, repairs } = await why(device, 1, frames[0]?.bytes as Uint8Array, target);
    expect(sentence).toContain("by its older mask: both match multicast only and come after all other flows");
    expect(mistake?.name).toBe("equal-priority");
    expect(repairs.map(({ of, rule, fields }) => ({ of, rule, fields }))).toEqual([
      { of: "rule", rule: "A 239.2.0.64/30", fields: [{ field: "flags", before: null, after: "dont_trap" }] },
    ]);

    const text = readFileSync(file("multicast-overlap.json"), "utf8");
    const copied = text.replace('"name": "A 239.2.0.64/30",', '$& "flags": ["dont_trap"],');
    const repaired = await loadScenario(copied);
    const { sentence: after } = await why(repaired.device, 1, frames[0]?.bytes as Uint8Array, target);
    expect(after).toBe("qp:listener B got the frame");
  });

  it("that overlap: the one whose mask was there first takes the frame", async () => {
    const { flows, ...rest } = JSON.parse(readFileSync(file("multicast-overlap.json"), "utf8")) as {
      flows: readonly object[];
      frames: unknown;
    };
    const { device, frames } = await loadScenario(JSON.stringify({ ...rest, flows: flows.toReversed() }));
    const { reached } = await why(device, 1, frames[0]?.bytes as Uint8Array, { kind: "queue", name: "listener B" });
    expect(reached).toBe(true);
  });

  it("come after all others", async () => {
    const { flows, ...rest } = JSON.parse(readFileSync(file("multicast-overlap.json"), "utf8")) as {
      flows: readonly object[];
    };
    const wide = { name: "wide", queue: "listener A", priority: 4, specs: [{ udp: { dst_port: 7148 } }] };
    const { device, frames } = await loadScenario(JSON.stringify({ ...rest, flows: [...flows.slice(1), wide] }));
    const { sentence } = await why(device, 1, frames[0]?.bytes as Uint8Array, { kind: "queue", name: "listener B" });
    expect(sentence).toContain(
      'flow "wide" took the frame first: flow "B 239.2.0.64/31" matches multicast only and comes after all other flows',
    );
  });

  it("get no priority that the profile refuses", async () => {
    const { device, frames } = await loadScenario(
      JSON.stringify({
        flowsteer: 1,
        device: { profile: "connectx5" },
        queues: [{ name: "a" }, { name: "b" }],
        tables: [{ name: "root", domain: "nic_rx", level: 0 }],
        rules: [
          {
            name: "first",
            table: "root",
            priority: 15,
            match: { "outer.ip_protocol": "udp" },
            actions: [{ queue: "a" }],
          },
          { name: "second", table: "root", priority: 15, match: { "outer.udp_dport": 53 }, actions: [{ queue: "b" }] },
        ],
        frames: [{ headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: 53 }] }],
      }),
    );
    const { repairs } = await why(device, 1, frames[0]?.bytes as Uint8Array, { kind: "queue", name: "b" });
    const priorities = repairs.flatMap(({ fields }) => fields.filter(({ field }) => field === "priority"));
    expect(priorities).toEqual([{ field: "priority", before: "15", after: "14" }]);
  });
});
