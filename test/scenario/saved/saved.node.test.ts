/** Scenarios that go on with a restored device. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { outcomeRecord, restoreScenario, savedScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import { createRule, destroyRule, loadScenario } from "../../../src/scenario/index.js";
import { restoreDevice, snapshotOf } from "../../../src/snapshot/index.js";
import { createDevice } from "../../../src/index.js";
import { everyKey } from "../support/documents.js";

const EXAMPLES = new URL("../../../examples/", import.meta.url);

const documents: [string, string | object][] = [
  ...readdirSync(EXAMPLES)
    .filter((name) => name.endsWith(".json"))
    .map((name): [string, string] => [name, readFileSync(new URL(name, EXAMPLES), "utf8")]),
  ["every key", everyKey()],
];

async function again(loaded: LoadedScenario): Promise<LoadedScenario> {
  const bytes = snapshotOf(loaded.device, { keep: savedScenario(loaded) });
  const { device, kept } = await restoreDevice(bytes);
  return restoreScenario(device, kept);
}

/** What is seen of a scenario from outside. */
function seen(loaded: LoadedScenario): object {
  return {
    rules: loaded.rulesByRank().map((rule) => [rule.name, rule.hits()]),
    counters: [...loaded.counters].map(([name, counter]) => [name, counter.read()]),
    flowCounters: [...loaded.flowCounters].map(([name, counter]) => [name, counter.values()]),
    queues: [...loaded.queues.keys()],
    flows: [...loaded.flows.keys(), ...loaded.flowEntries.keys(), ...loaded.deviceFlows.keys()],
    hostRules: [...loaded.hostRules].map(([name, rule]) => [name, rule.hits()]),
    metrics: loaded.device.metrics(),
  };
}

it.each(documents)("goes on with %s in the middle of its frames", async (_, document) => {
  const loaded = await loadScenario(document, { countHits: true });
  const { frames } = loaded;
  const half = frames.length >> 1;
  loaded.run(frames.slice(0, half));
  const other = await again(loaded);
  expect(seen(other)).toEqual(seen(loaded));
  const rest = frames.slice(half);
  const outcomesOf = (one: LoadedScenario): object[] =>
    one.run(rest).map((outcome, i) => outcomeRecord(i + 1, rest[i] as (typeof rest)[number], outcome));
  expect(outcomesOf(other)).toEqual(outcomesOf(loaded));
  expect(seen(other)).toEqual(seen(loaded));
});

it("changes rules of a restored scenario, which keeps shared actions", async () => {
  const loaded = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "web" }],
    tables: [{ name: "root", level: 0 }],
    actions: [{ name: "mark", tag: 7 }],
    rules: [{ name: "http", table: "root", match: { "outer.tcp_dport": 80 }, actions: [{ action: "mark" }, "drop"] }],
  });
  const other = await again(loaded);
  const actions = [{ action: "mark" }, { queue: "web" }];
  const made = createRule(other, { name: "https", table: "root", match: { "outer.tcp_dport": 443 }, actions });
  expect(made.actions[0]).toBe(other.rules.get("http")?.actions[0]);
  expect(made.matcher).toBe(other.rules.get("http")?.matcher);
  destroyRule(other, "http");
  expect([[...other.rules.keys()], [...loaded.rules.keys()]]).toEqual([["https"], ["http"]]);
});

it("refuses a snapshot without a scenario", async () => {
  const { device, kept } = await restoreDevice(snapshotOf(await createDevice()));
  await expect(restoreScenario(device, kept)).rejects.toMatchObject({ code: "EINVAL", reason: "bad_snapshot" });
});
