/** Cases for mlx5dv_devx_obj_query, _modify and _destroy, object by object. */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Action } from "../../../../src/model/action/action.js";
import * as v from "../../../../src/verbs/index.js";
import { created } from "../../support/devx.js";
import { ASO, asked, changes, creates, runs } from "./devx.js";
import { deviceFlow, DROP_ENTRY, entryOf, flowEntry, flowTable, INTO, leads, tirOf } from "./flows.js";
import { FRAME } from "./frames.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

const { FS_FT_NIC_RX: RX, FS_FT_NIC_TX: TX } = dv;
const METER = dv.MLX5_OBJ_TYPE_FLOW_METER;

/** Bytes at offsets; each list is consecutive from its offset on. */
const at = (places: Readonly<Record<number, readonly number[] | Uint8Array>>): Record<number, number> => {
  const all = Object.entries(places).flatMap(([from, bytes]) =>
    [...bytes].map((byte, i): [number, number] => [Number(from) + i, byte]),
  );
  return Object.fromEntries(all.filter(([, byte]) => byte !== 0));
};
const u32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

/** One case for each kind of ASO object, none of which exists on ConnectX-5. */
const eachAso = (
  run: (p: Probe, one: (typeof ASO)[keyof typeof ASO], make: () => dv.AsoObject) => void,
): Record<string, Run> =>
  Object.fromEntries(
    Object.entries(ASO).map(([name, one]): [string, Run] => [
      name,
      (p) => {
        const command = dv.createAsoCommand(one.type, { log_obj_range: 1, data: one.other });
        if (p.older) p.fails("unsupported", creates(p, command));
        else run(p, one, () => created(p.context(), command));
      },
    ]),
  );

const meter = (p: Probe, fields: dv.FlowMeterFields = {}): dv.DevxObject =>
  created(p.context(), dv.createFlowMeterCommand(fields));

const QUERY: Readonly<Record<string, Run>> = {
  "flow counter: packets and octets, and clears them": (p) => {
    const bulk = p.counters(1);
    const action = dv.mlx5dv_dr_action_create_flow_counter(bulk, 1);
    p.rule(p.entry(p.rx), [action, p.toQueue("a")]);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(FRAME), "a deliver");
    const ask = (clear: boolean) =>
      asked(bulk, dv.queryFlowCounterCommand(bulk.id, 2, clear), dv.flowCounterOutputSize(2));
    // Of the second, packets at 32, octets at 40.
    p.says(ask(false), { 39: 2, 47: 128 });
    p.says(ask(true), { 39: 2, 47: 128 });
    p.says(ask(false), {});
  },
  "flow table": (p) => {
    const last = created(p.context(), dv.createFlowTableCommand(TX));
    const fields = { reformat_en: true, level: 3, log_size: 5, table_miss_action: 1, table_miss_id: last.id };
    const table = created(p.context(), dv.createFlowTableCommand(TX, fields));
    const output = asked(table, dv.queryFlowTableCommand(TX, table.id), dv.FLOW_TABLE_OUTPUT_SIZE);
    p.says(output, { 24: 0x81, 25: 3, 27: 5, ...at({ 28: u32(last.id) }) });
  },
  "flow meter 0x0a": (p) => {
    const parameters = dv.flowMeterBytes({ valid: 1, cbs_mantissa: 9, eir_exponent: 3 });
    const one = meter(p, { active: true, return_reg_id: 2, parameters });
    const output = asked(one, dv.queryGeneralObjectCommand(METER, one.id));
    p.says(output, at({ 8: u32(one.id), 24: [0x82], 48: parameters }));
  },
  ...eachAso((p, { type, data }, make) => {
    const object = make();
    object.write(1, data);
    const first = dv.queryGeneralObjectCommand(type, object.id + 1);
    p.says(asked(object, first), at({ 8: u32(object.id + 1), 80: object.read(1) }));
  }),
  "what does not name the object, or changes it": (p) => {
    const [one, other] = [p.counters(), p.counters()];
    const query = (command: Uint8Array) => (output: Uint8Array) =>
      dv.mlx5dv_devx_obj_query(one, command, undefined, output, undefined);
    p.fails("other_object", query(dv.queryFlowCounterCommand(other.id)));
    p.fails("unknown_object", query(dv.queryFlowCounterCommand(other.id + 1)));
    p.fails("bad_value", query(dv.queryFlowCounterCommand(one.id, 2)));
    p.fails("wrong_call", query(dv.deallocFlowCounterCommand(one.id)));
    p.refuses("EINVAL", () => dv.mlx5dv_devx_obj_query(one, new Uint8Array(1), 1, new Uint8Array(16), 16));
  },
};

