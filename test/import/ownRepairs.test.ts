/** Repairs of imported rules as edits of their text: what each one changes, and that the frame hits the rule after it. */
import { describe, expect, it } from "vitest";
import { openExplainer } from "../../src/explain/index.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { parsePacket } from "../../src/packet/notation/parse.js";
import { loadScenario } from "../../src/scenario/index.js";
import { ImportedRules, importRules, type OwnExplanation } from "../../src/import/index.js";
import { withEdits } from "../../src/import/edits.js";

const FILE = "rules";

async function why(text: string, packet: string, rule?: string): Promise<OwnExplanation> {
  const sources = [{ file: FILE, text }];
  const result = importRules(sources, { namePlaces: true });
  if (result.scenario === null) throw new Error(JSON.stringify(result.findings));
  const rules = new ImportedRules(sources, {}, result.scenario, result);
  const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
  const frame = buildFrame(parsePacket(packet).layers);
  return rules.inOwnWords(explainer.why(1, frame, rule === undefined ? "dropped" : { kind: "rule", name: rule }));
}

const TCP = "ipv4 10.0.0.1 > 10.0.0.2 / tcp 1 > 53";
const UDP = "ipv4 10.0.0.1 > 10.0.0.2 / udp 1 > 53";
const TAGGED = "ethernet / vlan 5 / ipv4 10.0.0.1 > 10.0.0.2 / udp 1 > 53";
const vxlan = (port: number, vni: number): string =>
  `ipv4 192.168.0.2 > 192.168.0.1 / udp 5000 > ${port} / vxlan ${vni} / ethernet / ipv4 10.0.0.1 > 10.0.0.5 / tcp 1 > 80`;

const flow = (pattern: string): string =>
  `flow create 0 ingress pattern ${pattern} / end actions queue index 1 / end\n`;
const filter = (words: string): string => `tc filter add dev eth0 ingress ${words} action drop\n`;
const DEVICE = "ip link add vx type vxlan dstport 4789 external\n";
const tunnel = (words: string): string =>
  `${DEVICE}tc filter add dev vx ingress protocol ip prio 1 flower ${words} action drop\n`;

