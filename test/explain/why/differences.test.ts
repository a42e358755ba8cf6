import { describe, expect, it } from "vitest";
import { createDevice, LINK_TYPES, type Device } from "../../../src/index.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { compileMatch } from "../../../src/explain/why/compare.js";
import { differencesOf } from "../../../src/explain/why/differences.js";
import type { Difference } from "../../../src/explain/why/explanation.js";
import { fieldNamed } from "../../../src/model/match/fields.js";
import { matchOf, type MatchFields } from "../../../src/model/match/match.js";
import type { ParserOptions } from "../../../src/model/base/parser.js";
import { DECLARED, randomFrame } from "../../oracle/generate/frame.js";
import { Random } from "../../oracle/generate/random.js";
import { randomRuleFor, type RandomRule } from "../../oracle/generate/rule.js";
import { rangeMatches, termMatches, type Fields } from "../../oracle/walk/match.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { rangeText, seedFor, termText } from "../../assembly/support/core.js";
import { rounds } from "../../support/tier.js";
import { factsOf } from "./support/facts.js";

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4", source: "192.0.2.1", destination: "10.0.0.7" } as const;
const ipv6 = { header: "ipv6" } as const;
const tcp = { header: "tcp", source_port: 40000, destination_port: 443 } as const;
const udp = (destination_port: number, source_port = 49152): Layer => ({
  header: "udp",
  source_port,
  destination_port,
});
const inner = [ethernet, ipv4, tcp] as const;

const PARSER = {
  geneveOption0: { class: 0x0102, type: 0x21 },
  samples: [
    { id: 0, header: "udp", offset: 8, port: 9000 },
    { id: 1, header: "payload", level: "inner", offset: 2 },
  ],
} as const;

async function open(parser: ParserOptions = PARSER): Promise<Device> {
  return createDevice({ parser });
}

function differences(
  device: Device,
  layers: readonly Layer[],
  match: MatchFields,
  cut = 0,
  linkType = 1,
): Difference[] {
  const frame = buildFrame(layers);
  const options = { linkType, wireLength: frame.length };
  const facts = factsOf(device, cut === 0 ? frame : frame.subarray(0, cut), options);
  return differencesOf(compileMatch(matchOf("match", match)), facts);
}

describe("differences by field", () => {
  it("says wanted and found in the notation of scenario files, and marks the bits", async () => {
    const device = await open();
    const frame = [ethernet, ipv4, tcp];
    expect(differences(device, frame, { "outer.tcp_dport": 444, "outer.ipv4_dst": "11.0.0.0/8" })).toEqual([
      expect.objectContaining({
        field: "outer.tcp_dport",
        wanted: "444",
        found: "443",
        bits: "0000000000000111",
        distance: 3,
      }),
      expect.objectContaining({
        field: "outer.ipv4_dst",
        wanted: "11.0.0.0/8",
        found: "10.0.0.7",
        bits: "00000001........................",
        distance: 1,
        absent: null,
      }),
    ]);
    expect(differences(device, frame, { "outer.tcp_dport": "1024-65535" })).toEqual([
      expect.objectContaining({ wanted: "1024-65535", found: "443", bits: ".".repeat(16), distance: 1 }),
    ]);
    expect(differences(device, frame, { "outer.ip_protocol": "udp" })).toEqual([
      expect.objectContaining({ wanted: "udp", found: "tcp" }),
    ]);
    expect(differences(device, frame, { "outer.ip_dscp": "0x2/0x3", "outer.ethertype": "0x8847" })).toEqual([
      expect.objectContaining({ field: "outer.ethertype", wanted: "0x8847", found: "ipv4" }),
      expect.objectContaining({ field: "outer.ip_dscp", wanted: "0x2/0x3", found: "0", bits: "....10" }),
    ]);
  });

  it("lists nothing for a frame that matches", async () => {
    const device = await open();
    expect(
      differences(device, [ethernet, ipv4, tcp], { "outer.tcp_dport": 443, "outer.ipv4_dst": "10.0.0.0/8" }),
    ).toEqual([]);
  });
});

