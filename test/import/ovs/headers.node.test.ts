/** Changes of headers that frames of a flow may not have: refused where Open vSwitch refuses them. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { importRules } from "../../../src/import/index.js";

/** Made by scripts/golden-ovs-headers.mjs. */
const FILE = new URL("../../golden/ovs-headers.json", import.meta.url);

function refusals(flow: string): readonly string[] {
  return importRules(`table=0,${flow}`, { format: "ovs" }).findings.flatMap(({ severity, reason }) =>
    severity === "refused" ? [reason] : [],
  );
}

it("takes the changes that Open vSwitch takes", () => {
  const { flows } = JSON.parse(readFileSync(FILE, "utf8")) as { flows: readonly (readonly [string, boolean])[] };
  expect(flows.length).toBeGreaterThan(700);
  const wrong = flows.filter(
    ([flow, isTaken]) => isTaken === refusals(flow).some((reason) => reason.startsWith("Open vSwitch refuses")),
  );
  expect(wrong).toEqual([]);
});

it("names what the match must say", () => {
  const of = (actions: string, match = ""): readonly string[] => refusals(`in_port=1,${match}actions=${actions}`);
  const says = "Open vSwitch refuses the flow: its match does not say that frames have";
  expect(of("set_field:5->tcp_dst,output:2", "ip,")).toEqual([`${says} the header of tcp_dst, as "tcp" does`]);
  expect(of("ct(table=1)")).toEqual([`${says} the header of ct, as "ip" does`]);
  expect(of("set_field:4101->vlan_vid,output:2")).toEqual([`${says} the tag of vlan_vid, as dl_vlan=N does`]);
});

it("asks nothing of buckets, which have no match", () => {
  const text =
    "group_id=1,type=all,bucket=actions=set_field:5->tcp_dst,output:2\ntable=0,in_port=1,tcp,actions=group:1";
  expect(importRules(text, { format: "ovs" }).findings.filter(({ severity }) => severity === "refused")).toEqual([]);
});
