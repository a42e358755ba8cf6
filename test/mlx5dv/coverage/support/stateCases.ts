/** Cases for stateful actions: flags, meters, connections, samplers. */
import * as dv from "../../../../src/mlx5dv/index.js";
import { AsoObject, type AsoKind } from "../../../../src/model/action/asoObject.js";
import type { Outcome } from "../../../../src/index.js";
import type { Action } from "../../../../src/model/action/action.js";
import type { Table } from "../../../../src/model/table/domain.js";
import { FRAME } from "./frames.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

const { MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET: SET, MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_GREEN: GREEN } = dv;
const INITIATOR = dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR;
const RESPONDER = dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_RESPONDER;

const object = (p: Probe, kind: AsoKind, log = 0, data: Uint8Array = new Uint8Array(64)): AsoObject =>
  AsoObject.create(p.context(), kind, log, data);

/**
 * Valid, bytes on the wire, a committed burst of 2 * 64 bytes, an excess burst of 64; one byte per
 * two nanoseconds.
 */
function parameters(cbsExponent = 7): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set([0xc0 | 0x20 | 1, 0, 0, 0, 0, 0, 0, 0, cbsExponent, 1, 1, 1]);
  bytes.set([6, 1], 16);
  return bytes;
}

/** Two meters of an object. */
const meters = (): Uint8Array => Uint8Array.from([...parameters(), ...parameters()]);

/** C5 of frames that arrive at these times. */
function registers(p: Probe, times: readonly bigint[], name = "C5"): (number | undefined)[] {
  return times.map((time) => p.device.receive(1, FRAME, { time }).registers[name]);
}

/** A rule before one that delivers, for actions that only write registers. */
const note = (p: Probe, action: Action): void => void p.rule(p.entry(p.rx), [action, p.toQueue("a")]);

const withoutState = (p: Probe, make: () => unknown): boolean => {
  if (p.older) p.refuses("EOPNOTSUPP", make);
  return p.older;
};

const FIRST_HIT: Readonly<Record<string, Run>> = {
  "first hit, noted": (p) => {
    const flags = object(p, "first_hit");
    const make = (): Action => dv.mlx5dv_dr_action_create_aso(p.rx, flags, 9, SET, 5);
    if (withoutState(p, make)) return;
    note(p, make());
    p.registers(p.received(FRAME), { C5: 0 });
    p.registers(p.received(FRAME), { C5: 1 });
    same([...flags.read(0).subarray(0, 3)].join(), "0,64,0", "state");
  },
  "first hit, read alone": (p) => {
    const data = new Uint8Array(64);
    data[0] = 0x80;
    const flags = object(p, "first_hit", 1, data);
    if (p.older) return void withoutState(p, () => dv.mlx5dv_dr_action_create_aso(p.rx, flags, 512, 0, 1));
    note(p, dv.mlx5dv_dr_action_create_aso(p.rx, flags, 512, 0, 1));
    p.registers(p.received(FRAME), { C1: 1 });
  },
  "a meter of an object": (p) => {
    const one = object(p, "flow_meter", 0, meters());
    const make = (): Action => dv.mlx5dv_dr_action_create_aso(p.rx, one, 1, GREEN, 5);
    if (withoutState(p, make)) return;
    note(p, make());
    same(registers(p, [5n, 5n, 5n, 5n, 133n]).join(), "2,2,1,0,2", "state");
    p.registers(p.received(FRAME), { C5: 0 });
  },
  "connections of another domain": (p) => {
    const one = object(p, "connection", 1);
    if (p.older) return void withoutState(p, () => dv.mlx5dv_dr_action_create_aso(p.rx, one, 0, INITIATOR, 1));
    const action = dv.mlx5dv_dr_action_create_aso(p.fdb, one, 0, INITIATOR, 1);
    const [entry, toQueue] = [p.entry(p.rx), p.toQueue("a")];
    p.refuses("EINVAL", () => p.rule(entry, [action, toQueue]));
  },
  "objects, flags, offsets, registers": (p) => {
    const create = dv.mlx5dv_dr_action_create_aso;
    const counter = p.counters();
    p.refuses("EOPNOTSUPP", () => create(p.rx, counter, 0, 0, 1));
    const kinds = { first_hit: [2], flow_meter: [0, 3, 16], connection: [0, 3] };
    for (const [kind, wrong] of Object.entries(kinds) as [AsoKind, number[]][]) {
      const one = object(p, kind);
      const make = (offset: number, flags: number, register: number) => () =>
        create(p.rx, one, offset, flags, register);
      if (withoutState(p, make(0, 1, 1))) continue;
      for (const flags of wrong) p.refuses("EINVAL", make(0, flags, 1));
      p.refuses("EINVAL", make(one.size, 1, 1));
      for (const register of [0, 2, 7]) p.refuses("EINVAL", make(0, 1, register));
    }
  },
  "an object in use": (p) => {
    const one = object(p, "first_hit");
    if (p.older) return void withoutState(p, () => dv.mlx5dv_dr_action_create_aso(p.rx, one, 0, 0, 1));
    const action = dv.mlx5dv_dr_action_create_aso(p.rx, one, 0, 0, 1);
    p.refuses("EBUSY", () => one.destroy());
    dv.mlx5dv_dr_action_destroy(action);
    one.destroy();
  },
};

