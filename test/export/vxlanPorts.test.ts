/** UDP ports of VXLAN that a scenario registers: exports write them, or report that they cannot. */
import { expect, test } from "vitest";
import { exportRules, scenarioOf, type ExportFormat } from "../../src/export/index.js";
import { importRules } from "../../src/import/index.js";
import { loadScenario, type Scenario } from "../../src/scenario/index.js";

const scenario = (vxlanPorts: number[]): Scenario => ({
  flowsteer: 1,
  device: { vports: 1, parser: { vxlanPorts } },
  tables: [{ name: "root", domain: "fdb", level: 0 }],
  rules: [{ name: "one", table: "root", match: { "misc.source_port": "uplink" }, actions: [{ vport: 1 }] }],
});
const refused = (format: ExportFormat, ports: number[]): string[] =>
  exportRules(scenario(ports), { format }).findings.map(({ path }) => path);

test("tc has a VXLAN device for each port, which an import reads", () => {
  const { text, findings } = exportRules(scenario([4789, 8472, 48879]), { format: "tc" });
  expect(findings).toEqual([]);
  expect(text).toContain("ip link add vxlan8472 type vxlan dstport 8472 external\n");
  expect(importRules(text ?? "", { format: "tc" }).scenario?.device?.parser).toEqual({
    vxlanPorts: [4789, 8472, 48879],
  });
  expect(exportRules(scenario([4789]), { format: "tc" }).text).not.toContain("vxlan");
  expect(refused("tc", [8472])).toEqual(["device.parser.vxlanPorts"]);
});

test.each<ExportFormat>(["testpmd", "ovs", "c", "dump"])("%s has none, and says so", (format) => {
  expect(refused(format, [4789, 8472]).filter((path) => path.startsWith("device.parser"))).toHaveLength(1);
  if (format !== "dump") expect(refused(format, [4789])).not.toContain("device.parser.vxlanPorts");
});

test("a program in TypeScript, and the scenario of a device, have them", async () => {
  expect(exportRules(scenario([4789, 8472]), { format: "typescript" }).text).toContain('"vxlanPorts":[4789,8472]');
  for (const ports of [[4789, 8472], [8472], []]) {
    const { device } = await loadScenario(scenario(ports));
    expect((await scenarioOf(device)).scenario.device?.parser).toEqual({ vxlanPorts: ports });
  }
  const { device } = await loadScenario(scenario([4789]));
  expect((await scenarioOf(device)).scenario.device?.parser).toBeUndefined();
});
