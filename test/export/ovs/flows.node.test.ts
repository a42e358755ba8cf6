/** Flows of Open vSwitch that rules are written as: their text, and that they do the same once they are imported again. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import type { Scenario } from "../../../src/scenario/index.js";
import { loadBridge, steer, type PortFrame } from "../../import/ovs/support/steer.js";

const map = { 1: "uplink", 2: "vf1", 3: "vf2", 4: "vf3" };
const device = { vports: 3 };
const FDB = { domain: "fdb" } as const;

function flowsOf(rules: Scenario["rules"]): string[] {
  const tables = [
    { name: "root", ...FDB, level: 0 },
    { name: "table", ...FDB, level: 1 },
  ];
  const { text, findings } = exportRules({ flowsteer: 1, device, tables, rules: rules ?? [] }, { format: "ovs" });
  if (text === null) return findings.map(({ path, reason }) => `${path}: ${reason}`);
  return text.split("\n").filter((line) => line.startsWith("table="));
}

it("writes matches, changes and destinations in their order", () => {
  expect(
    flowsOf([
      { name: "all", table: "root", actions: [{ table: "table" }] },
      {
        name: "web",
        table: "table",
        match: { "misc.source_port": "uplink", "outer.ip_version": 4, "outer.tcp_dport": 80, "outer.frag": 0 },
        actions: [
          { vport: 1 },
          { push_vlan: { vid: 5, pcp: 2 } },
          {
            modify: [
              { set: "outer.dmac", to: "02:00:00:00:00:01" },
              { set: "outer.tcp_dport", to: 8080 },
            ],
          },
        ],
      },
      {
        name: "copies",
        table: "table",
        priority: 1,
        match: { "misc.source_port": 1, "outer.first_vid": 7 },
        actions: ["pop_vlan", { array: [{ vport: 1 }, { table: "table" }, { port: 1 }] }],
      },
    ]),
  ).toEqual([
    "table=0,priority=65534 actions=resubmit(,1)",
    "table=0,priority=65533,in_port=LOCAL actions=output:1",
    "table=0,priority=65532 actions=output:LOCAL",
    "table=1,priority=65534,eth_type=0x0800,nw_proto=6,in_port=1,nw_frag=no,tcp_dst=0x50 actions=set_field:02:00:00:00:00:01->eth_dst,set_field:0x1f90->tcp_dst,push_vlan:0x8100,set_field:4101->vlan_vid,set_field:2->vlan_pcp,output:2",
    "table=1,priority=65533,in_port=2,vlan_tci=0x1007/0x1fff actions=pop_vlan,in_port,clone(resubmit(,1)),output:1",
    "table=1,priority=65532 actions=clone(load:0->NXM_OF_IN_PORT[],output:LOCAL)",
  ]);
});

it("writes a rule as flows of each kind of frames that a change tells apart", () => {
  const [, , , ...flows] = flowsOf([
    { name: "all", table: "root", actions: [{ table: "table" }] },
    {
      name: "router",
      table: "table",
      match: { "misc.source_port": 1 },
      actions: [
        {
          modify: [
            { add: "outer.ip_ttl_hoplimit", by: -1 },
            { set: "outer.ipv4_dst", to: "10.0.0.1" },
          ],
        },
        { port: 1 },
      ],
    },
  ]);
  expect(flows.slice(0, 4)).toEqual([
    "table=1,priority=65534,in_port=2,eth_type=0x0800,nw_ttl=0 actions=set_field:255->nw_ttl,set_field:10.0.0.1->ip_dst,output:1",
    "table=1,priority=65533,in_port=2,eth_type=0x0800,nw_ttl=1 actions=set_field:0->nw_ttl,set_field:10.0.0.1->ip_dst,output:1",
    "table=1,priority=65532,in_port=2,eth_type=0x0800 actions=dec_ttl,set_field:10.0.0.1->ip_dst,output:1",
    "table=1,priority=65531,in_port=2,eth_type=0x86dd,nw_ttl=0 actions=set_field:255->nw_ttl,output:1",
  ]);
});

it.each<[string, NonNullable<Scenario["rules"]>[number]]>([
  ["Open vSwitch takes ports", { name: "r", table: "table", match: { "outer.tcp_dport": 80 }, actions: ["drop"] }],
  ["flows compare masks", { name: "r", table: "table", match: { "outer.ip_dscp": "1-9" }, actions: ["drop"] }],
  [
    "flows have no equal of reformat",
    { name: "r", table: "table", actions: [{ reformat: { type: "l2_tunnel_to_l2" } }, { vport: 1 }] },
  ],
  [
    "flows have no field for misc.vxlan_vni",
    { name: "r", table: "table", match: { "misc.vxlan_vni": 5 }, actions: ["drop"] },
  ],
])("refuses: %s", (reason, rule) => {
  expect(flowsOf([rule])).toEqual([expect.stringContaining(`rules[0]: ${reason}`)]);
});

interface Case {
  readonly flows: readonly string[];
  readonly groups: readonly string[];
  readonly frames: readonly { readonly port: string; readonly bytes: string }[];
}

it("writes flows that do the same when they are imported again", async () => {
  const file = new URL("../../golden/ovs-flows.json", import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: readonly Case[] };
  let steered = 0;
  for (const { flows, groups, frames } of cases) {
    const { scenario } = importRules([...groups, ...flows].join("\n"), { format: "ovs", map });
    if (scenario === null) throw new Error("refused");
    const { text } = exportRules({ ...scenario, device: { ...scenario.device, ...device } }, { format: "ovs" });
    // Later fragments have no single mask, so some cannot be written.
    if (text === null) continue;
    const again = importRules(text, { format: "ovs", map });
    if (again.scenario === null) throw new Error(`refused: ${again.findings[0]?.reason ?? ""}\n${text}`);
    const [first, second] = [await loadBridge(scenario), await loadBridge(again.scenario)];
    for (const { port, bytes } of frames) {
      const frame: PortFrame = [port, bytes];
      expect(steer(second, frame), `${port} ${bytes}\n${text}`).toEqual(steer(first, frame));
      steered++;
    }
  }
  expect(steered).toBeGreaterThan(600);
}, 600_000);

it("orders the rules of the root table by their age within a priority", () => {
  // The mask without fields is older at priority 3 than at priority 2.
  const flows = flowsOf([
    { name: "late", table: "root", priority: 3, actions: ["drop"] },
    { name: "first", table: "root", priority: 2, match: { "misc.source_port": 1 }, actions: [{ vport: 2 }] },
    { name: "second", table: "root", priority: 2, actions: [{ vport: 3 }] },
  ]);
  expect(flows.slice(0, 3)).toEqual([
    "table=0,priority=65534,in_port=2 actions=output:3",
    "table=0,priority=65533 actions=clone(load:0->NXM_OF_IN_PORT[],output:4)",
    "table=0,priority=65532 actions=drop",
  ]);
});