const MODIFY_ASO: Readonly<Record<string, Run>> = {
  "for rules made later": (p) => {
    const one = object(p, "first_hit");
    if (p.older) return void withoutState(p, () => dv.mlx5dv_dr_action_create_aso(p.rx, one, 0, SET, 1));
    const action = dv.mlx5dv_dr_action_create_aso(p.rx, one, 0, SET, 1);
    note(p, action);
    dv.mlx5dv_dr_action_modify_aso(action, 1, 0, 3);
    p.registers(p.received(FRAME), { C1: 0 });
    p.registers(p.received(FRAME), { C1: 1 });
    p.rule(p.entry(p.rx), [action, p.toQueue("a")]);
    p.registers(p.received(FRAME), { C3: 0 });
  },
  "another action, flags, offset, register": (p) => {
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_modify_aso(dv.mlx5dv_dr_action_create_drop(), 0, 0, 1));
    if (p.older) return;
    const action = dv.mlx5dv_dr_action_create_aso(p.rx, object(p, "first_hit"), 0, SET, 1);
    for (const [offset, flags, register] of [
      [512, 0, 1],
      [0, 2, 1],
      [0, 0, 4],
    ] as const)
      p.refuses("EINVAL", () => dv.mlx5dv_dr_action_modify_aso(action, offset, flags, register));
  },
};

const LINK: Readonly<Record<string, Run>> = {
  "lets a rule of another domain stand": (p) => {
    const one = object(p, "connection", 1);
    const link = (): number => dv.mlx5dv_dr_aso_other_domain_link(one, p.fdb, p.rx, RESPONDER, 3);
    if (withoutState(p, link)) return;
    const action = dv.mlx5dv_dr_action_create_aso(p.fdb, one, 1, INITIATOR, 1);
    link();
    const rule = p.rule(p.entry(p.rx), [action, p.toQueue("a")]);
    p.refuses("EBUSY", () => p.rule(p.entry(p.rx), [action, p.toQueue("a")]));
    p.refuses("EBUSY", () => dv.mlx5dv_dr_aso_other_domain_unlink(one, p.rx));
    p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_action_modify_aso(action, 1, RESPONDER, 1));
    dv.mlx5dv_dr_action_modify_aso(action, 0, INITIATOR, 1);
    p.rule(p.entry(p.rx), [action, p.toQueue("a")]);
    dv.mlx5dv_dr_rule_destroy(rule);
    dv.mlx5dv_dr_action_modify_aso(action, 1, INITIATOR, 1);
    p.rule(p.entry(p.rx), [action, p.toQueue("a")]);
  },
  "other objects, domains, flags": (p) => {
    const link = dv.mlx5dv_dr_aso_other_domain_link;
    const flags = object(p, "first_hit");
    p.refuses("EOPNOTSUPP", () => link(flags, p.fdb, p.rx, INITIATOR, 1));
    if (p.older) return;
    const one = object(p, "connection");
    p.refuses("EINVAL", () => link(one, p.fdb, p.rx, 0, 1));
    p.refuses("EINVAL", () => link(one, p.fdb, p.rx, 3, 1));
    p.refuses("EINVAL", () => link(one, p.rx, p.rx, INITIATOR, 1));
    link(one, p.fdb, p.rx, INITIATOR, 1);
    p.refuses("EINVAL", () => link(one, p.fdb, p.rx, INITIATOR, 1));
  },
};

