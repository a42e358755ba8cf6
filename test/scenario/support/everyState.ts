/** Every key of what rules remember and of what spreads frames: objects, actions, changes before frames, expectations. */

const SIDE = {
  sent_end: 101,
  reply_end: 1101,
  max_win: 1000,
  max_ack: 201,
  max_ack_seen: 1,
  scale: 15,
  close_initiated: 0,
  data_unacked: 0,
  liberal: 0,
};

const CONNECTION = {
  valid: 1,
  state: "established",
  freeze_track: 0,
  connection_assured: 1,
  sack_permitted: 0,
  challenged_acked: 0,
  heartbeat: 1,
  max_ack_window: 0,
  retransmission_counter: 0,
  retransmission_limit: 0,
  limit_exceeded: 0,
  last_seq: 100,
  last_end: 101,
  last_ack: 201,
  last_win: 1000,
  last_dir: 1,
  last_index: "ack",
  original: SIDE,
  reply: { ...SIDE, max_ack: 101 },
};

const RATES = {
  cir: { mantissa: 131, exponent: 17 },
  cbs: { mantissa: 188, exponent: 3 },
  eir: { mantissa: 125, exponent: 12 },
  ebs: { mantissa: 3, exponent: 9 },
};

const METER = {
  ...RATES,
  meter_mode: "l2_len",
  start_color: "green",
  bucket_overflow: false,
  both_buckets_on_green: false,
};

const KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";

export const MORE_QUEUES = [
  { name: "wq-1", type: "wq", buffers: 1, state: "rdy" },
  { name: "wq-2", type: "wq", buffers: 1, state: "err" },
  {
    name: "spreading",
    rwq_ind_tbl: "two",
    rx_hash_conf: { rx_hash_function: "toeplitz", rx_hash_key: KEY, rx_hash_fields_mask: ["src_ipv4", "dst_ipv4"] },
  },
];

export const SPREADING = {
  indirectionTables: [{ name: "two", description: "of the verbs", ind_tbl: ["wq-1", "wq-2"] }],
  rqts: [{ name: "pair", description: "of device commands", queues: ["rest", "wq-1"] }],
  tirs: [
    { name: "to-rest", description: "direct", queue: "rest" },
    {
      name: "rss",
      rqt: "pair",
      rx_hash_fn: "toeplitz",
      rx_hash_symmetric: true,
      rx_hash_toeplitz_key: KEY,
      rx_hash_field_selector_outer: {
        l3_prot_type: "ipv4",
        l4_prot_type: "tcp",
        selected_fields: ["src_ip", "dst_ip", "l4_sport", "l4_dport"],
      },
      rx_hash_field_selector_inner: { l3_prot_type: "ipv6", l4_prot_type: "udp", selected_fields: ["ipsec_spi"] },
    },
  ],
};

export const ASO_OBJECTS = [
  { name: "flags", description: "first hits", function: 0, log_obj_range: 1, first_hit: [3, 511] },
  { name: "meters", flow_meter: { ...METER, valid: true } },
  { name: "connections", log_obj_range: 1, conn_track: CONNECTION },
];

export const BULK = { name: "bulk", function: 0, flow_counter_bulk_log_size: 2 };

const FLOW_METER = { next_table: "far", reg_c_index: 4, active: true, ...METER };
const SAMPLER = {
  sample_ratio: 2,
  default_next_table: "far",
  sample_actions: [{ tag: 1 }, { count: "bulk", offset: 1 }, { queue: "web" }],
  action: { set: "misc2.metadata_reg_c_0", to: 5 },
};
/** Every word that a sample takes; where they cannot stand together they stand in the FDB, in tables that no frame comes to. */
const FDB_SAMPLERS = ["default_miss", { default_miss: true }, { vport: 1 }, { port: 2 }, { action: "to-vf" }].map(
  (end) => ({ flow_sampler: { sample_ratio: 1, default_next_table: "fdb-far", sample_actions: [end] } }),
);

const COPIES = [{ tir: "to-rest" }, { action: "to-tir" }, { count: "bulk", offset: 0 }];
const CHOICE = { offset: 1, flags: "ct_direction_initiator", return_reg_c: 1 };

export const STATE_ACTIONS = [
  { name: "police", flow_meter: FLOW_METER },
  { name: "sample", flow_sampler: { ...SAMPLER, sample_actions: [{ tir: "to-rest" }] } },
  { name: "sample more", flow_sampler: SAMPLER },
  ...FDB_SAMPLERS.map((sampler, i) => ({ name: `sampler ${i}`, ...sampler })),
  { name: "track", aso: { object: "connections", ...CHOICE, peer_dmn: { domain: "nic_rx", function: 0 } } },
  { name: "copy", array: COPIES },
  { name: "bulk-3", count: "bulk", offset: 3 },
  { name: "to-tir", tir: "rss" },
];

export const STATE_TABLES = [
  { name: "remembering", level: 6 },
  { name: "far", level: 7 },
  { name: "fdb-far", domain: "fdb", level: 2 },
];

export const STATE_RULES = [
  { name: "metered", table: "remembering", actions: [{ count: "bulk", offset: 2 }, { flow_meter: FLOW_METER }] },
  { name: "policed", table: "remembering", priority: 1, actions: [{ action: "police" }] },
  {
    name: "sampled",
    table: "remembering",
    priority: 2,
    actions: [{ flow_sampler: { ...SAMPLER, sample_actions: [{ tir: "to-rest" }] } }],
  },
  { name: "sampled at length", table: "remembering", priority: 6, actions: [{ flow_sampler: SAMPLER }] },
  { name: "sampled too", table: "remembering", priority: 3, actions: [{ action: "sample" }] },
  {
    name: "tracked",
    table: "remembering",
    priority: 4,
    actions: [
      { action: "track", modify_aso: { offset: 0, flags: "ct_direction_responder", return_reg_c: 3 } },
      { aso: { object: "flags", offset: 513, flags: "first_hit_set", return_reg_c: 5 } },
      { tir: "to-rest" },
    ],
  },
  {
    name: "linked",
    table: "beyond",
    priority: 9,
    actions: [{ aso: { object: "connections", ...CHOICE, peer_dmn: { domain: "nic_rx", function: 0 } } }],
  },
  {
    name: "copied",
    table: "remembering",
    priority: 5,
    actions: [{ array: COPIES }],
  },
  ...FDB_SAMPLERS.map((sampler, i) => ({
    name: `samples ${i}`,
    table: "beyond",
    priority: 10 + i,
    actions: [sampler],
  })),
];

export const STEPS = [
  { modify_flow_meter: "police", active: false, ...RATES },
  { modify_aso_object: "connections", index: 1, conn_track: CONNECTION },
  { modify_aso_object: "flags", first_hit: [7] },
  { modify_aso_object: "meters", flow_meter: { ...METER, valid: false } },
];

export const EXPECTED_STATE = {
  flags: { first_hit: [515, 1023, 7] },
  meters: { flow_meter: [{ c_tokens: 1504, e_tokens: 1536 }, null] },
  connections: { conn_track: [null, CONNECTION] },
};
