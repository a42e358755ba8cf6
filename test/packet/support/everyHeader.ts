/** A frame of every header that can be built, mostly with default values. */
import type { Layer } from "../../../src/packet/index.js";
import { LINK_TYPES } from "../../../src/index.js";

export interface Sample {
  name: string;
  linkType: number;
  layers: readonly Layer[];
}

const { ETHERNET, RAW, NULL, LOOP, LINUX_SLL, LINUX_SLL2 } = LINK_TYPES;

/** Twenty bytes that no dissector knows. */
const DATA = Uint8Array.from({ length: 20 }, (_, i) => 0xa0 + i);
/** 8-byte secure data and its ICV. */
const SECURED = new Uint8Array(24).fill(0x5a);

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const ipv6 = { header: "ipv6" } as const;
const tcp = { header: "tcp" } as const;
const udp = { header: "udp" } as const;

/** Frames on Ethernet. */
const ETHERNET_FRAMES: Readonly<Record<string, readonly Layer[]>> = {
  tcp: [ethernet, ipv4, tcp, DATA],
  "tcp with options": [
    ethernet,
    ipv4,
    {
      header: "tcp",
      flags: "syn, ece, cwr",
      options: [
        { option: "mss", size: 1460 },
        { option: "sack_permitted" },
        { option: "timestamps", value: 1000, echo: 0 },
        { option: "nop" },
        { option: "wscale", shift: 7 },
      ],
    },
  ],
  "tcp with sack": [
    ethernet,
    ipv6,
    {
      header: "tcp",
      flags: "ack",
      acknowledgement: 1,
      options: [{ option: "nop" }, { option: "nop" }, { option: "sack", edges: [10, 20, 40, 50] }],
    },
    DATA,
  ],
  "tcp over ipv6": [ethernet, ipv6, tcp, DATA],
  udp: [ethernet, ipv4, udp, DATA],
  "udp of odd length over ipv6": [ethernet, ipv6, udp, DATA.slice(0, 7)],
  icmp: [ethernet, ipv4, { header: "icmp" }, DATA],
  icmpv6: [ethernet, ipv6, { header: "icmpv6" }, DATA],
  // A HEARTBEAT chunk with its one parameter.
  sctp: [ethernet, ipv4, { header: "sctp" }, { header: "payload", bytes: "04000010 0001000c 0102030405060708" }],
  vlan: [ethernet, { header: "vlan", pcp: 5, vid: 100 }, ipv4, udp, DATA],
  "two vlans": [ethernet, { header: "vlan", vid: 7 }, { header: "vlan", vid: 8 }, ipv6, udp, DATA],
  arp: [ethernet, { header: "arp" }],
  "a padded arp": [ethernet, { header: "arp", operation: 2 }, { header: "trailer", bytes: new Uint8Array(18) }],
  "ipv4 with options": [
    ethernet,
    {
      header: "ipv4",
      options: [
        { option: "router_alert", value: 0 },
        { option: "record_route", pointer: 8, addresses: ["192.0.2.9", "0.0.0.0"] },
      ],
    },
    udp,
    DATA,
  ],
  "a strict source route": [
    ethernet,
    { header: "ipv4", options: [{ option: "strict_source_route", pointer: 4, addresses: ["192.0.2.77"] }] },
    udp,
    DATA,
  ],
  "a first fragment": [ethernet, { header: "ipv4", flags: "mf", identification: 5 }, udp, DATA.slice(0, 16)],
  "extension headers": [
    ethernet,
    ipv6,
    { header: "ipv6_hop_by_hop", options: [{ option: "router_alert", value: 0 }] },
    { header: "ipv6_routing" },
    { header: "ipv6_fragment", identification: 9 },
    { header: "ipv6_destination" },
    tcp,
    DATA,
  ],
  "a segment route under way": [
    ethernet,
    { header: "ipv6", destination: "2001:db8::b" },
    { header: "ipv6_routing", segments_left: 1, data: ["2001:db8::c", "2001:db8::b"] },
    udp,
    DATA,
  ],
  ah: [ethernet, ipv6, { header: "ah" }, udp, DATA],
  esp: [ethernet, ipv4, { header: "esp" }, DATA],
  "esp in udp": [ethernet, ipv4, udp, { header: "esp" }, DATA],
  bth: [ethernet, ipv4, udp, { header: "bth", psn: 7 }, DATA],
  macsec: [ethernet, { header: "macsec", sci: 0x0200_0000_0001_0001n }, SECURED],
  "macsec without sci": [ethernet, { header: "vlan" }, { header: "macsec", an: 2 }, SECURED],
  nsh: [ethernet, { header: "nsh", spi: 42, si: 254 }, DATA],
  "nsh with context headers": [ethernet, { header: "nsh", context: new Uint8Array(16) }, DATA],
  "nsh in vxlan_gpe": [ethernet, ipv4, udp, { header: "vxlan_gpe" }, { header: "nsh" }, DATA],
  mpls: [ethernet, { header: "mpls", label: 100 }, { header: "mpls", label: 200 }, ipv4, udp, DATA],
  "ipv4 in ipv4": [ethernet, ipv4, ipv4, udp, DATA],
  "ipv6 in ipv4": [ethernet, ipv4, ipv6, tcp],
  "ipv4 in ipv6": [ethernet, ipv6, ipv4, { header: "icmp" }],
  vxlan: [ethernet, ipv4, udp, { header: "vxlan", vni: 42 }, ethernet, ipv4, tcp, DATA],
  vxlan_gpe: [ethernet, ipv4, udp, { header: "vxlan_gpe" }, ipv6, udp, DATA],
  "vxlan_gpe with ethernet": [ethernet, ipv6, udp, { header: "vxlan_gpe" }, ethernet, ipv4, udp, DATA],
  geneve: [
    ethernet,
    ipv4,
    udp,
    {
      header: "geneve",
      vni: 42,
      options: [
        { class: 0x0102, type: 0x81, data: DATA.slice(0, 8) },
        { class: 0xffff, type: 1 },
      ],
    },
    ethernet,
    ipv6,
    tcp,
    DATA,
  ],
  "geneve with ipv4": [ethernet, ipv4, udp, { header: "geneve" }, ipv4, { header: "icmp" }],
  gre: [ethernet, ipv4, { header: "gre" }, ipv4, tcp, DATA],
  "gre with everything": [ethernet, ipv4, { header: "gre", c: true, key: 0x1234, sequence: 9 }, ipv6, udp, DATA],
  nvgre: [ethernet, ipv4, { header: "gre", key: 0x00138800 }, ethernet, ipv4, udp, DATA],
  "mpls over gre": [ethernet, ipv4, { header: "gre" }, { header: "mpls" }, ipv4, udp, DATA],
  "mpls over udp": [ethernet, ipv6, udp, { header: "mpls" }, ipv6, tcp],
  gtpu: [ethernet, ipv4, udp, { header: "gtpu", teid: 77 }, ipv4, udp, DATA],
  "gtpu with sequence": [ethernet, ipv4, udp, { header: "gtpu", sequence: 3, n_pdu: 1 }, ipv6, tcp],
  gtpu_extension: [
    ethernet,
    ipv4,
    udp,
    { header: "gtpu" },
    // PDU session container: uplink, QFI 9 (3GPP TS 38.415).
    { header: "gtpu_extension", content: "1009" },
    ipv4,
    udp,
    DATA,
  ],
};

