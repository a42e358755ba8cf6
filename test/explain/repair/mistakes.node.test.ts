import { describe, expect, it } from "vitest";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import type { MatchFields } from "../../../src/model/match/match.js";
import { mistakeIn } from "../../../src/explain/repair/mistake.js";
import { repairsFor } from "../../../src/explain/repair/repairs.js";
import type { FieldChange } from "../../../src/explain/trace/trace.js";
import { bytesOf, CaseDevice, changedMatch, changedOptions } from "./support/case.js";

const at = await CaseDevice.open({ vports: 2, ports: 2, parser: { geneveOption0: { class: 0x0102, type: 0x21 } } });

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4", source: "192.0.2.1", destination: "10.0.0.7" } as const;
const ipv6 = { header: "ipv6", source: "2001:db8::1", destination: "2001:db8::2" } as const;
const tcp = { header: "tcp", source_port: 40000, destination_port: 80, flags: "syn" } as const;
const udp = { header: "udp", source_port: 49152, destination_port: 53 } as const;
const payload = new Uint8Array(32).fill(0x5a);
const vlan = (vid: number): Layer => ({ header: "vlan", vid });
const inTcp = [ethernet, ipv4, tcp, payload];
const inUdp = [ethernet, ipv4, udp, payload];
const vxlan = (port = 4789, vni = 5001): Layer[] => [
  ethernet,
  { header: "ipv4", source: "198.51.100.1", destination: "198.51.100.2" },
  { header: "udp", source_port: 50000, destination_port: port },
  { header: "vxlan", vni },
  ...inTcp,
];

/** The ports of a repair of the device. */
function portsOf(fields: readonly FieldChange[]): number[] {
  expect(fields).toMatchObject([{ field: "device.parser.vxlanPorts" }]);
  return JSON.parse(fields[0]?.after ?? "") as number[];
}

interface Planted {
  readonly name: string;
  readonly match: MatchFields;
  readonly layers: readonly Layer[];
  /** Without the mistake. */
  readonly right: MatchFields;
  readonly says?: string;
  /** Whether a change of the rule corrects it. */
  readonly corrects?: boolean;
}

const gre = (fields: object, ...inner: Layer[]): Layer[] => [ethernet, ipv4, { header: "gre", ...fields }, ...inner];

