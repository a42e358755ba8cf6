/** Commands with the rules of other programs as they are. Inputs follow shared cases 06 and 31 in their form. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { flowsteer, scratch } from "./support/command.js";

const FLOWS = [
  "flow create 0 ingress pattern eth / ipv4 dst is 10.0.0.7 / udp dst is 8472 / end actions queue index 1 / end",
  "flow create 0 ingress pattern eth / ipv4 dst is 10.0.0.7 / tcp / end actions queue index 2 / end",
  "",
].join("\n");
const TC =
  "tc filter add dev eth0 ingress protocol ip prio 1 flower skip_sw ip_proto udp dst_ip 10.0.0.7 dst_port 8472 action drop\n";
const OVS = "table=0,priority=5,udp,nw_dst=10.0.0.7,tp_dst=8472 actions=output:2\n";
const FRAME = "ipv4 10.0.0.1 > 10.0.0.7 / udp 5 > 4789";
const CAPTURE = "examples/everyday.pcap";

describe("why", () => {
  it("speaks of precedence where the text has priorities of its own", async () => {
    const file = scratch(
      "prio.ovs",
      "table=0,priority=200,in_port=1,ip,nw_dst=10.0.0.0/8,actions=output:2\ntable=0,priority=100,in_port=1,tcp,tp_dst=22,actions=drop\n",
    );
    const frame = ["--map", "1=uplink,2=vf1", "--packet", "ipv4 > 10.0.0.5 / tcp > 22"];
    const { out } = await flowsteer(["why", file, ...frame, "--rule", `${file}:2`, "--quiet"]);
    const flat = out.replace(/\s+/g, " ");
    expect(flat).toContain(`rule "${file}:1" took the frame first: it takes precedence`);
    expect(flat).toContain(`${file}:2: change "priority=100" to "priority=201".`);
    // Numbers of the device are none of the text, and in Open vSwitch the higher one wins.
    expect(flat).not.toMatch(/lower|\b65\d{3}\b/);
  });

  it("calls the rule with the words of its line by the line, and what the importer adds its parts", async () => {
    const text =
      "tc filter add dev eth0 ingress protocol ip prio 1 flower dst_ip 10.0.0.7 action police rate 1mbit burst 10k conform-exceed drop/pipe action drop\n";
    const file = scratch("police.tc", text);
    const { out } = await flowsteer(["why", file, "--packet", "ipv4 > 10.0.0.8", "--rule", `${file}:1`, "--quiet"]);
    const flat = out.replace(/\s+/g, " ");
    expect(flat).toContain(`rule "${file}:1" does not match: dst_ip is 10.0.0.8, not 10.0.0.7`);
  });

  it.each([
    [
      "port.testpmd",
      "flow create 0 transfer pattern eth / ipv4 / end actions represented_port ethdev_port_id 1 / end\n",
      "source port",
      "uplink",
    ],
    ["port.ovs", "table=0,priority=10,in_port=1,ip,actions=output:2\n", "in_port", "1 (uplink)"],
    [
      "port.tc",
      "tc filter add dev eth0 ingress protocol ip prio 1 flower action mirred egress redirect dev eth0_0\n",
      "dev",
      "uplink",
    ],
  ])("%s: names the port that a frame comes from, and leaves that of the command", async (name, text, port, is) => {
    const file = scratch(name, text);
    const frame = ["--packet", "ipv4 / tcp > 80", "--from", "vf1"];
    const { out } = await flowsteer(["why", file, ...frame, "--rule", `${file}:1`, "--quiet"]);
    expect(out.replace(/\s+/g, " ")).toContain(`does not match: ${port} is VF 1, not ${is}`);
    expect(out).not.toMatch(/misc\.|"create/);
  });

  it("makes a filter one for tagged frames in the words of tc", async () => {
    const text = "tc filter add dev eth0 ingress protocol ip prio 1 flower dst_ip 10.0.0.7 action drop\n";
    const file = scratch("tagged.tc", text);
    const frame = ["--packet", "ethernet / vlan 5 / ipv4 > 10.0.0.7 / udp > 53"];
    const { out } = await flowsteer(["why", file, ...frame, "--rule", `${file}:1`, "--quiet"]);
    const flat = out.replace(/\s+/g, " ");
    const edited = text.replace("protocol ip", "protocol 802.1Q").replace("flower", "flower vlan_ethtype ip").trimEnd();
    expect(flat).toContain(`${file}:1: write "${edited}".`);
    expect(flat).toContain("C-VLAN tag is 1, not 0");
    expect(flat).not.toMatch(/cvlan_tag|leave out/);
    const { out: mended } = await flowsteer(["why", scratch("mended.tc", `${edited}\n`), ...frame, "--json"]);
    expect(mended).toContain("drop_action");
  });

  it("says in the words of the text which function got a frame", async () => {
    const text =
      "tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto tcp dst_port 80 action mirred egress redirect dev eth0_0 pipe action mirred egress mirror dev eth0_1\n";
    const file = scratch("mirror.tc", text);
    const { out, err } = await flowsteer(["why", file, "--packet", "ipv4 / tcp > 80", "--vport", "2"]);
    expect(out.replace(/\s+/g, " ")).toContain(`Rule "${file}:1" sends the frame to VF 1, not to VF 2.`);
    expect(out).not.toContain("65535");
    expect(err).toContain("mirred: the action before it ends the filter without pipe: it is not executed");
  });

  it("calls a wider prefix what it is: other addresses come to the rule", async () => {
    const line = (text: string): string => `tc filter add dev eth0 ingress protocol ip ${text}\n`;
    const file = scratch(
      "wider.tc",
      line("pref 1 flower dst_ip 10.1.0.0/24 action drop") + line("pref 2 flower dst_ip 10.1.1.0/24 action pass"),
    );
    const { out } = await flowsteer(["why", file, "--packet", "ipv4 > 10.1.1.9", "--rule", `${file}:1`, "--quiet"]);
    expect(out.replace(/\s+/g, " ")).toMatch(/to "dst_ip 10\.1\.0\.0\/23"\. Widens: frames with another dst_ip/);
  });

  it("names transfer rules of testpmd, and not what leads to them", async () => {
    const actions = "actions represented_port ethdev_port_id 1 / end";
    const file = scratch("fdb.testpmd", `flow create 0 transfer pattern eth / ipv4 / tcp dst is 80 / end ${actions}\n`);
    const { out } = await flowsteer(["why", file, "--packet", "ipv4 / tcp > 81", "--rule", `${file}:1`, "--quiet"]);
    expect(out.replace(/\s+/g, " ")).toContain(`rule "${file}:1" does not match: tcp dst is 81, not 80`);
  });

  it("names the flow that a frame hit where others go on alike", async () => {
    const lines = ["priority=30,tcp,tp_dst=443", "priority=20,tcp,tp_dst=80", "priority=10,tcp"];
    const file = scratch("alike.ovs", lines.map((line) => `${line},actions=3\n`).join(""));
    const frame = ["--map", "2=uplink,3=vf1", "--packet", "ipv4 / tcp > 80"];
    const { out } = await flowsteer(["why", file, ...frame, "--quiet"]);
    expect(out.replace(/\s+/g, " ")).toContain(`got the frame by rule "${file}:2"`);
    const { out: traced } = await flowsteer(["trace", file, ...frame, "--quiet"]);
    expect(traced).toContain(`"${file}:2"`);
    expect(traced).not.toContain(`${file}:1`);
  });

  it("--all explains frames that a driver received because no rule took them", async () => {
    const file = scratch(
      "left.testpmd",
      `${FLOWS}flow create 0 ingress pattern eth type is 0x0806 / end actions drop / end\n`,
    );
    const { out } = await flowsteer(["why", file, CAPTURE, "--all"]);
    const { out: json } = await flowsteer(["why", file, CAPTURE, "--all", "--json"]);
    const lines = json
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const { frames, lost, unclaimed } = lines.at(-1) as { frames: number; lost: number; unclaimed: number };
    expect(lost + unclaimed).toBe(frames);
    expect(unclaimed).toBeGreaterThan(0);
    expect(out.replace(/\s+/g, " ")).toContain(`no rule took ${unclaimed} of them`);
    expect(out.replace(/\s+/g, " ")).toContain('received it by rule "driver: port 0');
    expect(out).not.toContain("None of them");
  });

  it.each([
    ["flows.testpmd", FLOWS, 'change "udp dst is 8472" to "udp dst is 4789"', "udp dst is 4789, not 8472"],
    ["filters.tc", TC, 'change "dst_port 8472" to "dst_port 4789"', "dst_port is 4789, not 8472"],
    ["flows.ovs", OVS, 'change "tp_dst=8472" to "tp_dst=4789"', "tp_dst is 4789, not 8472"],
  ])("%s: names the place, the fields and the repair in its words", async (name, text, repair, difference) => {
    const file = scratch(name, text);
    const { code, out } = await flowsteer(["why", file, "--packet", FRAME, "--rule", `${file}:1`]);
    const flat = out.replace(/\s+/g, " ");
    expect(code).toBe(0);
    expect(flat).toContain(`rule "${file}:1" does not match: ${difference}`);
    expect(flat).toContain(`${file}:1: ${repair}.`);
    expect(flat).toContain(`${file}:1 ${text.split("\n")[0]}`);
    expect(flat).not.toContain("outer.udp_dport");
  });

  it.each([
    [
      "prefix.testpmd",
      "flow create 0 ingress pattern eth / ipv4 dst spec 192.0.2.0 dst prefix 28 / udp dst is 53 / end actions queue index 1 / end",
      "ipv4 10.0.0.1 > 192.0.2.17 / udp 5 > 53",
      'change "ipv4 dst spec 192.0.2.0 dst prefix 28" to "ipv4 dst spec 192.0.2.0 dst prefix 27"',
    ],
    [
      "two.testpmd",
      "flow create 0 ingress pattern eth / ipv4 dst is 192.0.2.7 / udp dst is 53 / end actions queue index 1 / end",
      "ipv4 10.0.0.1 > 192.0.2.6 / udp 5 > 54",
      'write "flow create 0 ingress pattern eth / ipv4 dst is 192.0.2.6 / udp dst is 54 / end actions queue index 1 / end"',
    ],
    [
      "range.tc",
      "tc filter add dev eth2 ingress protocol ip prio 1 flower skip_sw ip_proto tcp dst_port 5000-5010 action drop",
      "ipv4 10.0.0.1 > 10.1.0.9 / tcp 5 > 5011",
      'change "dst_port 5000-5010" to "dst_port 5000-5011"',
    ],
    [
      "netmask.ovs",
      "priority=40,tcp,nw_src=10.9.0.0/255.255.0.0,tp_dst=80,actions=drop",
      "ipv4 10.8.0.1 > 10.1.0.9 / tcp 5 > 80",
      'change "nw_src=10.9.0.0/255.255.0.0" to "nw_src=10.8.0.0/255.255.0.0"',
    ],
    [
      "mask.ethtool",
      "ethtool -N eth2 flow-type tcp4 dst-ip 198.51.100.0 m 0.0.0.15 dst-port 443 action 2 loc 5",
      "ipv4 10.8.0.1 > 198.51.100.20 / tcp 5 > 443",
      'change "dst-ip 198.51.100.0" to "dst-ip 198.51.100.16"',
    ],
  ])("%s: each edit mends the frame", async (name, text, frame, repair) => {
    const file = scratch(name, `${text}\n`);
    const ask = ["why", file, "--packet", frame, "--rule", `${file}:1`];
    const { out } = await flowsteer(ask);
    expect(out.replace(/\s+/g, " ")).toContain(`${file}:1: ${repair}`);
    const { explanation } = JSON.parse((await flowsteer([...ask, "--json"])).out) as {
      explanation: { repairs: { edits?: { column: number; before: string; after: string }[] }[] };
    };
    for (const { edits } of explanation.repairs) {
      if (edits === undefined) continue;
      let mended = text;
      for (const { before, after } of edits) mended = mended.replace(before, after);
      scratch(name, `${mended}\n`);
      expect((await flowsteer(["why", scratch(name, `${mended}\n`), "--packet", frame])).out).toMatch(/rule "[^"]+:1"/);
    }
  });

  it("names a field as each rule names it", async () => {
    const end = "/ end actions queue index 1 / end\n";
    const text = [
      "flow isolate 0 on\n",
      `flow create 0 ingress pattern eth / ipv4 tos spec 0x01 tos mask 0x01 ${end}`,
      `flow create 0 ingress pattern eth / ipv6 tc spec 0x01 tc mask 0x01 ${end}`,
    ].join("");
    const file = scratch("tos.testpmd", text);
    const frame = ["--packet", "ipv4 10.0.0.1 > 10.0.0.7 / udp 5 > 53"];
    const { out } = await flowsteer(["why", file, ...frame, "--queue", "queue 1"]);
    const flat = out.replace(/\s+/g, " ");
    expect(flat).toContain(`rule "${file}:2" does not match: ipv4 ecn is 0, not 0x1/0x1`);
    expect(flat).toContain(`rule "${file}:3" does not match: ipv6 ecn is 0, not 0x1/0x1`);
    // A version is a kind: its bits say nothing.
    expect(flat).toContain("IP version expected 6, found 4");
    expect(flat).not.toContain("outer.");
    const near = (await flowsteer(["trace", file, ...frame])).out.replace(/\s+/g, " ");
    expect(near).toContain(`"${file}:2" ipv4 ecn 0x1/0x1, found 0`);
  });

  it("names the nearest rule for what a driver's own rule received, and never that rule", async () => {
    const frame = (vni: number): string =>
      `ipv4 192.0.2.9 > 192.0.2.1 / udp 5 > 8472 / vxlan vni ${vni} / ethernet / ipv4 10.0.0.1 > 10.0.0.2 / tcp 5 > 80`;
    const vxlan = scratch(
      "vxlan.tc",
      [
        "ip link add vxlan0 type vxlan external dstport 8472",
        "tc filter add dev vxlan0 ingress protocol ip flower enc_key_id 7 enc_dst_port 8472 action drop",
        "",
      ].join("\n"),
    );
    const missed = (await flowsteer(["why", vxlan, "--packet", frame(8)])).out.replace(/\s+/g, " ");
    expect(missed).toContain(`driver: PF receives"; nearest: rule "${vxlan}:2" does not match: enc_key_id is 8, not 7`);
    expect(missed).toContain(`${vxlan}:2: change "enc_key_id 7" to "enc_key_id 8".`);

    const end = "/ end actions queue index 1 / end";
    const groups = scratch(
      "groups.testpmd",
      [
        `flow create 0 ingress group 1 pattern eth / vlan vid is 100 / ipv4 dst is 10.0.0.7 ${end}`,
        "flow create 0 ingress priority 9 group 1 pattern eth / end actions drop / end",
        "flow create 0 ingress pattern eth / end actions jump group 1 / end",
        "",
      ].join("\n"),
    );
    const packet = "ethernet / vlan vid 101 / ipv4 10.0.0.1 > 10.0.0.7 / tcp 5 > 80";
    const dropped = (await flowsteer(["why", groups, "--packet", packet])).out.replace(/\s+/g, " ");
    expect(dropped).toContain(
      `"${groups}:2" drops the frame; nearest: rule "${groups}:1" does not match: vlan vid is 101`,
    );
    expect(dropped).not.toContain("driver");
  });

  it("gives places, words and edits as JSON", async () => {
    const file = scratch("flows.ovs", OVS);
    const { out } = await flowsteer(["why", file, "--packet", FRAME, "--rule", `${file}:1`, "--json"]);
    const { explanation, elements } = JSON.parse(out) as { explanation: { repairs: unknown[] }; elements: unknown };
    expect(elements).toEqual({ [`${file}:1`]: { file, line: 1, column: 1, text: OVS.trim() } });
    expect(explanation.repairs).toContainEqual(
      expect.objectContaining({ edits: [{ file, line: 1, column: 40, before: "tp_dst=8472", after: "tp_dst=4789" }] }),
    );
  });

  it("mends the frame when the edit is made", async () => {
    const file = scratch("flows.ovs", OVS.replace("tp_dst=8472", "tp_dst=4789"));
    const { out } = await flowsteer(["why", file, "--packet", FRAME, "--rule", `${file}:1`]);
    expect(out).toContain(`rule "${file}:1" took the frame`);
  });
});

it("a port of VXLAN is that of a device of Linux, whose line is changed", async () => {
  const link = "ip link add vx type vxlan dstport 4789 external\n";
  const text = `${link}tc filter add dev vx ingress protocol ip prio 1 flower enc_key_id 7 action drop\n`;
  const file = scratch("tunnel.tc", text);
  const frame = "ipv4 10.0.0.1 > 10.0.0.7 / udp 5 > 8472 / vxlan vni 7 / eth / ipv4 192.0.2.1 > 192.0.2.2 / tcp 5 > 80";
  const { out } = await flowsteer(["why", file, "--packet", frame, "--rule", `${file}:2`]);
  expect(out.replace(/\s+/g, " ")).toContain(`${file}:1: change "dstport 4789" to "dstport 8472".`);
  const mended = scratch("mended.tc", text.replace("4789", "8472"));
  const after = await flowsteer(["why", mended, "--packet", frame, "--rule", `${mended}:2`]);
  expect(after.out).toContain(`rule "${mended}:2" took the frame`);
});

it("run counts hits by place, with the words", async () => {
  const file = scratch("flows.testpmd", FLOWS);
  const { code, out } = await flowsteer(["run", file, CAPTURE]);
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`${file}:2 .* flow create 0 ingress pattern eth / ipv4 dst is 10.0.0.7 / tcp`));
});

it("run tells why no frame can hit a rule, and nothing of rules that others can", async () => {
  const flow = (pattern: string, action: string): string =>
    `flow create 0 ingress ${pattern} / end actions ${action} / end\n`;
  const file = scratch(
    "never.testpmd",
    flow("pattern eth / ipv4 / udp", "queue index 1") +
      flow("pattern eth / ipv4 / udp dst is 53", "queue index 2") +
      flow("group 3 pattern eth", "drop") +
      flow("pattern eth / ipv4 / tcp dst is 9999", "drop"),
  );
  const { out } = await flowsteer(["run", file, CAPTURE, "--quiet"]);
  const shown = (await flowsteer(["run", file, CAPTURE])).out;
  expect(out).not.toContain("No frame can hit");
  const [, causes = ""] = shown.split("No frame can hit");
  expect(
    causes
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.replace(/\s+/g, " ")),
  ).toEqual([`${file}:2 rule "${file}:1" takes all its frames`, `${file}:3 no rule leads to table "nic_rx group 3"`]);
  expect(shown).toMatch(/never\.testpmd:4 +0 +0 +never hit/);
});

it("check and cover have the words of the text for connections, and say which are not offloaded", async () => {
  const of = "tc filter add dev eth0 ingress protocol ip prio 1";
  const file = scratch(
    "icmp.tc",
    `${of} chain 0 flower ip_proto icmp ct_state -trk action ct zone 1 pipe action goto chain 1\n` +
      `${of} chain 1 flower ip_proto icmp ct_state +trk+est action mirred egress redirect dev eth0_1\n`,
  );
  const flat = async (command: string): Promise<string> => (await flowsteer([command, file])).out.replace(/\s+/g, " ");
  const why = `cannot match ct_state +trk+est: they have ct_state +trk, ct_zone 1, which rule "${file}:1" writes`;
  expect(await flat("check")).toContain(`${why}: the kernel offloads connections of TCP, UDP and GRE only`);
  expect(await flat("cover")).toContain(why);
});

describe("--rule", () => {
  const text =
    "tc filter add dev eth0 ingress protocol ip prio 1 flower skip_hw ip_proto tcp action drop\n" +
    "tc filter add dev eth0 ingress protocol arp prio 2 flower arp_sip 10.0.0.1 action drop\n" +
    "tc filter add dev eth0 ingress protocol ip prio 3 flower ip_proto udp action drop\n";
  const asked = (file: string, rule: string) =>
    flowsteer(["why", file, "--lenient", "--packet", "ipv4 / tcp", "--rule", rule]);

  it.each([
    [1, "skip_hw: the filter is not in the device, and is left out"],
    [2, "arp_sip: the device does not match ARP"],
  ])("says of line %d, which is in no device, why", async (line, reason) => {
    const file = scratch("left.tc", text);
    const { code, err } = await asked(file, `${file}:${line}`);
    expect(code).toBe(2);
    expect(err).toContain(`--rule ${file}:${line}: no rule of the device is of this line: `);
    expect(err.split("\n").at(-2)).toContain(reason);
  });

  it("needs no folder, and finds states of ip xfrm", async () => {
    const file = scratch("left.tc", text);
    expect((await asked(file, "left.tc:3")).out).toContain(`rule "${file}:3" does not match: IP protocol is tcp`);
    expect((await asked(file, "left.tc:9")).err).toContain("nothing has this name");
    const state = scratch(
      "in.xfrm",
      "ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1000 reqid 1 mode tunnel aead " +
        "'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 offload packet dev eth2 dir in\n",
    );
    const packet = ["--packet", "ipv4 10.0.0.3 > 10.0.0.2 / esp 0x1000"];
    const { out } = await flowsteer(["why", state, ...packet, "--rule", "in.xfrm:1"]);
    expect(out.replace(/\s+/g, " ")).toContain(`flow "${state}:1" does not match: src is 10.0.0.3, not 10.0.0.1`);
  });
});

it("several files make one set of rules, and captures follow them", async () => {
  const one = scratch("one.testpmd", FLOWS);
  const other = scratch("other.testpmd", FLOWS.replaceAll("10.0.0.7", "10.0.0.8"));
  const { code, out } = await flowsteer(["run", one, other, CAPTURE]);
  expect(code).toBe(0);
  for (const place of [`${one}:1`, `${one}:2`, `${other}:1`, `${other}:2`]) expect(out).toContain(place);
});

it("cover and check name rules by place", async () => {
  const line = "flow create 0 ingress pattern eth / ipv4 / tcp / end actions drop / end\n";
  const file = scratch("twice.testpmd", line + line);
  const cover = await flowsteer(["cover", file]);
  expect(cover.out).toContain(`live     "${file}:1"`);
  const check = await flowsteer(["check", file, "--json"]);
  expect(check.code).toBe(1);
  const findings = check.out
    .trim()
    .split("\n")
    .map((one) => JSON.parse(one) as { id?: string });
  expect(findings.find(({ id }) => id === "duplicate-rule")).toMatchObject({
    file,
    place: { line: 2, column: 1 },
    elements: { [`${file}:2`]: { line: 2, text: line.trim() } },
  });
});

it("diff pairs rules by what they do, not by their lines", async () => {
  const old = scratch("old.testpmd", FLOWS);
  const changed = scratch("new.testpmd", `# moved\n\n${FLOWS.replace("index 2", "index 3")}`);
  const { code, out } = await flowsteer(["diff", old, changed]);
  expect(code).toBe(1);
  expect(out).toContain("difference 1");
  expect(out).toContain(`${old}:2`);
  expect(out).toContain(`${changed}:4`);
  expect(out).not.toContain(`${old}:1`);
});

describe("a refused command", () => {
  it("prints what was not imported, and runs nothing", async () => {
    const file = scratch("bad.testpmd", FLOWS.replace("udp dst", "udp dts"));
    const { code, out, err } = await flowsteer(["run", file, CAPTURE]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`${file}:1:`);
    expect(err).toContain("--lenient leaves");
  });

  it("runs the rest with --lenient", async () => {
    const file = scratch("bad.testpmd", FLOWS.replace("udp dst", "udp dts"));
    const { code, out } = await flowsteer(["run", file, CAPTURE, "--lenient"]);
    expect(code).toBe(0);
    expect(out).toContain(`${file}:2`);
  });

  it("does not take options of an import for a scenario", async () => {
    const { code, err } = await flowsteer(["check", "examples/everyday.json", "--map", "port0=uplink"]);
    expect(code).toBe(2);
    expect(err).toContain("--map: examples/everyday.json is a scenario: there is nothing to import");
  });

  it("--fix corrects misspelled words where they stand, and says which", async () => {
    const file = scratch("flows.ovs", OVS.replace("nw_dst", "nw_dts").replace("output", "ouptut"));
    const { code, out } = await flowsteer(["check", file, "--fix"]);
    expect(code).toBe(0);
    expect(out).toContain(`${file}:1:24: fixed not-imported`);
    expect(out).toMatch(/changed "nw_dts" to "nw_dst"[\s\S]*changed "ouptut" to "output"/);
    expect(readFileSync(file, "utf8")).toBe(OVS);
    const { out: again } = await flowsteer(["check", file, "--fix"]);
    expect(again).not.toContain("fixed");
  });

  it("--fix leaves what no suggestion answers, and says what it corrected all the same", async () => {
    const [first = ""] = TC.trimEnd().split("\n");
    const unknown = first.replace(/prio \d+/, "prio 9").replace(/action .*/, "action xyzzyq");
    // Which word of a line is wrong is not known while another one of it is not read.
    const both = unknown.replace("dst_port", "dst_prot").replace("prio 9", "prio 8");
    const file = scratch("filters.tc", `${TC.replace("dst_port", "dst_prot").trimEnd()}\n${unknown}\n${both}\n`);
    const json = await flowsteer(["check", file, "--fix", "--json"]);
    expect(json.code).toBe(2);
    expect(readFileSync(file, "utf8")).toBe(`${TC.trimEnd()}\n${unknown}\n${both}\n`);
    expect(json.out).toContain('"fixed":["not-imported"]');
  });

  it("checks the other files, too", async () => {
    const bad = scratch("bad.testpmd", FLOWS.replace("udp dst", "udp dts"));
    const { code, out, err } = await flowsteer(["check", bad, scratch("flows.ovs", OVS)]);
    expect(code).toBe(2);
    expect(err).toContain(`${bad}:1:`);
    expect(out).toContain("flows.ovs");

    const json = await flowsteer(["check", bad, "--json"]);
    const lines = json.out.split("\n").flatMap((one) => (one === "" ? [] : (JSON.parse(one) as object)));
    expect(json.code).toBe(2);
    expect(lines).toMatchObject([
      { kind: "finding", file: bad, place: { line: 1 }, id: "not-imported", severity: "error" },
      { kind: "file", file: bad, errors: 1 },
    ]);
  });

  it.each([
    [["--driver", "mlx5"], 'did you mean "mlx5e"?'],
    [["--map", "eth0=bogus9"], "eth0=bogus9: a device or port is mapped to uplink, port2, pf or vf1"],
  ])("refuses %j", async (options, reason) => {
    const { code, err } = await flowsteer(["run", scratch("filters.tc", TC), CAPTURE, ...options]);
    expect(code).toBe(2);
    expect(err).toContain(reason);
  });

  it("names the formats where a text is in none", async () => {
    const { code, err } = await flowsteer(["run", scratch("words.txt", "hello\n"), CAPTURE]);
    expect(code).toBe(2);
    expect(err).toContain("its format is not recognized");
  });
});

