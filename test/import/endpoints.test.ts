/** Functions and ports that no device has: each importer refuses them with a reason. */
import { expect, test } from "vitest";
import { importRules } from "../../src/import/index.js";
import { loadScenario } from "../../src/scenario/index.js";

const DUMP = ["3000,0x1,2,0x0,0,FLOWSTEER,mlx5_0,0,0,0,0,1", "3003,0x1,300,0x7", "3100,0x2,0x1,2,1"].join("\n");

test.each([
  ["tc", "tc filter add dev pf0vf300 ingress protocol ip prio 1 flower skip_sw action drop", "pf0vf300"],
  ["dump", DUMP, "3003,0x1,300,0x7"],
])("%s", async (_format, text, named) => {
  const { scenario, findings } = importRules(text, { lenient: true });
  const finding = findings.find(({ severity }) => severity === "refused");
  expect(finding?.reason).toContain("a device has 255 VFs and 255 ports at most");
  expect(finding?.text).toContain(named);
  await loadScenario(scenario!);
});