const MODIFY: Readonly<Record<string, Run>> = {
  "entry of a flow table": (p) => {
    const table = flowTable(p);
    deviceFlow(p, {}, [INTO(table)]);
    const entry = flowEntry(p, table, DROP_ENTRY);
    p.gets(p.received(FRAME), "drop drop_action");
    const to = entryOf(table, { ...leads(dv.MLX5_FLOW_DESTINATION_TYPE_TIR, tirOf(p, "a").id), flow_tag: 4 });
    changes(entry, dv.modifyFlowTableEntryCommand(to));
    p.gets(p.received(FRAME), "a4 deliver");
    const part = dv.modifyFlowTableEntryCommand(to);
    part[27] = 1;
    p.fails("unsupported", (out) => dv.mlx5dv_devx_obj_modify(entry, part, undefined, out, undefined));
    p.gets(p.received(FRAME), "a4 deliver");
  },
  "flow meter 0x0a": (p) => {
    const was = dv.flowMeterBytes({ cbs_mantissa: 1, cir_mantissa: 2, ebs_mantissa: 3, eir_mantissa: 4 });
    const one = meter(p, { active: true, parameters: was });
    const parameters = dv.flowMeterBytes({ cbs_mantissa: 11, cir_mantissa: 12, ebs_mantissa: 13, eir_mantissa: 14 });
    changes(one, dv.modifyFlowMeterCommand(one.id, 1 | 4, { parameters }));
    const output = asked(one, dv.queryGeneralObjectCommand(METER, one.id));
    p.says(output, { ...at({ 8: u32(one.id) }), 57: 1, 59: 12, 65: 3, 67: 4 });
    const unknown = dv.modifyFlowMeterCommand(one.id, 32, {});
    p.fails("bad_value", (out) => dv.mlx5dv_devx_obj_modify(one, unknown, undefined, out, undefined));
  },
  ...eachAso((p, { type, flags, data, finds, other, after }, make) => {
    const object = make();
    const frame = runs(p, object, flags);
    changes(object, dv.modifyAsoCommand(type, object.id, data));
    for (const C1 of finds) p.registers(frame(), { C1 });
    changes(object, dv.modifyAsoCommand(type, object.id, other));
    for (const C1 of after) p.registers(frame(), { C1 });
  }),
  "what does not change": (p) => {
    const counter = p.counters();
    const modify = (command: Uint8Array) => (output: Uint8Array) =>
      dv.mlx5dv_devx_obj_modify(counter, command, undefined, output, undefined);
    p.fails("wrong_call", modify(dv.queryFlowCounterCommand(counter.id)));
    p.fails("unknown_object", modify(dv.modifyFlowMeterCommand(1, 1, {})));
  },
};

/**
 * Destruction is EBUSY while the object is used, works once its user is gone, and works only once.
 */
function destroys(p: Probe, object: dv.DevxObject, release: () => unknown): void {
  p.refuses("EBUSY", () => dv.mlx5dv_devx_obj_destroy(object));
  same(object.destroyed, false, "destroyed");
  release();
  same(dv.mlx5dv_devx_obj_destroy(object), 0, "returned");
  p.refuses("EINVAL", () => dv.mlx5dv_devx_obj_destroy(object));
}

/** By an action of direct rules. */
const withAction = (p: Probe, object: dv.DevxObject, action: Action): void =>
  destroys(p, object, () => dv.mlx5dv_dr_action_destroy(action));
