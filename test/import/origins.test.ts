/** Rules that the device refuses are refused at their own lines, with their words, whatever reads them. */
import { describe, expect, test } from "vitest";
import { importScenario, type ImportSource } from "../../src/import/index.js";

/** connectx5 has no push_vlan on received frames, no match of ports without an IP version, 16 priorities in a root table. */
const INTO = { flowsteer: 1, device: { profile: "connectx5" } } as const;
const PUSH = "push_vlan: the device does not support this";

interface Case {
  readonly text: string;
  readonly place: string;
  readonly words: string;
  readonly reason: string;
}

const CASES: Readonly<Record<string, Case>> = {
  "commands of tc": {
    text: [
      "tc qdisc add dev eth0 ingress",
      "tc filter add dev eth0 ingress protocol ip prio 1 flower dst_ip 1.2.3.4 action drop",
      "root@host:~# tc filter add dev eth0 ingress protocol ip prio 2 \\",
      "  flower dst_ip 1.2.3.5 action vlan push id 5 action mirred egress redirect dev eth1",
    ].join("\n"),
    place: "3:14",
    words:
      "tc filter add dev eth0 ingress protocol ip prio 2 flower dst_ip 1.2.3.5 action vlan push id 5 action mirred egress redirect dev eth1",
    reason: PUSH,
  },
  "several commands of tc in a line": {
    text: "tc qdisc add dev eth0 ingress; tc filter add dev eth0 ingress prio 2 matchall action vlan push id 5",
    place: "1:79",
    words: "action vlan push id 5",
    reason: PUSH,
  },
  "listings of tc": {
    text: [
      "filter protocol ip pref 1 flower chain 0",
      "filter protocol ip pref 1 flower chain 0 handle 0x1",
      "  eth_type ipv4",
      "  dst_ip 1.2.3.5",
      "\taction order 1: vlan  push id 5 protocol 802.1Q priority 0 pipe",
      "\taction order 2: mirred (Egress Redirect to device eth1) stolen",
    ].join("\n"),
    place: "2:1",
    words: "filter protocol ip pref 1 flower chain 0 handle 0x1",
    reason: PUSH,
  },
  "JSON of tc": {
    text: JSON.stringify([
      {
        protocol: "ip",
        pref: 3,
        kind: "flower",
        chain: 0,
        options: {
          handle: 1,
          keys: { eth_type: "ipv4", dst_ip: "1.2.3.5" },
          actions: [{ order: 1, kind: "vlan", vlan_action: "push", id: 5, control_action: { type: "pass" } }],
        },
      },
    ]),
    place: "1:2",
    words: "filter of prio 3",
    reason: PUSH,
  },
  "commands of ovs-ofctl": {
    text: [
      "ovs-ofctl add-flow br0 in_port=1,actions=output:2",
      'ovs-ofctl add-flow br0 "in_port=1,ip,nw_src=1.2.3.4,actions=push_vlan:0x8100,mod_vlan_vid:5,output:2"',
    ].join("\n"),
    place: "2:61",
    words: "push_vlan:0x8100",
    reason: PUSH,
  },
  "flows of ovs-ofctl dump-flows": {
    text: [
      "NXST_FLOW reply (xid=0x4):",
      " cookie=0x7, table=0, n_packets=0, n_bytes=0, in_port=1 actions=push_vlan:0x8100,mod_vlan_vid:5,output:2",
    ].join("\n"),
    place: "2:65",
    words: "push_vlan:0x8100",
    reason: PUSH,
  },
  "flows of a datapath": {
    text: "recirc_id(0),in_port(1),eth_type(0x0800),ipv4(frag=no), packets:0, actions:push_vlan(vid=5,pcp=0),2",
    place: "1:76",
    words: "push_vlan",
    reason: PUSH,
  },
  "flows that dpctl adds": {
    text: 'ovs-appctl dpctl/add-flow "in_port(1),eth(),eth_type(0x0800),ipv4()" "push_vlan(vid=5,pcp=0),2"',
    place: "1:27",
    words: '"in_port(1),eth(),eth_type(0x0800),ipv4()" "push_vlan(vid=5,pcp=0),2"',
    reason: PUSH,
  },
  "rule sets of nft": {
    text: [
      "table netdev f {",
      " chain c {",
      "  type filter hook ingress device eth0 priority 0; flags offload;",
      "  ip saddr 1.2.3.4 drop",
      "  tcp dport 80 drop",
      " }",
      "}",
    ].join("\n"),
    place: "5:3",
    words: "tcp dport 80 drop",
    reason: "outer.ip_version must be masked by 4 or 6",
  },
  "rules of ethtool": {
    text: [
      "ethtool -X eth0 context new equal 2",
      "ethtool -N eth0 flow-type tcp4 dst-ip 1.2.3.5 action 2 loc 100",
      "ethtool -N eth0 flow-type tcp4 dst-ip 1.2.3.4 context 1 loc 1",
    ].join("\n"),
    place: "2:1",
    words: "ethtool -N eth0 flow-type tcp4 dst-ip 1.2.3.5 action 2 loc 100",
    reason: "priorities of a root table are 0 to 15",
  },
  "listings of ethtool": {
    text: [
      "ethtool -X eth0 context new equal 2",
      "ethtool -N eth0 flow-type tcp4 dst-ip 1.2.3.4 context 1 loc 1",
      "Filter: 100",
      "\tRule Type: TCP over IPv4",
      "\tDest IP addr: 10.0.0.1 mask: 0.0.0.0",
      "\tAction: Direct to queue 3",
    ].join("\n"),
    place: "3:1",
    words: "Filter: 100",
    reason: "priorities of a root table are 0 to 15",
  },
};

/** The refusals, and what is imported without them. */
async function refusalsOf(sources: readonly ImportSource[]): Promise<[string[], number]> {
  // The driver gives rules of ethtool priorities that the device takes.
  const driver = sources.some(({ text }) => text.includes("ethtool")) ? { driver: "none" as const } : {};
  const { findings, scenario } = await importScenario(sources, { into: INTO, lenient: true, ...driver });
  const refused = findings.filter(({ severity }) => severity === "refused");
  return [
    refused.map(({ file, line, column, text, reason }) => `${file}:${line}:${column}: ${text}: ${reason}`),
    scenario?.notImported?.length ?? 0,
  ];
}

describe("the device refuses a rule", () => {
  test("what a flow does after a lookup is of the flow that is found, or else of the first", async () => {
    const flow = "table=0,in_port=1,actions=resubmit(,1),push_vlan:0x8100,mod_vlan_vid:5,output:2";
    const [refused] = await refusalsOf([{ file: "rules", text: `${flow}\ntable=1,ip,actions=output:3` }]);
    expect(refused).toEqual([
      expect.stringContaining("rules:1:40: push_vlan:0x8100: "),
      expect.stringContaining("rules:2:12: actions=output:3: "),
    ]);
  });

  for (const [what, { text, place, words, reason }] of Object.entries(CASES)) {
    test(what, async () => {
      const [refused, notImported] = await refusalsOf([{ file: "rules", text }]);
      expect(refused).toEqual([expect.stringContaining(`rules:${place}: ${words}: `)]);
      expect(refused[0]).toContain(reason);
      expect(notImported).toBe(1);
    });

    test(`${what}, the first of several sources`, async () => {
      const other = { file: "other", text: `${(CASES["rules of ethtool"] as Case).text.split("\n").at(-1)}0\n` };
      const [refused] = await refusalsOf([{ file: "rules", text }, other]);
      expect(refused.filter((one) => one.startsWith(`rules:${place}: ${words}: `))).toHaveLength(1);
    });
  }
});
