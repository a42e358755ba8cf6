/** Every kind of action, with every key: shared, in rules of tables that no frame comes to, and of flows. */

export const OUTER = [
  { header: "ethernet", destination: "02:00:00:00:00:0a" },
  { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
  { header: "udp" },
  { header: "vxlan", vni: 100 },
];

/** Ethernet and IPv4, as short as encapsulation takes them. */
export const TUNNEL = "02000000000102000000000208004500001400000000402f0000c0000201c0000202";

export const CHANGES = [
  { set: "outer.dmac", to: "02:00:00:00:00:0b" },
  { add: "outer.ip_ttl_hoplimit", by: -1 },
  { copy: "outer.tcp_sport", into: "misc2.metadata_reg_c_1", fromBit: 8, intoBit: 4, bits: 8 },
  "1016000000000000",
];

const ARRAY = [
  "default_miss",
  { default_miss: true },
  { count: "hits" },
  { table: "beyond" },
  { vport: 1 },
  { vport: "uplink", reformat: "into-tunnel" },
  { port: 2, reformat: { type: "l2_to_l2_tunnel", headers: OUTER } },
  { action: "number", reformat: { type: "l2_to_l3_tunnel", data: TUNNEL } },
];

export const SHARED_ACTIONS = [
  { name: "into-tunnel", reformat: { type: "l2_to_l2_tunnel", headers: OUTER } },
  { name: "out-of-tunnel", reformat: { type: "l3_tunnel_to_l2", data: "020000000001020000000002 0800" } },
  { name: "change", modify: CHANGES },
  { name: "replicate", array: [...ARRAY, { queue: "web" }] },
  { name: "untag", pop_vlan: true },
  { name: "service", push_vlan: { tpid: "0x88a8", pcp: 3, dei: true, vid: 100 } },
  { name: "to-vf", vport: 1 },
  { name: "to-wire", vport: "uplink" },
  { name: "to-port", port: 2 },
  { name: "to-root", table: "root", priority: 7 },
];

export const DOMAINS = [
  { domain: "nic_rx", function: 0, description: "of the PF", reclaim: true, duplicates: true, sync: true },
  { domain: "nic_rx", function: 1 },
];

export const MORE_TABLES = [
  { name: "rewriting", level: 5 },
  { name: "beyond", domain: "fdb", function: 0, level: 1 },
];

export const MORE_RULES = [
  {
    name: "rewrite",
    table: "rewriting",
    actions: [
      "pop_vlan",
      { reformat: { type: "l3_tunnel_to_l2", headers: [{ header: "ethernet" }] } },
      { modify: CHANGES },
      { push_vlan: { tpid: "0x8100", pcp: 1, dei: false, vid: 5 } },
      { reformat: { type: "l2_to_l2_tunnel", data: TUNNEL } },
      { table: "root", priority: 7 },
    ],
  },
  { name: "mirror", table: "beyond", actions: [{ array: [...ARRAY, { count: "hits" }] }] },
  { name: "to-vf", table: "beyond", priority: 1, actions: [{ vport: 1 }] },
  { name: "to-wire", table: "beyond", priority: 2, actions: [{ vport: "uplink" }] },
  {
    name: "to-port",
    table: "beyond",
    priority: 3,
    actions: [{ port: 2 }],
    notImported: ["3400,0x1: its headers are not in the dump"],
  },
  {
    name: "copies",
    table: "rewriting",
    priority: 1,
    actions: [{ array: [{ queue: "web" }, { queue: "rest", reformat: "into-tunnel" }] }],
  },
];

export const FLOW_ACTIONS = [
  { name: "rewrite", description: "of what is sent", modify: CHANGES },
  { name: "leave-tunnel", reformat: { type: "l2_tunnel_to_l2" } },
  { name: "enter", reformat: { type: "l2_to_l2_tunnel", headers: OUTER } },
  { name: "enter-bytes", reformat: { type: "l2_to_l3_tunnel", data: TUNNEL } },
];

export const MORE_FLOWS = [
  {
    name: "rewritten",
    queue: "rest",
    priority: 14,
    specs: [{ udp: { dst_port: 9 } }, { action: "leave-tunnel" }, { action: "rewrite" }],
  },
];
