/** The traced core: it steers as the core does, on a copy, and puts back what a frame changed. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Link } from "../../src/abi/headers.js";
import { EVENT_BYTES, EVENT_KIND, TraceEvent } from "../../src/abi/trace.js";
import type { Core } from "../../src/engine/core.js";
import { TracedCore } from "../../src/engine/tracedCore.js";
import { TablePipeline } from "../../src/model/table/pipeline.js";
import { buildFrame } from "../../src/packet/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const files = readdirSync(EXAMPLES).filter((name) => name.endsWith(".json"));

function kindsOf(events: Uint8Array): string[] {
  const view = new DataView(events.buffer, events.byteOffset, events.length);
  const kinds: string[] = [];
  for (let at = 0; at < events.length; at += view.getUint32(at + EVENT_BYTES, true))
    kinds.push(TraceEvent[view.getUint16(at + EVENT_KIND, true)] as string);
  return kinds;
}

/** Verdict, reason, tag and counts of the first outcome. */
function outcomeOf({ u8, outcomes }: Core): Uint8Array {
  return u8.slice(outcomes, outcomes + 12);
}

function arenaOf(core: Core, top: number): Uint8Array {
  return core.u8.slice(core.arena, top);
}

describe("the traced core", () => {
  it.each(files)("steers the frames of %s as the core does, and leaves everything as it was", async (file) => {
    const { device, frames } = await loadScenario(readFileSync(new URL(file, EXAMPLES), "utf8"));
    const traced = await TracedCore.create(device.core, (core) => device.setUp(core));
    const pipeline = device.function(0).part(TablePipeline);
    for (const { bytes } of frames) {
      const entry = pipeline.switched || pipeline.received;
      const time = device.now();
      const dry = (): string[] => {
        traced.batch.clear();
        traced.batch.put(bytes, bytes.length, 1, Link.ethernet);
        traced.batch.stamp(time);
        return kindsOf(traced.steer(entry));
      };
      const before = device.core.u8.slice();
      expect(traced.refresh(pipeline.switched)).toBe(true);
      // The first lookup after a change may rebuild candidate bitmaps.
      dry();
      traced.undo();
      const top = device.core.exports.arenaTop() >>> 0;
      const copy = arenaOf(traced.core, top);
      const kinds = dry();
      expect(kinds[0]).toBe("parsed");
      expect(kinds[1]).toBe("lookup");
      const outcome = outcomeOf(traced.core);
      traced.undo();
      expect(Buffer.compare(arenaOf(traced.core, top), copy)).toBe(0);
      expect(Buffer.compare(device.core.u8, before)).toBe(0);
      device.receive(1, bytes, { time });
      expect(outcome).toEqual(outcomeOf(device.core));
    }
  });

  it("can be the core of a device: frames of a flow that it has seen end as the first one did", async () => {
    const { device } = await loadScenario(
      {
        flowsteer: 1,
        queues: [{ name: "web" }],
        tables: [{ name: "root", level: 0 }],
        rules: [{ name: "https", table: "root", match: { "outer.tcp_dport": 443 }, actions: [{ queue: "web" }] }],
      },
      { core: new URL("../../build/traced/core.wasm", import.meta.url) },
    );
    const frame = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: 443 }]);
    for (let i = 0; i < 3; i++) {
      const { verdict, to } = device.receive(1, frame);
      expect([verdict, to.map(({ name }) => name)]).toEqual(["deliver", ["qp:web"]]);
    }
  });

  it("lists the rules of a table by rank, with what they match", async () => {
    const { device } = await loadScenario(readFileSync(new URL("everyday.json", EXAMPLES), "utf8"));
    const traced = await TracedCore.create(device.core, (core) => device.setUp(core));
    traced.refresh(device.function(0).part(TablePipeline).switched);
    let listed = 0;
    for (const [table] of device.tables) {
      const rules = traced.rulesOf(table);
      expect(rules.length).toBe(traced.ruleCount(table));
      listed += rules.length;
      for (const [n, rule] of rules.entries()) {
        const { mask, value, ranges } = traced.contentOf(rule);
        expect(value.every((byte, i) => (byte & ~(mask[i] as number)) === 0)).toBe(true);
        // Its own value is at no distance of a rule: only rules before it can be as near.
        const key = value.slice();
        for (const { dword, shift, low } of ranges) {
          const view = new DataView(key.buffer);
          view.setUint32(dword, (view.getUint32(dword) | (low << shift)) >>> 0);
        }
        const nearest = traced.nearestOf(table, key, rules.length).map(({ address }) => address);
        const before = rules.slice(0, n).map(({ address }) => address);
        const nearer = nearest.slice(0, nearest.indexOf(rule.address));
        expect(nearer).toEqual(before.filter((address) => nearer.includes(address)));
        const next = rules[n + 1];
        if (next !== undefined)
          expect(rule.rankHigh - next.rankHigh || rule.rankLow - next.rankLow).toBeLessThanOrEqual(0);
      }
    }
    expect(listed).toBeGreaterThan(0);
  });

  it("lists the rules nearest to a frame as a slow comparison orders them", async () => {
    const random = new Random(seedFor("nearest rules"));
    // A column each, and no header that must be present (assembly/classify/definer.ts).
    const fields = [0, 1, 2, 3].map((n) => `misc2.metadata_reg_c_${n}`);
    const match = (): Record<string, number> =>
      Object.fromEntries(fields.filter(() => random.chance(0.6)).map((field) => [field, random.below(16)]));
    const { device } = await loadScenario({
      flowsteer: 1,
      tables: [{ name: "t", level: 1 }],
      rules: Array.from({ length: 40 }, (_, n) => ({
        name: `r${n}`,
        table: "t",
        match: match(),
        actions: ["drop" as const],
      })),
    });
    const traced = await TracedCore.create(device.core, (core) => device.setUp(core));
    traced.refresh(device.function(0).part(TablePipeline).received);
    const table = [...device.tables.keys()].find((address) => traced.ruleCount(address) > 1) as number;
    const rules = traced.rulesOf(table).map((rule) => ({ rule, ...traced.contentOf(rule) }));
    for (let round = 0; round < 200; round++) {
      const key = random.pick(rules).value.slice();
      for (const { value } of [random.pick(rules), random.pick(rules)])
        value.forEach((byte, i) => random.chance(0.5) && (key[i] = (key[i] as number) ^ byte));
      const far = new Map(rules.map(({ rule, ...one }) => [rule.address, distancesOf(one, key)]));
      const listed = traced.nearestOf(table, key, rules.length).map(({ address }) => far.get(address) ?? []);
      expect(listed).toHaveLength(rules.length);
      expect(listed).toEqual([...listed].sort((a, b) => a.map((one, i) => one - (b[i] ?? 0)).find((by) => by) ?? 0));
    }
  });
});

type Content = ReturnType<TracedCore["contentOf"]>;

/** Columns that differ, less those that agree, bits: the order of `listNearest`. */
function distancesOf({ mask, value }: Pick<Content, "mask" | "value">, key: Uint8Array): number[] {
  let [differing, agreeing, bits] = [0, 0, 0];
  for (let at = 0; at < key.length; at += 4) {
    const masked = [0, 1, 2, 3].filter((i) => mask[at + i] !== 0);
    const unlike = masked.map((i) => ((key[at + i] as number) ^ (value[at + i] as number)) & (mask[at + i] as number));
    if (masked.length === 0) continue;
    if (unlike.every((byte) => byte === 0)) agreeing++;
    else differing++;
    for (const byte of unlike) for (let left = byte; left > 0; left &= left - 1) bits++;
  }
  return differing === 0 ? [0, 0, 0] : [differing, -agreeing, bits];
}
