/** Rules of ethtool, as commands and as listings, and where frames go. */
import { describe, expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

function imported(text: string): Scenario {
  const { scenario, findings } = importRules(text);
  if (scenario === null) throw new Error(findings.map(({ text: what, reason }) => `${what}: ${reason}`).join("\n"));
  return scenario;
}
const matchOf = (text: string): unknown => imported(`ethtool -N eth0 flow-type ${text} loc 5`).hostRules?.[0]?.match;
const refusedIn = (text: string): string[] =>
  importRules(text, { lenient: true })
    .findings.filter(({ severity }) => severity === "refused")
    .map(({ text: what, reason }) => `${what}: ${reason}`);

describe("fields", () => {
  test.each([
    [
      "tcp4 src-ip 10.0.0.1 dst-port 80 action 2",
      { "outer.ip_version": 4, "outer.ip_protocol": 6, "outer.ipv4_src": "10.0.0.1", "outer.tcp_dport": 80 },
    ],
    [
      "udp4 dst-ip 10.0.0.0 m 0.0.0.255 action 1",
      { "outer.ip_version": 4, "outer.ip_protocol": 17, "outer.ipv4_dst": "10.0.0.0/24" },
    ],
    [
      "udp6 dst-ip fd00::1 src-port 53 action 1",
      { "outer.ip_version": 6, "outer.ip_protocol": 17, "outer.ipv6_dst": "fd00::1", "outer.udp_sport": 53 },
    ],
    [
      "sctp4 dst-port 0x100 m 0xff action 1",
      { "outer.ip_version": 4, "outer.ip_protocol": 132, "ext.outer_sctp_dport": "256/0xff00" },
    ],
    ["ip4 l4proto 47 tos 0xb8 m 0x3 action 1", { "outer.ip_version": 4, "outer.ip_dscp": 46, "outer.ip_protocol": 47 }],
    ["esp4 spi 0x10 action 1", { "outer.ip_version": 4, "outer.ip_protocol": 50, "misc.outer_esp_spi": 16 }],
    [
      "ether dst 02:00:00:00:00:01 src 02:00:00:00:00:00 m 00:00:00:00:00:ff proto 0x800 action 1",
      {
        "outer.dmac": "02:00:00:00:00:01",
        "outer.smac": "02:00:00:00:00:00/ff:ff:ff:ff:ff:00",
        "outer.ethertype": 0x800,
      },
    ],
    ["ether vlan 5 m 0xf000 action 1", { "outer.first_vid": 5 }],
    [
      "tcp4 vlan 0x6005 m 0x1000 vlan-etype 0x8100 action 1",
      { "outer.first_vid": 5, "outer.first_prio": 3, "outer.cvlan_tag": 1 },
    ],
    ["tcp4 dst-mac 02:00:00:00:00:09 action 1", { "outer.dmac": "02:00:00:00:00:09" }],
    ["tcp4 src-ip 10.0.0.0 src-ip-mask 0.255.255.255 action 1", { "outer.ipv4_src": "10.0.0.0/8" }],
  ])("%s", (text, match) => {
    expect(matchOf(text)).toMatchObject(match);
  });

  test.each([
    ["tcp4 user-def 0x5 action 1", "user-def: the meaning of the bits depends on the driver"],
    ["ip4 l4data 1 action 1", "l4data: the device does not match the first bytes"],
    ["ah4 spi 5 action 1", "spi: the device matches the SPI of ESP"],
    ["tcp5 action 1", 'tcp5: did you mean "tcp4"?'],
    ["tcp4 dst-prot 5 action 1", 'dst-prot: did you mean "dst-port"?'],
    ["tcp4 dst-port 70000 action 1", "70000: dst-port has 16 bits"],
    ["tcp4 src-ip fd00::1 action 1", "is not an IPv4 address"],
    ["tcp4 dst-port 5 vf 1 queue 2", "a rule of the host delivers to queues of the host"],
    ["tcp4 dst-port 5 action 0x100000000", "a rule of the host delivers to queues of the host"],
    ["tcp4 dst-port 5 action -2", "the device does not wake the host"],
    ["tcp4 dst-port 5 context 3", "the queues of context 3 are not given"],
    ["tcp4 dst-port", "a value is missing"],
  ])("refuses %s", (text, reason) => {
    const refused = refusedIn(`ethtool -N eth0 flow-type ${text}`);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toContain(reason);
  });
});

const frame = (port: number, source = "10.0.0.1"): Uint8Array =>
  buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source, destination: "10.0.0.2" },
    { header: "tcp", destination_port: port },
  ]);

test("rules of the host: the lowest location wins, and delete takes a rule away", async () => {
  const { device } = await loadScenario(
    imported(`# ethtool -U eth0 flow-type tcp4 dst-port 80 action 3 loc 9
ethtool --config-ntuple eth0 flow-type tcp4 dst-port 80 action 3 loc 9
ethtool -N eth0 flow-type ip4 src-ip 10.0.0.1 action -1 loc 10
ethtool -N eth0 flow-type tcp4 action 7 loc 1
ethtool -N eth0 delete 1`),
  );
  expect(device.receive(1, frame(80)).to.map(({ name }) => name)).toEqual(["host:3"]);
  expect(device.receive(1, frame(81)).verdict).toBe("drop");
  expect(device.receive(1, frame(81, "10.0.0.9")).to.map(({ name }) => name)).toEqual(["host:0"]);
});

