/** Scenarios, written as dumps and read again: frames end in the same way. */
import { expect, test } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import { createDevice } from "../../../src/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";
import { behaviourOf } from "../support/behaviour.js";
import { nearFrame, randomRules } from "../support/randomRules.js";

const FRAMES = 40;
/** Queues of the import, which has their numbers, and those of the scenario. */
const NAMES: Readonly<Record<string, string>> = { "qp:qp 0x1": "qp:a", "qp:qp 0x2": "qp:b", "qp:qp 0x3": "qp:c" };

test("rules survive the way to a dump and back", { timeout: 600_000 }, async () => {
  const random = new Random(seedFor("dump round trip"));
  let [kept, delivered] = [0, 0];
  for (let round = 0; round < rounds(200); round++) {
    const { flows: _flows, ...drawn } = randomRules(random);
    const lacking = exportRules(drawn, { format: "dump", lenient: true }).findings.map(({ name }) => name);
    const rules = (drawn.rules ?? []).filter(({ name }) => !lacking.some((one) => one?.startsWith(name)));
    const scenario: Scenario = { ...drawn, rules };
    const { text, findings } = exportRules(scenario, { format: "dump" });
    expect(findings).toEqual([]);
    const imported = importRules(text ?? "");
    expect(imported.findings).toEqual([]);
    kept += rules.length;
    const [first, second] = [await loadScenario(scenario), await loadScenario(imported.scenario ?? "")];
    for (let n = 0; n < FRAMES; n++) {
      const frame = nearFrame(random);
      const expected = behaviourOf(first.device, frame);
      if (expected.startsWith('["deliver"')) delivered++;
      expect(
        behaviourOf(second.device, frame, (name) => NAMES[name] ?? name),
        `${JSON.stringify(scenario)}\n${text ?? ""}`,
      ).toBe(expected);
    }
  }
  expect(kept).toBeGreaterThan(0);
  expect(delivered).toBeGreaterThan(0);
});

const SWITCH: Scenario = {
  flowsteer: 1,
  device: { name: "dev0", vports: 2 },
  counters: [{ name: "bulk", flow_counter_bulk_log_size: 3 }, { name: "one" }],
  tables: [
    { name: "root", domain: "fdb", level: 0 },
    { name: "next", domain: "fdb", level: 1 },
  ],
  matchers: [{ name: "vm", table: "next", priority: 2, mask: { "misc.source_port": "full" } }],
  rules: [
    { name: "all", table: "root", actions: [{ table: "next" }] },
    {
      name: "from 1",
      matcher: "vm",
      match: { "misc.source_port": 1 },
      actions: [{ count: "bulk", offset: 2 }, { count: "one" }, { push_vlan: { vid: 5 } }, { vport: "uplink" }],
    },
  ],
};

function group(digits: string): string {
  return digits.padEnd(128, "0");
}

test("the records are those of mlx5dv_dump_dr_domain", async () => {
  const { text } = exportRules(SWITCH, { format: "dump" });
  const device = await createDevice({ name: "dev0", vports: 2 });
  const domain = dv.mlx5dv_dr_domain_create(ibv_open_device(device), dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
  let dumped = "";
  dv.mlx5dv_dump_dr_domain((part) => void (dumped += part), domain);
  const columns = (line: string): number => line.split(",").length;
  const before = (lines: string): string[] => lines.split("\n").filter((line) => /^300/.test(line));
  expect(before(text ?? "").map(columns)).toEqual(before(dumped).map(columns));
  expect(text?.split("\n").filter((line) => /^3[1-4]|^43/.test(line))).toEqual([
    "3100,0x1000,0x10,4,0",
    "3200,0x100001,0x1000,0",
    "3205,0x100001,,,,,,,",
    "3300,0x20000001,0x100001",
    "4300,0x20000001,,,,,,,",
    "3405,0x10000000,0x20000001,0x1001,0x1001",
    "3100,0x1001,0x10,4,1",
    "3101,0x1001,0x1001",
    "3102,0x1001,0x1001",
    "3200,0x100000,0x1001,2",
    `3205,0x100000,,,${group("000000000000ffff")},,,,`,
    "3300,0x20000000,0x100000",
    `4300,0x20000000,,,${group("0000000000000100")},,,,`,
    // Counters of the bulk are 1 to 8.
    "3406,0x10000001,0x20000000,0x3",
    "3406,0x10000002,0x20000000,0x9",
    "3412,0x10000003,0x20000000,0x81000005",
    "3408,0x10000004,0x20000000,0xffff",
  ]);
});

test("what a dump does not have is refused with the rule", () => {
  const { text, findings } = exportRules(
    {
      flowsteer: 1,
      queues: [{ name: "q" }],
      tables: [{ name: "t", level: 1 }],
      rules: [{ name: "change", table: "t", actions: [{ modify: [{ set: "outer.ip_dscp", to: 4 }] }, { queue: "q" }] }],
      flows: [{ name: "verbs", queue: "q", specs: [] }],
    },
    { format: "dump" },
  );
  expect(text).toBeNull();
  expect(findings.map(({ path, name }) => [path, name])).toEqual([
    ["flows", "verbs"],
    ["rules", "change"],
  ]);
});
