/** Damaged dumps: what no device takes is refused by name, and the rest is imported. */
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { loadScenario } from "../../../src/scenario/index.js";

const NOTHING = "0".repeat(128);
/** The outer group: IP version 4 or 6 of a rule whose mask asks for the version and an IPv6 address. */
const outer = (version: string, address: string): string => `${"0".repeat(36)}${version}${"0".repeat(26)}${address}`;
const ASKED = outer("78", "f".repeat(64));

/** A dump of flowsteer of one table of level 1, a matcher and a rule. */
function dump({
  gvmi = "0",
  level = "1",
  priority = "0",
  mask = NOTHING,
  value = NOTHING,
  actions = ["3404,0xa,0x9,0x1"],
}): string {
  return [
    `3000,0x1,0,${gvmi},1,flowsteer,mlx5_0,0,0,0,0,2`,
    "3002,0x1,1,flowsteer,0",
    "3003,0x1,0,0x0,0x0,0x0",
    "3003,0x1,3,0x5,0x0,0x0",
    `3100,0x6,0x1,0,${level}`,
    `3200,0x8,0x6,${priority}`,
    `3205,0x8,${mask},,,,,,`,
    "3300,0x9,0x8",
    `4300,0x9,${value},,,,,,`,
    ...actions,
    "",
  ].join("\n");
}

const imported = (text: string): ReturnType<typeof importRules> =>
  importRules([{ file: "damaged.csv", text }], { lenient: true });

test("the version says whether the last word of an address is IPv4 or IPv6", async () => {
  const word = (version: string, last: string): string => outer(version, `${"0".repeat(56)}${last}`);
  const text = dump({ mask: word("78", "ffffffff"), value: word("30", "00000001") });
  const more = ["3300,0xe,0x8", `4300,0xe,${word("20", "0a000001")},,,,,,`, "3404,0xf,0xe,0x1", ""];
  const { scenario, findings } = imported(text + more.join("\n"));
  expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
  if (scenario === null) throw new Error("a lenient import has a scenario");
  await loadScenario(scenario);
  expect(JSON.stringify(scenario.rules)).toContain('"outer.ip_version":6,"outer.ipv6_');
  expect(JSON.stringify(scenario.rules)).toContain('"outer.ip_version":4,"outer.ipv4_');
});

test.each([
  ["a tag of 32 bits", { actions: ["3407,0xa,0x9,0xffffffff"] }, "the tag of a frame has 24 bits"],
  ["a second end", { actions: ["3403,0xa,0x9", "3404,0xb,0x9,0x1"] }, "another action of it already ends the rule"],
  ["a second tag", { actions: ["3407,0xa,0x9,0x1", "3407,0xb,0x9,0x2"] }, "a frame carries one tag"],
  ["a vport in a NIC domain", { actions: ["3408,0xa,0x9,0x1"] }, "only rules of the domain fdb have it"],
  ["a priority of 20 bits", { priority: "160521" }, "the priority of a matcher is 0 to 65535"],
  ["a negative level", { level: "-1" }, "the level of a table is 0 to 4294967295"],
  [
    "an IPv6 address of IPv4",
    { mask: ASKED, value: outer("20", "0".repeat(63) + "1") },
    "no device accepts its match outer.ip_version: outer.ipv6_src is IPv6",
  ],
])("%s is refused", async (_, parts, reason) => {
  const { scenario, findings } = imported(dump(parts));
  expect(findings.map((one) => one.reason)).toContain(reason);
  await loadScenario(scenario as object);
});

test("queues, TIRs and counters are of the function of their domain", async () => {
  const actions = ["3406,0xb,0x9,0x801000", "3411,0xc,0x9,0x55aa"];
  const { scenario, findings } = imported(dump({ gvmi: "5", actions }));
  expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
  expect(scenario?.tables?.[0]?.function).toBe(3);
  expect(scenario?.counters).toEqual([{ name: "counter 0x801000 of vport 3", function: 3 }]);
  expect(scenario?.queues).toEqual([{ name: "tir 0x55aa of vport 3", function: 3 }]);
  await loadScenario(scenario as object);
});

/** A dump of hardware steering of one table and a matcher. */
const HARDWARE = [
  "4000,0x32c3700,1,mlx5_0,1.0",
  "4100,0x338be70,0x32c3700,4,0,0,1",
  "4200,0x3467900,0x338be70,1,5,0x0,1,0,0,-1,0,-1,0,-1",
  "4201,0x3467900,0,0,6,4,1,0",
  "",
].join("\n");

test.each([
  ["level", "4,0,0,1\n", "4,0,0,42949672951\n", 2, "the level of a table is 0 to 4294967295"],
  ["priority", "0x3467900,0,0,6", "0x3467900,-1,0,6", 4, "the priority of a matcher is 0 to 4294967295"],
])("of hardware steering, a wrong %s is refused", async (_, right, wrong, line, reason) => {
  const { scenario, findings } = imported(HARDWARE.replace(right, wrong));
  expect(findings).toContainEqual(expect.objectContaining({ line, severity: "refused", reason }));
  await loadScenario(scenario as object);
});