/** Frame, match, the field and its sentence. A number in front cuts the frame to so many bytes. */
type Case = readonly [layers: readonly (Layer | number)[], match: MatchFields, field: string, sentence: string];

const VXLAN = { "misc.vxlan_vni": 5001 };
const CASES: readonly Case[] = [
  [
    [ethernet, ipv4, udp(8472), { header: "vxlan", vni: 5001 }],
    VXLAN,
    "misc.vxlan_vni",
    "UDP port 8472 is not 4789, so no VXLAN header was read",
  ],
  [
    [ethernet, ipv4, udp(49152, 4789)],
    VXLAN,
    "misc.vxlan_vni",
    "UDP port 49152 is not 4789 (4789 is its source port), so no VXLAN header was read",
  ],
  [
    [ethernet, ipv4, tcp],
    VXLAN,
    "misc.vxlan_vni",
    "the frame is TCP (ip_protocol 6), not UDP, so no VXLAN header was read",
  ],
  [
    [46, ethernet, ipv4, udp(4789), { header: "vxlan" }],
    VXLAN,
    "misc.vxlan_vni",
    "VXLAN header cut: 4 of 8 bytes (captured: 46 bytes)",
  ],
  [
    [ethernet, { header: "arp" }],
    VXLAN,
    "misc.vxlan_vni",
    "the frame is ARP (EtherType 0x0806), not IP, so no VXLAN header was read",
  ],
  [
    [ethernet, ipv4, { header: "gre" }, ethernet, ipv4, udp(4789), { header: "vxlan" }],
    VXLAN,
    "misc.vxlan_vni",
    "the frame is GRE (ip_protocol 47), not UDP, so no VXLAN header was read",
  ],
  [
    [ethernet, ipv4, udp(6081), { header: "geneve" }, ethernet, ipv4, udp(4789), { header: "vxlan" }],
    VXLAN,
    "misc.vxlan_vni",
    "UDP port 6081 is not 4789, so no VXLAN header was read; a tunnel inside a tunnel is payload",
  ],
  [
    [ethernet, ipv4, udp(443)],
    { "outer.tcp_dport": 443 },
    "outer.tcp_dport",
    "the frame is UDP (ip_protocol 17), not TCP",
  ],
  [
    [ethernet, ipv4, { header: "icmp" }],
    { "outer.udp_dport": 53 },
    "outer.udp_dport",
    "the frame is ICMP (ip_protocol 1), not UDP",
  ],
  [
    [26, ethernet, ipv4, udp(443)],
    { "outer.udp_dport": 443 },
    "outer.udp_dport",
    "IPv4 header cut: 12 of 20 bytes (captured: 26 bytes)",
  ],
  [
    [50, ethernet, ipv4, tcp],
    { "outer.tcp_dport": 443 },
    "outer.tcp_dport",
    "TCP header cut: 16 of 20 bytes (captured: 50 bytes)",
  ],
  [
    [ethernet, { ...ipv4, fragment_offset: 64, protocol: 6 }, new Uint8Array(32)],
    { "outer.tcp_dport": 443 },
    "outer.tcp_dport",
    "a later fragment has no TCP header: it is in the first fragment",
  ],
  [[ethernet, ipv6, tcp], { "outer.ipv4_dst": "10.0.0.7" }, "outer.ipv4_dst", "the frame is IPv6, not IPv4"],
  [[ethernet, ipv4, tcp], { "outer.ipv6_dst": "2001:db8::7" }, "outer.ipv6_dst", "the frame is IPv4, not IPv6"],
  [
    [ethernet, { ...ipv4, version: 5 }, tcp],
    { "outer.ipv4_dst": "10.0.0.7" },
    "outer.ipv4_dst",
    "the version of the IPv4 header is not 4",
  ],
  [
    [ethernet, { ...ipv4, ihl: 3 }, tcp],
    { "outer.ipv4_dst": "10.0.0.7" },
    "outer.ipv4_dst",
    "the IPv4 header gives a length below 20 bytes (ipv4_ihl below 5)",
  ],
  [
    [ethernet, ipv4, tcp],
    { "outer.first_vid": 7 },
    "outer.first_vid",
    "the frame has no VLAN tag: the MAC addresses are followed by IPv4 (EtherType 0x0800)",
  ],
  [
    [ethernet, { header: "vlan", vid: 7 }, ipv4, tcp],
    { "misc.outer_second_vid": 8 },
    "misc.outer_second_vid",
    "the frame has one VLAN tag, not two",
  ],
  [
    [{ header: "ethernet", type: 0x9100 }, new Uint8Array(40)],
    { "outer.first_vid": 7 },
    "outer.first_vid",
    "EtherType 0x9100 is not read as a VLAN tag: the TPIDs of tags are 0x8100 and 0x88a8",
  ],
  [
    [16, ethernet, { header: "vlan", vid: 7 }, ipv4],
    { "outer.first_vid": 7 },
    "outer.first_vid",
    "VLAN tag cut: 2 of 4 bytes (captured: 16 bytes)",
  ],
  [
    [{ header: "ethernet", type: 46 }, new Uint8Array(46)],
    { "outer.ipv4_dst": "10.0.0.7" },
    "outer.ipv4_dst",
    "the frame has the 802.3 length 46 in place of an EtherType",
  ],
  [
    [ethernet, ipv4, udp(4790), { header: "vxlan_gpe" }, ipv4],
    { "inner.dmac": "02:00:00:00:00:01" },
    "inner.dmac",
    "the tunnel carries an IP packet without an Ethernet header",
  ],
  [
    [ethernet, ipv4, udp(4789), { header: "vxlan" }, ...inner],
    { "misc3.outer_vxlan_gpe_vni": 7 },
    "misc3.outer_vxlan_gpe_vni",
    "UDP port 4789 is not 4790, so no VXLAN-GPE header was read",
  ],
  [
    [ethernet, ipv4, udp(4790), { header: "vxlan_gpe", next_protocol: 4 }, new Uint8Array(20)],
    { "inner.ipv4_dst": "10.0.0.7" },
    "inner.ipv4_dst",
    "the next protocol 4 of VXLAN-GPE is not IPv4 (1), IPv6 (2) or Ethernet (3)",
  ],
  [
    [ethernet, ipv4, tcp],
    { "inner.tcp_dport": 443 },
    "inner.tcp_dport",
    "the frame is TCP (ip_protocol 6), not a tunnel, so it has no inner packet",
  ],
  [
    [ethernet, ipv4, udp(8472), { header: "vxlan" }, ...inner],
    { "inner.tcp_dport": 443 },
    "inner.tcp_dport",
    "UDP port 8472 is not that of a tunnel (VXLAN 4789, VXLAN-GPE 4790, Geneve 6081, GTP-U 2152, MPLS 6635), so no inner packet was read",
  ],
  [
    [ethernet, ipv4, udp(4789), { header: "vxlan" }, ethernet, ipv4, udp(443)],
    { "inner.tcp_dport": 443 },
    "inner.tcp_dport",
    "the inner packet is UDP (ip_protocol 17), not TCP",
  ],
  [
    [ethernet, ipv4, { header: "esp" }, new Uint8Array(30)],
    { "inner.ipv4_dst": "10.0.0.7" },
    "inner.ipv4_dst",
    "the frame is ESP, which hides the packet inside",
  ],
  [
    [ethernet, ipv4, udp(2152), { header: "gtpu", message_type: 1 }],
    { "inner.ipv4_dst": "10.0.0.7" },
    "inner.ipv4_dst",
    "the GTP-U message type 1 is not 255 (G-PDU), so it carries no packet",
  ],
  [
    [ethernet, ipv4, udp(2152), { header: "gtpu" }, ipv4],
    { "misc3.gtpu_dw_2": 0 },
    "misc3.gtpu_dw_2",
    "the GTP-U header is short: none of its flags E, S and PN is set, so it has no third word",
  ],
  [
    [ethernet, ipv4, udp(2152), { header: "gtpu", sequence: 3 }, ipv4],
    { "misc3.gtpu_first_ext_dw_0": 0 },
    "misc3.gtpu_first_ext_dw_0",
    "the GTP-U header is short: its flag E is not set, so it has no extension header",
  ],
  [
    [ethernet, ipv4, udp(2153)],
    { "misc3.gtpu_teid": 7 },
    "misc3.gtpu_teid",
    "UDP port 2153 is not 2152, so no GTP-U header was read",
  ],
  [
    [ethernet, ipv4, { header: "gre" }, ipv4],
    { "misc.gre_key": 7 },
    "misc.gre_key",
    "the GRE header has no key: its K bit is 0",
  ],
  [
    [ethernet, ipv4, tcp],
    { "misc.gre_protocol": 0x6558 },
    "misc.gre_protocol",
    "the frame is TCP (ip_protocol 6), not GRE",
  ],
  [
    [ethernet, ipv4, { header: "gre", protocol_type: 0x88be }, new Uint8Array(20)],
    { "inner.ipv4_dst": "10.0.0.7" },
    "inner.ipv4_dst",
    "GRE carries EtherType 0x88be, not a packet",
  ],
  [
    [ethernet, ipv4, { header: "gre" }, ipv4],
    { "misc2.outer_first_mpls_over_gre_label": 7 },
    "misc2.outer_first_mpls_over_gre_label",
    "GRE carries IPv4 (EtherType 0x0800), not MPLS (0x8847, 0x8848)",
  ],
  [
    [ethernet, ipv4, { header: "gre" }, ipv4],
    { "misc5.tunnel_header_1": 7 },
    "misc5.tunnel_header_1",
    "the tunnel header has 1 word, so it has no word 1",
  ],
  [
    [ethernet, ipv4, ipv4],
    { "misc5.tunnel_header_0": 7 },
    "misc5.tunnel_header_0",
    "IPv4 in IP (ip_protocol 4) has no tunnel header",
  ],
  [
    [ethernet, ipv4, udp(6081), { header: "geneve" }, ipv4],
    { "misc3.geneve_tlv_option_0_data": 7 },
    "misc3.geneve_tlv_option_0_data",
    "the Geneve header has no option of class 0x0102 and type 33",
  ],
  [
    [ethernet, ipv4, udp(6081), { header: "geneve", options: [{ class: 0x0102, type: 0x21 }] }, ipv4],
    { "misc3.geneve_tlv_option_0_data": 7 },
    "misc3.geneve_tlv_option_0_data",
    "the Geneve option has no data",
  ],
  [
    [ethernet, ipv4, udp(6080)],
    { "misc.geneve_vni": 7 },
    "misc.geneve_vni",
    "UDP port 6080 is not 6081, so no Geneve header was read",
  ],
  [
    [ethernet, ipv4, udp(6635), { header: "mpls" }, ipv4],
    { "misc2.outer_first_mpls_label": 7 },
    "misc2.outer_first_mpls_label",
    "the frame is IPv4 (EtherType 0x0800), not MPLS (0x8847, 0x8848)",
  ],
  [
    [ethernet, ipv4, udp(6636)],
    { "misc2.outer_first_mpls_over_udp_label": 7 },
    "misc2.outer_first_mpls_over_udp_label",
    "UDP port 6636 is not 6635, so no MPLS header was read",
  ],
  [
    [ethernet, ipv4, udp(4790), { header: "vxlan_gpe" }, ipv4],
    { "misc.bth_dst_qp": 7 },
    "misc.bth_dst_qp",
    "UDP port 4790 is not 4791, so no RoCE header was read",
  ],
  [
    [ethernet, ipv4, tcp],
    { "misc5.macsec_tag_0": 7 },
    "misc5.macsec_tag_0",
    "the frame is IPv4 (EtherType 0x0800), not MACsec (0x88e5)",
  ],
  [
    [ethernet, { header: "macsec" }, new Uint8Array(20)],
    { "misc5.macsec_tag_2": 7 },
    "misc5.macsec_tag_2",
    "the MACsec tag does not name its channel: its SC bit is 0",
  ],
  [
    [ethernet, { header: "macsec" }, new Uint8Array(20)],
    { "outer.ipv4_dst": "10.0.0.7" },
    "outer.ipv4_dst",
    "the frame is MACsec (EtherType 0x88e5), and nothing is read after its tag",
  ],
  [
    [ethernet, ipv4, udp(500)],
    { "misc.outer_esp_spi": 7 },
    "misc.outer_esp_spi",
    "the frame is UDP to port 500, not ESP: ip_protocol is not 50, and no port is 4500",
  ],
  [
    [ethernet, ipv4, udp(4500), new Uint8Array([0, 0, 0, 0, 1, 2])],
    { "misc.outer_esp_spi": 7 },
    "misc.outer_esp_spi",
    "the payload of UDP port 4500 is a keep-alive or IKE, not ESP",
  ],
  [
    [58, ethernet, ipv6, { header: "ipv6_destination" }, tcp],
    { "outer.ip_protocol": "tcp" },
    "outer.ip_protocol",
    "IPv6 destination options header cut: 4 of 8 bytes (captured: 58 bytes)",
  ],
  [
    [ethernet, ipv6, { header: "icmpv6" }],
    { "misc3.icmp_type": 8 },
    "misc3.icmp_type",
    "the frame is ICMPv6 (ip_protocol 58), not ICMP",
  ],
  [
    [ethernet, ipv4, udp(9001)],
    { "misc4.prog_sample_field_value_0": 7 },
    "misc4.prog_sample_field_value_0",
    "sample 0 is 4 bytes at offset 8 of the outer UDP header of packets to UDP port 9000, which the frame does not have",
  ],
  [
    [ethernet, ipv4, udp(9001)],
    { "misc4.prog_sample_field_value_1": 7 },
    "misc4.prog_sample_field_value_1",
    "sample 1 is 4 bytes at offset 2 of the payload of the inner packet, which the frame does not have",
  ],
  [
    [ethernet, ipv4, udp(4789), { header: "vxlan" }, ethernet, ipv4, udp(7)],
    { "ext.inner_first_mpls_over_udp_label": 7 },
    "ext.inner_first_mpls_over_udp_label",
    "inner UDP port 7 is not 6635, so no MPLS label was read",
  ],
];