const UNLINK: Readonly<Record<string, Run>> = {
  "a link, and none": (p) => {
    const one = object(p, "connection");
    const unlink = (): number => dv.mlx5dv_dr_aso_other_domain_unlink(one, p.rx);
    p.refuses("EINVAL", unlink);
    if (p.older) return;
    dv.mlx5dv_dr_aso_other_domain_link(one, p.fdb, p.rx, INITIATOR, 1);
    p.refuses("EBUSY", () => one.destroy());
    unlink();
    p.refuses("EINVAL", unlink);
    one.destroy();
  },
};

const meterAttr = (next_table: Table, cbsExponent?: number): dv.FlowMeterAttr => ({
  next_table,
  active: 1,
  reg_c_index: 2,
  flow_meter_parameter: parameters(cbsExponent),
});

/** A table that delivers green frames to g, others to o. */
function coloured(p: Probe, level: number): Table {
  const table = p.table(p.rx, level);
  p.rule(table, [p.toQueue("o")], {}, 9);
  p.rule(table, [p.toQueue("g")], { "misc2.metadata_reg_c_2": 2 });
  return table;
}

const received = (p: Probe, time: bigint): Outcome => p.device.receive(1, FRAME, { time });

const METER: Readonly<Record<string, Run>> = {
  "goes on in the next table": (p) => {
    p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_flow_meter(meterAttr(coloured(p, 2)))]);
    for (const [time, name] of [
      [0n, "g"],
      [0n, "g"],
      [0n, "o"],
      [0n, "o"],
      [128n, "g"],
    ] as const)
      p.gets(received(p, time), `${name} deliver`);
  },
  "a table that is not above": (p) => {
    const meter = dv.mlx5dv_dr_action_create_flow_meter(meterAttr(coloured(p, 1)));
    const entry = p.entry(p.rx);
    p.refuses("EINVAL", () => p.rule(entry, [meter]));
  },
  "tables, registers, sizes": (p) => {
    const create = dv.mlx5dv_dr_action_create_flow_meter;
    const table = p.table(p.rx);
    const root = p.table(p.rx, 0);
    p.refuses("EOPNOTSUPP", () => create(meterAttr(root)));
    p.refuses("EINVAL", () => create({ ...meterAttr(table), reg_c_index: 8 }));
    p.refuses("EINVAL", () => create({ ...meterAttr(table), flow_meter_parameter: new Uint8Array(33) }));
    p.refuses("EINVAL", () => create({ ...meterAttr(table), flow_meter_parameter_sz: 33 }));
    const meter = create(meterAttr(table));
    p.refuses("EBUSY", () => dv.mlx5dv_dr_table_destroy(table));
    dv.mlx5dv_dr_action_destroy(meter);
    dv.mlx5dv_dr_table_destroy(table);
  },
};

const MODIFY_METER: Readonly<Record<string, Run>> = {
  "its size, its rate, whether it meters": (p) => {
    const next = coloured(p, 2);
    const meter = dv.mlx5dv_dr_action_create_flow_meter(meterAttr(next));
    const modify = (attr: Partial<dv.FlowMeterAttr>, select: bigint): number =>
      dv.mlx5dv_dr_action_modify_flow_meter(meter, { ...meterAttr(next), ...attr }, select);
    p.rule(p.entry(p.rx), [meter]);
    // A burst of one frame: the tokens are cut.
    modify({ flow_meter_parameter: parameters(6) }, 2n);
    p.gets(received(p, 0n), "g deliver");
    p.gets(received(p, 0n), "o deliver");
    modify({ active: 0 }, 1n);
    for (let n = 0; n < 3; n++) p.gets(received(p, 0n), "g deliver");
    // Red while the buckets are empty.
    modify({ active: 1 }, 1n);
    p.gets(received(p, 0n), "o deliver");
  },
  "another action": (p) => {
    const attr = meterAttr(p.table(p.rx));
    const drop = dv.mlx5dv_dr_action_create_drop();
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_modify_flow_meter(drop, attr, 1n));
    const meter = dv.mlx5dv_dr_action_create_flow_meter(attr);
    const large = { ...attr, flow_meter_parameter: new Uint8Array(40) };
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_modify_flow_meter(meter, large, 1n));
  },
};