test("a rule without a location gets the last one that is free, and a field is given once", () => {
  const rule = (words: string): string => `ethtool -N eth0 flow-type tcp4 ${words} action 1\n`;
  const places = (text: string): string[] =>
    importRules(text, { driver: "none" }).findings.flatMap(({ reason }) => /here \d+/.exec(reason)?.[0] ?? []);
  const [low, last] = [rule("dst-port 80").replace("\n", " loc 0\n"), rule("dst-port 81").replace("\n", " loc 1023\n")];
  expect(places(low + rule("dst-port 82"))).toEqual(["here 1023"]);
  expect(places(last + rule("dst-port 82") + rule("dst-port 83"))).toEqual(["here 1022", "here 1021"]);
  expect(refusedIn(rule("dst-port 80 dst-port 81"))).toEqual(["dst-port: a rule has one dst-port"]);
});

test("a listing is what its commands are", () => {
  const commands = imported(`ethtool -N eth0 flow-type tcp4 src-ip 10.0.0.0 m 0.0.0.255 dst-port 80 action 2 loc 3
ethtool -N eth0 flow-type ether dst 02:00:00:00:00:01 proto 0x88cc vlan 5 m 0xf000 action -1 loc 4
ethtool -N eth0 flow-type udp6 tclass 4 m 0x3 action 1 loc 5`);
  const listing = imported(`$ ethtool -n eth0
4 RX rings available
Total 3 rules

Filter: 3
	Rule Type: TCP over IPv4
	Src IP addr: 10.0.0.0 mask: 0.0.0.255
	Dest IP addr: 0.0.0.0 mask: 255.255.255.255
	TOS: 0x0 mask: 0xff
	Src port: 0 mask: 0xffff
	Dest port: 80 mask: 0x0
	Action: Direct to queue 2

Filter: 4
	Rule Type: Raw Ethernet
	Src MAC addr: 00:00:00:00:00:00 mask: FF:FF:FF:FF:FF:FF
	Dest MAC addr: 02:00:00:00:00:01 mask: 00:00:00:00:00:00
	Ethertype: 0x88CC mask: 0x0
	VLAN EtherType: 0x0 mask: 0xffff
	VLAN: 0x5 mask: 0xf000
	User-defined: 0x0 mask: 0xffffffffffffffff
	Action: Drop

Filter: 5
	Rule Type: UDP over IPv6
	Src IP addr: :: mask: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
	Dest IP addr: :: mask: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
	Traffic Class: 0x4 mask: 0x3
	Src port: 0 mask: 0xffff
	Dest port: 0 mask: 0xffff
	Action: Direct to queue 1
`);
  expect(listing.hostRules).toEqual(commands.hostRules);
});

test("contexts distribute over their queues", async () => {
  const scenario = imported(`ethtool -X eth0 equal 3 start 4 context new
ethtool -X eth0 weight 1 3 context 2
ethtool -N eth0 flow-type tcp4 dst-port 80 context 1 loc 0
ethtool -N eth0 flow-type tcp4 dst-port 81 context 2 loc 1
ethtool -N eth0 flow-type tcp4 action 1 loc 2`);
  expect(scenario.hostRules).toBeUndefined();
  const [first, second] = scenario.rqts ?? [];
  expect(first?.queues.length).toBe(128);
  expect(second?.queues.filter((name) => name === "eth0 queue 1").length).toBe(96);
  const { device } = await loadScenario(scenario);
  const names = (port: number): string[] => {
    const all = Array.from({ length: 60 }, (_, n) => device.receive(1, frame(port, `10.0.1.${n}`)).to[0]?.name ?? "");
    return [...new Set(all)].sort();
  };
  expect(names(80)).toEqual(["qp:eth0 queue 4", "qp:eth0 queue 5", "qp:eth0 queue 6"]);
  expect(names(81)).toEqual(["qp:eth0 queue 0", "qp:eth0 queue 1"]);
  expect(names(82)).toEqual(["qp:eth0 queue 1"]);
});

test("several devices of one text are ports of the device", async () => {
  const scenario = imported(`ethtool -N eth0 flow-type tcp4 dst-port 80 action 3 loc 5
ethtool -N eth1 flow-type tcp4 dst-port 80 action 4 loc 5
ethtool -N eth1 flow-type tcp4 dst-port 81 action -1 loc 6`);
  const { device } = await loadScenario(scenario);
  const end = (port: number, to: number): string | null => {
    const { verdict, to: queues } = device.receive(port, frame(to, "10.0.1.1"));
    return verdict === "deliver" ? (queues[0]?.name ?? null) : verdict;
  };
  expect([end(1, 80), end(2, 80), end(2, 81)]).toEqual(["host:3", "host:4", "drop"]);
  expect(end(1, 81)).not.toBe("drop");
});

test("a listing that begins in the middle is refused line by line", () => {
  expect(refusedIn("	Dest port: 80 mask: 0x0\n	Action: Direct to queue 1\nethtool -n eth0")).toEqual([
    "Dest port: 80 mask: 0x0: the line of its filter (Filter: N) is missing",
    "Action: Direct to queue 1: the line of its filter (Filter: N) is missing",
  ]);
});