describe.each<[kind: string, text: string, packet: string, rule: number, ...edits: [before: string, after: string][]]>([
  ["another protocol, testpmd", flow("eth / ipv4 / tcp dst is 53"), UDP, 1, ["tcp", "udp"]],
  ["another protocol, tc", filter("protocol ip prio 1 flower ip_proto tcp dst_port 53"), UDP, 1, ["tcp", "udp"]],
  ["another protocol, OVS", "priority=1,tcp,tp_dst=53,actions=drop\n", UDP, 1, ["tcp", "udp"]],
  [
    "another protocol, ethtool",
    "ethtool -N eth0 flow-type tcp4 dst-port 53 action -1 loc 5\n",
    UDP,
    1,
    ["tcp4", "udp4"],
  ],
  ["another IP version, tc", filter("protocol ipv6 prio 1 flower ip_proto udp dst_port 53"), UDP, 1, ["ipv6", "ip"]],
  [
    "the other address, testpmd",
    flow("eth / ipv4 dst is 10.0.0.1 / udp"),
    UDP,
    1,
    ["dst is 10.0.0.1", "src is 10.0.0.1"],
  ],
  [
    "the other address, OVS",
    "priority=1,ip,nw_src=10.0.0.2,actions=drop\n",
    UDP,
    1,
    ["nw_src=10.0.0.2", "nw_dst=10.0.0.2"],
  ],
  [
    "the other address, ethtool",
    "ethtool -N eth0 flow-type udp4 src-ip 10.0.0.2 action -1 loc 6\n",
    UDP,
    1,
    ["src-ip 10.0.0.2", "dst-ip 10.0.0.2"],
  ],
  [
    "the other port, tc",
    filter("protocol ip prio 1 flower ip_proto tcp src_port 53"),
    TCP,
    1,
    ["src_port 53", "dst_port 53"],
  ],
  [
    "the first of two priorities, tc",
    filter("protocol ip prio 1 flower ip_proto tcp") + filter("protocol ip prio 2 flower ip_proto tcp dst_port 53"),
    TCP,
    2,
    ["prio 1", "prio 3"],
  ],
  [
    "the first of two priorities, testpmd",
    flow("eth").replace("queue index 1", "jump group 1") +
      flow("eth / ipv4 / tcp").replace("ingress", "group 1 priority 0 ingress").replace("queue index 1", "drop") +
      flow("eth / ipv4 / tcp dst is 53").replace("ingress", "group 1 priority 1 ingress"),
    TCP,
    3,
    ["priority 0", "priority 2"],
  ],
  ["the port of a device", tunnel("enc_key_id 42"), vxlan(8472, 42), 2, ["dstport 4789", "dstport 8472"]],
  [
    "the port of a device and of its filter",
    tunnel("enc_key_id 42 enc_dst_port 4789"),
    vxlan(8472, 42),
    2,
    ["dstport 4789", "dstport 8472"],
    ["enc_dst_port 4789", "enc_dst_port 8472"],
  ],
  [
    "the port of a device among commands of testpmd",
    DEVICE + flow("eth / ipv4 / udp dst is 8472 / vxlan vni is 42"),
    vxlan(8472, 42),
    2,
    ["dstport 4789", "dstport 8472"],
  ],
  [
    "the port of a rule of testpmd",
    flow("eth / ipv4 / udp dst is 8472 / vxlan vni is 42"),
    vxlan(4789, 42),
    1,
    ["udp dst is 8472", "udp dst is 4789"],
  ],
  [
    "a port that only the driver asks for",
    `${DEVICE.replace("4789", "8472")}${flow("eth / ipv4 / udp / vxlan vni is 42")}`,
    vxlan(8472, 42),
    2,
    ["udp", "udp dst is 8472"],
  ],
  [
    "a port that only the driver asks for, and that of the device",
    DEVICE + flow("eth / ipv4 / udp src is 5000 / vxlan vni is 42"),
    vxlan(8472, 42),
    2,
    ["dstport 4789", "dstport 8472"],
    ["udp src is 5000", "udp src is 5000 dst is 8472"],
  ],
  [
    "the network of a filter",
    tunnel("enc_key_id 42 enc_dst_port 4789"),
    vxlan(4789, 43),
    2,
    ["enc_key_id 42", "enc_key_id 43"],
  ],
  [
    "the port of another rule, OVS",
    "priority=9,in_port=1,udp,actions=2\npriority=1,in_port=2,tcp,tp_dst=53,actions=drop\n",
    TCP,
    2,
    ["in_port=2", "in_port=1"],
  ],
  [
    "a wildcard mask, testpmd",
    flow("eth / ipv4 dst spec 10.0.0.0 dst mask 0.0.255.255 / udp"),
    UDP.replace("10.0.0.2", "10.0.5.2"),
    1,
    ["ipv4 dst spec 10.0.0.0 dst mask 0.0.255.255", "ipv4 dst spec 10.0.0.0 dst mask 255.255.0.0"],
  ],
  [
    "the sense of a mask, ethtool",
    "ethtool -N eth0 flow-type udp4 dst-ip 10.0.0.0 m 255.255.255.0 action -1\n",
    UDP,
    1,
    ["dst-ip 10.0.0.0 m 255.255.255.0", "dst-ip 10.0.0.0 m 0.0.0.255"],
  ],
  [
    "an address of ARP, OVS",
    "priority=1,arp,arp_spa=192.168.0.1,actions=drop\n",
    "ethernet / arp 10.0.0.1 > 10.0.0.2",
    1,
    ["arp_spa=192.168.0.1", "arp_spa=10.0.0.1"],
  ],
  ["no tag, testpmd", flow("eth has_vlan is 0 / ipv4 / udp"), TAGGED, 1, [" has_vlan is 0", ""]],
  ["no tag, OVS", "priority=1,vlan_tci=0,udp,actions=drop\n", TAGGED, 1, ["vlan_tci=0,", ""]],
])("%s", (_, text, packet, rule, ...wanted) => {
  const name = `${FILE}:${rule}`;

  it("is an edit of the text, which mends the frame", async () => {
    const { repairs } = await why(text, packet, name);
    const edits = repairs.flatMap((repair) => (repair.edits === undefined ? [] : [repair.edits]));
    const made = edits.find((one) => JSON.stringify(one.map((e) => [e.before, e.after])) === JSON.stringify(wanted));
    expect(made, JSON.stringify(repairs, null, 1)).toBeDefined();
    const [after] = withEdits([{ file: FILE, text }], made ?? []);
    expect((await why(after?.text ?? "", packet, name)).sentence).toMatch(new RegExp(`"${name}" took the frame`));
  });
});