const SAMPLER: Readonly<Record<string, Run>> = {
  "in NIC_RX: every frame": (p) => {
    const next = p.table(p.rx, 2);
    p.rule(next, [p.toQueue("b")]);
    const sample_actions = [p.toQueue("a"), dv.mlx5dv_dr_action_create_tag(7)];
    const sampler = dv.mlx5dv_dr_action_create_flow_sampler({
      sample_ratio: 1,
      default_next_table: next,
      sample_actions,
    });
    p.rule(p.entry(p.rx), [sampler]);
    p.gets(p.received(FRAME), "(a7) b deliver");
    p.refuses("EBUSY", () => dv.mlx5dv_dr_action_destroy(sample_actions[0]!));
  },
  "in FDB: to a function": (p) => {
    p.listen("a", 1);
    p.listen("b", 2);
    const next = p.table(p.fdb, 2);
    p.rule(next, [dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 2)]);
    const sample_actions = [dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 1)];
    p.rule(p.entry(p.fdb), [
      dv.mlx5dv_dr_action_create_flow_sampler({ sample_ratio: 1, default_next_table: next, sample_actions }),
    ]);
    p.gets(p.received(FRAME), "(a) b deliver");
  },
  "in FDB: a counter": (p) => {
    p.listen("b", 2);
    const next = p.table(p.fdb, 2);
    p.rule(next, [dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 2)]);
    const counter = p.counters();
    const sample_actions = [
      dv.mlx5dv_dr_action_create_flow_counter(counter, 0),
      dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 1),
    ];
    const attr = { sample_ratio: 1, default_next_table: next, sample_actions };
    if (!p.manual) {
      p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_action_create_flow_sampler(attr));
      return;
    }
    p.rule(p.entry(p.fdb), [dv.mlx5dv_dr_action_create_flow_sampler(attr)]);
    p.gets(p.received(FRAME), "b deliver");
    p.counts(counter, 1, 64);
  },
  "a register for all frames": (p) => {
    const next = p.table(p.fdb, 2);
    p.rule(next, [dv.mlx5dv_dr_action_create_dest_ib_port(p.fdb, 2)]);
    const sample_actions = [dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 1)];
    const attr = { sample_ratio: 2 ** 32 - 1, default_next_table: next, sample_actions };
    const action = [{ type: "set", field: "METADATA_REG_C_0", data: 0x1234 }] as const;
    p.rule(p.entry(p.fdb), [dv.mlx5dv_dr_action_create_flow_sampler({ ...attr, action })]);
    // rdma-core supports it for ConnectX-5 only.
    p.registers(p.received(FRAME), p.manual || p.older ? { C0: 0x1234 } : {});
    const other = [{ type: "set", field: "METADATA_REG_C_1", data: 1 }] as const;
    p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_action_create_flow_sampler({ ...attr, action: other }));
  },
  "ratio, actions, tables": (p) => {
    const create = dv.mlx5dv_dr_action_create_flow_sampler;
    const next = p.table(p.rx, 2);
    const attr = { sample_ratio: 2, default_next_table: next, sample_actions: [p.toQueue("a")] };
    p.refuses("EINVAL", () => create({ ...attr, sample_ratio: 0 }));
    p.refuses("EINVAL", () => create({ ...attr, sample_actions: [] }));
    p.refuses("EINVAL", () => create({ ...attr, num_sample_actions: 0 }));
    const [sent, level] = [p.table(p.tx, 2), p.table(p.rx, 2)];
    p.refuses("EOPNOTSUPP", () => create({ ...attr, default_next_table: sent }));
    p.refuses("EOPNOTSUPP", () => create({ ...attr, sample_actions: [dv.mlx5dv_dr_action_create_default_miss()] }));
    const sampler = create(attr);
    p.refuses("EINVAL", () => p.rule(level, [sampler]));
  },
};

export const STATE_CASES: readonly Case[] = [
  ...casesOf("action_create_aso", FIRST_HIT),
  ...casesOf("action_modify_aso", MODIFY_ASO),
  ...casesOf("aso_other_domain_link", LINK),
  ...casesOf("aso_other_domain_unlink", UNLINK),
  ...casesOf("action_create_flow_meter", METER),
  ...casesOf("action_modify_flow_meter", MODIFY_METER),
  ...casesOf("action_create_flow_sampler", SAMPLER),
];
