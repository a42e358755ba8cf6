/** Sums of a core over frames whose outcomes have something in common, held against the outcomes themselves. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { OutcomeClasses } from "../../../src/engine/outcomeClasses.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import type { Destination, Outcome } from "../../../src/model/traffic/outcome.js";
import { MAX_CLASSES } from "../../../src/abi/engine.js";
import { buildFrame } from "../../../src/packet/builder/build.js";
import { hexBytes } from "../../../src/packet/bytes.js";
import { WEB_FRAME, withRules } from "../../scenario/support/documents.js";
import { randomFrame } from "../../oracle/generate/frame.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";

const FOLDER = new URL("../../../examples/", import.meta.url);
const EXAMPLES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

interface Summed {
  outcomeClass: number;
  bytes: Uint8Array;
  outcome: Outcome;
}

/** What frames of one outcome class have in common, of all that an outcome says. */
function common({ bytes, outcome }: Summed): string {
  const { verdict, reason, registers, rules, to, copies } = outcome;
  const arrived = ({ kind, name, frame, espFault, linkType }: Destination): unknown[] => {
    return [kind, name, frame.length - bytes.length, espFault, linkType];
  };
  const hit = rules.map((rule) => `${rule.constructor.name} ${rule.name}`);
  return JSON.stringify([verdict, reason, registers, hit, to.map(arrived), copies.map(arrived)]);
}

/** Each frame with its outcome class; sums of the core are what they must be. */
function sum(loaded: LoadedScenario, frames: readonly Uint8Array[]): Summed[] {
  const burst = loaded.device.openBurst();
  const all: Summed[] = [];
  let known: OutcomeClasses | undefined;
  for (let next = 0; next < frames.length;) {
    burst.clear();
    const first = next;
    while (next < frames.length && burst.put(frames[next]!, 1, 1, frames[next]!.length + 3) >= 0) next++;
    const numbers: number[] = [];
    burst.steer({
      summed: (classes, _, count) => {
        known ??= classes;
        expect(classes.summed).toBe(count);
        for (let i = 0; i < count; i++) numbers.push(classes.of(i));
      },
    });
    for (const [i, outcomeClass] of numbers.entries()) {
      const bytes = frames[first + i]!;
      all.push({ outcomeClass, bytes, outcome: burst.outcome(i, bytes) });
    }
  }
  for (let outcomeClass = 0; outcomeClass < known!.count; outcomeClass++) {
    const own = all.filter((one) => one.outcomeClass === outcomeClass);
    expect(known!.frames(outcomeClass)).toBe(own.length);
    expect(known!.bytes(outcomeClass)).toBe(own.reduce((bytes, one) => bytes + one.bytes.length + 3, 0));
  }
  known!.clear();
  expect(known!.count).toBe(0);
  return all;
}

/** Frames of one outcome class have one outcome in common; gives how many classes there are. */
function agree(all: readonly Summed[]): number {
  const known = new Map<number, string>();
  for (const one of all) {
    const told = common(one);
    expect(known.get(one.outcomeClass) ?? told).toBe(told);
    known.set(one.outcomeClass, told);
  }
  return known.size;
}

/** Ports that a rule keeps, each in an outcome of its own. */
function udpFrom(port: number): Uint8Array {
  return buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
    { header: "udp", source_port: port, destination_port: 1 },
  ]);
}

describe("classes", () => {
  it.each(EXAMPLES)("%s: frames of one outcome class have come to one end", async (name) => {
    const loaded = await loadScenario(JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as object);
    const random = new Random(seedFor(`shapes of ${name}`));
    const own = loaded.frames.filter(({ send }) => send === undefined).map(({ bytes }) => bytes);
    const others = Array.from({ length: 300 }, () => Uint8Array.from(randomFrame(random).bytes));
    agree(sum(loaded, random.shuffle([...own, ...own, ...others])));
  });

  it("do not tell tags, lengths and bytes apart, but who took a frame", async () => {
    const array = { array: [{ queue: "web" }, { queue: "few" }] };
    const document = withRules({ match: {}, actions: [{ tag: 5 }, array] });
    const queues = [{ name: "web" }, { name: "few", buffers: 2 }];
    const loaded = await loadScenario({ ...document, queues });
    const frames = Array.from({ length: 5 }, (_, n) => hexBytes(WEB_FRAME + "00".repeat(n))!);
    const all = sum(loaded, frames);
    expect(all.map(({ outcome }) => outcome.to.length)).toEqual([2, 2, 1, 1, 1]);
    expect(all.map(({ outcomeClass }) => outcomeClass)).toEqual([0, 0, 1, 1, 1]);
  });

  it("are numbered while there is room, and then from the first one on again", async () => {
    const copied = { copy: "outer.udp_sport", into: "misc2.metadata_reg_c_1" };
    const rule = { match: { "outer.udp_dport": 1 }, actions: [{ modify: [copied] }, { queue: "web" }] };
    const { device } = await loadScenario(withRules(rule));
    const burst = device.openBurst();
    let known: OutcomeClasses | undefined;
    for (let sent = 0; (known?.summed ?? 0) === burst.count;) {
      burst.clear();
      for (let n = 0; n < 100; n++) burst.put(udpFrom(sent++));
      burst.steer({ summed: (classes) => (known = classes) });
    }
    expect([known!.count, known!.summed]).toEqual([MAX_CLASSES, MAX_CLASSES % 100]);
    expect(known!.frames(MAX_CLASSES - 1)).toBe(1);
    known!.clear();
    known!.goOn(MAX_CLASSES % 100, 100);
    expect([known!.count, known!.summed]).toEqual([100 - (MAX_CLASSES % 100), 100]);
    expect(known!.rowOf(0)).toBe(MAX_CLASSES % 100);
  });
});
