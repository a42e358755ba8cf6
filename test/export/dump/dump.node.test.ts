/** Scenarios as steering dumps: the text of the device that a program makes, and equal behaviour when imported. */
import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";
import { behaviourOf } from "../support/behaviour.js";
import { nearFrame, randomRules } from "../support/randomRules.js";
import { runProgram } from "../support/runProgram.js";

const FRAMES = 60;
const EXAMPLES = new URL("../../../examples/", import.meta.url);

/** The random rules that a dump holds: without flows and header changes. */
function heldRules(random: Random): Scenario {
  const { flows: _flows, flowCounters: _counters, rules = [], ...rest } = randomRules(random);
  const holds = (action: unknown): boolean => typeof action === "string" || !("modify" in (action as object));
  return { ...rest, rules: rules.map((rule) => ({ ...rule, actions: (rule.actions ?? []).filter(holds) })) };
}

/** Queues of the import, named by their number, as the scenario names them. */
function queueNames({ queues = [] }: Scenario): (name: string) => string {
  const names = new Map(queues.map(({ name }, n) => [`qp:qp 0x${(n + 1).toString(16)}`, `qp:${name}`]));
  return (name) => names.get(name) ?? name;
}

it("is what the device of the exported program dumps", async () => {
  const random = new Random(seedFor("dumps of programs"));
  for (let round = 0; round < rounds(100); round++) {
    const scenario = heldRules(random);
    const program = exportRules(scenario, { format: "typescript" }).text ?? "";
    const made = await runProgram(program);
    let expected = "";
    dv.mlx5dv_dump_dr_domain((part: string) => (expected += part), made["nic_rx"] as never);
    const { text, findings } = exportRules(scenario, { format: "dump" });
    expect(findings).toEqual([]);
    expect(text, JSON.stringify(scenario)).toBe(expected);
  }
});

it("is imported as a device that treats frames as before", async () => {
  const random = new Random(seedFor("exported dumps"));
  let delivered = 0;
  for (let round = 0; round < rounds(200); round++) {
    const scenario = heldRules(random);
    const imported = importRules(exportRules(scenario, { format: "dump" }).text ?? "");
    expect(imported.findings).toEqual([]);
    const { device: again } = await loadScenario(imported.scenario ?? "");
    const { device } = await loadScenario(scenario);
    for (let n = 0; n < FRAMES; n++) {
      const frame = nearFrame(random);
      const expected = behaviourOf(device, frame);
      expect(behaviourOf(again, frame, queueNames(scenario)), JSON.stringify(scenario)).toBe(expected);
      if (expected.startsWith('["deliver"')) delivered++;
    }
  }
  expect(delivered).toBeGreaterThan(rounds(200) * FRAMES * 0.1);
});

it("is imported whole for each example, or says what it lacks", async () => {
  const random = new Random(seedFor("examples as dumps"));
  let whole = 0;
  for (const file of readdirSync(EXAMPLES).filter((name) => name.endsWith(".json"))) {
    const source = readFileSync(new URL(file, EXAMPLES), "utf8");
    const { text, findings } = exportRules(source, { format: "dump", lenient: true });
    if (text === "") continue;
    const imported = importRules(text ?? "");
    expect(imported.findings, file).toEqual([]);
    if (findings.length > 0) continue;
    whole++;
    const scenario = JSON.parse(source) as Scenario;
    const { device } = await loadScenario(source);
    const { device: again } = await loadScenario(imported.scenario ?? "");
    for (let n = 0; n < FRAMES; n++) {
      const frame = nearFrame(random);
      expect(behaviourOf(again, frame, queueNames(scenario)), file).toBe(behaviourOf(device, frame));
    }
  }
  expect(whole).toBeGreaterThan(0);
});

