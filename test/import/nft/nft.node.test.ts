/** Ingress chains of nftables, as nft prints them, and what frames do afterwards. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import type { Scenario } from "../../../src/scenario/index.js";
import { imported, Switch } from "../tc/support/steer.js";

const LISTED = readFileSync(new URL("rules.json", import.meta.url), "utf8");
const MAP = { eth0: "uplink", vb: "vf1" };
type Headers = Parameters<typeof buildFrame>[0];
const frame = (...headers: Headers): Uint8Array => buildFrame([{ header: "ethernet" }, ...headers]);
const IP = { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" } as const;

test("what nft prints: the rules that a NIC takes, and each of the others by name", async () => {
  const { scenario, findings } = importRules([{ file: "r", text: LISTED }], { lenient: true, map: MAP });
  const refused = findings.filter(({ severity }) => severity === "refused");
  const lines = LISTED.split("\n");
  for (const { line } of refused) expect(`${lines[line - 1]}${lines[line]}`).toContain(`"rule"`);
  expect(refused.map(({ text }) => text)).toEqual([
    "rule 5 of other",
    "rule 7 of in, @blocked",
    'rule 9 of in, {"set":["10.0.0.5","10.0.0.6"]}',
    'rule 10 of in, {"range":[1000,2000]}',
    "rule 14 of in, mangle",
    "rule 15 of in, tcp flags",
    "rule 16 of in, jump",
    "rule 17 of in, ip dscp",
    "rule 18 of in, icmp type",
    "rule 19 of in",
    "rule 20 of in, ip ttl",
    "rule 21 of in",
  ]);
  const device = await Switch.of(scenario as Scenario);
  expect(device.names(0, frame(IP, { header: "tcp", destination_port: 80 }))).toEqual([]);
  expect(device.names(0, frame(IP, { header: "tcp", destination_port: 81 })).sort()).toEqual(["qp:pf", "qp:vf1"]);
  expect(device.names(0, frame({ ...IP, source: "10.0.0.3" }, { header: "udp" }))).toEqual(["qp:pf"]);
  expect(device.names(0, frame({ header: "vlan", vid: 5 }, IP))).toEqual([]);
  expect(device.names(0, frame({ header: "vlan", vid: 6 }, IP))).toEqual(["qp:pf"]);
  expect(device.names(0, frame({ header: "ipv6", destination: "fd00::1" }, { header: "icmpv6", type: 128 }))).toEqual(
    [],
  );
});

const listOf = (expr: object[], chain: object = {}): string =>
  JSON.stringify({
    nftables: [
      { chain: { family: "netdev", table: "t", name: "c", hook: "ingress", dev: "eth0", policy: "accept", ...chain } },
      { rule: { family: "netdev", table: "t", chain: "c", handle: 2, expr } },
    ],
  });
const match = (protocol: string, field: string, right: unknown): object => ({
  match: { op: "==", left: { payload: { protocol, field } }, right },
});

test.each([
  [
    [match("tcp", "dport", 80), { fwd: { dev: "eth0_0" } }],
    { "outer.ip_protocol": 6, "outer.tcp_dport": 80, "outer.cvlan_tag": 0 },
  ],
  [
    [match("vlan", "id", 7), match("vlan", "type", "ip"), { drop: null }],
    { "outer.first_vid": 7, "outer.ethertype": 0x800, "outer.cvlan_tag": 1 },
  ],
  [[match("ip6", "saddr", "fd00::1"), { accept: null }], { "outer.ipv6_src": "fd00::1", "outer.ethertype": 0x86dd }],
  [[match("ether", "type", "arp"), { drop: null }], { "outer.ethertype": 0x806 }],
])("%j", (expr, asked) => {
  const [rule] = (imported(listOf(expr), { format: "nft" }).rules ?? []).filter(({ table }) => table === "eth0");
  expect(rule?.match).toMatchObject(asked);
});

test("a policy of drop is a last rule", async () => {
  const device = await Switch.of(
    imported(listOf([match("udp", "dport", 53), { accept: null }], { policy: "drop" }), { format: "nft" }),
  );
  expect(device.names(0, frame(IP, { header: "udp", destination_port: 53 }))).toEqual(["qp:pf"]);
  expect(device.names(0, frame(IP, { header: "udp", destination_port: 54 }))).toEqual([]);
});

test.each([
  ["{", "not the JSON of nft -j list ruleset"],
  ['{"nftables": 5}', "the list of nft -j list ruleset is missing"],
  [listOf([{ drop: null }], { hook: "prerouting" }), "only ingress chains"],
  [listOf([match("tcp", "dport", 80), match("udp", "dport", 80), { drop: null }]), "it matches two protocols"],
  [listOf([match("tcp", "dport", 70000), { drop: null }]), "it is a number of 16 bits"],
  [listOf([match("tcp", "dport", 1.5), { drop: null }]), "it is a number of 16 bits"],
  [listOf([match("tcp", "dport", -1), { drop: null }]), "it is a number of 16 bits"],
  ...[33, 1.5, -1, 1e300, "8"].map((len): [string, string] => [
    listOf([match("ip", "saddr", { prefix: { addr: "10.0.0.0", len } }), { drop: null }]),
    "a prefix has 0 to 32 bits",
  ]),
  [listOf([{ counter: null }]), "a rule without a verdict"],
  [listOf([{ fwd: { dev: "br7" } }]), "--map br7=uplink"],
  [
    '{"nftables": [{"flowtable": {"family": "netdev", "name": "ft", "table": "t"}}]}',
    "the kernel adds connections to it",
  ],
])("refuses %s", (text, reason) => {
  const { scenario, findings } = importRules(text, { format: "nft" });
  expect(scenario).toBe(null);
  expect(findings.map((one) => one.reason).join("\n")).toContain(reason);
});
