/** Random eSwitches, written as flows of Open vSwitch and read again: frames end in the same way. */
import { expect, test } from "vitest";
import { hexOf } from "../../../src/base/hex.js";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { loadBridge, steer, type PortFrame } from "../../import/ovs/support/steer.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds, setting } from "../../support/tier.js";
import { randomFrame, randomSwitch, withoutCircles } from "../tc/support.js";

const FRAMES = setting("FLOWSTEER_ROUNDTRIPS") === undefined ? 40 : 100;
const FORMAT = { format: "ovs" } as const;
const map = { 1: "uplink", 2: "vf1", 3: "vf2", 4: "vf3" };

test("scenarios survive the way to flows and back", async () => {
  const random = new Random(seedFor("ovs round trip"));
  let [rules, arrived] = [0, 0];
  for (let round = 0; round < rounds(100, "FLOWSTEER_ROUNDTRIPS"); round++) {
    const scenario = withoutCircles(randomSwitch(random));
    // Rules that flows cannot express are left out of both sides.
    const left = new Set(exportRules(scenario, { ...FORMAT, lenient: true }).findings.map(({ name }) => name));
    const kept = { ...scenario, rules: (scenario.rules ?? []).filter(({ name }) => !left.has(name)) };
    rules += kept.rules.length;
    const { text, findings } = exportRules(kept, FORMAT);
    if (text === null) throw new Error(JSON.stringify(findings));
    const again = importRules(text, { ...FORMAT, map });
    if (again.scenario === null) throw new Error(`${JSON.stringify(again.findings)}\n${text}`);
    const [first, second] = [await loadBridge(kept), await loadBridge(again.scenario)];
    for (let n = 0; n < FRAMES; n++) {
      const frame: PortFrame = [random.pick(["1", "2", "3", "4"]), hexOf(randomFrame(random))];
      const expected = steer(first, frame);
      arrived += expected.length;
      expect(steer(second, frame), `${frame.join(" ")}\n${JSON.stringify(kept)}\n${text}`).toEqual(expected);
    }
  }
  expect(rules).toBeGreaterThan(0);
  checkReached(() => expect(arrived).toBeGreaterThan(0));
});
