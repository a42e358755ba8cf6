/** Cases for destination arrays and flow counters, and for the destruction of actions. */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Action } from "../../../../src/model/action/action.js";
import type { Domain } from "../../../../src/model/table/domain.js";
import { encapsulated, FRAME, GRE_DATA, OTHER, tagged, TO_FRAME, TO_OTHER } from "./frames.js";
import { casesOf, type Case, type Probe, type Run } from "./record.js";

const drop = dv.mlx5dv_dr_action_create_drop;
const toTable = dv.mlx5dv_dr_action_create_dest_table;
const toVport = (p: Probe, vport: number): Action => dv.mlx5dv_dr_action_create_dest_vport(p.fdb, vport);
const toPort = (p: Probe, port: number): Action => dv.mlx5dv_dr_action_create_dest_ib_port(p.fdb, port);

const dest = (action: Action): dv.DrActionDestAttr => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest: action });
const array = (domain: Domain, ...dests: readonly dv.DrActionDestAttr[]): Action =>
  dv.mlx5dv_dr_action_create_dest_array(domain, undefined, dests);

const ARRAY: Readonly<Record<string, Run>> = {
  "in NIC_RX: queues, a counter, a table": (p) => {
    const second = p.table(p.rx, 2);
    const counter = p.counters();
    p.rule(second, [dv.mlx5dv_dr_action_create_tag(9), p.toQueue("c")]);
    const members = [
      dest(p.toQueue("a")),
      dest(dv.mlx5dv_dr_action_create_flow_counter(counter, 0)),
      dest(p.toQueue("b")),
      dest(toTable(second)),
    ];
    p.rule(p.entry(p.rx), [array(p.rx, ...members)]);
    p.gets(p.received(FRAME), "a b c9 deliver");
    p.counts(counter, 1, 64);
  },
  "in FDB: functions and ports": (p) => {
    for (const [vport, name] of [
      [0, "a"],
      [1, "b"],
    ] as const)
      p.listen(name, vport);
    const to = [toVport(p, 1), toPort(p, 2), toVport(p, 0)].map(dest);
    p.rule(p.entry(p.fdb), [array(p.fdb, ...to)]);
    // Functions go on walking, a rule each.
    p.gets(p.received(FRAME), "port:2 b a deliver");
    p.gets(p.sent(FRAME, 2), "port:2 b a deliver");
  },
  "a member with a reformat": (p) => {
    const encap = dv.mlx5dv_dr_action_create_packet_reformat(p.fdb, 0, 1, undefined, GRE_DATA);
    const dest_reformat = { reformat: encap, dest: toPort(p, 2) };
    const member = { type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT, dest_reformat };
    p.rule(p.entry(p.fdb), [array(p.fdb, dest(toPort(p, 2)), member)]);
    p.bytes(p.received(FRAME), FRAME, encapsulated(GRE_DATA, FRAME));
  },
  "in NIC_TX": (p) => {
    const tables = [2, 3].map((level) => p.table(p.tx, level));
    const make = (): Action => array(p.tx, ...tables.map((table) => dest(toTable(table))));
    if (!p.manual) {
      p.refuses("EOPNOTSUPP", make);
      return;
    }
    p.rule(p.entry(p.tx), [make()]);
    p.rule(tables[1]!, [dv.mlx5dv_dr_action_create_push_vlan(p.tx, 0x81000005)]);
    p.bytes(p.sent(FRAME), FRAME, tagged(FRAME, 0x8100, 5));
  },
  "less than two, more than 64": (p) => {
    const one = dest(p.toQueue("a"));
    const { rx } = p;
    p.refuses("EINVAL", () => array(rx, one));
    p.refuses("EINVAL", () => array(rx, ...Array.from({ length: 65 }, () => one)));
  },
  "an entry of another type": (p) => {
    const one = dest(p.toQueue("a"));
    const { rx } = p;
    p.refuses("EINVAL", () => array(rx, one, { ...one, type: 2 }));
  },
  "members that cannot be": (p) => {
    const to = toVport(p, 1);
    const decap = dv.mlx5dv_dr_action_create_packet_reformat(p.fdb, 0, 0, 0, null);
    const withReformat = { type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT, dest_reformat: { reformat: decap, dest: to } };
    const { fdb } = p;
    for (const member of [dest(drop()), dest(dv.mlx5dv_dr_action_create_pop_vlan()), withReformat]) {
      p.refuses("EOPNOTSUPP", () => array(fdb, dest(to), member));
    }
    const queue = p.toQueue("a");
    p.refuses("EINVAL", () => array(fdb, dest(to), dest(queue)));
  },
  "a vport, a port, a default miss in NIC_RX": (p) => {
    const queue = dest(p.toQueue("a"));
    const encap = dv.mlx5dv_dr_action_create_packet_reformat(p.fdb, 0, 1, undefined, GRE_DATA);
    const { rx } = p;
    for (const to of [toVport(p, 1), toPort(p, 2)]) {
      const dest_reformat = { reformat: encap, dest: to };
      for (const member of [dest(to), { type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT, dest_reformat }]) {
        p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", () => array(rx, queue, member));
      }
    }
    const miss = dest(dv.mlx5dv_dr_action_create_default_miss());
    if (p.manual) p.rule(p.entry(rx), [array(rx, queue, miss)]);
    else p.refuses("EOPNOTSUPP", () => array(rx, queue, miss));
  },
};

