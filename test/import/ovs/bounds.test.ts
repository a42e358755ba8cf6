/** Texts of Open vSwitch that would not end, or take memory without a bound: each is read, or refused with a reason. */
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";

const reasonsOf = (text: string, format: "ovs" | "ovs-dpctl" = "ovs"): string =>
  importRules(text, { format, lenient: true })
    .findings.map(({ reason }) => reason)
    .join("\n");

test("action sets of tables that lead to each other", () => {
  const { scenario, findings } = importRules("in_port=1,ip actions=write_actions(output(12)),resubmit(,0)", {
    map: { 1: "uplink", 12: "vf1" },
  });
  expect(findings).toEqual([]);
  expect(scenario?.tables?.length).toBeLessThan(8);
  const grows = (n: number): string =>
    `table=0,tcp,tp_src=${n},actions=write_actions(set_field:${n}->tcp_dst,output:${n}),${n},resubmit(,0),${n}`;
  expect(reasonsOf(Array.from({ length: 30 }, (_, n) => grows(n)).join("\n"))).toContain(
    "the tables resubmit to each other endlessly",
  );
});

const DATAPATH = "recirc_id(0),in_port(1),eth()";
test.each([65, 100_000])("%i parentheses", (depth) => {
  const nested = `${"clone(".repeat(depth)}1${")".repeat(depth)}`;
  for (const text of [
    `ovs-ofctl add-flow br0 actions=${nested}`,
    `ovs-ofctl add-flow br0 ${"(".repeat(depth)}`,
    `ovs-vsctl add-port br0 x -- ${nested}`,
    `ovs-ofctl add-group br0 group_id=1,type=all,bucket=actions=${nested}`,
    `ovs-ofctl add-tlv-map br0 ${"{".repeat(depth)}`,
    `meter=1 kbps bands=${"(".repeat(depth)}`,
  ])
    expect(reasonsOf(`${text}\nactions=1`)).toContain("more than 64 parentheses are open");
  for (const text of [
    `${DATAPATH}, actions:${nested}`,
    `${DATAPATH},${"encap(".repeat(depth)}${")".repeat(depth)}, actions:1`,
  ])
    expect(reasonsOf(text, "ovs-dpctl")).toContain("more than 64 parentheses are open");
});

test.each([
  [`actions=${"2,".repeat(5000)}`, "a flow has 4096 actions at most"],
  [`ip,${"nw_frag=later,".repeat(100_000)}actions=2`, "a flow has 512 words at most"],
  [`ip,${"nw_frag=later,".repeat(9)}actions=2`, "its fields make more than 1024 rules"],
  ["actions=conjunction(1,1/99999999999)", "the number of clauses, 64 at most"],
])("%j", (text, reason) => {
  expect(reasonsOf(text)).toContain(reason);
});

test("lines after a parenthesis that is not closed", () => {
  const start = performance.now();
  const lines = (head: string, line: string): string => head + line.repeat(40_000);
  expect(reasonsOf(lines("table=0,actions=clone(\n", " clone(2,3,\n"))).not.toBe("");
  expect(reasonsOf(lines(`${DATAPATH},eth(\n`, "src=02:00:00:00:00:01(\n"), "ovs-dpctl")).not.toBe("");
  expect(performance.now() - start).toBeLessThan(60_000);
});