describe.each([
  ["testpmd", "flow create 0 ingress group 1 pattern eth / ipv4 / udp dst is 53 / end actions queue index 1 / end\n"],
  ["testpmd, transfer", "flow create 0 transfer group 2 pattern eth / ipv4 / udp / end actions drop / end\n"],
  ["tc", filter("protocol ip chain 5 prio 1 flower ip_proto udp dst_port 53")],
  ["OVS", "table=3,priority=10,udp,tp_dst=53,actions=output:2\ntable=0,priority=1,tcp,actions=output:2\n"],
])("a rule in a table that nothing leads to, %s", (_, text) => {
  it("is named without being asked for, and the element that its advice has leads the frame there", async () => {
    const plain = await why(text, UDP);
    expect(plain.sentence).toMatch(/; rule "rules:1" matches the frame, and no rule leads to its table/);
    const [, advice = ""] =
      /This leads all frames there that no earlier rule takes: (.*)$/.exec(plain.mistake?.sentence ?? "") ?? [];
    expect((await why(`${text}${advice}\n`, UDP, `${FILE}:1`)).sentence).toMatch(/^rule "rules:1" took the frame/);
  });
});

it.each([
  ["tc", filter("protocol ip prio 1 flower ip_proto tcp dst_port 53"), "dst_port"],
  ["OVS", "priority=1,tcp,tp_dst=53,actions=drop\n", "tp_dst"],
  ["ethtool", "ethtool -N eth0 flow-type tcp4 dst-port 53 action -1 loc 5\n", "dst-port"],
])("a port of TCP and UDP alike is no field of TCP, %s", async (_, text, name) => {
  const { mistake } = await why(text, UDP, `${FILE}:1`);
  expect(mistake?.sentence).toBe(`In this rule ${name} is a port of TCP, and the frame is UDP.`);
});

it("no repair takes out the SPI of a state", async () => {
  const state =
    "ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1000 reqid 1 mode tunnel " +
    "aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 offload packet dev eth2 dir in\n";
  const { repairs } = await why(state, "ipv4 10.0.0.1 > 10.0.0.2 / udp 500 > 500");
  expect(repairs.filter(({ of }) => of === "rule")).toEqual([]);
});

it("words for frames without a tag, taken out, let all VLANs match", async () => {
  const { repairs } = await why(flow("eth has_vlan is 0 / ipv4 / udp"), TAGGED, `${FILE}:1`);
  const { standing, others, witness } = repairs.find(({ of }) => of === "rule")!;
  expect([standing, others]).toEqual(["widens", expect.stringMatching(/^Widens: frames of another VLAN /)]);
  expect(witness?.bytes).toBeDefined();
});