/** By an entry of a flow table. */
const withEntry = (p: Probe, object: dv.DevxObject, type: number, fields: Partial<dv.FlowEntryFields>): void => {
  const entry = flowEntry(p, flowTable(p, type, { reformat_en: true }), fields);
  destroys(p, object, () => dv.mlx5dv_devx_obj_destroy(entry));
};

const DESTROY: Readonly<Record<string, Run>> = {
  "flow counter": (p) => {
    const counter = p.counters();
    withAction(p, counter, dv.mlx5dv_dr_action_create_flow_counter(counter, 0));
  },
  "flow table, flow group": (p) => {
    const table = flowTable(p);
    const [group] = table.groups;
    p.refuses("EBUSY", () => dv.mlx5dv_devx_obj_destroy(table));
    const entry = flowEntry(p, table, DROP_ENTRY);
    destroys(p, group!, () => dv.mlx5dv_devx_obj_destroy(entry));
    const flow = deviceFlow(p, {}, [INTO(table)]);
    p.gets(p.received(FRAME), "drop table_miss");
    destroys(p, table, () => v.ibv_destroy_flow(flow));
  },
  "entry: it no longer takes frames": (p) => {
    const table = flowTable(p);
    deviceFlow(p, {}, [INTO(table)]);
    flowEntry(p, table, { ...leads(dv.MLX5_FLOW_DESTINATION_TYPE_TIR, tirOf(p, "a").id), flow_index: 1 });
    const entry = flowEntry(p, table, DROP_ENTRY);
    p.gets(p.received(FRAME), "drop drop_action");
    same(dv.mlx5dv_devx_obj_destroy(entry), 0, "returned");
    p.gets(p.received(FRAME), "a deliver");
    p.refuses("EINVAL", () => dv.mlx5dv_devx_obj_destroy(entry));
  },
  TIR: (p) => {
    const tir = tirOf(p, "a");
    withAction(p, tir, dv.mlx5dv_dr_action_create_dest_devx_tir(tir));
  },
  RQT: (p) => {
    const rqt = created(p.context(), dv.createRqtCommand([p.queue("a").qp_num]));
    const fields = { disp_type: dv.MLX5_TIRC_DISP_TYPE_INDIRECT, indirect_table: rqt.id };
    const tir = created(p.context(), dv.createTirCommand(fields));
    destroys(p, rqt, () => dv.mlx5dv_devx_obj_destroy(tir));
  },
  "modify header context": (p) => {
    const one = created(
      p.context(),
      dv.allocModifyHeaderCommand(TX, dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 1 }])),
    );
    const action = dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW | dv.MLX5_FLOW_CONTEXT_ACTION_MOD_HDR;
    withEntry(p, one, TX, { action, modify_header_id: one.id });
  },
  "packet reformat context": (p) => {
    const one = created(p.context(), dv.allocPacketReformatCommand(2, FRAME.subarray(0, 34)));
    const action = dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW | dv.MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT;
    withEntry(p, one, TX, { action, packet_reformat_id: one.id });
  },
  "flow meter 0x0a, and the table that it leads to": (p) => {
    const table = created(p.context(), dv.createFlowTableCommand(RX));
    const one = meter(p, { destination_table_id: table.id });
    destroys(p, table, () => same(dv.mlx5dv_devx_obj_destroy(one), 0, "returned"));
    p.fails("unknown_object", (out) =>
      dv.mlx5dv_devx_general_cmd(p.context(), dv.queryGeneralObjectCommand(METER, one.id), undefined, out, undefined),
    );
  },
  ...eachAso((p, { flags }, make) => {
    const object = make();
    withAction(p, object, dv.mlx5dv_dr_action_create_aso(p.rx, object, 0, flags, 1));
  }),
};

export const DEVX_USE_CASES: readonly Case[] = [
  ...casesOf("mlx5dv_devx_obj_query", QUERY),
  ...casesOf("mlx5dv_devx_obj_modify", MODIFY),
  ...casesOf("mlx5dv_devx_obj_destroy", DESTROY),
];