const PLANTED: readonly Planted[] = [
  { name: "mask-without-value", match: { "outer.ip_protocol": 0 }, right: { "outer.ip_protocol": 6 }, layers: inTcp },
  {
    name: "value-cut-off",
    match: { "misc.gre_key": 0x1388 },
    right: { "misc.gre_key": 0x51388 },
    layers: gre({ key: 0x51388 }, ipv4, udp),
  },
  {
    name: "ecn-in-tos",
    match: { "outer.ip_ecn": 0, "outer.ip_dscp": 10 },
    right: { "outer.ip_dscp": 10 },
    layers: [ethernet, { ...ipv4, dscp: 10, ecn: 1 }, tcp],
  },
  {
    name: "other-icmp-version",
    match: { "misc3.icmp_type": 8 },
    right: { "misc3.icmpv6_type": 128 },
    layers: [ethernet, ipv6, { header: "icmpv6" }],
  },
  {
    name: "other-icmp-version",
    match: { "misc3.icmpv6_type": 128 },
    right: { "misc3.icmp_type": 8 },
    layers: [ethernet, ipv4, { header: "icmp" }],
  },
  {
    name: "arp-has-no-ip",
    match: { "outer.ip_protocol": 17 },
    right: { "outer.ethertype": "arp" },
    layers: [ethernet, { header: "arp" }],
    corrects: false,
  },
  {
    name: "mpls-in-front",
    match: { "outer.ethertype": "ipv4" },
    right: { "outer.ip_version": 4 },
    layers: [ethernet, { header: "mpls" }, ipv4, udp],
  },
  {
    name: "vlan-priority-masked",
    match: { "outer.first_prio": 0, "outer.first_vid": 7 },
    right: { "outer.first_vid": 7 },
    layers: [ethernet, { header: "vlan", vid: 7, pcp: 3 }, ipv4, tcp],
  },
  {
    name: "vxlan-port-of-linux",
    match: { "outer.udp_dport": 8472 },
    right: { "outer.udp_dport": 4789 },
    layers: vxlan(),
  },
  {
    name: "tunnel-source-port",
    match: { "outer.udp_sport": 58711, "outer.udp_dport": 4789 },
    right: { "outer.udp_dport": 4789 },
    layers: vxlan().with(2, { ...udp, source_port: 50001, destination_port: 4789 }),
  },
  {
    name: "geneve-length-in-bytes",
    match: { "misc.geneve_opt_len": 8 },
    right: { "misc.geneve_opt_len": 2 },
    layers: [
      ethernet,
      ipv4,
      { ...udp, destination_port: 6081 },
      { header: "geneve", vni: 5, options: [{ class: 0x102, type: 0x80, data: "00010002" }] },
      ethernet,
    ],
  },
  {
    name: "geneve-option-absent",
    match: { "misc.geneve_tlv_option_0_exist": 1 },
    right: { "misc.geneve_vni": 1 },
    layers: [ethernet, ipv4, { header: "udp" }, { header: "geneve" }, ...inTcp],
  },
  {
    name: "gtpu-extension-absent",
    match: { "misc3.gtpu_first_ext_dw_0": 1 },
    right: { "misc3.gtpu_teid": 1 },
    layers: [ethernet, ipv4, { header: "udp" }, { header: "gtpu" }, ipv4, udp],
  },
  {
    name: "gtpu-option-absent",
    match: { "misc3.gtpu_dw_2": 1 },
    right: { "misc3.gtpu_teid": 1 },
    layers: [ethernet, ipv4, { header: "udp" }, { header: "gtpu" }, ipv4, udp],
  },
  {
    name: "mpls-in-other-place",
    match: { "misc2.outer_first_mpls_over_udp_label": 16 },
    right: { "misc2.outer_first_mpls_label": 16 },
    layers: [ethernet, { header: "mpls" }, ipv4, udp],
  },
  {
    name: "gre-carries-other",
    match: { "misc.gre_protocol": "0x0800" },
    right: { "misc.gre_protocol": "0x6558" },
    layers: gre({}, ethernet, ipv4, udp),
  },
  {
    name: "no-esp-at-port-4500",
    match: { "misc.outer_esp_spi": 256 },
    right: { "outer.udp_dport": 4500 },
    layers: [ethernet, ipv4, { ...udp, destination_port: 4500 }, new Uint8Array(8)],
    corrects: false,
  },
  {
    name: "roce-version-1",
    match: { "misc.bth_dst_qp": 2 },
    right: { "outer.ethertype": "0x8915" },
    layers: [{ ...ethernet, type: 0x8915 }, payload],
    corrects: false,
  },

  {
    name: "swapped-bytes",
    match: { "outer.tcp_dport": 20480 },
    right: { "outer.tcp_dport": 80 },
    layers: inTcp,
    says: "0x5000 and 0x0050",
  },
  {
    name: "swapped-bytes",
    match: { "outer.ethertype": "0x0008" },
    right: { "outer.ethertype": "ipv4" },
    layers: inTcp,
  },
  {
    name: "swapped-bytes",
    match: { "outer.ipv4_dst": "7.0.0.10" },
    right: { "outer.ipv4_dst": "10.0.0.7" },
    layers: inTcp,
  },
  { name: "swapped-bytes", match: { "misc.vxlan_vni": 0x891300 }, right: { "misc.vxlan_vni": 5001 }, layers: vxlan() },
  {
    name: "swapped-bytes",
    match: { "outer.first_vid": 0x400 },
    right: { "outer.first_vid": 100 },
    layers: [ethernet, vlan(100), ipv4, tcp],
  },
  {
    name: "swapped-bytes",
    match: { "outer.tcp_dport": "16384-24576" },
    right: { "outer.tcp_dport": "64-96" },
    layers: inTcp,
  },
  {
    name: "swapped-bytes",
    match: { "outer.ipv6_dst": "0200::b80d:120" },
    right: { "outer.ipv6_dst": "2001:db8::2" },
    layers: [ethernet, ipv6, tcp],
  },
  { name: "vni-shifted", match: { "misc.vxlan_vni": 5001 * 256 }, right: { "misc.vxlan_vni": 5001 }, layers: vxlan() },
  {
    name: "dscp-shifted",
    match: { "outer.ip_dscp": 40 },
    right: { "outer.ip_dscp": 10 },
    layers: [ethernet, { ...ipv4, dscp: 10 }, tcp],
  },
  {
    name: "mpls-label-shifted",
    match: { "misc2.outer_first_mpls_label": 0x10000 },
    right: { "misc2.outer_first_mpls_label": 16 },
    layers: [ethernet, { header: "mpls", label: 16 }, ipv4, tcp],
  },
  {
    name: "mask-without-value",
    match: { "outer.ethertype": 0, "outer.tcp_dport": 80 },
    right: { "outer.ethertype": "ipv4", "outer.tcp_dport": 80 },
    layers: inTcp,
  },
  { name: "hex-or-decimal", match: { "outer.ip_protocol": 0x17 }, right: { "outer.ip_protocol": 17 }, layers: inUdp },
  {
    name: "tcp-flags-exact",
    match: { "outer.tcp_flags": 2 },
    right: { "outer.tcp_flags": "0x2/0x2" },
    layers: [ethernet, ipv4, { ...tcp, flags: ["syn", "ack"] }],
  },
  {
    name: "multicast-mac",
    match: { "outer.dmac": "02:00:00:00:00:09" },
    right: { "outer.dmac": "01:00:5e:01:02:03" },
    layers: [{ ...ethernet, destination: "01:00:5e:01:02:03" }, { ...ipv4, destination: "239.1.2.3" }, udp],
  },
  {
    name: "mac-group-bit",
    match: { "outer.dmac": "03:00:00:00:00:02" },
    right: { "outer.dmac": "02:00:00:00:00:02" },
    layers: inTcp,
  },
  {
    name: "inverted-mask",
    match: { "outer.ipv4_dst": "0.0.0.0/0.0.0.255" },
    right: { "outer.ipv4_dst": "10.0.0.0/24" },
    layers: inTcp,
  },
  {
    name: "range-off-by-one",
    match: { "outer.tcp_dport": "81-90" },
    right: { "outer.tcp_dport": "80-90" },
    layers: inTcp,
  },
  {
    name: "ttl-after-decrement",
    match: { "outer.ip_ttl_hoplimit": 64 },
    right: { "outer.ip_ttl_hoplimit": 63 },
    layers: [ethernet, { ...ipv4, ttl: 63 }, tcp],
  },
  { name: "ports-swapped", match: { "outer.tcp_sport": 80 }, right: { "outer.tcp_dport": 80 }, layers: inTcp },
  {
    name: "ports-swapped",
    match: { "outer.udp_sport": 53, "outer.udp_dport": "49152-65535" },
    right: { "outer.udp_dport": 53 },
    layers: inUdp,
  },
  {
    name: "addresses-swapped",
    match: { "outer.ipv4_src": "10.0.0.7", "outer.ipv4_dst": "192.0.2.1" },
    right: { "outer.ipv4_dst": "10.0.0.7" },
    layers: inTcp,
  },
  {
    name: "addresses-swapped",
    match: { "outer.smac": "02:00:00:00:00:02" },
    right: { "outer.dmac": "02:00:00:00:00:02" },
    layers: inTcp,
  },
  {
    name: "vlan-order",
    match: { "outer.first_vid": 20, "misc.outer_second_vid": 100 },
    right: { "outer.first_vid": 100, "misc.outer_second_vid": 20 },
    layers: [ethernet, vlan(100), vlan(20), ipv4, tcp],
  },
  { name: "inner-outer-swapped", match: { "outer.tcp_dport": 80 }, right: { "inner.tcp_dport": 80 }, layers: vxlan() },
  {
    name: "inner-outer-swapped",
    match: { "inner.udp_dport": 4789 },
    right: { "outer.udp_dport": 4789 },
    layers: vxlan(),
  },
  {
    name: "ipv4-mapped-address",
    match: { "outer.ipv6_dst": "::ffff:10.0.0.7" },
    right: { "outer.ipv4_dst": "10.0.0.7" },
    layers: inTcp,
  },
  {
    name: "frame-cut-short",
    match: { "outer.tcp_dport": 80 },
    right: { "outer.ipv4_dst": "10.0.0.7" },
    layers: inTcp,
    corrects: false,
  },
  {
    name: "fragment",
    match: { "outer.udp_dport": 53 },
    right: { "outer.frag": 1 },
    layers: [ethernet, { ...ipv4, protocol: 17, fragment_offset: 100 }, payload],
  },
  {
    name: "vlan-by-ethertype",
    match: { "outer.ethertype": "0x8100" },
    right: { "outer.cvlan_tag": 1 },
    layers: [ethernet, vlan(7), ipv4, tcp],
  },
  {
    name: "vlan-tag-kind",
    match: { "outer.cvlan_tag": 1 },
    right: { "outer.svlan_tag": 1 },
    layers: [{ ...ethernet, type: 0x88a8 }, vlan(7), ipv4, tcp],
  },
  {
    name: "vlan-tag-in-front",
    match: { "outer.cvlan_tag": 0, "outer.tcp_dport": 80 },
    right: { "outer.tcp_dport": 80 },
    layers: [ethernet, vlan(7), ipv4, tcp],
  },
  { name: "vlan-tag-missing", match: { "outer.first_vid": 7 }, right: { "outer.cvlan_tag": 0 }, layers: inTcp },
  { name: "tcp-fields-for-udp", match: { "outer.tcp_dport": 53 }, right: { "outer.udp_dport": 53 }, layers: inUdp },
  {
    name: "tcp-fields-for-udp",
    match: { "outer.tcp_dport": 53, "outer.ip_protocol": "udp" },
    right: { "outer.udp_dport": 53 },
    layers: inUdp,
  },
  {
    name: "udp-fields-for-tcp",
    match: { "outer.udp_dport": 80, "outer.ip_protocol": "udp" },
    right: { "outer.tcp_dport": 80 },
    layers: inTcp,
  },
  {
    name: "ports-for-icmp",
    match: { "outer.udp_dport": 53 },
    right: { "misc3.icmp_type": 8 },
    layers: [ethernet, ipv4, { header: "icmp" }],
  },
  {
    name: "tunnel-on-other-port",
    match: { "misc.vxlan_vni": 5001 },
    right: { "outer.udp_dport": 8472 },
    layers: vxlan(8472),
    corrects: false,
  },
  {
    name: "inner-without-tunnel",
    match: { "inner.ipv4_dst": "10.0.0.7" },
    right: { "outer.ipv4_dst": "10.0.0.7" },
    layers: inTcp,
  },
  {
    name: "gre-key-absent",
    match: { "misc.gre_key": 100 },
    right: { "misc.gre_k_present": 0 },
    layers: [ethernet, ipv4, { header: "gre" }, ipv4, udp],
  },
  {
    name: "extension-header-as-protocol",
    match: { "outer.ip_protocol": 0 },
    right: { "outer.ip_protocol": "udp" },
    layers: [ethernet, ipv6, { header: "ipv6_hop_by_hop" }, udp, payload],
  },
  {
    name: "other-ip-version",
    match: { "outer.ipv4_dst": "10.0.0.7" },
    right: { "outer.ip_version": 6 },
    layers: [ethernet, ipv6, tcp],
    corrects: false,
  },
  {
    name: "checksum-not-right",
    match: { "outer.l4_checksum_ok": 1 },
    right: { "outer.l4_checksum_ok": 0 },
    layers: [ethernet, ipv4, { ...tcp, checksum: 1 }],
  },
  {
    name: "register-not-written",
    match: { "misc2.metadata_reg_c_1": 7 },
    right: { "misc2.metadata_reg_c_1": 0 },
    layers: inTcp,
  },
  {
    name: "vport-for-port",
    match: { "misc.source_port": 1 },
    right: { "misc.source_port": "uplink" },
    layers: inTcp,
  },
  {
    name: "source-port-of-other-function",
    match: { "misc.source_port": 2 },
    right: { "misc.source_port": "uplink" },
    layers: inTcp,
  },
  { name: "other-port", match: { "ext.port": 2 }, right: { "ext.port": 1 }, layers: inTcp },
];

function macOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}

/** The frame of a case; one is a capture that was cut. */
function frameOf({ name, layers }: Planted): { frame: Uint8Array; options: { wireLength?: number } } {
  const frame = buildFrame(layers);
  return name === "frame-cut-short"
    ? { frame: frame.slice(0, 36), options: { wireLength: frame.length } }
    : { frame, options: {} };
}

describe.each(PLANTED)("$name: $match", (planted) => {
  const { name, match, right, says = "", corrects = true } = planted;
  const { frame, options } = frameOf(planted);
  const rule = { name: "web", match };

  it("is recognized", () => {
    at.set([rule]);
    const mistake = mistakeIn(at.context(frame, options));
    expect(mistake?.name).toBe(name);
    expect(mistake?.sentence).toContain(says);
    expect(mistake?.sentence).toContain(Object.keys(match)[0]?.split(".")[1]);
  });

  it("is corrected by repairs that were tried", async () => {
    // A rule whose only field is left out would match every frame, which no repair does.
    const whole: MatchFields = { "outer.smac": macOf(frame.subarray(6, 12)), ...match };
    at.set([{ name: "web", match: whole }]);
    const repairs = repairsFor(at.context(frame, options));
    if (corrects) expect(repairs[0]).toMatchObject({ of: "rule", rule: "web" });
    for (const { of, frame: bytes, fields } of repairs) {
      const changed = of === "rule" ? changedMatch(whole, fields) : whole;
      const device = of === "device" ? await CaseDevice.open({ parser: { vxlanPorts: portsOf(fields) } }) : at;
      device.set([{ name: "web", match: changed }]);
      const sent = of === "frame" ? bytesOf(bytes as string) : frame;
      expect(device.hits(sent, changedOptions(frame, sent, options)), JSON.stringify(changed)).toEqual(["web"]);
    }
  });

  it("is not recognized without the mistake", () => {
    at.set([{ name: "web", match: right }]);
    const context = at.context(frame, options);
    expect(context.reached).toBe(true);
    expect(mistakeIn(context)).toBeNull();
  });
});