describe("the ports of a later fragment", () => {
  const { layers } = parsePacket("ipv4 10.0.0.1 > 10.0.0.2 / udp 1 > 53");
  const fragment = buildFrame(layers);
  // Fragment offset 1: what follows is no header, and the checksum is wrong, which changes nothing.
  fragment[21] = 1;

  it.each([
    ["testpmd", flow("eth / ipv4 / udp dst is 53"), "dst is 53"],
    ["tc", filter("protocol ip prio 1 flower ip_proto udp dst_port 53"), "dst_port 53"],
  ])("%s: are taken out, and the protocol stays", async (_, text, before) => {
    const sources = [{ file: FILE, text }];
    const result = importRules(sources, { namePlaces: true });
    const rules = new ImportedRules(sources, {}, result.scenario!, result);
    const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
    const { repairs } = rules.inOwnWords(explainer.why(1, fragment, { kind: "rule", name: "rules:1" }));
    const [edit] = repairs.find(({ of }) => of === "rule")?.edits ?? [];
    expect(edit).toMatchObject({ before: expect.stringContaining(before) as string, after: "" });
    const [after] = withEdits(sources, edit === undefined ? [] : [edit]);
    expect((await why(after?.text ?? "", TCP, "rules:1")).sentence).toContain('rule "rules:1" does not match');
    expect((await why(after?.text ?? "", UDP.replace("53", "54"), "rules:1")).sentence).toContain("took the frame");
  });
});

describe("a rule of a device whose frames the driver does not lead to it", () => {
  it("is named, and so is what kept the frame from it", async () => {
    const { sentence, repairs } = await why(tunnel("enc_key_id 42 enc_dst_port 4789"), vxlan(8472, 42));
    expect(sentence).toBe(
      'no rule took the frame but the driver\'s own: host:0 received it by host rule "driver: PF receives"; ' +
        'rule "rules:2" was never reached: rule "driver: to vx" does not match: ' +
        "enc_key_id: UDP port 8472 is not 4789, so no VXLAN header was read",
    );
    expect(repairs[0]?.sentence).toBe(
      'rules:1: change "dstport 4789" to "dstport 8472". rules:2: change "enc_dst_port 4789" to "enc_dst_port 8472".',
    );
  });
});

describe("a value that the language does not have", () => {
  const state =
    "ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1000 reqid 1 mode tunnel " +
    "aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 offload packet dev eth2 dir in\n";

  it("is in no repair", async () => {
    const { repairs } = await why(state, "ipv4 10.0.0.3 > 10.0.0.2 / esp 0x1000");
    expect(repairs.filter(({ of }) => of === "rule").map(({ edits }) => edits?.[0]?.after)).toEqual(["src 10.0.0.3"]);
  });
});

describe("the order that a driver gives rules", () => {
  it.each([
    [
      "testpmd",
      flow("eth / ipv4") + flow("eth / ipv4 / udp dst is 53"),
      "its last header is udp (layer 4): priority 0 x 3 + 0; the other: its last header is ipv4 (layer 3): priority 0 x 3 + 1",
    ],
    [
      "ethtool",
      "ethtool -N eth0 flow-type udp4 dst-port 53 action 1 loc 1\n" +
        "ethtool -N eth0 flow-type udp4 dst-port 53 src-port 1 action 2 loc 5\n",
      "rules with more fields come first, those of ether last, whatever their loc: 3 fields, before 2 fields",
    ],
  ])("%s: is the reason", async (_, text, reason) => {
    const { sentence } = await why(text, UDP, "rules:1");
    expect(sentence.replace(/^host /, "").replaceAll("; host", ";")).toBe(
      `rule "rules:2" took the frame first: the driver puts it first (${reason}); rule "rules:1" would match too`,
    );
  });
});