/** Frame, match, the field and where its value comes from. */
const NOTES: readonly Case[] = [
  [[ethernet, ipv4], { "misc.source_port": 1 }, "misc.source_port", "the frame came from the wire"],
  [[ethernet, ipv4], { "ext.port": 2 }, "ext.port", "the frame arrived on port 1, or was sent on it"],
  [[ethernet, ipv4], { "ext.direction": 2 }, "ext.direction", "the frame came from the wire"],
  [[ethernet, { header: "vlan", vid: 7 }, ipv4], { "outer.cvlan_tag": 0 }, "outer.cvlan_tag", "a VLAN tag precedes it"],
  [
    [ethernet, { header: "vlan", vid: 7 }, ipv4],
    { "outer.ethertype": 0x8100 },
    "outer.ethertype",
    "it is the EtherType after the last VLAN tag",
  ],
  [
    [ethernet, { header: "vlan", vid: 7 }, ipv4],
    { "outer.svlan_tag": 1 },
    "outer.svlan_tag",
    "the tag is the other kind: cvlan_tag is 1",
  ],
  [
    [ethernet, ipv4],
    { "outer.cvlan_tag": 1 },
    "outer.cvlan_tag",
    "the frame has no VLAN tag: the MAC addresses are followed by IPv4 (EtherType 0x0800)",
  ],
  [[ethernet, { ...ipv4, flags: "mf" }, udp(7)], { "outer.frag": 0 }, "outer.frag", "the frame is a fragment"],
  [
    [ethernet, { ...ipv4, checksum: 1 }, udp(7)],
    { "outer.ipv4_checksum_ok": 1 },
    "outer.ipv4_checksum_ok",
    "the IPv4 checksum of the frame is wrong, or there is none",
  ],
  [
    [ethernet, ipv4, udp(7)],
    { "misc.gre_k_present": 1 },
    "misc.gre_k_present",
    "the frame is UDP (ip_protocol 17), not GRE",
  ],
];

