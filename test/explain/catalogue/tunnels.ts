/** Tunnels: ports, keys, options, levels. */
import type { Entry } from "./support/entry.js";

export const TUNNELS: readonly Entry[] = [
  {
    file: "tunnels/vxlan-8472",
    target: { kind: "rule", name: "tenant" },
    mistake: "tunnel-on-other-port",
    says: ["8472", "4789", "misc.vxlan_vni"],
    correction: [{ op: "add", path: "/device", value: { parser: { vxlanPorts: [4789, 8472] } } }],
  },
  {
    file: "tunnels/vxlan-port-decimal",
    target: { kind: "rule", name: "overlay" },
    mistake: "vxlan-port-of-linux",
    says: ["outer.udp_dport", "8472", "4789"],
    correction: [{ op: "replace", path: "/rules/0/match/outer.udp_dport", value: 4789 }],
  },
  {
    file: "tunnels/inner-without-tunnel",
    target: { kind: "rule", name: "web" },
    mistake: "inner-without-tunnel",
    says: ["inner.ipv4_dst", "tunnel"],
    correction: [
      { op: "replace", path: "/rules/0/match", value: { "outer.ipv4_dst": "10.0.0.80", "outer.tcp_dport": 80 } },
    ],
  },
  {
    file: "tunnels/outer-for-inner",
    target: { kind: "rule", name: "vm" },
    mistake: "inner-outer-swapped",
    says: ["outer.dmac", "inner.dmac"],
    correction: [
      { op: "remove", path: "/rules/0/match/outer.dmac" },
      { op: "add", path: "/rules/0/match/inner.dmac", value: "02:42:ac:11:00:02" },
    ],
  },
  {
    file: "tunnels/vxlan-source-port",
    target: { kind: "rule", name: "tenant" },
    mistake: "tunnel-source-port",
    says: ["outer.udp_sport", "49153", "58711"],
    correction: [{ op: "remove", path: "/rules/0/match/outer.udp_sport" }],
  },
  {
    file: "tunnels/geneve-option-type",
    target: { kind: "rule", name: "port 2" },
    mistake: "geneve-option-absent",
    says: ["misc3.geneve_tlv_option_0_data", "option"],
    correction: [{ op: "replace", path: "/device/parser/geneveOption0/type", value: 128 }],
  },
  {
    file: "tunnels/gre-without-key",
    target: { kind: "rule", name: "branch" },
    mistake: "gre-key-absent",
    says: ["misc.gre_key", "key"],
    correction: [{ op: "replace", path: "/frames/0/headers/2", value: { header: "gre", k: 1, key: 7 } }],
  },
  {
    file: "tunnels/gre-ethernet",
    target: { kind: "flow", name: "tunnel" },
    mistake: "gre-carries-other",
    says: ["misc.gre_protocol"],
    correction: [{ op: "replace", path: "/flows/0/specs/0/gre/protocol", value: "0x6558" }],
  },
  {
    file: "tunnels/gre-flags",
    target: { kind: "flow", name: "mirror" },
    mistake: null,
    says: ["ext.gre_c_ks_res0_ver"],
    correction: [{ op: "replace", path: "/flows/0/specs/0/gre/c_ks_res0_ver", value: "0x1000" }],
  },
  {
    file: "tunnels/pptp",
    target: { kind: "rule", name: "dialup" },
    mistake: "inner-without-tunnel",
    says: ["inner.ipv4_src"],
    correction: [{ op: "remove", path: "/rules/0/match/inner.ipv4_src" }],
  },
  {
    file: "tunnels/gtpu-without-qfi",
    target: { kind: "rule", name: "qfi 6" },
    mistake: "gtpu-extension-absent",
    says: ["misc3.gtpu_first_ext_dw_0", "extension"],
    correction: [{ op: "remove", path: "/rules/0/match/misc3.gtpu_first_ext_dw_0" }],
  },
  {
    file: "tunnels/gtpu-error-indication",
    target: { kind: "rule", name: "subscriber" },
    mistake: "inner-without-tunnel",
    says: ["inner.ipv4_src"],
    correction: [
      {
        op: "replace",
        path: "/frames/0/headers",
        value: [
          { header: "ethernet" },
          { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
          { header: "udp", source_port: 2152, destination_port: 2152 },
          { header: "gtpu", teid: 9 },
          { header: "ipv4", source: "10.45.0.2", destination: "198.51.100.1" },
          { header: "udp", source_port: 5000, destination_port: 7 },
        ],
      },
    ],
  },
  {
    file: "tunnels/mpls-over-udp",
    target: { kind: "rule", name: "lsp" },
    mistake: "mpls-in-other-place",
    says: ["misc2.outer_first_mpls_over_udp_label", "MPLS"],
    correction: [{ op: "replace", path: "/rules/0/match", value: { "misc2.outer_first_mpls_label": 1001 } }],
  },
  {
    file: "tunnels/vxlan-gpe",
    target: { kind: "rule", name: "tenant" },
    mistake: "vni-of-other-tunnel",
    says: ["misc.vxlan_vni", "4790"],
    correction: [{ op: "replace", path: "/rules/0/match", value: { "misc3.outer_vxlan_gpe_vni": 77 } }],
  },
  {
    file: "tunnels/decapsulate-plain",
    target: { kind: "queue", name: "inside" },
    mistake: "decapsulation-without-tunnel",
    says: ["tunnel"],
    correction: [
      { op: "add", path: "/rules/0/match/misc.vxlan_vni", value: 77 },
      {
        op: "replace",
        path: "/frames/0/headers",
        value: [
          { header: "ethernet" },
          { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
          { header: "udp", source_port: 49153, destination_port: 4789 },
          { header: "vxlan", vni: 77 },
          { header: "ethernet" },
          { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
          { header: "udp", source_port: 5000, destination_port: 7 },
        ],
      },
    ],
  },
];
