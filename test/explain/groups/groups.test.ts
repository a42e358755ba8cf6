/** Groups of explanations: which frames are explained, and which group the others join. */
import { expect, test } from "vitest";
import type { Device, Outcome } from "../../../src/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { ExplanationGroups, type EndedFrame } from "../../../src/explain/groups/groups.js";
import type { Explanation } from "../../../src/explain/why/explanation.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../../assembly/support/core.js";

const TABLE = { domain: "nic_rx", vport: 0, table: "root" } as const;
const RULE = { kind: "rule", name: "web", id: 0, priority: 0, matcher: "m" } as const;

const MISS: Outcome = {
  verdict: "drop",
  reason: "no_rule",
  to: [],
  tag: null,
  registers: {},
  rules: [],
  copies: [],
  missed: [TABLE],
};

/** A device with the rule, whose number is 0, in the root table; `second` is another table. */
async function deviceWith(match: Record<string, string> | null): Promise<Device> {
  const rule = { name: "web", table: "root", match: match ?? {}, actions: ["drop"] };
  const tables = [
    { name: "root", level: 0 },
    { name: "second", level: 1 },
  ];
  return (await loadScenario({ flowsteer: 1, tables, rules: match === null ? [] : [rule] })).device;
}

const WEB = { "outer.ipv4_dst": "10.0.0.0/8", "outer.tcp_dport": "80-89" };

interface Drawn extends EndedFrame {
  failing: string[];
}

function drawn(random: Random, number: number, outcome = MISS, port = random.below(200)): Drawn {
  const first = random.below(2) === 0 ? 10 : 11;
  const upper = random.below(4) === 0 ? ("udp" as const) : ("tcp" as const);
  const bytes = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", destination: `${first}.0.${random.below(256)}.${random.below(256)}` },
    { header: upper, source_port: random.below(65536), destination_port: port },
  ]);
  const failing = [
    ...(first === 10 ? [] : ["outer.ipv4_dst"]),
    ...(upper === "tcp" && port >= 80 && port <= 89 ? [] : ["outer.tcp_dport"]),
  ];
  return { number, bytes, linkType: 1, wireLength: bytes.length, outcome, failing };
}

function explanationOf({ failing, number }: Drawn, mistake: Explanation["mistake"] = null): Explanation {
  const differences = failing.map((field) => {
    return { field, wanted: "", found: String(number), bits: "", distance: 1, absent: null, note: null };
  });
  return {
    target: { kind: "end" },
    reached: true,
    sentence: `frame ${number}`,
    reasons: [{ kind: "no match", sentence: "", rule: RULE, table: TABLE, differences }],
    mistake,
    repairs: [],
  };
}

test("frames of the same failing fields are one group, whatever their values", async () => {
  const random = new Random(seedFor("groups"));
  const groups = await ExplanationGroups.open(await deviceWith(WEB));
  const frames = Array.from({ length: 5000 }, (_, i) => drawn(random, i + 1)).filter(
    ({ failing }) => failing.length > 0,
  );
  let explained = 0;
  for (let first = 0; first < frames.length; first += 700) {
    await groups.add(frames.slice(first, first + 700), (frame) => {
      explained++;
      return explanationOf(frame as Drawn);
    });
  }
  // The rule masks a byte of the address and the port: about 400 combinations.
  expect(explained).toBeGreaterThanOrEqual(64);
  expect(explained).toBeLessThan(64 + 10);
  const wanted = new Map<string, Drawn[]>();
  for (const one of frames) wanted.set(one.failing.join(), [...(wanted.get(one.failing.join()) ?? []), one]);
  expect(groups.groups.length).toBe(wanted.size);
  for (const { frames: count, bytes, examples, explanation } of groups.groups) {
    const own = wanted.get(fieldsOf(explanation)) ?? [];
    expect(count).toBe(own.length);
    expect(bytes).toBe(own.reduce((sum, { wireLength }) => sum + wireLength, 0));
    expect(examples).toEqual(own.slice(0, 4).map(({ number }) => number));
    expect(explanation?.sentence).toBe(`frame ${examples[0]}`);
  }
  expect(groups.groups.map(({ frames: count }) => count)).toEqual(
    groups.groups.map(({ frames: count }) => count).sort((a, b) => b - a),
  );
});