function differenceOf(device: Device, [given, match, field]: Case): Difference | undefined {
  const cut = typeof given[0] === "number" ? given[0] : 0;
  const layers = given.filter((layer): layer is Layer => typeof layer !== "number");
  return differences(device, layers, match, cut).find((one) => one.field === field);
}

describe("an absent header", () => {
  it.each(CASES.map((one) => [one[3], one] as const))("%s", async (sentence, one) => {
    const found = differenceOf(await open(), one);
    expect(found).toMatchObject({ found: null, absent: sentence });
  });

  it("names the link layer of captures without Ethernet", async () => {
    const [difference] = differences(
      await open(),
      [ipv4, udp(7)],
      { "outer.dmac": "02:00:00:00:00:01" },
      0,
      LINK_TYPES.RAW,
    );
    expect(difference?.absent).toBe("the capture has no Ethernet headers");
  });
});

describe("a field that the bytes do not hold", () => {
  it.each(NOTES.map((one) => [one[3], one] as const))("%s", async (sentence, one) => {
    expect(differenceOf(await open(), one)).toMatchObject({ note: sentence, absent: null });
  });
});

/** The fields of the reference that a rule misses. */
function missedBy(fields: Fields, { terms, ranges }: RandomRule): Set<string> {
  const missed = [
    ...terms.filter((term) => !termMatches(fields, term)),
    ...ranges.filter((range) => !rangeMatches(fields, range)),
  ];
  return new Set(missed.map(({ field }) => field));
}

