/** Frames that arrays split: each branch has a path, and both devices treat frames alike whose branches they treat alike. */
import { expect, test } from "vitest";
import { difference } from "../../../src/explain/index.js";
import { importRules } from "../../../src/import/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

type Rule = NonNullable<Scenario["rules"]>[number];

const scenario = (rules: readonly Rule[]): Scenario => ({
  flowsteer: 1,
  queues: [{ name: "a" }, { name: "b" }, { name: "copies" }],
  counters: [{ name: "seen" }],
  tables: [
    { name: "root", level: 0 },
    { name: "pass", level: 1 },
    { name: "t1", level: 2 },
    { name: "t2", level: 2 },
  ],
  rules: [
    ...rules,
    { name: "pass on", table: "pass", match: {}, actions: [{ table: "t1" }] },
    { name: "web", table: "t1", match: { "outer.tcp_dport": 80 }, actions: [{ queue: "a" }] },
    { name: "seen", table: "t2", match: {}, actions: [{ count: "seen" }, { queue: "copies" }] },
  ],
});
const split = (
  prefix: string,
  members: NonNullable<Extract<NonNullable<Rule["actions"]>[number], { array?: unknown }>["array"]>,
): Rule => ({
  name: prefix,
  table: "root",
  match: { "outer.ipv4_dst": prefix },
  actions: [{ array: members }],
});
const BOTH = [{ table: "t1" }, { table: "t2" }] as const;
const WHOLE = [split("10.0.0.0/8", [...BOTH])];

test.each<[string, Rule[], boolean]>([
  ["a prefix in halves", [split("10.0.0.0/9", [...BOTH]), split("10.128.0.0/9", [...BOTH])], true],
  ["a table that one branch passes", [split("10.0.0.0/8", [{ table: "pass" }, { table: "t2" }])], true],
  ["a prefix of which a half is lost", [split("10.0.0.0/9", [...BOTH])], false],
  ["a branch that takes another path", [split("10.0.0.0/8", [{ queue: "b" }, { table: "t2" }])], false],
  ["one branch for two", [{ ...split("10.0.0.0/8", []), actions: [{ table: "t1" }] }], false],
])("%s", async (_, changed, isEqual) => {
  const [a, b] = await Promise.all([WHOLE, changed].map((rules) => loadScenario(scenario(rules))));
  const { equal, groups, changes } = await difference(a!.device, b!.device);
  expect(changes.filter(({ effect }) => effect === "unknown")).toEqual([]);
  expect(equal).toBe(isEqual);
  expect(groups.length > 0).toBe(!isEqual);
});

test("a meter that only its table names", async () => {
  const [first, second] = await Promise.all(
    ["prio 1", "prio 2"].map(async (order) => {
      const police = "police rate 1mbit burst 10k conform-exceed drop/pipe";
      const text = `tc filter add dev eth0 ingress protocol ip ${order} flower ip_proto tcp action ${police} action drop\n`;
      const { scenario } = importRules([{ file: "filters", text }], {});
      return (await loadScenario(scenario!)).device;
    }),
  );
  expect((await difference(first!, second!)).equal).toBe(true);
});

test("a header change that moves before the split shows in what the other branch gets", async () => {
  const [first, second] = await Promise.all(
    ["output:2,dec_ttl,output:3", "dec_ttl,output:3,output:2"].map(async (actions) => {
      const text = `priority=5,in_port=1,ip actions=${actions}\n`;
      const { scenario } = importRules([{ file: "flows", text }], { map: { 1: "uplink", 2: "vf1", 3: "vf2" } });
      return (await loadScenario(scenario!)).device;
    }),
  );
  const { groups } = await difference(first!, second!);
  expect(groups.map(({ kinds }) => kinds)).toContainEqual(["bytes"]);
});
