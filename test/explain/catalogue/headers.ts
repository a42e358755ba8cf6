/** Headers that frames have or have not: VLAN tags, protocols, fragments, extension headers. */
import type { Entry } from "./support/entry.js";

export const HEADERS: readonly Entry[] = [
  {
    file: "headers/tcp-field-for-udp",
    target: { kind: "rule", name: "dns" },
    mistake: "tcp-fields-for-udp",
    says: ["outer.tcp_dport", "UDP"],
    correction: [
      { op: "remove", path: "/rules/0/match/outer.tcp_dport" },
      { op: "add", path: "/rules/0/match/outer.udp_dport", value: 53 },
    ],
  },
  {
    file: "headers/udp-field-for-tcp",
    target: { kind: "flow", name: "syslog" },
    mistake: "udp-fields-for-tcp",
    says: ["outer.udp_dport", "TCP"],
    correction: [{ op: "replace", path: "/flows/0/specs/1", value: { tcp: { dst_port: 514 } } }],
  },
  {
    file: "headers/wrong-protocol-number",
    target: { kind: "rule", name: "erspan" },
    mistake: null,
    says: ["outer.ip_protocol", "49", "gre"],
    correction: [{ op: "replace", path: "/rules/0/match/outer.ip_protocol", value: 47 }],
  },
  {
    file: "headers/protocol-zero",
    target: { kind: "rule", name: "subscriber" },
    mistake: "mask-without-value",
    says: ["outer.ip_protocol", "tcp"],
    correction: [{ op: "remove", path: "/rules/0/match/outer.ip_protocol" }],
  },
  {
    file: "headers/vlan-in-front",
    target: { kind: "rule", name: "web" },
    mistake: "vlan-tag-in-front",
    says: ["outer.cvlan_tag", "VLAN tag"],
    correction: [{ op: "remove", path: "/rules/0/match/outer.cvlan_tag" }],
  },
  {
    file: "headers/vlan-ethertype",
    target: { kind: "flow", name: "ndn" },
    mistake: "vlan-by-ethertype",
    says: ["outer.ethertype", "0x8100", "0x8624"],
    correction: [{ op: "replace", path: "/flows/0/specs/0/eth/ether_type", value: "0x8624" }],
  },
  {
    file: "headers/vlan-priority",
    target: { kind: "flow", name: "vlan 7" },
    mistake: "vlan-priority-masked",
    says: ["outer.first_prio", "0x0fff"],
    correction: [{ op: "replace", path: "/flows/0/specs/0/eth/vlan_tag", value: "7/0xfff" }],
  },
  {
    file: "headers/service-tag",
    target: { kind: "rule", name: "customer" },
    mistake: "vlan-tag-kind",
    says: ["outer.cvlan_tag", "svlan_tag"],
    correction: [
      { op: "remove", path: "/rules/0/match/outer.cvlan_tag" },
      { op: "add", path: "/rules/0/match/outer.svlan_tag", value: 1 },
    ],
  },
  {
    file: "headers/inner-tag",
    target: { kind: "rule", name: "subscriber" },
    mistake: "vlan-order",
    says: ["outer.first_vid", "20", "100"],
    correction: [
      { op: "remove", path: "/rules/0/match/outer.first_vid" },
      { op: "add", path: "/rules/0/match/misc.outer_second_vid", value: 20 },
    ],
  },
  {
    file: "headers/tag-taken-off",
    target: { kind: "rule", name: "vlan 1" },
    mistake: "vlan-tag-missing",
    says: ["outer.first_vid", "VLAN"],
    correction: [
      {
        op: "replace",
        path: "/frames/0/headers",
        value: [
          { header: "ethernet" },
          { header: "vlan", vid: 1 },
          { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
          { header: "icmp", type: 8 },
        ],
      },
    ],
  },
  {
    file: "headers/later-fragment",
    target: { kind: "rule", name: "stream" },
    mistake: "fragment",
    says: ["outer.udp_dport", "fragment"],
    correction: [
      { op: "replace", path: "/rules/0/match", value: { "outer.ipv4_dst": "192.0.2.2", "outer.ip_protocol": "udp" } },
    ],
  },
  {
    file: "headers/first-fragment",
    target: { kind: "rule", name: "stream" },
    mistake: "fragment",
    says: ["outer.frag", "fragment"],
    correction: [{ op: "remove", path: "/rules/0/match/outer.frag" }],
  },
  {
    file: "headers/ipv6-fragment",
    target: { kind: "flow", name: "bgp" },
    mistake: "fragment",
    says: ["outer.tcp_dport", "fragment"],
    correction: [{ op: "replace", path: "/flows/0/specs/1", value: { eth: {} } }],
  },
  {
    file: "headers/hop-by-hop",
    target: { kind: "flow", name: "mld" },
    mistake: "extension-header-as-protocol",
    says: ["outer.ip_protocol", "extension header"],
    correction: [{ op: "replace", path: "/flows/0/specs/0/ipv6/next_hdr", value: 58 }],
  },
  {
    file: "headers/ttl-of-a-router",
    target: { kind: "rule", name: "peer" },
    mistake: "ttl-after-decrement",
    says: ["outer.ip_ttl_hoplimit", "63", "64"],
    correction: [{ op: "remove", path: "/rules/0/match/outer.ip_ttl_hoplimit" }],
  },
];
