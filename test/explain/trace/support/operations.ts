/** A scenario with every operation of rules: each is chosen by a TCP port. */

const TUNNEL = [
  { header: "ethernet", destination: "02:00:00:00:00:0a" },
  { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
  { header: "udp" },
  { header: "vxlan", vni: 100 },
];

const TO_WEB = { queue: "web" };

/** The actions of each operation, in the order of their TCP ports from 1 on. */
export const OPERATIONS = {
  tag: [{ tag: 7 }, TO_WEB],
  count: [{ count: "hits" }, TO_WEB],
  drop: ["drop"],
  default_miss: ["default_miss"],
  table: [{ table: "empty" }],
  root: [{ table: "again" }],
  modify: [
    {
      modify: [
        { set: "outer.dmac", to: "02:00:00:00:00:0b" },
        { add: "outer.ip_ttl_hoplimit", by: -1 },
        { copy: "outer.tcp_sport", into: "misc2.metadata_reg_c_1", bits: 16 },
      ],
    },
    TO_WEB,
  ],
  push_vlan: [{ push_vlan: { tpid: "0x8100", pcp: 3, vid: 5 } }, TO_WEB],
  reformat: [{ reformat: { type: "l2_to_l2_tunnel", headers: TUNNEL } }, TO_WEB],
  decapsulate: [{ reformat: { type: "l2_tunnel_to_l2" } }, TO_WEB],
  array: [{ array: [TO_WEB, { queue: "short" }, { count: "hits" }, { table: "empty" }] }],
  meter: [{ aso: { object: "meter", flags: "flow_meter_green", return_reg_c: 1 } }, TO_WEB],
  first_hit: [{ aso: { object: "flags", offset: 9, flags: "first_hit_set", return_reg_c: 3 } }, TO_WEB],
  track: [{ aso: { object: "connection", flags: "ct_direction_initiator", return_reg_c: 5 } }, TO_WEB],
  sampler: [{ flow_sampler: { default_next_table: "empty", sample_ratio: 1, sample_actions: [{ tag: 9 }, TO_WEB] } }],
  refused: [{ queue: "short" }],
} as const;

export type OperationName = keyof typeof OPERATIONS;

const NAMES = Object.keys(OPERATIONS) as OperationName[];

export const SCENARIO = {
  flowsteer: 1,
  queues: [{ name: "web" }, { name: "short", buffers: 1, bufferSize: 20 }],
  counters: [{ name: "hits" }],
  asoObjects: [
    { name: "meter", flow_meter: { meter_mode: "pkt", cir: 2000, cbs: 2 } },
    { name: "flags", first_hit: [] },
    { name: "connection", conn_track: {} },
  ],
  tables: [
    { name: "root", level: 0 },
    { name: "again", level: 1 },
    { name: "empty", level: 2 },
    { name: "operations", level: 1 },
  ],
  rules: [
    { name: "all", table: "root", priority: 4, actions: [{ table: "operations" }] },
    { name: "back", table: "again", actions: [{ table: "root", priority: 5 }] },
    { name: "last", table: "root", priority: 5, actions: ["drop"] },
    ...NAMES.map((name, i) => ({
      name,
      table: "operations",
      match: { "outer.tcp_dport": i + 1 },
      actions: OPERATIONS[name],
    })),
  ],
  frames: NAMES.map((name, i) => ({
    name,
    headers: [
      { header: "ethernet" },
      { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
      { header: "tcp", source_port: 1000, destination_port: i + 1, flags: "syn" },
    ],
  })),
};
