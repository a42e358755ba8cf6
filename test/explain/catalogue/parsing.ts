/** What the parser reads, and fields of another header. */
import type { Entry } from "./support/entry.js";

export const PARSING: readonly Entry[] = [
  {
    file: "parsing/ipv6-for-ipv4",
    target: { kind: "rule", name: "web" },
    mistake: "other-ip-version",
    says: ["outer.ipv4_dst", "IPv4"],
    correction: [
      { op: "remove", path: "/rules/0/match/outer.ipv4_dst" },
      { op: "add", path: "/rules/0/match/outer.ipv6_dst", value: "2001:db8::80" },
    ],
  },
  {
    file: "parsing/snap-length",
    target: { kind: "rule", name: "web" },
    mistake: "frame-cut-short",
    says: ["outer.tcp_dport", "TCP header cut", "2 of 20 bytes"],
    correction: [
      {
        op: "replace",
        path: "/frames/0",
        value: {
          name: "whole",
          headers: [
            { header: "ethernet" },
            { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.80" },
            { header: "tcp", source_port: 40000, destination_port: 80 },
          ],
        },
      },
    ],
  },
  {
    file: "parsing/bad-checksum",
    target: { kind: "rule", name: "app" },
    mistake: "checksum-not-right",
    says: ["outer.l4_checksum_ok", "checksum"],
    correction: [{ op: "remove", path: "/frames/0/headers/2/checksum" }],
  },
  {
    file: "parsing/icmp-for-icmpv6",
    target: { kind: "rule", name: "ping" },
    mistake: "other-icmp-version",
    says: ["misc3.icmp_type", "ICMP"],
    correction: [{ op: "replace", path: "/rules/0/match", value: { "misc3.icmpv6_type": 128 } }],
  },
  {
    file: "parsing/ip-behind-mpls",
    target: { kind: "rule", name: "customer" },
    mistake: "mpls-in-front",
    says: ["outer.ethertype", "0x8847"],
    correction: [{ op: "replace", path: "/rules/0/match/outer.ethertype", value: "0x8847" }],
  },
  {
    file: "parsing/ike-at-4500",
    target: { kind: "rule", name: "esp" },
    mistake: "no-esp-at-port-4500",
    says: ["misc.outer_esp_spi", "ESP"],
    correction: [{ op: "replace", path: "/frames/0/headers/3/bytes", value: "c0de0001000000012222222233333333" }],
  },
  {
    file: "parsing/ports-crossed",
    target: { kind: "flow", name: "peer" },
    mistake: "ports-swapped",
    says: ["outer.udp_dport", "source"],
    correction: [{ op: "replace", path: "/flows/0/specs/1/udp", value: { src_port: 31337, dst_port: 4500 } }],
  },
  {
    file: "parsing/addresses-crossed",
    target: { kind: "rule", name: "replies" },
    mistake: "addresses-swapped",
    says: ["outer.ipv4_src", "destination"],
    correction: [
      {
        op: "replace",
        path: "/rules/0/match",
        value: { "outer.ipv4_src": "198.51.100.80", "outer.ipv4_dst": "192.0.2.9" },
      },
    ],
  },
  {
    file: "parsing/multicast-mac",
    target: { kind: "flow", name: "group" },
    mistake: "multicast-mac",
    says: ["outer.dmac", "01:00:5e:81:02:03"],
    correction: [{ op: "replace", path: "/flows/0/specs/0/eth/dst_mac", value: "01:00:5e:01:02:03" }],
  },
  {
    file: "parsing/below-the-range",
    target: { kind: "rule", name: "high" },
    mistake: "range-off-by-one",
    says: ["outer.tcp_sport", "1023", "1024-65535"],
    correction: [{ op: "replace", path: "/rules/0/match/outer.tcp_sport", value: "1023-65535" }],
  },
  {
    file: "parsing/syn-only",
    target: { kind: "rule", name: "new" },
    mistake: "tcp-flags-exact",
    says: ["outer.tcp_flags"],
    correction: [{ op: "replace", path: "/rules/0/match/outer.tcp_flags", value: "0x2/0x12" }],
  },
  {
    file: "parsing/mapped-address",
    target: { kind: "flow", name: "web" },
    mistake: "ipv4-mapped-address",
    says: ["outer.ipv6_dst", "192.0.2.80"],
    correction: [{ op: "replace", path: "/flows/0/specs/0", value: { ipv4: { dst_ip: "192.0.2.80" } } }],
  },
  {
    file: "parsing/icmp-has-no-ports",
    target: { kind: "rule", name: "probes" },
    mistake: "ports-for-icmp",
    says: ["outer.udp_dport", "ICMP"],
    correction: [{ op: "replace", path: "/rules/0/match", value: { "misc3.icmp_type": 8 } }],
  },
  {
    file: "parsing/gtpu-short-header",
    target: { kind: "rule", name: "ordered" },
    mistake: "gtpu-option-absent",
    says: ["misc3.gtpu_dw_2"],
    correction: [{ op: "replace", path: "/rules/0/match", value: { "misc3.gtpu_teid": 9 } }],
  },
  {
    file: "parsing/mac-group-bit",
    target: { kind: "flow", name: "mine" },
    mistake: "mac-group-bit",
    says: ["outer.dmac", "group"],
    correction: [{ op: "replace", path: "/flows/0/specs/0/eth/dst_mac", value: "02:1b:21:3c:9d:07" }],
  },
];
