/** Headers that commands set for actions: MPLS over GRE and UDP, and Ethernet headers alone. */
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

const MACS = "eth-src 02:00:00:00:00:0a eth-dst 02:00:00:00:00:0b";
const ADDRESSES = "ip-src 192.0.2.1 ip-dst 192.0.2.2";

function imported(...lines: readonly string[]): Scenario {
  const { scenario, findings } = importRules(lines.join("\n"), { format: "testpmd", map: { port0: "uplink" } });
  if (scenario === null) throw new Error(findings.map(({ text, reason }) => `${text}: ${reason}`).join("; "));
  return scenario;
}

const INNER = buildFrame([
  { header: "ethernet", destination: "02:00:00:00:00:02", source: "02:00:00:00:00:01" },
  { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
  { header: "udp", destination_port: 7 },
]);

/** What a rule of the root table delivers of a frame from the wire. */
async function steered(
  frame: Uint8Array,
  pattern: string,
  actions: string,
  ...sets: readonly string[]
): Promise<Uint8Array> {
  const rule = `flow create 0 ingress pattern ${pattern} / end actions ${actions} / queue index 1 / end`;
  const { device } = await loadScenario(imported(...sets, rule));
  const [arrival] = device.receive(1, frame).to;
  return arrival?.frame ?? new Uint8Array();
}

const any = await loadScenario(imported("flow create 0 ingress pattern eth / end actions drop / end"));
const names = (frame: Uint8Array): string[] =>
  any.device.parseHeaders([frame]).flatMap(({ headers }) => headers.map(({ header }) => header));

test.each([
  ["mplsoudp", `set mplsoudp_encap ip-version ipv4 label 70 udp-src 5 udp-dst 6635 ${ADDRESSES} ${MACS}`],
  ["mplsogre", `set mplsogre_encap-with-vlan ip-version ipv4 label 70 ${ADDRESSES} vlan-tci 9 ${MACS}`],
])("%s takes the place of the Ethernet header, and goes again", async (kind, set) => {
  const outer = await steered(INNER, "eth / ipv4 src is 10.0.0.1", `l2_decap / ${kind}_encap`, set);
  const carrier = kind === "mplsoudp" ? "udp" : "gre";
  const tag = kind === "mplsogre" ? ["vlan"] : [];
  expect(names(outer).slice(0, tag.length + 4)).toEqual(["ethernet", ...tag, "ipv4", carrier, "mpls"]);
  // RFC 3032: label 70, the last of the stack.
  const label = outer.length - (INNER.length - 14) - 4;
  expect([...outer.slice(label, label + 4)]).toEqual([0x00, 0x04, 0x61, 0x00]);
  expect([...outer.slice(label + 4)]).toEqual([...INNER.slice(14)]);

  const back = await steered(
    outer,
    `eth / ipv4 dst is 192.0.2.2 / ${carrier} / mpls label is 70`,
    `${kind}_decap / l2_encap`,
    "set l2_encap ip-version ipv4 eth-src 02:00:00:00:00:01 eth-dst 02:00:00:00:00:02",
  );
  expect([...back]).toEqual([...INNER]);
});

test("a tag that the command names is in the header", () => {
  const [rule] =
    imported(
      "set l2_encap-with-vlan ip-version ipv6 vlan-tci 5 eth-src 02:00:00:00:00:01 eth-dst 02:00:00:00:00:02",
      "flow create 0 ingress pattern eth / ipv4 / udp / mpls / end actions mplsoudp_decap / l2_encap / drop / end",
    ).rules ?? [];
  expect(rule?.actions?.[0]).toEqual({
    reformat: { type: "l3_tunnel_to_l2", data: `0200000000020200000000018100000586dd` },
  });
});

test("without a command before it the headers are those of the start, and that is told", () => {
  const { scenario, findings } = importRules(
    "flow create 0 ingress pattern eth / end actions l2_decap / mplsogre_encap / queue index 1 / end",
    { format: "testpmd", driver: "none" },
  );
  expect(scenario?.rules).toHaveLength(1);
  expect(findings.map(({ text, reason }) => `${text}: ${reason}`)).toContain(
    'mplsogre_encap: there is no "set mplsogre_encap" before it: the default headers of testpmd are used',
  );
});

test.each([
  ["set mplsoudp_encap ip-version ipv4 label 0x100000 udp-src 1", "label has 20 bits"],
  ["set mplsogre_encap ip-version ipv4 vni 5", 'there is no key of set mplsogre_encap "vni"'],
  ["set mplsogre_decap ip-version ipv5", 'there is no IP version "ipv5"'],
])("refuses %s", (command, reason) => {
  expect(() => imported(command)).toThrow(reason);
});
