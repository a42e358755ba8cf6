/** The devices of the examples, written as scenarios: these meet what the examples expect. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scenarioOf } from "../../src/export/index.js";
import { loadScenario, type LoadedScenario } from "../../src/scenario/index.js";

const folder = new URL("../../examples/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));

const DEVICE_FLOWS = "flows: flows in device bytes and entries of flow tables are not exported";
const ESP_ACTIONS = "flows: keys and sequence numbers of ESP actions are not exported";
/** What a scenario of a device does not get, by example. */
const FINDINGS: Readonly<Record<string, readonly string[]>> = {
  "flows-device.json": [DEVICE_FLOWS],
  "flows-esp.json": [ESP_ACTIONS],
  "flows-strongswan.json": [ESP_ACTIONS],
  "messages.json": [DEVICE_FLOWS],
};
/** Its frames name an action, whose name a device does not have. */
const NAMES_ACTIONS = "state-meter.json";

const namesOf = ({ hitRules }: LoadedScenario): string[] => hitRules.map((rule) => rule.name).sort();

test.each(names)("%s", async (name) => {
  const original = await loadScenario(readFileSync(new URL(name, folder), "utf8"));
  const { device, scenario } = original;
  const { scenario: written, findings } = await scenarioOf(device);
  expect([...new Set(findings.map(({ path, reason }) => `${path}: ${reason}`))]).toEqual(FINDINGS[name] ?? []);
  const loaded = await loadScenario(written);
  if (findings.length === 0) expect(namesOf(loaded)).toEqual(namesOf(original));
  if (findings.length > 0 || scenario.frames === undefined || name === NAMES_ACTIONS) return;
  const { frames, expect: expected } = scenario;
  const again = await loadScenario({ ...written, frames, ...(expected === undefined ? {} : { expect: expected }) });
  again.run();
  expect(again.failures()).toEqual([]);
});
