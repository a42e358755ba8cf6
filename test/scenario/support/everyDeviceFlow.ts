/** Every key of flow tables, anchors, entries and flows in device bytes. No frame of the document comes to them. */
import { CHANGES, OUTER, TUNNEL } from "./everyAction.js";

const MASK = { "outer.udp_dport": "full" };
const NOBODY = { "outer.udp_dport": 4242 };

export const DEVICE_FLOWS = {
  flowTables: [
    { name: "rest of it", table_type: "nic_rx", level: 9, groups: [] },
    {
      name: "services",
      description: "by port",
      function: 0,
      table_type: "nic_rx",
      level: 1,
      log_size: 3,
      reformat_en: true,
      decap_en: true,
      table_miss: "rest of it",
      groups: [{ start_flow_index: 0, end_flow_index: 6, mask: MASK }],
    },
    { name: "crossing", table_type: "fdb", log_size: 2, groups: [{ start_flow_index: 0, end_flow_index: 3 }] },
    ...["rdma_rx", "rdma_tx", "rdma_transport_rx", "rdma_transport_tx"].map((table_type) => ({
      name: `table of ${table_type}`,
      table_type,
      groups: [{ start_flow_index: 0, end_flow_index: 0 }],
    })),
  ],
  steeringAnchors: [{ name: "later", description: "stage 2", function: 0, ft_type: "nic_rx", priority: 40 }],
  flowEntries: [
    {
      name: "entry",
      description: "does everything",
      table: "services",
      flow_index: 1,
      match: NOBODY,
      ignore_flow_level: true,
      actions: [
        "decap",
        "pop_vlan",
        "pop_vlan",
        { tag: 5 },
        { count: "bulk", offset: 2 },
        { count: "hits" },
        { modify: CHANGES },
        { push_vlan: { tpid: "0x88a8", pcp: 1, dei: true, vid: 6 } },
        { push_vlan: { vid: 5 } },
        { tir: "to-rest" },
        { table: "rest of it" },
        { anchor: "later" },
      ],
    },
    {
      name: "rewritten entry",
      table: "services",
      flow_index: 2,
      match: { "outer.udp_dport": 4243 },
      actions: [{ reformat: { type: "l3_tunnel_to_l2", data: "020000000001020000000002 0800" } }, { tir: "rss" }],
    },
    {
      name: "tunnel entry",
      table: "services",
      flow_index: 3,
      match: { "outer.udp_dport": 4244 },
      actions: [
        { reformat: { type: "l2_to_l2_tunnel", headers: OUTER } },
        { tir: "rss", packet_reformat: { type: "l2_to_l2_tunnel", headers: OUTER } },
        { tir: "to-rest", packet_reformat: { type: "l2_to_l2_tunnel", data: TUNNEL } },
      ],
    },
    { name: "allowed", table: "services", flow_index: 4, match: { "outer.udp_dport": 4245 }, actions: ["allow"] },
    { name: "dropped", table: "services", flow_index: 5, match: { "outer.udp_dport": 4246 }, actions: ["drop"] },
    { name: "across", table: "crossing", flow_index: 0, actions: [{ vport: 1 }, { vport: "uplink" }] },
  ],
  deviceFlows: [
    {
      name: "roce",
      description: "of one port",
      function: 0,
      ft_type: "rdma_transport_rx",
      ib_port: 2,
      priority: 3,
      match: NOBODY,
      actions: ["drop"],
    },
    {
      name: "to services",
      priority: 50,
      match: NOBODY,
      actions: [{ tag: 4 }, { count: "bulk", offset: 1 }, { table: "services" }],
    },
    {
      name: "to tir",
      priority: 51,
      match: NOBODY,
      actions: [{ ibv_counter: "addresses" }, { action: "leave-tunnel" }, { tir: "rss" }],
    },
    { name: "to web", priority: 52, match: NOBODY, actions: [{ queue: "web" }] },
    { name: "missing", priority: 53, match: NOBODY, actions: ["default_miss", { count: "hits" }] },
  ],
};
