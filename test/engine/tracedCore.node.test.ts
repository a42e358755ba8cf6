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
});
