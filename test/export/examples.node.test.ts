/** The devices of the examples, written as scenarios: these meet what the examples expect. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scenarioOf } from "../../src/export/index.js";
import { loadScenario, type LoadedScenario } from "../../src/scenario/index.js";
import { sampleOf } from "../support/tier.js";

const folder = new URL("../../examples/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));

/** What a scenario of a device does not get, by example. */
const FINDINGS: Readonly<Record<string, readonly string[]>> = {
  "flows-device.json": [
    "deviceFlows: it leads to a flow table of device commands, which is not exported",
    "flowEntries: flow tables of device commands and their entries are not exported",
  ],
};
/** Frames that name an action, whose name a device does not have; messages of queues that no rule leads to. */
const NAMED = ["state-meter.json", "messages.json"];

const namesOf = ({ hitRules }: LoadedScenario): string[] => hitRules.map((rule) => rule.name).sort();

test.each(sampleOf(names))("%s", async (name) => {
  const original = await loadScenario(readFileSync(new URL(name, folder), "utf8"));
  const { device, scenario } = original;
  const { scenario: written, findings } = await scenarioOf(device, { keys: true });
  expect([...new Set(findings.map(({ path, reason }) => `${path}: ${reason}`))]).toEqual(FINDINGS[name] ?? []);
  const loaded = await loadScenario(written);
  if (findings.length === 0) expect(namesOf(loaded)).toEqual(namesOf(original));
  if (findings.length > 0 || scenario.frames === undefined || NAMED.includes(name)) return;
  const { frames, expect: expected = {} } = scenario;
  const again = await loadScenario({ ...written, frames, expect: expected });
  again.run();
  expect(again.failures()).toEqual([]);
});
