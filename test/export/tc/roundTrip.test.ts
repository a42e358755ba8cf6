/** Random eSwitches, written as filters of tc and read again: frames end in the same way. */
import { expect, test } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { imported, Switch } from "../../import/tc/support/steer.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds, setting } from "../../support/tier.js";
import { randomFrame, randomSwitch, withoutCircles } from "./support.js";

const FRAMES = setting("FLOWSTEER_ROUNDTRIPS") === undefined ? 40 : 100;
const PORTS = { eth0: "uplink", eth0_0: "vf1", eth0_1: "vf2", eth0_2: "vf3", pf0hpf: "pf" };

test("scenarios survive the way to tc and back", async () => {
  const random = new Random(seedFor("tc round trip"));
  let arrived = 0;
  for (let round = 0; round < rounds(150, "FLOWSTEER_ROUNDTRIPS"); round++) {
    const scenario = withoutCircles(randomSwitch(random));
    const exported = exportRules(scenario, { format: "tc", lenient: true });
    // What was not written is not compared.
    const left = new Set(exported.findings.map(({ name }) => name));
    const kept = { ...scenario, rules: (scenario.rules ?? []).filter(({ name }) => !left.has(name)) };
    const { text, findings } = exportRules(kept, { format: "tc" });
    if (text === null) throw new Error(JSON.stringify(findings));
    const back = text.trim() === "" ? { flowsteer: 1 as const } : imported(text, { map: PORTS });
    const [first, second] = [await Switch.of(kept), await Switch.of({ ...back, device: { vports: 3 } })];
    for (let n = 0; n < FRAMES; n++) {
      const frame = randomFrame(random);
      const from = random.below(4);
      const expected = sorted(first.steer(from, frame));
      arrived += expected.length;
      expect(sorted(second.steer(from, frame)), `${JSON.stringify(kept)}\n${text}`).toEqual(expected);
    }
  }
  checkReached(() => expect(arrived).toBeGreaterThan(0));
});

/** Members of an array may be told in another order. */
function sorted(list: readonly { name: string; hex: string }[]): string[] {
  return list.map(({ name, hex }) => `${name} ${hex}`).sort();
}

test("what tc cannot say is refused by name", () => {
  const rule = (match: Record<string, string | number>, actions: object[] | string[]): object => ({
    flowsteer: 1,
    device: { vports: 1 },
    tables: [{ name: "root", domain: "fdb", level: 0 }],
    rules: [{ name: "r", table: "root", match, actions }],
  });
  const reasons = (scenario: object): string[] =>
    exportRules(scenario as never, { format: "tc" }).findings.map(({ path, reason }) => `${path}: ${reason}`);
  expect(reasons(rule({ "misc.vxlan_vni": 5 }, ["drop"]))).toEqual([
    "rules[0]: tc filters have no key for misc.vxlan_vni",
  ]);
  expect(reasons(rule({ "misc.source_port": 0 }, ["drop"]))).toEqual([
    "rules[0]: tc does not filter what the PF sends",
  ]);
  expect(reasons(rule({}, [{ modify: [{ set: "outer.ipv4_dst", to: "10.0.0.1" }] }]))).toEqual([
    "rules[0]: pedit changes outer.ipv4_dst of all frames: the rule does not ask for its IP version",
  ]);
  expect(
    reasons({
      flowsteer: 1,
      queues: [{ name: "q" }],
      tables: [{ name: "t", level: 0 }],
      rules: [{ name: "r", table: "t" }],
    }),
  ).toEqual(["rules[0]: filters of tc are for the eSwitch: domain fdb"]);
});
