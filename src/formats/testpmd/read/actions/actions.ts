/** The actions of testpmd: their arguments, and what happens to each. */
import type { Element } from "../../../reading/format.js";
import type { ValueKind } from "../../fields/kind.js";

export interface Argument {
  readonly bits: number;
  readonly kind?: ValueKind;
}

export interface ActionKind {
  readonly arguments?: Readonly<Record<string, Argument>>;
  /** A header change: the field that it sets, or adds to. */
  readonly change?: { readonly set?: readonly string[]; readonly add?: readonly string[]; readonly sign?: 1 | -1 };
  /** How it is carried over; left out for header changes. */
  readonly does?: Does;
  readonly becomes: string;
}

export type Does =
  | "nothing"
  | "passthru"
  | "jump"
  | "mark"
  | "flag"
  | "queue"
  | "drop"
  | "count"
  | "rss"
  | "port"
  | "portRepresentor"
  | "kernel"
  | "pf"
  | "vf"
  | "meter"
  | "sample"
  | "age"
  | "popVlan"
  | "pushVlan"
  | "vlanVid"
  | "vlanPcp"
  | "decap"
  | "rawEncap"
  | "rawDecap"
  | "setTag"
  | "setMeta"
  | "modifyField"
  | "indirect"
  | "conntrack";

const number = (bits: number): Argument => ({ bits });
const ADDRESS4 = { ipv4_addr: { bits: 32, kind: "ipv4" } } as const;
const ADDRESS6 = { ipv6_addr: { bits: 128, kind: "ipv6" } } as const;
const MAC = { mac_addr: { bits: 48, kind: "mac" } } as const;
const VALUE = { value: number(32) } as const;

function sets(args: ActionKind["arguments"], ...fields: readonly string[]): ActionKind {
  return {
    arguments: args ?? {},
    change: { set: fields },
    becomes: `sets ${fields.map((one) => `\`${one}\``).join(", ")}`,
  };
}

function adds(args: ActionKind["arguments"], sign: 1 | -1, field: string): ActionKind {
  const does = sign === 1 ? "adds to" : "subtracts from";
  return { arguments: args ?? {}, change: { add: [field], sign }, becomes: `${does} \`${field}\`` };
}

function plain(does: Does, becomes: string, args: ActionKind["arguments"] = {}): ActionKind {
  return { arguments: args, does, becomes };
}