describe("RSS of testpmd", () => {
  const rss = (pattern: string, types: string): string =>
    `flow create 0 ingress pattern ${pattern} / end actions rss types ${types} end queues 0 1 2 3 end / end\n`;
  const NOTHING = "the hash has no input: all frames without one share entry 0 of 4";

  it.each([
    [
      "eth / ipv4",
      "ipv4-udp",
      TCP,
      `${NOTHING}; not selected: ipv4 source, ipv4 destination, tcp source_port, tcp destination_port`,
    ],
    [
      "eth",
      "ipv6-tcp",
      UDP,
      `${NOTHING}; not selected: ipv4 source, ipv4 destination, udp source_port, udp destination_port`,
    ],
    ["eth", "ip", "arp", `${NOTHING}; left out: ipv4 source, ipv4 destination, because the outer packet is not IP`],
  ])("%s, %s: frames without a hash input are in the first queue, whichever is asked about", async (...args) => {
    const [pattern, types, packet, how] = args;
    const text = rss(pattern, types);
    expect((await why(text, packet)).sentence).toBe(`qp:queue 0 got the frame by rule "rules:1": ${how}`);
    const sources = [{ file: FILE, text }];
    const result = importRules(sources, { namePlaces: true });
    const rules = new ImportedRules(sources, {}, result.scenario!, result);
    const explainer = await openExplainer((await loadScenario(rules.scenario)).device);
    const asked = explainer.why(1, buildFrame(parsePacket(packet).layers), { kind: "queue", name: "queue 2" });
    const { sentence, mistake, repairs } = rules.inOwnWords(asked);
    expect(sentence).toMatch(
      new RegExp(
        `^rule "rules:1" \\(rss 1.*\\) distributes frames by RSS, which gave this one to qp:queue 0: ${NOTHING}`,
      ),
    );
    expect([mistake, repairs]).toEqual([null, []]);
  });

  it("of sources alone says that the destination does not count", async () => {
    const { sentence } = await why(rss("eth / ipv4 / tcp", "ipv4 l3-src-only"), TCP);
    expect(sentence.replaceAll("\u00a0", " ")).toMatch(
      /: the hash 0x[\da-f]{8} of ipv4 source 10\.0\.0\.1 chose entry \d of 4; not selected: ipv4 destination, tcp source_port, tcp destination_port$/,
    );
  });
});

it("an address that lies in a network by chance is no swapped one", async () => {
  const text = flow("eth / ipv4 src spec 10.0.0.0 src prefix 24");
  const near = await why(text, "ipv4 10.0.1.7 > 10.0.0.2", "rules:1");
  expect(near.mistake).toBeNull();
  const reply = await why(text, "ipv4 192.0.2.7 > 10.0.0.2", "rules:1");
  expect(reply.mistake?.name).toBe("addresses-swapped");
});

it("a port of VXLAN that no device of the text has is said, and the rule is kept", () => {
  const said = (text: string): readonly string[] => importRules(text).findings.map(({ reason }) => reason);
  const rule = flow("eth / ipv4 / udp dst is 8472 / vxlan vni is 42");
  const missing =
    "the device reads it on UDP port 4789, not 8472; this would register the port: " +
    "ip link add NAME type vxlan dstport 8472 external";
  expect(said(rule)).toContain(missing);
  expect(said(`${rule}ip link add vx type vxlan dstport 8472 external\n`)).not.toContain(missing);
});

it("a filter of a tunnel device without enc_dst_port is said to stay in the kernel", () => {
  const said = (text: string): number =>
    importRules(text).findings.filter(({ reason }) => reason.includes("only with enc_dst_port")).length;
  const filters = tunnel("enc_key_id 7") + tunnel("enc_key_id 7 enc_dst_port 4789").replace(DEVICE, "");
  expect([said(filters), said(filters.replaceAll("enc_dst_port 4789 ", "in_hw ")), said(filter("flower"))]).toEqual([
    1, 1, 0,
  ]);
});

it("the id of a device that takes all networks is left out", () => {
  const { findings, scenario } = importRules(tunnel("enc_key_id 7").replace("dstport", "id 42 dstport"));
  expect(findings.map(({ text, reason }) => [text, reason])).toContainEqual([
    "external",
    "ip takes no id beside it: imported without the id",
  ]);
  expect(scenario?.rules?.find(({ name }) => name === "driver: to vx")?.match).toEqual({ "misc.vxlan_vni": "any" });
});
