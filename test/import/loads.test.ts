/** The end of an import: what is written loads, and what no device takes is refused as the element that it comes from. */
import { describe, expect, test } from "vitest";
import { exportRules } from "../../src/export/index.js";
import { importScenario, type ImportResult } from "../../src/import/index.js";
import { changesOf } from "../../src/formats/dump/read/modify.js";
import type { RuleAction } from "../../src/formats/rules/importRule.js";
import { SET, SHIFT_BASE } from "../../src/model/dump/headerChanges.js";
import { loadScenario, type Scenario } from "../../src/scenario/index.js";

const refusals = ({ findings }: ImportResult): string[] =>
  findings
    .filter(({ severity }) => severity === "refused")
    .map(({ file, line, reason }) => `${file}:${line}: ${reason}`);

const TABLES = [
  { name: "root", level: 0 },
  { name: "table", level: 1 },
];

/** A steering dump of flowsteer. */
function dumpOf(scenario: Omit<Scenario, "flowsteer">): string {
  return exportRules({ flowsteer: 1, ...scenario }, { format: "dump" }).text ?? "";
}

const drop = (name: string, match: Record<string, string | number>): NonNullable<Scenario["rules"]>[number] => ({
  name,
  table: "table",
  match,
  actions: ["drop"],
});

describe("what is imported loads", () => {
  test("the same dump twice", async () => {
    const text = dumpOf({ tables: TABLES, rules: [drop("http", { "outer.tcp_dport": 80 })] });
    const result = await importScenario([
      { file: "a", text },
      { file: "b", text },
    ]);
    expect(refusals(result)).toEqual([]);
    expect(result.scenario?.rules).toHaveLength(2);
    await loadScenario(result.scenario as Scenario);
  });

  test("the low word of an address is of the IP version that a rule asks for", async () => {
    const text = dumpOf({
      tables: TABLES,
      rules: [drop("4", { "outer.ip_version": 4, "outer.ipv4_dst": "1.2.3.4" })],
    });
    // The same rule for IPv6: the version is in bits 6 to 3 of byte 18, in the order of a little-endian host.
    const rule = text.slice(text.indexOf("3300,"));
    const ipv6 = rule.replace(/(4300,\w+,\w{36})20/, "$130").replaceAll(/0x[67]/g, "$&0");
    const result = await importScenario(text + ipv6);
    expect(refusals(result)).toEqual([]);
    expect(result.scenario?.rules?.map(({ matcher, match }) => ({ matcher, match }))).toEqual([
      { matcher: "0x5", match: { "outer.ip_version": 4, "outer.ipv4_dst": "1.2.3.4" } },
      { matcher: "0x5 2", match: { "outer.ip_version": 6, "outer.ipv6_dst": "::102:304/::ffff:ffff" } },
    ]);
    const { device } = await loadScenario(result.scenario as Scenario);
    expect(device.metrics().rules).toBe(2);
  });

  test("a header change that sets a part of an address", async () => {
    const word = [SET, 0x40, SHIFT_BASE + 8, 8, 0, 0, 0, 0x17]
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join("");
    const modify = changesOf([word]) as NonNullable<Extract<RuleAction, object>["modify"]>;
    expect(modify).toEqual([{ set: "OUT_SIPV4", to: "0.0.23.0/0.0.255.0" }]);
    const rule = { name: "set", table: "table", actions: [{ modify }, "drop" as const] };
    await loadScenario({ flowsteer: 1, tables: TABLES, rules: [rule] });
  });

  test("a rule that no device takes is refused at its line, and what leads to it", async () => {
    // The recorder of a program on a newer device: 16 is no register.
    const calls = [
      '{"call":"mlx5dv_dr_domain_create","type":0,"returns":"0x1"}',
      '{"call":"mlx5dv_dr_table_create","domain":"0x1","level":1,"returns":"0x2"}',
      '{"call":"mlx5dv_dr_matcher_create","table":"0x2","priority":0,"match_criteria_enable":0,"mask":"","returns":"0x3"}',
      '{"call":"mlx5dv_dr_action_create_modify_header","domain":"0x1","flags":0,"actions":"1fff000000000001","returns":"0x4"}',
      '{"call":"mlx5dv_dr_action_create_drop","returns":"0x5"}',
      '{"call":"mlx5dv_dr_rule_create","matcher":"0x3","value":"","actions":["0x4","0x5"],"returns":"0x6"}',
      '{"call":"mlx5dv_dr_rule_create","matcher":"0x3","value":"","actions":["0x5"],"returns":"0x7"}',
    ];
    const strict = await importScenario(calls.join("\n"));
    expect(strict.scenario).toBeNull();
    expect(refusals(strict)).toEqual([expect.stringContaining("input:6: the device refuses it: actions[0]")]);
    const { scenario } = await importScenario(calls.join("\n"), { lenient: true });
    expect(scenario?.rules?.map(({ name }) => name)).toEqual(["rule 2"]);
    expect(scenario?.notImported).toHaveLength(1);
    await loadScenario(scenario as Scenario);
  });

  test("what a refused object holds is refused, too", async () => {
    const calls = [
      '{"call":"mlx5dv_dr_domain_create","type":1,"returns":"0x1"}',
      '{"call":"mlx5dv_dr_table_create","domain":"0x1","level":4294967295,"returns":"0x2"}',
      '{"call":"mlx5dv_dr_matcher_create","table":"0x2","priority":70000,"match_criteria_enable":0,"mask":"","returns":"0x3"}',
      '{"call":"mlx5dv_dr_action_create_drop","returns":"0x5"}',
      '{"call":"mlx5dv_dr_rule_create","matcher":"0x3","value":"","actions":["0x5"],"returns":"0x7"}',
    ];
    const result = await importScenario(calls.join("\n"), { lenient: true });
    expect(refusals(result).map((text) => text.slice(0, 7))).toEqual(["input:3", "input:5"]);
    await loadScenario(result.scenario as Scenario);
  });
});
