/** Rules that the driver makes are not exported, nor what they alone lead to; the rules of the text are. */
import { expect, test } from "vitest";
import { EXPORT_FORMATS, exportRules } from "../../src/export/index.js";
import { importRules } from "../../src/import/index.js";
import { parseScenario, type Scenario } from "../../src/scenario/index.js";

const FLOWS = [
  "flow create 0 ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 1 / end",
  "flow create 0 ingress pattern eth / ipv4 / end actions rss queues 2 3 end / end",
].join("\n");

test("a scenario without them is exported", () => {
  const { scenario } = importRules(FLOWS);
  const names = scenario?.rules?.map(({ name }) => name) ?? [];
  expect(names.filter((name) => name.endsWith(" receives"))).toEqual(["driver: port 0 receives"]);
  const { text, findings } = exportRules(scenario as Scenario, { format: "testpmd" });
  expect(findings).toEqual([]);
  const lines = text?.trim().split("\n") ?? [];
  // RSS over addresses has a rule for each version of IP, and one for the rest.
  expect(lines.filter((line) => line.includes("queues 2 3 end"))).not.toEqual([]);
  expect(lines.filter((line) => line.includes("queues 0 1"))).toEqual([]);
});

test("what the driver's rule alone needs goes with it, in each format of rules", () => {
  const one = FLOWS.split("\n")[0] ?? "";
  const { scenario } = importRules(one);
  expect(parseScenario(scenario as Scenario).tirs?.length).toBeGreaterThan(0);
  for (const format of EXPORT_FORMATS) {
    if (["tc", "ovs", "dot", "mermaid", "svg"].includes(format)) continue;
    const { text, findings } = exportRules(scenario as Scenario, { format });
    expect(findings, format).toEqual([]);
    expect(text, format).not.toContain("driver: ");
  }
  expect(exportRules(scenario as Scenario, { format: "dot" }).text).toContain("driver: port 0 receives");
});