/** Actions that have an equal. */
export const ACTIONS: Readonly<Record<string, ActionKind>> = {
  void: plain("nothing", "nothing"),
  passthru: plain("passthru", "nothing, besides an action that ends the rule or leads on; alone it is not imported"),
  jump: plain("jump", "`table`", { group: number(32) }),
  mark: plain("mark", "`tag`; not more than 24 bits", { id: number(32) }),
  flag: plain("flag", "`tag` 0xffffff, as the mlx5 driver does"),
  queue: plain("queue", "`queue`", { index: number(16) }),
  drop: plain("drop", "`drop`"),
  count: plain("count", "`count`: a counter of the rule", { identifier: number(32) }),
  rss: plain("rss", "`tir`: a TIR for each IP version and protocol that the types tell apart"),
  port_id: plain("port", "`vport`, `port`", { original: { bits: 1, kind: "boolean" }, id: number(32) }),
  represented_port: plain("port", "`vport`, `port`", { ethdev_port_id: number(16) }),
  port_representor: plain("portRepresentor", "`vport` 0 for port 0", { port_id: number(16) }),
  pf: plain("pf", "`vport` 0"),
  send_to_kernel: plain("kernel", "the root table at priority 15, after the rules of DPDK"),
  vf: plain("vf", "`vport`", { original: { bits: 1, kind: "boolean" }, id: number(32) }),
  meter: plain("meter", "`aso` with a meter, and a table that matches its colour", { mtr_id: number(32) }),
  sample: plain("sample", "`flow_sampler` with the actions of `set sample_actions`", {
    ratio: number(32),
    index: number(16),
  }),
  conntrack: plain(
    "conntrack",
    "`aso` with the connection of `flow indirect_action`, in the direction that it has then",
  ),
  age: plain("age", "nothing: it reports rules that are not hit", { timeout: number(24) }),
  of_pop_vlan: plain("popVlan", "`pop_vlan`"),
  of_push_vlan: plain("pushVlan", "`push_vlan`", { ethertype: number(16) }),
  of_set_vlan_vid: plain("vlanVid", "the tag that is pushed, else sets `outer.first_vid`", { vlan_vid: number(16) }),
  of_set_vlan_pcp: plain("vlanPcp", "the tag that is pushed, else sets `outer.first_prio`", { vlan_pcp: number(8) }),
  vxlan_encap: plain("rawEncap", "`reformat` with the headers of the last `set vxlan`"),
  vxlan_decap: plain("decap", "`reformat` `l2_tunnel_to_l2`"),
  nvgre_encap: plain("rawEncap", "`reformat` with the headers of the last `set nvgre`"),
  nvgre_decap: plain("decap", "`reformat` `l2_tunnel_to_l2`"),
  raw_encap: plain("rawEncap", "`reformat` with the bytes of `set raw_encap`", { index: number(16) }),
  raw_decap: plain("rawDecap", "`reformat`, by the headers of `set raw_decap` and of the `raw_encap` after it", {
    index: number(16),
  }),
  ...Object.fromEntries(
    ["l2", "mplsogre", "mplsoudp"].flatMap((name) => [
      [`${name}_encap`, plain("rawEncap", `as raw_encap, with the headers of the last \`set ${name}_encap\``)],
      [`${name}_decap`, plain("rawDecap", `as raw_decap, with the headers of the last \`set ${name}_decap\``)],
    ]),
  ),
  set_ipv4_src: sets(ADDRESS4, "outer.ipv4_src"),
  set_ipv4_dst: sets(ADDRESS4, "outer.ipv4_dst"),
  set_ipv6_src: sets(ADDRESS6, "outer.ipv6_src"),
  set_ipv6_dst: sets(ADDRESS6, "outer.ipv6_dst"),
  set_tp_src: sets({ port: number(16) }, "outer.tcp_sport", "outer.udp_sport"),
  set_tp_dst: sets({ port: number(16) }, "outer.tcp_dport", "outer.udp_dport"),
  set_ttl: sets({ ttl_value: number(8) }, "outer.ip_ttl_hoplimit"),
  dec_ttl: adds({}, -1, "outer.ip_ttl_hoplimit"),
  of_dec_nw_ttl: adds({}, -1, "outer.ip_ttl_hoplimit"),
  set_mac_src: sets(MAC, "outer.smac"),
  set_mac_dst: sets(MAC, "outer.dmac"),
  inc_tcp_seq: adds(VALUE, 1, "misc3.outer_tcp_seq_num"),
  dec_tcp_seq: adds(VALUE, -1, "misc3.outer_tcp_seq_num"),
  inc_tcp_ack: adds(VALUE, 1, "misc3.outer_tcp_ack_num"),
  dec_tcp_ack: adds(VALUE, -1, "misc3.outer_tcp_ack_num"),
  set_ipv4_dscp: sets({ dscp_value: number(8) }, "outer.ip_dscp"),
  set_ipv6_dscp: sets({ dscp_value: number(8) }, "outer.ip_dscp"),
  set_tag: plain("setTag", "sets `misc2.metadata_reg_c_2` and on, by the index", {
    data: number(32),
    index: number(8),
    mask: number(32),
  }),
  set_meta: plain("setMeta", "sets register A in egress rules, else C1", { data: number(32), mask: number(32) }),
  modify_field: plain("modifyField", "`modify`: set, add and subtract a value; copy a field"),
  indirect: plain("indirect", "the action of `flow indirect_action`"),
};

/** Actions of DPDK 22.11 that have no equal, and why. */
export const REFUSED_ACTIONS: Readonly<Record<string, string>> = {
  color: "it sets the colour that a later meter sees: use the policy of the meter",
  meter_mark: "the colour is in a register that the rules of other groups match",
  of_pop_mpls: "the device does not change MPLS entries",
  of_push_mpls: "the device does not change MPLS entries",
  mac_swap: "no change of the device swaps two fields",
  age_update: "rules do not change once created",
  conntrack_update: "it belongs in `flow indirect_action PORT update`",
};

export const ACTION_NAMES: readonly string[] = [...Object.keys(ACTIONS), ...Object.keys(REFUSED_ACTIONS), "end"];

export const ACTION_ELEMENTS: Readonly<Record<string, Element>> = {
  ...Object.fromEntries(Object.entries(ACTIONS).map(([name, { becomes }]) => [name, { becomes }])),
  ...Object.fromEntries(Object.entries(REFUSED_ACTIONS).map(([name, reason]) => [name, { refused: reason }])),
};
