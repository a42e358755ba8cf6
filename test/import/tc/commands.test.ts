/** tc commands as people paste them, and what frames do afterwards. */
import { describe, expect, test } from "vitest";
import { importRules, printFinding, type ImportOptions } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import type { ScenarioRule } from "../../../src/scenario/index.js";
import { imported, Switch } from "./support/steer.js";

type Headers = Parameters<typeof buildFrame>[0];
const frame = (...headers: Headers): Uint8Array => buildFrame(headers);
const ETH = { header: "ethernet" } as const;
const IP = { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" } as const;
const TCP = { header: "tcp", destination_port: 80 } as const;
const UDP = { header: "udp", destination_port: 53 } as const;

const rulesOf = (text: string, options: ImportOptions = {}): readonly ScenarioRule[] =>
  (imported(text, options).rules ?? []).filter(({ table }) => table !== "fdb root");
const ruleOf = (text: string): ScenarioRule => rulesOf(text)[0] as ScenarioRule;
const matchOf = (text: string): unknown => {
  const { match = {} } = ruleOf(`tc filter add dev eth0 ingress prio 1 ${text} action drop`);
  return Object.fromEntries(Object.entries(match).filter(([name]) => !/(c|s)vlan_tag$/.test(name)));
};
const refusedIn = (text: string): string[] => {
  const { findings } = importRules(text, { format: "tc", lenient: true });
  return findings
    .filter(({ severity }) => severity === "refused")
    .map(({ text: what, reason }) => `${what}: ${reason}`);
};

test("the filters of a priority have one protocol, in each chain", () => {
  const add = (of: string, verb = "add"): string => `tc filter ${verb} dev eth0 ingress ${of} flower action drop`;
  const text = [
    add("prio 1 protocol ip"),
    add("prio 1 protocol arp"),
    add("prio 1 protocol ip chain 1"),
    add("prio 1 protocol arp chain 2"),
    add("prio 2"),
    add("prio 2 protocol all"),
    add("prio 2 protocol ip"),
    "tc filter del dev eth0 ingress prio 1",
    add("prio 1 protocol arp"),
  ].join("\n");
  const says = "the kernel refuses it (EINVAL): the filters of prio";
  expect(refusedIn(text)).toEqual([
    `arp: ${says} 1 have another protocol, as in line 1`,
    `ip: ${says} 2 have another protocol, as in line 5`,
  ]);
});

test("a filter with the keys of another one of its priority is left out, as the kernel refuses it", () => {
  const add = (words: string, action = "drop"): string => `tc filter ${words} flower dst_ip 10.0.0.1 action ${action}`;
  const of = "dev eth0 ingress protocol ip prio";
  const text = [
    add(`add ${of} 1`),
    add(`add ${of} 1`, "pass"),
    add(`add ${of} 1`).replace("10.0.0.1", "10.0.0.1/32"),
    add(`add ${of} 1`).replace("10.0.0.1", "10.0.0.0/31"),
    add(`add ${of} 2`),
    add(`add ${of} 1 chain 1`),
    add(`replace ${of} 3 handle 1`),
    add(`replace ${of} 3 handle 1`, "pass"),
    add(`replace ${of} 3 handle 2`),
    `tc filter del ${of} 2`,
    add(`add ${of} 2`, "pass"),
  ].join("\n");
  const { findings, scenario } = importRules(text);
  const left = findings.filter(({ reason }) => reason.includes("EEXIST")).map(({ line, reason }) => [line, reason]);
  const says = (line: number, prio: number): string =>
    `the kernel refuses it (EEXIST) and it is left out: line ${line} has a filter with these keys at prio ${prio}`;
  expect(left).toEqual([
    [2, says(1, 1)],
    [3, says(1, 1)],
    [9, says(8, 3)],
  ]);
  expect(scenario?.rules?.map(({ name }) => name ?? "").filter((name) => !name.startsWith("driver: "))).toHaveLength(5);
});

describe("matches", () => {
  test.each([
    [
      "protocol ip flower dst_ip 10.1.0.0/16 src_ip 10.2.3.4",
      { "outer.ipv4_dst": "10.1.0.0/16", "outer.ipv4_src": "10.2.3.4" },
    ],
    ["protocol ip flower src_ip 10.0.0.1/255.0.0.255", { "outer.ipv4_src": "10.0.0.1/255.0.0.255" }],
    ["protocol ipv6 flower dst_ip fd00::/8", { "outer.ethertype": 0x86dd, "outer.ipv6_dst": "fd00::/8" }],
    [
      "protocol ip flower ip_proto tcp dst_port 80 src_port 1000-2000",
      { "outer.tcp_dport": 80, "outer.tcp_sport": "1000-2000" },
    ],
    ["protocol ip flower dst_port 5/0xff ip_proto udp", { "outer.udp_dport": "5/0xff" }],
    ["protocol ip flower ip_proto sctp src_port 9", { "ext.outer_sctp_sport": 9 }],
    ["protocol ip flower ip_proto 2f", { "outer.ip_protocol": 47 }],
    ["protocol ip flower ip_tos 0x10/0xfc ip_ttl 64", { "outer.ip_dscp": 4, "outer.ip_ttl_hoplimit": 64 }],
    ["protocol ip flower ip_tos 3/0x3", { "outer.ip_ecn": 3 }],
    ["protocol ip flower ip_proto tcp tcp_flags 0x2/0x17", { "outer.tcp_flags": "2/0x17" }],
    ["protocol ip flower ip_proto icmp type 8 code 0", { "misc3.icmp_type": 8, "misc3.icmp_code": 0 }],
    ["protocol ipv6 flower ip_proto icmpv6 type 135", { "misc3.icmpv6_type": 135 }],
    ["protocol ip flower ip_flags nofrag", { "outer.frag": 0 }],
    [
      "protocol mpls_uc flower mpls_label 100 mpls_bos 1",
      { "misc2.outer_first_mpls_label": 100, "misc2.outer_first_mpls_s_bos": 1 },
    ],
    [
      "protocol all flower dst_mac 01:00:00:00:00:00/01:00:00:00:00:00",
      { "outer.dmac": "01:00:00:00:00:00/01:00:00:00:00:00" },
    ],
    ["flower src_mac 02:11:22:00:00:00/24", { "outer.smac": "02:11:22:00:00:00/ff:ff:ff:00:00:00" }],
    ["protocol 802.1Q flower vlan_id 7 vlan_prio 3", { "outer.first_vid": 7, "outer.first_prio": 3 }],
    [
      "protocol 802.1ad flower vlan_id 7 vlan_ethtype 802.1q cvlan_id 8 cvlan_ethtype ip",
      { "outer.first_vid": 7, "misc.outer_second_vid": 8, "outer.ethertype": 0x800 },
    ],
    ["matchall", {}],
  ])("%s", (text, match) => {
    expect(matchOf(text)).toMatchObject(match);
  });

  test.each([
    ["protocol ip flower dst_port 80", "80: ports need ip_proto tcp, udp or sctp"],
    ["flower dst_ip 10.0.0.1", "10.0.0.1: addresses need protocol ip or ipv6"],
    ["protocol ip flower vlan_id 5", "5: vlan keys need protocol 802.1Q or 802.1ad"],
    ["protocol arp flower arp_tip 10.0.0.1", "arp_tip: the device does not match ARP"],
    ["protocol ip flower ip_proto tcp tcp_flags 0x800/0xfff", "0x800/0xfff: the device has nine TCP flags"],
    ["protocol ip flower ip_flags firstfrag", "firstfrag: the device matches frag and nofrag, not firstfrag"],
    ["protocol ip flower dst_prot 80", 'dst_prot: not a key of flower: did you mean "dst_port"?'],
    ["protocol ip flower ip_ttl 300", "300: ip_ttl has 8 bits: 0 to 255"],
    ["protocol ip flower dst_ip 10.0.0.300", '10.0.0.300: "10.0.0.300" is not an IPv4 address'],
    ["protocol ip flower enc_key_id 5", "5: only frames of a tunnel device have it, and eth0 is none"],
    ["protocol ip u32 match ip src 10.0.0.1", "u32: the mlx5 driver does not offload u32"],
    ["protocol ip flower dst_ip 10.0.0.1 dst_ip 10.0.0.2", "dst_ip: dst_ip is given twice"],
  ])("refuses %s", (text, reason) => {
    const refused = refusedIn(`tc filter add dev eth0 ingress prio 1 ${text} action drop`);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toContain(reason);
  });
});

describe("frames", () => {
  const REDIRECT = "tc filter add dev eth0 ingress protocol ip prio 1 flower action mirred egress redirect dev eth0_0";

  test("protocol ip is IPv4 without a tag, and what no filter takes goes to the PF", async () => {
    const device = await Switch.of(imported(REDIRECT));
    expect(device.names(0, frame(ETH, IP, TCP))).toEqual(["qp:vf1"]);
    expect(device.names(0, frame(ETH, { header: "vlan", vid: 5 }, IP, TCP))).toEqual(["qp:pf"]);
    expect(device.names(0, frame(ETH, { header: "ipv6" }, TCP))).toEqual(["qp:pf"]);
  });

  test("filters of a representor are for frames of the VF", async () => {
    const device = await Switch.of(
      imported(
        `${REDIRECT}\ntc filter add dev eth0_0 parent ffff: pref 1 matchall action mirred egress redirect dev eth0`,
      ),
    );
    expect(device.names(1, frame(ETH, IP, TCP))).toEqual(["port:1"]);
  });

  test("mirrors get the frame as it is at that point", async () => {
    const device = await Switch.of(
      imported(
        "tc filter add dev eth0 ingress prio 1 matchall action mirred egress mirror dev eth0_0 " +
          "action vlan push id 5 priority 2 action mirred egress mirror dev eth0_1 action vlan pop pipe action drop",
      ),
    );
    const sent = frame(ETH, IP, TCP);
    const arrived = device.steer(0, sent);
    expect(arrived.map(({ name }) => name).sort()).toEqual(["qp:vf1", "qp:vf2"]);
    const lengths = Object.fromEntries(arrived.map(({ name, hex }) => [name, hex.length / 2 - sent.length]));
    expect(lengths).toEqual({ "qp:vf1": 0, "qp:vf2": 4 });
    expect(arrived.find(({ name }) => name === "qp:vf2")?.hex.slice(24, 32)).toBe("81004005");
  });

  test("pedit sets and adds, and an action without pipe ends the filter", async () => {
    const text =
      "tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto tcp action pedit ex munge eth dst set 02:00:00:00:00:77 " +
      "munge ip ttl add 0xff munge ip dsfield set 0xb8 retain 0xfc munge tcp dport set 8080 pipe action csum ip and tcp pipe " +
      "action mirred egress redirect dev eth0_0";
    const device = await Switch.of(imported(text));
    const [first] = device.steer(0, frame(ETH, { ...IP, dscp: 1, ecn: 1 }, TCP));
    const expected = frame(
      { ...ETH, destination: "02:00:00:00:00:77" },
      { ...IP, dscp: 46, ecn: 1, ttl: 63 },
      { ...TCP, destination_port: 8080 },
    );
    expect(first).toEqual({
      name: "qp:vf1",
      hex: Array.from(expected, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    });
    const ended = importRules(text.replace(" pipe action csum ip and tcp pipe", ""), { format: "tc" });
    expect(ended.findings.map(({ reason }) => reason)).toContain(
      "the action before it ends the filter without pipe: it is not executed",
    );
    expect((await Switch.of(ended.scenario as never)).names(0, frame(ETH, IP, TCP))).toEqual(["qp:pf"]);
  });

  test("raw offsets of pedit are fields too", () => {
    const text = "tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto udp action pedit munge";
    expect(ruleOf(`${text} offset 16 u32 set 0x0a000009 pipe action drop`).actions).toEqual([
      { modify: [{ set: "outer.ipv4_dst", to: "10.0.0.9" }] },
      "drop",
    ]);
    expect(ruleOf(`${text} offset -14 u16 set 0x0200 pipe`).actions?.[0]).toEqual({
      modify: [{ set: "outer.dmac", to: "02:00:00:00:00:00/ff:ff:00:00:00:00" }],
    });
    expect(ruleOf(`${text} offset 20 u16 set 99 munge offset 22 u16 set 98 pipe`).actions?.[0]).toEqual({
      modify: [
        { set: "outer.udp_sport", to: 99 },
        { set: "outer.udp_dport", to: 98 },
      ],
    });
    expect(refusedIn(`${text} offset 4 u16 set 1 pipe`)).toEqual([
      "pedit munge offset 4: some of these bits of ip are in no field that the device changes",
    ]);
  });

  test("chains, goto, continue and a block of two devices", async () => {
    const device = await Switch.of(
      imported(`tc qdisc add dev eth0_0 ingress_block 7 clsact
tc qdisc add dev eth0_1 ingress_block 7 clsact
tc filter add block 7 protocol ip prio 1 flower ip_proto udp action goto chain 3
tc filter add block 7 protocol ip prio 2 flower ip_proto tcp action pedit ex munge ip ttl set 9 continue
tc filter add block 7 protocol ip prio 3 flower ip_ttl 9 action mirred egress redirect dev eth0
tc filter add block 7 chain 3 protocol ip prio 1 flower ip_proto udp dst_port 53 action mirred egress redirect dev eth0_0`),
    );
    for (const vf of [1, 2]) {
      expect(device.names(vf, frame(ETH, IP, UDP))).toEqual(["qp:vf1"]);
      expect(device.names(vf, frame(ETH, IP, { ...UDP, destination_port: 54 }))).toEqual(["qp:pf"]);
      expect(device.names(vf, frame(ETH, IP, TCP))).toEqual(["port:1"]);
      expect(device.names(vf, frame(ETH, IP, { header: "icmp" }))).toEqual(["qp:pf"]);
    }
  });

  test("a tunnel: frames go in by tunnel_key set, and out by the tunnel device", async () => {
    const device = await Switch.of(
      imported(`ip link add vx type vxlan dstport 4789 external
tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto tcp action drop
tc filter add dev eth0_0 ingress protocol ip prio 1 flower dst_ip 10.0.0.2 \\
  action tunnel_key set src_ip 1.1.1.1 dst_ip 1.1.1.2 id 42 dst_port 4789 ttl 5 nocsum \\
  action mirred egress redirect dev vx
tc filter add dev vx ingress protocol ip prio 1 flower enc_key_id 42 enc_src_ip 1.1.1.1 dst_ip 10.0.0.2 \\
  action tunnel_key unset action pedit ex munge ip ttl set 7 pipe action mirred egress redirect dev eth0_1`),
    );
    const [sent] = device.steer(1, frame(ETH, IP, TCP));
    expect(sent?.name).toBe("port:1");
    const bytes = Uint8Array.from(sent?.hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
    expect(bytes[22]).toBe(5);
    const [back] = device.steer(0, bytes);
    expect(back?.name).toBe("qp:vf2");
    expect(back?.hex.length).toBe(frame(ETH, IP, TCP).length * 2);
    expect(back?.hex.slice(44, 46)).toBe("07");
    const other = bytes.slice();
    other[48] = 43;
    expect(device.names(0, other)).toEqual(["qp:pf"]);
  });

  test("police: what exceeds the rate is dropped, what conforms goes on", async () => {
    const text =
      "tc filter add dev eth0 ingress prio 1 matchall action police rate 1mbit burst 150 conform-exceed drop/pipe " +
      "action mirred egress redirect dev eth0_0";
    const device = await Switch.of(imported(text));
    const one = buildFrame([ETH, IP, UDP, { header: "payload", bytes: new Uint8Array(60) } as never]);
    expect([1, 2].map(() => device.names(0, one))).toEqual([["qp:vf1"], []]);
    const passed = await Switch.of(imported(text.replace("/pipe", "")));
    expect(passed.names(0, one)).toEqual(["qp:pf"]);
  });

  test("ct: connections are established, and states are matched behind it", async () => {
    const device = await Switch.of(
      imported(`tc filter add dev eth0 ingress protocol ip prio 1 flower ct_state -trk action ct zone 5 pipe action goto chain 1
tc filter add dev eth0 ingress protocol ip chain 1 prio 1 flower ct_state +trk+new action drop
tc filter add dev eth0 ingress protocol ip chain 1 prio 2 flower ct_state +trk+est ct_zone 5 action mirred egress redirect dev eth0_0`),
    );
    expect(device.names(0, frame(ETH, IP, TCP))).toEqual(["qp:vf1"]);
  });
});

describe("what stands around commands", () => {
  const PLAIN = `tc filter add dev eth0 ingress protocol ip prio 5 flower dst_ip 10.0.0.2 action drop`;
  const plain = JSON.stringify(imported(PLAIN).rules);

  test.each([
    ["a prompt", `[root@host ~]# ${PLAIN}`],
    ["sudo and a path", `$ sudo /sbin/tc ${PLAIN.slice(3)}`],
    ["ip netns exec", `ip netns exec ns1 ${PLAIN}`],
    [
      "a variable",
      `DEV=eth0\nTC="tc"\n$TC filter add dev $DEV ingress protocol ip prio 5 flower dst_ip 10.0.0.2 action drop`,
    ],
    ["a wrapped line", PLAIN.replace("flower", "\\\n    flower")],
    [
      "other spellings",
      "tc filter add dev eth0 parent ffff: proto 0x800 pref 5 flower dst_ip 10.0.0.2/32 action gact drop",
    ],
    ["a batch file", `qdisc add dev eth0 clsact\n${PLAIN.slice(3)}`],
    ["two commands in a line", `tc qdisc add dev eth0 clsact; ${PLAIN}`],
    ["a diff", `+${PLAIN}`],
    [
      "one that is taken away again",
      `${PLAIN.replace("prio 5", "prio 6")}\n${PLAIN}\ntc filter del dev eth0 ingress pref 6`,
    ],
  ])("%s", (_, text) => {
    expect(JSON.stringify(imported(text).rules)).toBe(plain);
  });

  test("a line that is no command is named", () => {
    const { findings } = importRules(`ethtool -K eth0 hw-tc-offload on\n${PLAIN}`, { format: "tc" });
    expect(findings.map(printFinding)[0]).toContain(
      "input:1:1: assumed: ethtool -K eth0 hw-tc-offload on: not a tc command",
    );
  });

  test("filters without prio: the newest is first", async () => {
    const device = await Switch.of(
      imported(`tc filter add dev eth0 ingress protocol ip flower action drop
tc filter add dev eth0 ingress protocol ip flower action mirred egress redirect dev eth0_0`),
    );
    expect(device.names(0, frame(ETH, IP, TCP))).toEqual(["qp:vf1"]);
  });

  test("of several masks in one priority the one that came first wins", async () => {
    const device = await Switch.of(
      imported(`tc filter add dev eth0 ingress protocol ip prio 1 flower dst_ip 10.0.0.0/8 action drop
tc filter add dev eth0 ingress protocol ip prio 1 flower dst_ip 10.0.0.2 action mirred egress redirect dev eth0_0`),
    );
    expect(device.names(0, frame(ETH, IP, TCP))).toEqual([]);
  });

  test("skip_hw and not_in_hw are left out, with a finding", () => {
    const { scenario, findings } = importRules(PLAIN.replace("flower", "flower skip_hw"), { format: "tc" });
    expect(scenario?.rules).toBeUndefined();
    expect(findings.map(({ reason }) => reason)).toContain("skip_hw: the filter is not in the device, and is left out");
  });

  test.each([
    ["egress", "tc filter add dev eth0 egress prio 1 matchall action drop", "drivers offload filters of ingress only"],
    [
      "a classful parent",
      "tc filter add dev eth0 parent 1: prio 1 matchall action drop",
      "drivers offload filters of ingress only",
    ],
    ["no side", "tc filter add dev eth0 prio 1 matchall action drop", "the hook is missing"],
    ["an unknown device", "tc filter add dev br0 ingress prio 1 matchall action drop", "--map br0=uplink"],
    [
      "shared actions",
      "tc actions add action drop index 5",
      "not an object that is read; objects: qdisc, filter, chain",
    ],
    [
      "keys of two IP versions",
      "ip link add vx type vxlan dstport 4789 external\ntc filter add dev vx ingress prio 1 flower enc_key_id 5 enc_src_ip :: enc_dst_ip 10.0.0.1 action drop",
      "its keys contradict each other",
    ],
    [
      "a tunnel between two IP versions",
      "tc filter add dev eth0_0 ingress prio 1 matchall action tunnel_key set src_ip 10.7.7.6 dst_ip :: id 77 action mirred egress redirect dev eth0",
      "src_ip 10.7.7.6 and dst_ip :: are of two IP versions",
    ],
  ])("refuses %s", (_, text, reason) => {
    expect(refusedIn(text)[0]).toContain(reason);
  });

  test("takes beginnings of words as tc does: a later filter of one prio is another one", () => {
    const [first, second] = [80, 81].map(
      (port) => `tc filter a dev eth0 ingress prot ip pri 3 flower ip_proto tcp dst_port ${port} action drop`,
    );
    const { rules = [] } = imported(`tc qdisc ad dev eth0 ingress\n${first}\n${second}`);
    expect(rules.flatMap(({ match }) => match?.["outer.tcp_dport"] ?? [])).toEqual([80, 81]);
  });

  test("--map says what devices are", async () => {
    const text = "tc filter add dev br0 ingress prio 1 matchall action mirred egress redirect dev tap3";
    const device = await Switch.of(imported(text, { map: { br0: "uplink", tap3: "vf2" } }));
    expect(device.names(0, frame(ETH, IP, TCP))).toEqual(["qp:vf2"]);
  });

  test.each([
    ["mpls push label 5", "mpls"],
    ["nat ingress 10.0.0.1 10.0.0.2", "nat"],
    ["ct commit nat src addr 5.5.5.5", "ct commit"],
    ["mirred ingress redirect dev eth0_0", "ingress"],
    ["skbedit priority 3", "skbedit priority"],
  ])("a rule that lacks %s says so", (action, what) => {
    const text = `tc filter add dev eth0 ingress protocol ip prio 1 flower action ${action} action drop`;
    expect(importRules(text, { format: "tc" }).scenario).toBe(null);
    const { scenario } = importRules(text, { format: "tc", lenient: true });
    const [rule] = (scenario?.rules ?? []).filter(({ table }) => table === "eth0");
    expect(rule?.actions?.at(-1)).toBe("drop");
    expect(rule?.notImported?.[0]).toContain(what.split(" ")[0]);
  });
});
