/** Pairs of scenarios that treat some frames alike for one reason, and others differently: "alike" of the first is no proof for the others. */
import { expect, test } from "vitest";
import { difference, region, witness, type DifferenceOptions } from "../../../src/explain/index.js";
import { loadScenario } from "../../../src/scenario/index.js";

type Section = readonly Readonly<Record<string, unknown>>[];

interface World {
  readonly device?: Readonly<Record<string, unknown>>;
  readonly queues?: Section;
  readonly tables?: Section;
  readonly rules?: Section;
  readonly flows?: Section;
}

interface Pair {
  readonly both: World;
  readonly old: World;
  readonly changed: World;
  readonly options?: DifferenceOptions;
}

const NOTE = { modify: [{ set: "misc2.metadata_reg_c_0", to: 1 }] };
const OTHERS = { name: "others", table: "checked", priority: 1, actions: [{ vport: 0 }] };

const PAIRS: Readonly<Record<string, Pair>> = {
  "frames of a function, where frames from the wire stay as they were": {
    both: {
      device: { vports: 1 },
      queues: [{ name: "host" }, { name: "vm", function: 1 }],
      tables: [
        { name: "switch", domain: "fdb", level: 0 },
        { name: "checked", domain: "fdb", level: 1 },
        { name: "host gets", level: 0 },
      ],
      rules: [
        { name: "vm", table: "checked", match: { "misc.source_port": 1 }, actions: ["drop"] },
        OTHERS,
        { name: "host gets all", table: "host gets", actions: [{ queue: "host" }] },
      ],
    },
    old: { rules: [{ name: "all", table: "switch", actions: [{ vport: 0 }] }] },
    changed: { rules: [{ name: "all", table: "switch", actions: [{ table: "checked" }] }] },
  },
  "frames with a register that a later table matches": {
    both: {
      queues: ["a", "b"].map((name) => ({ name })),
      tables: [
        { name: "root", level: 0 },
        { name: "later", level: 1 },
      ],
      rules: [
        {
          name: "noted",
          table: "later",
          priority: 1,
          match: { "misc2.metadata_reg_c_0": 1 },
          actions: [{ queue: "a" }],
        },
        { name: "others", table: "later", priority: 2, actions: [{ queue: "b" }] },
      ],
    },
    old: { rules: [{ name: "all", table: "root", actions: [NOTE, { table: "later" }] }] },
    changed: { rules: [{ name: "all", table: "root", actions: [{ table: "later" }] }] },
  },
  "frames with a register that a later rule copies": {
    both: {
      queues: [{ name: "a" }],
      tables: [
        { name: "root", level: 0 },
        { name: "later", level: 1 },
      ],
      rules: [
        {
          name: "copies",
          table: "later",
          match: { "outer.ip_version": 4 },
          actions: [{ modify: [{ copy: "misc2.metadata_reg_c_0", into: "outer.ipv4_src" }] }, { queue: "a" }],
        },
      ],
    },
    old: { rules: [{ name: "all", table: "root", actions: [NOTE, { table: "later" }] }] },
    changed: { rules: [{ name: "all", table: "root", actions: [{ table: "later" }] }] },
  },
  "frames with metadata, where frames from the wire stay as they were": {
    both: {
      queues: [{ name: "host" }],
      tables: [
        { name: "sends", domain: "nic_tx", level: 0 },
        { name: "switch", domain: "fdb", level: 0 },
        { name: "checked", domain: "fdb", level: 1 },
        { name: "host gets", level: 0 },
      ],
      rules: [
        {
          name: "metadata",
          table: "sends",
          actions: [{ modify: [{ copy: "misc2.metadata_reg_a", into: "misc2.metadata_reg_c_1" }] }],
        },
        { name: "seven", table: "checked", match: { "misc2.metadata_reg_c_1": 7 }, actions: ["drop"] },
        OTHERS,
        { name: "host gets all", table: "host gets", actions: [{ queue: "host" }] },
      ],
    },
    old: { rules: [{ name: "all", table: "switch", actions: [{ vport: 0 }] }] },
    changed: { rules: [{ name: "all", table: "switch", actions: [{ table: "checked" }] }] },
  },
  "frames that go to the PF by default, where those of the PF leave": {
    both: {
      device: { vports: 1 },
      queues: [{ name: "host" }, { name: "vm", function: 1 }],
      tables: [
        { name: "switch", domain: "fdb", level: 0 },
        { name: "host gets", level: 0 },
      ],
      rules: [
        { name: "last", table: "switch", priority: 2, actions: [NOTE] },
        { name: "rest", table: "host gets", priority: 1, actions: [{ queue: "host" }] },
      ],
    },
    old: { rules: [{ name: "of vm", table: "host gets", match: { "misc.source_port": 1 }, actions: ["drop"] }] },
    changed: {
      rules: [
        { name: "first", table: "switch", priority: 1, actions: [NOTE] },
        { name: "of vm", table: "host gets", match: { "misc.source_port": 1 }, actions: [{ queue: "host" }] },
      ],
    },
  },
  "tunnels behind a decapsulation, where other frames end": {
    both: {
      queues: [{ name: "host" }],
      tables: [
        { name: "root", level: 0 },
        { name: "way", level: 1 },
        { name: "tunnels", level: 2 },
        { name: "inside", level: 3 },
      ],
      rules: [
        { name: "on", table: "way", actions: [{ table: "tunnels" }] },
        { name: "tunnel", table: "tunnels", actions: [{ reformat: { type: "l2_tunnel_to_l2" } }, { table: "inside" }] },
      ],
    },
    old: {
      rules: [
        { name: "first", table: "root", actions: [{ table: "way" }] },
        { name: "last", table: "inside", actions: [{ queue: "host" }] },
      ],
    },
    changed: {
      rules: [
        { name: "first", table: "root", actions: [{ table: "tunnels" }] },
        { name: "last", table: "inside", actions: ["drop"] },
      ],
    },
  },
  "frames that a queue gets a copy of, where others only pass": {
    both: {
      queues: [{ name: "copies" }, { name: "rest" }],
      flows: [{ name: "rest", queue: "rest", priority: 4, specs: [{ eth: {} }] }],
    },
    old: {
      flows: [{ name: "copy", queue: "copies", priority: 1, flags: ["dont_trap"], specs: [{ udp: { dst_port: 53 } }] }],
    },
    changed: { flows: [{ name: "same", queue: "rest", priority: 2, specs: [{ eth: {} }] }] },
  },
  "rules about the number of a queue, which another queue gets": {
    both: {
      tables: [{ name: "sends", domain: "nic_tx", level: 0 }],
      rules: [{ name: "first queue", table: "sends", match: { "misc.source_sqn": 1 }, actions: ["drop"] }],
    },
    old: { queues: [{ name: "one" }, { name: "two" }] },
    changed: { queues: [{ name: "two" }, { name: "one" }] },
  },
  "rules about a range of numbers of queues, out of which a queue comes": {
    both: {
      tables: [{ name: "sends", domain: "nic_tx", level: 0 }],
      rules: [{ name: "first queue", table: "sends", match: { "misc.source_sqn": "0-1" }, actions: ["drop"] }],
    },
    old: { queues: [{ name: "one" }, { name: "two" }] },
    changed: { queues: [{ name: "two" }, { name: "one" }] },
  },
  "rules that change places around the one where frames come back": {
    both: {
      queues: [{ name: "a" }, { name: "b" }],
      tables: [
        { name: "root", level: 0 },
        { name: "more", level: 1 },
      ],
      rules: [
        { name: "in", table: "root", priority: 0, match: { "outer.udp_dport": 1 }, actions: [{ table: "more" }] },
        { name: "back", table: "more", actions: [{ table: "root", priority: 2 }] },
      ],
    },
    old: { rules: inRoot("a", "b") },
    changed: { rules: inRoot("b", "a") },
  },
  "frames of the queue that had a flow for itself, which passed over its own": {
    both: {
      queues: [{ name: "a" }, ...["b", "rest"].map((name) => ({ name, state: "rtr", buffers: 4 }))],
      tables: [{ name: "root", level: 0 }],
      rules: [{ name: "wire", table: "root", match: { "misc.source_port": "uplink" }, actions: ["drop"] }],
      flows: [{ name: "rest", queue: "rest", priority: 2, specs: [{ eth: {} }] }],
    },
    old: { flows: [droppedBy("a")] },
    changed: { flows: [droppedBy("a"), droppedBy("b")] },
  },
};