/** A switch whose VFs each receive all their frames. */
function withReceivers(scenario: Scenario): Scenario {
  const functions = [1, 2];
  return {
    ...scenario,
    queues: functions.map((vf) => ({ name: `vf${vf}`, function: vf })),
    tables: [...(scenario.tables ?? []), ...functions.map((vf) => ({ name: `of vf${vf}`, function: vf, level: 0 }))],
    rules: [
      ...(scenario.rules ?? []),
      ...functions.map((vf) => ({ name: `all of vf${vf}`, table: `of vf${vf}`, actions: [{ queue: `vf${vf}` }] })),
    ],
  };
}

it("holds vports, the uplink, VLAN tags and decapsulation of an eSwitch", async () => {
  const scenario: Scenario = {
    flowsteer: 1,
    device: { vports: 2 },
    tables: [
      { name: "root", domain: "fdb", level: 0 },
      { name: "switch", domain: "fdb", level: 1 },
    ],
    rules: [
      { name: "in", table: "root", actions: [{ table: "switch" }] },
      {
        ...{ name: "tunnel", table: "switch", match: { "misc.vxlan_vni": 5 } },
        actions: [{ reformat: { type: "l2_tunnel_to_l2" } }, { vport: 2 }],
      },
      {
        ...{ name: "tag", table: "switch", priority: 1, match: { "outer.ip_protocol": "tcp" } },
        actions: [{ push_vlan: { vid: 3, pcp: 1 } }, { vport: 1 }],
      },
      {
        name: "untag",
        table: "switch",
        priority: 2,
        match: { "outer.cvlan_tag": 1 },
        actions: ["pop_vlan", { port: 1 }],
      },
      { name: "rest", table: "switch", priority: 3, actions: [{ vport: "uplink" }] },
    ],
  };
  const { text, findings } = exportRules(scenario, { format: "dump" });
  expect(findings).toEqual([]);
  const imported = importRules(text ?? "");
  expect(imported.findings).toEqual([]);
  const { device } = await loadScenario(withReceivers(scenario));
  const { device: again } = await loadScenario(withReceivers(imported.scenario as Scenario));
  const random = new Random(seedFor("dumps of a switch"));
  const behaviours = new Set<string>();
  for (let n = 0; n < FRAMES * 4; n++) {
    const frame = nearFrame(random);
    const expected = behaviourOf(device, frame);
    behaviours.add(expected);
    expect(behaviourOf(again, frame)).toBe(expected);
  }
  expect(behaviours.size).toBeGreaterThan(10);
});

it("names what a dump does not hold", () => {
  const { text, findings } = exportRules(
    {
      flowsteer: 1,
      device: { ports: 2 },
      queues: [{ name: "q", port: 2 }],
      tables: [
        { name: "root", level: 0 },
        { name: "next", level: 1 },
      ],
      rules: [
        { name: "jump", table: "root", actions: [{ table: "next" }] },
        {
          ...{ name: "web", table: "next", match: { "outer.tcp_dport": "80-90" } },
          actions: [{ tag: 1 }, { modify: [{ set: "outer.ipv4_dst", to: "10.0.0.1" }] }, { queue: "q" }],
        },
      ],
      flows: [{ name: "all", queue: "q" }],
    },
    { format: "dump" },
  );
  expect(text).toBeNull();
  expect(findings.map(({ path, name }) => [path, name])).toEqual([
    ["device.ports", null],
    ["queues[0].port", "q"],
    ["flows[0]", "all"],
    ["rules[1].actions[1]", "web"],
  ]);
});

it("does not send frames to a table that no rule leads to", async () => {
  const scenario: Scenario = {
    flowsteer: 1,
    queues: [{ name: "q" }],
    tables: [
      { name: "root", level: 0 },
      { name: "lonely", level: 1 },
    ],
    rules: [{ name: "all", table: "lonely", actions: [{ queue: "q" }] }],
  };
  const { scenario: again } = importRules(exportRules(scenario, { format: "dump" }).text ?? "");
  const frame = nearFrame(new Random(1));
  const { device } = await loadScenario(scenario);
  const { device: second } = await loadScenario(again ?? "");
  expect(behaviourOf(second, frame)).toBe(behaviourOf(device, frame));
});
