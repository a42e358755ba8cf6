/** Scenarios as steering dumps: the text of the device that a program makes, and equal behaviour when imported. */
import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { loadScenario, type Scenario, type ScenarioRuleAction } from "../../../src/scenario/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds } from "../../support/tier.js";
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
  checkReached(() => expect(delivered).toBeGreaterThan(rounds(200) * FRAMES * 0.1));
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
    const scenario = JSON.parse(source) as Scenario;
    // A dump has no receive buffers: its queues accept every frame.
    if (findings.length > 0 || scenario.queues?.some(({ buffers }) => buffers !== undefined) === true) continue;
    whole++;
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
        name: "tunnel",
        table: "switch",
        match: { "misc.vxlan_vni": 5 },
        actions: [{ reformat: { type: "l2_tunnel_to_l2" } }, { vport: 2 }],
      },
      {
        name: "tag",
        table: "switch",
        priority: 1,
        match: { "outer.ip_protocol": "tcp" },
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
          name: "web",
          table: "next",
          match: { "outer.tcp_dport": "80-90" },
          actions: [{ tag: 1 }, { modify: [{ set: "IN_SIPV4", to: 7 }] }, { queue: "q" }],
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

describe("header changes", () => {
  const modify = [
    { set: "outer.dmac", to: "02:00:00:00:00:07" },
    { set: "outer.ip_dscp", to: 9 },
    { set: "OUT_SMAC_47_16", to: "0x0000ab00/0x0000ff00" },
    { add: "OUT_IP_TTL", by: -1 },
    { set: "outer.tcp_dport", to: 8080 },
    { copy: "outer.tcp_sport", into: "misc2.metadata_reg_c_0", bits: 8, fromBit: 4, intoBit: 8 },
    { add: "OUT_TCP_SEQ_NUM", by: 5 },
  ] as NonNullable<Extract<ScenarioRuleAction, object>["modify"]>;
  const match = { "outer.ethertype": "ipv4", "outer.ip_protocol": "tcp" };
  const scenario = (profile: "manual" | "connectx6dx" | "connectx5"): Scenario => ({
    flowsteer: 1,
    device: { profile },
    queues: [{ name: "q" }],
    tables: [
      { name: "root", level: 0 },
      { name: "one", level: 1 },
      { name: "two", level: 2 },
    ],
    rules: [
      { name: "to one", table: "root", actions: [{ table: "one" }] },
      { name: "changes", table: "one", match, actions: [{ modify }, { table: "two" }] },
      { name: "marked", table: "two", match: { "misc2.metadata_reg_c_0": "0x0000/0x0100" }, actions: [{ queue: "q" }] },
    ],
  });

  it("are written once where both IP versions are changed", () => {
    const given = scenario("manual");
    const rules = given.rules?.map((rule) =>
      rule.name === "changes"
        ? { ...rule, match: {}, actions: [{ modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] }, { table: "two" }] }
        : rule,
    );
    const { text } = exportRules({ ...given, rules } as Scenario, { format: "dump" });
    expect(importRules(text ?? "").scenario?.rules?.at(-2)?.actions?.[0]).toEqual({
      modify: [
        { add: "OUT_IP_TTL", by: -1 },
        { add: "OUT_IPV6_HOPLIMIT", by: -1 },
      ],
    });
  });

  it.each(["manual", "connectx6dx"] as const)("come back as they were: %s", async (profile) => {
    const given = scenario(profile);
    const { text, findings } = exportRules(given, { format: "dump" });
    expect(findings).toEqual([]);
    if (profile === "manual") {
      // The program's own device dumps the same.
      const made = await runProgram(exportRules(given, { format: "typescript" }).text ?? "");
      let dumped = "";
      dv.mlx5dv_dump_dr_domain((part: string) => (dumped += part), made["nic_rx"] as never);
      expect(text).toBe(dumped);
    }
    const imported = importRules(text ?? "");
    expect(imported.findings).toEqual([]);
    const { device } = await loadScenario(given);
    const { device: again } = await loadScenario(imported.scenario ?? "");
    const random = new Random(seedFor("header changes in dumps"));
    let changed = 0;
    for (let n = 0; n < 20 * FRAMES; n++) {
      const frame = nearFrame(random);
      const wanted = behaviourOf(device, frame);
      expect(behaviourOf(again, frame, queueNames(given))).toBe(wanted);
      if (wanted.startsWith('["deliver"')) changed++;
    }
    expect(changed).toBeGreaterThan(0);
  });

  it.each([
    ["a port where the rule does not ask for its protocol", "manual", { "outer.ethertype": "ipv4" }, "outer.tcp_dport"],
    ["a TTL where it does not ask for the IP version", "manual", { "outer.ip_protocol": "tcp" }, "OUT_IP_TTL"],
    ["a field inside a tunnel", "connectx6dx", match, "IN_DMAC_47_16"],
    ["a device that keeps no words", "connectx5", match, "outer.dmac"],
  ] as const)("are refused: %s", (_, profile, asked, field) => {
    const given = scenario(profile);
    const to = field === "outer.dmac" ? "02:00:00:00:00:07" : 7;
    const rules = given.rules?.map((rule) =>
      rule.name === "changes"
        ? { ...rule, match: asked, actions: [{ modify: [{ set: field, to }] }, { table: "two" }] }
        : rule,
    );
    const { text, findings } = exportRules({ ...given, rules } as Scenario, { format: "dump", lenient: true });
    expect(findings.map(({ name }) => name)).toEqual(["changes"]);
    expect(findings[0]?.reason).toContain("a dump has header changes in the hardware's words, from ConnectX-6 Dx on");
    expect(text).not.toContain("\n3402,");
  });
});
