/** Header changes that a device has for each IP version: the match of the rule tells which one its frames need. */
import { expect, test } from "vitest";
import { importScenario } from "../../src/import/index.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { parsePacket } from "../../src/packet/notation/parse.js";
import { loadScenario, type Scenario } from "../../src/scenario/index.js";

type Match = NonNullable<NonNullable<Scenario["rules"]>[number]["match"]>;

const scenario = (match: Match): Scenario => ({
  flowsteer: 1,
  device: { profile: "connectx7" },
  queues: [{ name: "web" }],
  tables: [
    { name: "root", level: 0 },
    { name: "next", level: 1 },
  ],
  rules: [
    { name: "in", table: "root", actions: [{ table: "next" }] },
    {
      name: "less",
      table: "next",
      match,
      actions: [{ modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] }, { queue: "web" }],
    },
  ],
});
const frameOf = (packet: string): Uint8Array => buildFrame(parsePacket(packet).layers);
const V4 = frameOf("ipv4 10.0.0.1 > 10.0.0.2 ttl 9 / udp 1 > 53");
const V6 = frameOf("ipv6 fd00::1 > fd00::2 hop_limit 9 / udp 1 > 53");

test.each<[string, Match, Uint8Array, number]>([
  ["ip_version 4", { "outer.ip_version": 4 }, V4, 22],
  ["ip_version 6", { "outer.ip_version": 6 }, V6, 21],
  ["an EtherType", { "outer.ethertype": 0x0800 }, V4, 22],
])("a rule that matches %s changes the field of that version", async (_, match, frame, at) => {
  const { device } = await loadScenario(scenario(match));
  const [to] = device.receive(1, frame).to;
  expect([frame[at], to?.frame[at]]).toEqual([9, 8]);
});

test("a rule of both versions is refused, with both names", async () => {
  await expect(loadScenario(scenario({}))).rejects.toThrow(
    "write OUT_IP_TTL or OUT_IPV6_HOPLIMIT, or match outer.ip_version",
  );
});

test("dec_ttl of Open vSwitch has the version of its flow", async () => {
  const options = { map: { 1: "uplink", 2: "vf1" }, profile: "connectx7" } as const;
  const flows = (kind: string): string => `priority=5,in_port=1,${kind} actions=dec_ttl,output:2\n`;
  for (const [kind, frame, at] of [
    ["ip", V4, 22],
    ["ipv6", V6, 21],
  ] as const) {
    const { scenario: imported, findings } = await importScenario(flows(kind), options);
    expect(findings).toEqual([]);
    const { device } = await loadScenario(imported!);
    expect(device.receive(1, frame).to.map(({ frame: bytes }) => bytes[at])).toEqual([8]);
  }
});