/** Rules of equal matches, of which the first one takes the frame. */
function inRoot(first: string, second: string): Section {
  const match = { "outer.udp_dport": 1 };
  return [
    { name: "one", table: "root", priority: 1, match, actions: [{ queue: first }] },
    { name: "two", table: "root", priority: 2, match, actions: [{ queue: second }] },
  ];
}

function droppedBy(queue: string): Section[number] {
  return { name: `of ${queue}`, queue, priority: 1, specs: [{ eth: {} }, "drop"] };
}

function scenarioOf(both: World, own: World): object {
  const of = (section: Exclude<keyof World, "device">): Section => [...(both[section] ?? []), ...(own[section] ?? [])];
  return {
    flowsteer: 1,
    device: both.device ?? {},
    queues: of("queues"),
    tables: of("tables"),
    rules: of("rules"),
    flows: of("flows"),
  };
}

test("packets that queue pairs make are not shown, and not left out", async () => {
  const connected = ["c", "d"].map((name) => ({ name, type: "rc", peer: name === "c" ? "d" : "c", buffers: 4 }));
  const scenario = (action: unknown): object => ({
    flowsteer: 1,
    queues: [...connected, { name: "host" }],
    tables: [{ name: "switch", domain: "fdb", level: 0 }],
    rules: [{ name: "of c", table: "switch", match: { "misc.source_sqn": 1 }, actions: [action] }],
  });
  const [a, b] = [await loadScenario(scenario("drop")), await loadScenario(scenario({ vport: 0 }))];
  const { equal, changes } = await difference(a.device, b.device);
  expect({ equal, changes }).toMatchObject({ equal: false, changes: [{ effect: "unknown" }] });
  expect(await witness(a.device, { kind: "rule", name: "of c" })).toMatchObject({ status: "unknown" });
  expect(await region(a.device, { kind: "rule", name: "of c" })).toMatchObject({ parts: [], complete: false });
});

test.each(Object.entries(PAIRS))("%s", async (_, { both, old, changed, options }) => {
  const [a, b] = [await loadScenario(scenarioOf(both, old)), await loadScenario(scenarioOf(both, changed))];
  const { equal, groups, changes } = await difference(a.device, b.device, options);
  expect(equal, JSON.stringify(changes)).toBe(false);
  expect(groups.length, JSON.stringify(changes)).toBeGreaterThan(0);
});
