/** Headers that are asked for without a value: device bytes have a rule for each value of a bit of them. */
import { expect, test } from "vitest";
import { exportRules } from "../../src/export/index.js";
import { importRules } from "../../src/import/index.js";
import { loadScenario, type Scenario } from "../../src/scenario/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";
import { behaviourOf } from "./support/behaviour.js";
import { nearFrame } from "./support/randomRules.js";

test.each([
  ["eth / ipv4 / udp", 2],
  ["eth / udp", 2],
  ["eth / vlan / ipv4 / tcp", 4],
  // The port asks for the header already.
  ["eth / ipv4 / udp dst is 53", 1],
  ["eth / ipv4 version_ihl spec 0x40 version_ihl mask 0x40 / udp dst is 53", 1],
])("%s: %i rules", async (pattern, count) => {
  const random = new Random(seedFor(pattern));
  const actions = "actions queue index 1 / end";
  const text = ["group 0", "group 1"].map(
    (group, n) =>
      `flow create 0 ingress ${group} pattern ${n === 0 ? "eth" : pattern} / end ${n === 0 ? "actions jump group 1 / end" : actions}`,
  );
  const { scenario } = importRules(text.join("\n"), { format: "testpmd", driver: "none" });
  for (const format of ["c", "typescript"] as const) {
    expect(exportRules(scenario as Scenario, { format }).findings).toEqual([]);
  }
  const back = importRules(exportRules(scenario as Scenario, { format: "dump" }).text ?? "").scenario as Scenario;
  expect(back.rules).toHaveLength(count + 1);
  // A dump has no names of queues.
  const named = JSON.parse(JSON.stringify(back).replaceAll(/qp 0x\w+/g, "queue 1")) as Scenario;
  const [one, other] = [await loadScenario(scenario as Scenario), await loadScenario(named)];
  const names = (of: string): string => of.replaceAll(/0x[0-9a-f]+|port 0 flow \d|nic_rx \w+ \d|nic_rx root/g, "");
  for (let n = 0; n < 200; n++) {
    const frame = nearFrame(random);
    expect(names(behaviourOf(other.device, frame))).toBe(names(behaviourOf(one.device, frame)));
  }
});
