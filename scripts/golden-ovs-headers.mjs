// Which changes Open vSwitch takes for frames of which match: test/golden/ovs-headers.json. Run from the project root, with
// Open vSwitch (Debian: openvswitch-common); no kernel module, no root:
//
//     node scripts/golden-ovs-headers.mjs
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const MATCHES = [
  ...["", "ip", "ipv6", "arp", "mpls", "tcp", "tcp6", "udp", "udp6", "icmp", "icmp6", "sctp"],
  ...["ip,nw_proto=6", "dl_type=0x800,nw_proto=17", "dl_type=0x86dd,nw_proto=6"],
  ...["dl_vlan=7", "dl_vlan_pcp=3", "vlan_tci=0", "vlan_tci=0x1000/0x1000", "vlan_tci=7/0xfff", "dl_vlan=7,udp"],
  ...["vlan_vid=0x1000/0x1000,tcp", "dl_vlan=0xffff"],
];
const ACTIONS = [
  ...["dec_ttl", "mod_nw_ttl:4", "mod_nw_tos:4", "mod_nw_dst:1.2.3.4", "mod_tp_dst:5", "pop_vlan", "mod_vlan_vid:5"],
  ...["set_field:10.0.0.1->ip_dst", "set_field:::1->ipv6_src", "set_field:5->tcp_dst", "set_field:5->udp_src"],
  ...["set_field:5->tp_src", "set_field:1->nw_ecn", "set_field:4->ip_dscp", "set_field:9->nw_ttl", "set_field:5->reg0"],
  ...["set_field:4101->vlan_vid", "set_field:3->vlan_pcp", "set_field:02:00:00:00:00:01->eth_dst"],
  ...["load:1->NXM_OF_TCP_DST[]", "load:5->NXM_OF_VLAN_TCI[0..11]", "load:0x1->NXM_NX_IP_TTL[]"],
  ...["move:NXM_OF_TCP_DST[]->NXM_NX_REG0[0..15]", "move:NXM_OF_IP_SRC[]->NXM_OF_IP_DST[]", "ct(table=1)"],
  ...["push_vlan:0x8100,set_field:4101->vlan_vid", "mod_vlan_vid:3,set_field:1->vlan_pcp"],
  ...["strip_vlan,set_field:1->vlan_pcp", "clone(push_vlan:0x8100),set_field:1->vlan_pcp"],
  ...["clone(set_field:5->tcp_dst)", "write_actions(set_field:5->udp_dst)", "resubmit(,1),set_field:5->udp_dst"],
];

const takes = (flow) => {
  const { stdout, stderr } = spawnSync("ovs-ofctl", ["-O", "OpenFlow10,OpenFlow13", "parse-flow", flow], {
    encoding: "utf8",
  });
  return !/MATCH_INCONSISTENT/.test(stdout + stderr);
};
const version = spawnSync("ovs-ofctl", ["--version"], { encoding: "utf8" }).stdout.match(/\d+\.\d+\.\d+/)[0];
const flows = MATCHES.flatMap((match) =>
  ACTIONS.map((actions) => ["in_port=1", ...(match === "" ? [] : [match]), `actions=${actions},output:2`].join(",")),
);
const made = { command: "node scripts/golden-ovs-headers.mjs", openvswitch: version };
const rows = flows.map((flow) => JSON.stringify([flow, takes(flow)]));
writeFileSync(
  new URL("../test/golden/ovs-headers.json", import.meta.url),
  `{"made":${JSON.stringify(made)},"flows":[\n${rows.join(",\n")}\n]}\n`,
);
console.log(`${flows.length} flows, ${rows.filter((row) => row.endsWith("true]")).length} of them taken`);
