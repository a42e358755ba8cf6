/** A loaded scenario that becomes another document is a device that loads this document, and what both have stays. */
import { expect, it } from "vitest";
import {
  createRule,
  destroyRule,
  loadScenario,
  outcomeRecord,
  updateScenario,
  type LoadedScenario,
  type Scenario,
  type ScenarioMatcher,
  type ScenarioRule,
} from "../../../src/scenario/index.js";
import { rounds } from "../../support/tier.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../../assembly/support/core.js";

const BASE: Scenario = {
  flowsteer: 1,
  queues: [{ name: "web" }, { name: "rest" }],
  counters: [{ name: "all" }],
  tables: [
    { name: "root", level: 0 },
    { name: "next", level: 1 },
  ],
  actions: [{ name: "mark", tag: 7 }],
  rules: [
    { name: "on", table: "root", actions: [{ count: "all" }, { table: "next" }] },
    { name: "http", table: "next", match: { "outer.tcp_dport": 80 }, actions: [{ action: "mark" }, { queue: "web" }] },
    { name: "ssh", table: "next", match: { "outer.tcp_dport": 22 }, actions: ["drop"] },
    { name: "low", table: "next", priority: 1, actions: [{ queue: "rest" }] },
  ],
};

/** The document with other rules. */
function withRules(change: (rules: ScenarioRule[]) => ScenarioRule[]): Scenario {
  return { ...BASE, rules: change(structuredClone(BASE.rules as ScenarioRule[])) };
}

/** A TCP frame to this port. */
function tcp(port: number, source = 1): Uint8Array {
  const frame = new Uint8Array(60);
  frame.set([
    2,
    0,
    0,
    0,
    0,
    1,
    2,
    0,
    0,
    0,
    0,
    2,
    8,
    0,
    0x45,
    0,
    0,
    40,
    0,
    0,
    0,
    0,
    64,
    6,
    0,
    0,
    10,
    0,
    0,
    source,
    10,
    0,
    0,
    9,
  ]);
  frame.set([0x9c, 0x40, port >> 8, port & 0xff], 34);
  frame[46] = 0x50;
  return frame;
}

function endsOf(loaded: LoadedScenario, ports: readonly number[]): object[] {
  const frames = ports.flatMap((port) => [1, 2, 3].map((source) => ({ bytes: tcp(port, source) })));
  return loaded.run(frames).map((outcome, i) => {
    const { verdict, to, tag, rules } = outcomeRecord(i, frames[i] as (typeof frames)[number], outcome);
    return { verdict, to, tag, rules };
  });
}

it("keeps what both documents have, with its hits", async () => {
  const loaded = await loadScenario(BASE, { countHits: true });
  endsOf(loaded, [80, 22]);
  const [http, low] = [loaded.rules.get("http"), loaded.rules.get("low")];
  const next = withRules(([on, first, , last]) => [
    on as ScenarioRule,
    { name: "dns", table: "next", match: { "outer.tcp_dport": 53 }, actions: ["drop"] },
    first as ScenarioRule,
    last as ScenarioRule,
  ]);
  expect(await updateScenario(loaded, next)).toEqual({
    created: ["dns"],
    destroyed: ["ssh"],
    kept: ["on", "http", "low"],
  });
  expect([loaded.rules.get("http"), loaded.rules.get("low")]).toEqual([http, low]);
  expect(http?.hits().packets).toBe(3n);
  expect(loaded.counters.get("all")?.read().packets).toBe(6n);
  expect([...loaded.rules.keys()]).toEqual(["on", "dns", "http", "low"]);
  expect(loaded.scenario.rules).toEqual(next.rules);
  expect(endsOf(loaded, [22])[0]).toMatchObject({ to: ["qp:rest"] });
});

it("makes rules again whose order or objects change", async () => {
  const loaded = await loadScenario(BASE);
  const swapped = withRules(([on, http, ssh, low]) => [
    on as ScenarioRule,
    { name: "all tcp", table: "next", match: { "outer.ip_protocol": 6 }, actions: ["drop"] },
    http as ScenarioRule,
    ssh as ScenarioRule,
    low as ScenarioRule,
  ]);
  // The new rule comes before them, so it must be the older one.
  expect(await updateScenario(loaded, swapped)).toMatchObject({
    kept: ["on", "low"],
    created: ["all tcp", "http", "ssh"],
  });
  const marked = { ...BASE, actions: [{ name: "mark", tag: 8 }] };
  expect(await updateScenario(loaded, marked)).toMatchObject({ destroyed: ["all tcp", "http"], created: ["http"] });
  expect(endsOf(loaded, [80])[0]).toMatchObject({ tag: 8 });
  const counted = { ...marked, counters: [{ name: "all", flow_counter_bulk_log_size: 2 }] };
  expect(await updateScenario(loaded, counted)).toMatchObject({ kept: ["http", "ssh", "low"], created: ["on"] });
  const moved = {
    ...counted,
    tables: [
      { name: "root", level: 0 },
      { name: "next", level: 2 },
    ],
  };
  expect(await updateScenario(loaded, moved)).toMatchObject({ kept: [], destroyed: ["on", "http", "ssh", "low"] });
  expect(endsOf(loaded, [80])[0]).toMatchObject({ tag: 8, rules: ["on", "http"] });
});