const COUNTER: Readonly<Record<string, Run>> = {
  "in NIC_RX: what is delivered": (p) => {
    const counter = p.counters(2);
    const pop = dv.mlx5dv_dr_action_create_pop_vlan();
    p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_flow_counter(counter, 3), pop, p.toQueue("a")]);
    p.gets(p.received(tagged(FRAME, 0x8100, 1)), "a deliver");
    p.counts(counter, 1, 64, 3);
    p.counts(counter, 0, 0, 2);
  },
  "in NIC_TX: what stands before changes": (p) => {
    const counter = p.counters();
    const push = dv.mlx5dv_dr_action_create_push_vlan(p.tx, 0x81000001);
    p.rule(p.entry(p.tx), [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), push]);
    p.bytes(p.sent(FRAME), tagged(FRAME, 0x8100, 1));
    p.counts(counter, 1, 64);
  },
  "in FDB: each side": (p) => {
    p.listen("b", 1);
    const counter = p.counters();
    p.rule(p.entry(p.fdb), [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), toVport(p, 1)]);
    p.gets(p.received(FRAME), "b deliver");
    p.counts(counter, 1, 64);
    p.gets(p.sent(FRAME, 2), "b deliver");
    p.counts(counter, 2, 128);
  },
  "one for several rules": (p) => {
    const counter = p.counters();
    const count = dv.mlx5dv_dr_action_create_flow_counter(counter, 0);
    for (const fields of [TO_FRAME, TO_OTHER]) p.rule(p.entry(p.rx), [count, p.toQueue("a")], fields);
    for (const frame of [FRAME, OTHER, OTHER]) p.gets(p.received(frame), "a deliver");
    p.counts(counter, 3, 192);
  },
  "alone in a root table": (p) => {
    const counter = p.counters();
    const action = dv.mlx5dv_dr_action_create_flow_counter(counter, 0);
    p.rule(p.table(p.tx, 0), [action]);
    p.gets(p.sent(FRAME), "port:1 transmit");
    p.counts(counter, 1, 64);
    const matcher = p.matcher(p.table(p.rx, 0));
    if (!p.manual) {
      p.refuses("EINVAL", () => p.ruleOf(matcher, [action]));
      return;
    }
    p.ruleOf(matcher, [action]);
    p.gets(p.received(FRAME), "drop no_destination");
    p.counts(counter, 2, 128);
  },
};

const DESTROY: Readonly<Record<string, Run>> = {
  "with a rule, with an array": (p) => {
    const [a, b] = [p.toQueue("a"), p.toQueue("b")];
    const both = array(p.rx, dest(a), dest(b));
    const rule = p.rule(p.entry(p.rx), [both]);
    for (const action of [a, b, both]) p.refuses("EBUSY", () => dv.mlx5dv_dr_action_destroy(action));
    p.gets(p.received(FRAME), "a b deliver");
    dv.mlx5dv_dr_rule_destroy(rule);
    for (const action of [both, a, b]) dv.mlx5dv_dr_action_destroy(action);
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_destroy(a));
  },
};

export const ARRAY_CASES: readonly Case[] = [
  ...casesOf("action_create_dest_array", ARRAY),
  ...casesOf("action_create_flow_counter", COUNTER),
  ...casesOf("action_destroy", DESTROY),
];