describe("--profile", () => {
  // A ConnectX-5 has no definers: it finds ports by the IP version.
  const PORTS = "flow create 0 group 1 ingress pattern eth / tcp dst is 80 / end actions queue index 1 / end\n";
  const SCENARIO = JSON.stringify({
    flowsteer: 1,
    device: { profile: "manual" },
    queues: [{ name: "a" }],
    flows: [{ name: "late", queue: "a", priority: 100, specs: [{ udp: { dst_port: 53 } }] }],
    frames: [{ headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: 53 }] }],
  });

  it.each(["run", "check", "why", "trace", "cover"])("%s loads the rules on another adapter", async (command) => {
    const file = scratch("profile.json", SCENARIO);
    const frame = command === "why" || command === "trace" ? ["--frame", "1"] : [];
    expect((await flowsteer([command, file, ...frame])).code).toBeLessThan(2);
    const { code, err } = await flowsteer([command, file, ...frame, "--profile", "connectx6dx"]);
    expect(code).toBe(2);
    expect(err).toContain("flows[0].priority = 100");
    expect(err).toContain("0 to 15");
  });

  it("import and diff, too", async () => {
    const file = scratch("profile.testpmd", PORTS);
    const imported = await flowsteer(["import", file, "--profile", "connectx7", "--lenient"]);
    expect((JSON.parse(imported.out) as { device: object }).device).toMatchObject({ profile: "connectx7" });
    const scenario = scratch("profile.json", SCENARIO);
    expect((await flowsteer(["diff", scenario, scenario])).code).toBe(0);
    expect((await flowsteer(["diff", scenario, scenario, "--profile", "connectx5"])).code).toBe(2);
  });

  it("names the profiles", async () => {
    const { code, err } = await flowsteer(["run", scratch("profile.json", SCENARIO), "--profile", "connectx4"]);
    expect(code).toBe(2);
    expect(err).toContain('device.profile = "connectx4"');
    expect(err).toContain("connectx6dx");
    const driver = await flowsteer(["import", scratch("profile.testpmd", PORTS), "--driver", "mlx5"]);
    expect(driver.code).toBe(2);
    expect(driver.err).toContain("mlx5-pmd-hws");
  });
});