it("keeps rules that calls have made, as long as their table stays", async () => {
  const loaded = await loadScenario(BASE);
  createRule(loaded, {
    name: "called",
    table: "next",
    match: { "outer.tcp_dport": 23 },
    actions: [{ action: "mark" }, "drop"],
  });
  destroyRule(loaded, "ssh");
  expect(await updateScenario(loaded, BASE)).toMatchObject({ created: ["ssh"], destroyed: [] });
  expect([...loaded.rules.keys()]).toEqual(["on", "http", "ssh", "low", "called"]);
  const other = { name: "called", table: "next", match: { "outer.tcp_dport": 24 }, actions: ["drop" as const] };
  expect(
    await updateScenario(
      loaded,
      withRules((rules) => [...rules, other]),
    ),
  ).toMatchObject({ created: ["called"] });
  expect(endsOf(loaded, [23])[0]).toMatchObject({ rules: ["on", "low"] });
  createRule(loaded, {
    name: "own",
    table: "next",
    match: { "outer.tcp_dport": 25 },
    actions: [{ action: "mark" }, "drop"],
  });
  await updateScenario(loaded, { ...BASE, actions: [{ name: "mark", tag: 9 }] });
  expect(loaded.rules.has("own")).toBe(false);
});

it.each([
  ["no JSON", "{", { reason: "bad_json" }],
  ["an unknown name", { ...BASE, tables: [{ name: "root", level: 0 }] }, { reason: "unknown_name" }],
  ["another section", { ...BASE, queues: [{ name: "web" }] }, { reason: "unknown_name" }],
  [
    "more queues",
    { ...BASE, queues: [...(BASE.queues ?? []), { name: "more" }] },
    { reason: "bad_scenario", path: "queues" },
  ],
  ["another device", { ...BASE, device: { ports: 2 } }, { reason: "bad_scenario", path: "device" }],
])("refuses %s, and changes nothing", async (_, document, refusal) => {
  const loaded = await loadScenario(BASE);
  const rules = [...loaded.rules];
  await expect(updateScenario(loaded, document)).rejects.toMatchObject(refusal);
  expect([...loaded.rules]).toEqual(rules);
  expect(loaded.scenario).toEqual(BASE);
});

const PORTS = [22, 23, 80, 443];
const TABLES = ["root", "next", "last"];
const MATCHERS = ["m root", "m1", "m2"];
const matcher = (name: string): ScenarioMatcher => ({
  name,
  table: name === "m root" ? "root" : "next",
  mask: { "outer.tcp_dport": "full" },
});

it("is the device that loads the document, after any number of changes", { timeout: 600_000 }, async () => {
  const random = new Random(seedFor("updates"));
  const MATCHES = [
    {},
    { "outer.ip_protocol": 6 },
    { "outer.ipv4_src": "10.0.0.1" },
    { "outer.ipv4_src": "10.0.0.2" },
    ...PORTS.map((port) => ({ "outer.tcp_dport": port })),
    { "outer.tcp_dport": "20-30" },
    { "outer.ipv4_src": "10.0.0.1", "outer.tcp_dport": 80 },
  ];
  let number = 0;
  const draw = (): ScenarioRule => {
    const table = random.pick(TABLES);
    const ends = [
      ["drop"],
      [{ queue: "web" }],
      [{ queue: "rest" }],
      [{ action: "mark" }, { queue: "web" }],
      [{ count: "all" }, "drop"],
    ];
    const on = table === "root" ? [[{ table: "next" }]] : table === "next" ? [[{ table: "last" }]] : [];
    const actions = random.pick([...ends, ...on]) as NonNullable<ScenarioRule["actions"]>;
    const name = `r${number++}`;
    if (random.chance(0.2))
      return { name, matcher: random.pick(MATCHERS), match: { "outer.tcp_dport": random.pick(PORTS) }, actions };
    return { name, table, priority: random.below(2), match: random.pick(MATCHES), actions };
  };
  for (let round = 0; round < rounds(60); round++) {
    let document: Scenario = {
      ...BASE,
      tables: TABLES.map((name, level) => ({ name, level })),
      matchers: MATCHERS.map(matcher),
      rules: Array.from({ length: 8 }, draw),
    };
    const loaded = await loadScenario(document);
    for (let step = 0; step < 6; step++) {
      let rules = [...(document.rules ?? [])];
      for (let change = random.below(4); change >= 0; change--) {
        const at = random.below(rules.length + 1);
        const kind = random.below(4);
        if (kind === 0) rules.splice(at, 0, draw());
        else if (kind === 1) rules.splice(at, 1);
        else if (kind === 2) rules = [...rules.slice(at), ...rules.slice(0, at)];
        else if (rules[at] !== undefined) rules[at] = { ...draw(), name: rules[at].name };
      }
      const changes = [
        { actions: [{ name: "mark", tag: random.below(3) }] },
        { counters: [{ name: "all" }, { name: "more" }] },
        { counters: [{ name: "all", flow_counter_bulk_log_size: random.below(2) }] },
        { matchers: random.shuffle(MATCHERS).map(matcher) },
        {},
      ];
      document = { ...document, ...random.pick(changes), rules };
      await updateScenario(loaded, document);
      const fresh = await loadScenario(document);
      expect(endsOf(loaded, PORTS), JSON.stringify(document)).toEqual(endsOf(fresh, PORTS));
      expect(
        loaded
          .rulesByRank()
          .map(({ name }) => name)
          .toSorted(),
      ).toEqual(rules.map(({ name }) => name).toSorted());
    }
  }
});
