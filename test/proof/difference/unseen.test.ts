/** Changes that no frame shows, with frames that a port loops back to their sender: proved equal. */
import { expect, test } from "vitest";
import { difference } from "../../../src/explain/index.js";
import { loadScenario } from "../../../src/scenario/index.js";

const NOTE = { modify: [{ set: "misc2.metadata_reg_c_0", to: 1 }] };
const DSCP = { modify: [{ set: "outer.ip_dscp", to: 50 }] };

function scenario(actions: readonly unknown[]): object {
  return {
    flowsteer: 1,
    queues: [{ name: "a", buffers: 4 }],
    tables: [{ name: "root", level: 0 }],
    rules: [
      { name: "web", table: "root", priority: 1, match: { "outer.tcp_dport": 80 }, actions },
      { name: "all", table: "root", priority: 2, actions: [{ queue: "a" }] },
    ],
  };
}

test.each<[string, readonly unknown[], readonly unknown[]]>([
  ["a register that nothing reads", [NOTE, { queue: "a" }], [{ queue: "a" }]],
  ["a tag of frames that are dropped", [{ tag: 3 }, "drop"], ["drop"]],
  ["a header of frames that are dropped", [DSCP, "drop"], ["drop"]],
  ["a VLAN tag of frames that are dropped", ["pop_vlan", "drop"], ["drop"]],
  ["another register, and a header of frames that are dropped", [NOTE, DSCP, "drop"], [{ tag: 1 }, "drop"]],
])("%s", async (_, old, changed) => {
  const [a, b] = await Promise.all([old, changed].map((actions) => loadScenario(scenario(actions))));
  const { equal, changes } = await difference(a!.device, b!.device);
  expect({ equal, effects: changes.map(({ effect }) => effect) }).toEqual({ equal: true, effects: ["same"] });
});

test("a counter of frames that are dropped is seen", async () => {
  const counted = { ...scenario([{ count: "c" }, "drop"]), counters: [{ name: "c" }] };
  const [a, b] = [await loadScenario(counted), await loadScenario(scenario(["drop"]))];
  expect((await difference(a.device, b.device)).equal).toBe(false);
});