/** A rule of named fields, or null where it contradicts itself: addresses of both versions. */
function namedMatch({ terms, ranges }: RandomRule): ReturnType<typeof matchOf> | null {
  const fields = Object.fromEntries([
    ...terms.map((term) => [term.field, termText(term)] as const),
    ...ranges.map((range) => [range.field, rangeText(range)] as const),
  ]);
  try {
    return matchOf("match", fields);
  } catch {
    return null;
  }
}

describe("random frames and rules", () => {
  it("differ in the fields that the reference names", async () => {
    const device = await open(DECLARED as ParserOptions);
    const random = new Random(seedFor("differences"));
    let compared = 0;
    for (let i = 0; i < rounds(20_000); i++) {
      const { bytes, linkType, wireLength } = randomFrame(random);
      const { fields } = parseReference(bytes, { linkType, wireLength, parser: DECLARED, port: 1 });
      const rule = randomRuleFor(fields, random);
      const match = namedMatch(rule);
      if (match === null) continue;
      const found = differencesOf(compileMatch(match), factsOf(device, bytes, { linkType, wireLength }));
      const names = new Set(found.map(({ field }) => field));
      for (const field of missedBy(fields, rule)) expect(names, field).toContain(field);
      // A term may name the presence of a header by another of its fields, or the version of an address.
      if (missedBy(fields, rule).size === 0) expect(found).toEqual([]);
      for (const one of found) {
        const field = fieldNamed(one.field);
        expect(one.bits).toHaveLength(field?.width ?? 0);
        expect(one.distance).toBeGreaterThan(0);
        expect(one.found === null).toBe(one.absent !== null);
        if (one.absent !== null) expect(one.absent.length).toBeGreaterThan(10);
      }
      compared++;
    }
    expect(compared).toBeGreaterThan(0);
  });
});
