/**
 * Rules without a matcher, in exports. A table looks those of a priority up in their order, so the mask that was
 * there first does not draw a later rule forwards.
 */
import { expect, test } from "vitest";
import { exportRules } from "../../src/export/index.js";
import { importRules } from "../../src/import/index.js";
import { loadScenario, type Scenario, type ScenarioRule } from "../../src/scenario/index.js";
import { Switch } from "../import/tc/support/steer.js";
import { behaviourOf } from "./support/behaviour.js";
import { runProgram } from "./support/runProgram.js";

const FRAME = Uint8Array.from(
  "02000000000102000000010186dd6000000000083b0920010db800000000000000000000000220010db80000000000000000000000010000000000000000"
    .match(/../g)!
    .map((digits) => parseInt(digits, 16)),
);
const LEVELS = [0, 1];
/** The third rule has the mask of the first, and the second takes its frame. */
const MATCHES = [{ "outer.ipv6_dst": "2001:db8::2" }, {}, { "outer.ipv6_dst": "2001:db8::1" }];

/** Rules of a function at a level, which tag what they drop with their number. */
function tagging(level: number): Scenario {
  const jump: ScenarioRule[] = level === 0 ? [] : [{ name: "jump", table: "t0", actions: [{ table: "t1" }] }];
  const rules = MATCHES.map((match, n) => ({
    name: `rule ${n + 1}`,
    table: `t${level}`,
    priority: 2,
    match,
    actions: [{ tag: n + 1 }, "drop" as const],
  }));
  const tables = [...new Set([0, level])].map((at) => ({ name: `t${at}`, level: at }));
  return { flowsteer: 1, tables, rules: [...jump, ...rules] };
}

/** The same in the eSwitch, where each rule has a function of its own. */
function switching(level: number): Scenario {
  const { tables = [], rules = [], ...rest } = tagging(level);
  return {
    ...rest,
    device: { vports: 3 },
    tables: tables.map((table) => ({ ...table, domain: "fdb" as const })),
    rules: rules.map((rule) =>
      rule.name === "jump" ? rule : { ...rule, actions: [{ vport: Number(rule.name.slice(5)) }] },
    ),
  };
}

const textOf = (scenario: Scenario, format: "typescript" | "dump" | "testpmd" | "tc" | "ovs"): string => {
  const { text, findings } = exportRules(scenario, { format });
  expect(findings).toEqual([]);
  return text ?? "";
};

test.each(LEVELS)("the scenario itself: the second rule of level %i wins", async (level) => {
  expect(behaviourOf((await loadScenario(tagging(level))).device, FRAME)).toBe('["drop","drop_action",2,[],[]]');
  expect((await Switch.of(switching(level))).names(0, FRAME)).toEqual(["qp:vf2"]);
});

test.each(LEVELS)("programs, level %i", async (level) => {
  const { device } = await runProgram(textOf(tagging(level), "typescript"));
  expect(behaviourOf(device, FRAME)).toBe('["drop","drop_action",2,[],[]]');
});

test.each(["dump", "testpmd"] as const)("%s", async (format) => {
  for (const level of LEVELS) {
    const { scenario } = importRules(textOf(tagging(level), format));
    const { device } = await loadScenario(scenario ?? "");
    expect(behaviourOf(device, FRAME), `level ${level}`).toBe('["drop","drop_action",2,[],[]]');
  }
});

test.each([
  ["tc", { eth0: "uplink", eth0_0: "vf1", eth0_1: "vf2", eth0_2: "vf3" }],
  ["ovs", { 1: "uplink", 2: "vf1", 3: "vf2", 4: "vf3" }],
  ["testpmd", { port0: "uplink", port1: "vf1", port2: "vf2", port3: "vf3" }],
] as const)("%s, of an eSwitch", async (format, map) => {
  for (const level of LEVELS) {
    const { scenario } = importRules(textOf(switching(level), format), { format, map });
    const again = await Switch.of({ ...(scenario as Scenario), device: { vports: 3 } });
    expect(again.names(0, FRAME), `level ${level}`).toEqual(["qp:vf2"]);
  }
});