function fieldsOf(explanation: Explanation | null): string {
  const [reason] = explanation?.reasons ?? [];
  return reason?.kind === "no match" ? reason.differences.map(({ field }) => field).join() : "";
}

test("outcomes and mistakes keep groups apart, frames that cannot be explained are counted", async () => {
  const random = new Random(3);
  const groups = await ExplanationGroups.open(await deviceWith(WEB));
  const other: Outcome = { ...MISS, missed: [{ ...TABLE, table: "second" }] };
  const some = Array.from({ length: 40 }, (_, i) => drawn(random, i + 1, i % 2 === 0 ? MISS : other, 100 + i));
  const frames = some.map((frame) => ({ ...frame, failing: ["outer.ipv4_dst"] }));
  await groups.add(frames, (frame) =>
    explanationOf(frame as Drawn, frame.number % 4 === 1 ? { name: "swapped", sentence: "" } : null),
  );
  expect(groups.groups.map(({ frames: count, outcome }) => [count, outcome.missed[0]?.table])).toEqual([
    [20, "second"],
    [10, "root"],
    [10, "root"],
  ]);
  const lost = await ExplanationGroups.open(await deviceWith(WEB));
  await lost.add(frames, () => null);
  expect(lost.groups.map(({ frames: count, explanation }) => [count, explanation])).toEqual([
    [20, null],
    [20, null],
  ]);
});

test("frames join groups also after too many comparisons with rules", async () => {
  // 40,000 rules: the nearest one is looked for a hundred times.
  const others = Array.from({ length: 40_000 }, (_, i) => ({
    name: `other ${i}`,
    table: "root",
    match: { "outer.ipv4_dst": `12.${i >> 8}.${i & 0xff}.1`, "outer.tcp_dport": 9999 },
    actions: ["drop"],
  }));
  const rules = [{ name: "web", table: "root", match: WEB, actions: ["drop"] }, ...others];
  const { device } = await loadScenario({ flowsteer: 1, tables: [{ name: "root", level: 0 }], rules });
  const groups = await ExplanationGroups.open(device);
  const random = new Random(9);
  const all = Array.from({ length: 2000 }, (_, i) => drawn(random, i + 1, MISS, 100 + (i % 1900)));
  const frames = all.filter(({ bytes }) => bytes[30] === 10 && bytes[23] === 6);
  await groups.add(frames, (frame) => explanationOf(frame as Drawn));
  expect(frames.length).toBeGreaterThan(500);
  expect(groups.groups.map(({ frames: count, explanation }) => [count, explanation !== null])).toEqual([
    [frames.length, true],
  ]);
});

test("a checksum is verified where a rule matches it", async () => {
  const groups = await ExplanationGroups.open(await deviceWith({ "outer.l4_checksum_ok": "1" }));
  const random = new Random(7);
  const frames = Array.from({ length: 40 }, (_, i) => {
    const { bytes, ...frame } = drawn(random, i + 1, MISS, 53);
    return { ...frame, bytes: i % 2 === 0 ? bytes : bytes.with(36, 0x55), failing: i % 2 === 0 ? [] : ["bad"] };
  });
  await groups.add(frames, (frame) => explanationOf(frame as Drawn));
  expect(groups.groups.map(({ frames: count }) => count)).toEqual([20, 20]);
});

test("frames with the values of an explained frame join its group, and the next explanation is at a doubling", async () => {
  const groups = await ExplanationGroups.open(await deviceWith(null));
  const numbers: number[] = [];
  // Without rules, frames differ by their headers alone.
  const random = new Random(5);
  const frames = Array.from({ length: 300 }, (_, i) => drawn(random, i + 1));
  await groups.add(frames, (frame) => {
    numbers.push(frame.number);
    return explanationOf({ ...(frame as Drawn), failing: [] });
  });
  expect(numbers.length).toBe(2);
  expect(groups.groups.reduce((sum, group) => sum + group.frames, 0)).toBe(300);
});