describe("trace", () => {
  const traced = async (name: string, text: string, packet: string, ...args: string[]): Promise<string> => {
    const { out } = await flowsteer(["trace", scratch(name, text), "--packet", packet, "--quiet", ...args]);
    return out.replace(/\s+/g, " ");
  };

  it("names what rules match and change as the text does, and other fields as frames have them", async () => {
    const text = "table=0,priority=5,udp,nw_dst=10.0.0.7 actions=mod_nw_dst:10.0.0.9,output:2\n";
    const out = await traced("words.ovs", text, "ipv4 > 10.0.0.7 / udp", "--map", "1=uplink,2=vf1");
    expect(out).toContain("device priority 65530 EtherType ipv4, IP protocol udp, IP version 4, nw_dst 10.0.0.7");
    expect(out).toContain("modify nw_dst = 10.0.0.9 nw_dst 10.0.0.7 -> 10.0.0.9");
    expect(out).not.toMatch(/\b(?:outer|inner)\.|table table/);
  });

  it("writes the state of a connection as the text does, and the removal of a tag in words", async () => {
    const text =
      "table=0,priority=10,in_port=1,tcp,ct_state=-trk,actions=ct(table=1,zone=5)\ntable=1,priority=10,tcp,ct_state=+trk+est,actions=output:2\n";
    const out = await traced("ct.ovs", text, "ipv4 10.0.0.1 > 10.0.0.7 / tcp 1 > 22", "--map", "1=uplink,2=vf1");
    expect(out).toContain("in_port uplink, ct_state -trk modify ct_state = +trk+est, ct_zone 5 ct_state -trk ->");
    expect(out).toContain("IP protocol tcp, ct_state +trk+est");
    expect(out).toContain("clear tag");
    expect(out).not.toMatch(/ct_state (?:0x|\d)|untag/);
  });

  it("names what RSS hashed as frames have it", async () => {
    const text = "flow create 0 ingress pattern eth / ipv4 / udp / end actions rss queues 0 1 end / end\n";
    expect(await traced("rss.testpmd", text, "ipv4 10.0.0.1 > 10.0.0.7 / udp")).toContain(
      "of ipv4 source 10.0.0.1, ipv4 destination 10.0.0.7 chose entry",
    );
  });
});