export const EVERY_HEADER: readonly Sample[] = [
  ...Object.entries(ETHERNET_FRAMES).map(([name, layers]) => ({ name, linkType: ETHERNET, layers })),
  { name: "raw ipv4", linkType: RAW, layers: [ipv4, udp, DATA] },
  { name: "raw ipv6", linkType: RAW, layers: [ipv6, tcp] },
  { name: "null", linkType: NULL, layers: [{ header: "loopback" }, ipv4, udp, DATA] },
  { name: "loop", linkType: LOOP, layers: [{ header: "loopback" }, ipv6, udp, DATA] },
  { name: "linux_cooked", linkType: LINUX_SLL, layers: [{ header: "linux_cooked" }, ipv4, tcp] },
  {
    name: "linux_cooked with vlan",
    linkType: LINUX_SLL,
    layers: [{ header: "linux_cooked" }, { header: "vlan" }, ipv6, udp, DATA],
  },
  {
    name: "linux_cooked_v2",
    linkType: LINUX_SLL2,
    layers: [{ header: "linux_cooked_v2" }, ipv6, { header: "icmpv6" }],
  },
];

/** Wrong on request: tshark reports it. */
export const WRONG: readonly Sample[] = Object.entries<readonly Layer[]>({
  "a wrong ipv4 checksum": [ethernet, { header: "ipv4", checksum: 1 }, udp, DATA],
  "a wrong tcp checksum": [ethernet, ipv6, { header: "tcp", checksum: 1 }, DATA],
  "a wrong sctp checksum": [ethernet, ipv4, { header: "sctp", checksum: 1 }],
  "a wrong total length": [ethernet, { header: "ipv4", total_length: 10 }, udp, DATA],
  "a wrong udp length": [ethernet, ipv4, { header: "udp", length: 100 }, DATA],
  "a wrong version": [ethernet, { header: "ipv4", version: 5 }, udp, DATA],
  "a wrong data offset": [ethernet, ipv4, { header: "tcp", data_offset: 3 }, DATA],
}).map(([name, layers]) => ({ name, linkType: ETHERNET, layers }));
