/**
 * Cases for queries of a device: mlx5dv_devx_general_cmd, mlx5dv_open_device, _is_supported,
 * _query_port, dumps.
 */
import * as dv from "../../../../src/mlx5dv/index.js";
import * as v from "../../../../src/verbs/index.js";
import { DROPS } from "../../support/createFlow.js";
import { textOf } from "../../support/dumpScene.js";
import { created } from "../../support/devx.js";
import { general, told } from "./devx.js";
import { deviceFlow, DROP_ENTRY, flowEntry, flowTable, INTO, leads, tirOf } from "./flows.js";
import { FRAME, TO_FRAME } from "./frames.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

const { FS_FT_NIC_RX: RX } = dv;
const TYPE = dv.MLX5_OBJ_TYPE_FLOW_METER;
const CAPS = 16 + 4096;

/** Output of groups of capabilities; for long ones the first words after the header. */
const CAP: Readonly<Record<string, Run>> = {
  "QUERY_HCA_CAP: general": (p) => {
    // ASO types in the upper word of the types of general objects, at 144; the flow meter in the lower one.
    const newer = p.older ? {} : { 145: 2, 147: 0x30 };
    const formats = p.older ? {} : { 152: p.format };
    const rest = { 20: 0x80, 33: 15, 35: 17, 43: 24, 68: 0x83, 70: 1, 71: 2, 83: 16, 87: 4, 121: 255 };
    p.says(told(p, dv.queryHcaCapCommand(dv.MLX5_CAP_GENERAL), CAPS), {
      ...rest, ...newer, 150: 4, ...formats,
      190: 0x40, // advanced RDMA
    });
  },
  "QUERY_HCA_CAP: NIC flow table, eSwitch flow table": (p) => {
    const nic = told(p, dv.queryHcaCapCommand(dv.MLX5_CAP_NIC_FLOW_TABLE), CAPS);
    p.says(nic.subarray(0, 84), { 16: 202, 19: 64, 20: 128, 21: 24, 22: 3, 23: 255, 80: 0xf5, 81: 0xb7, 82: 0xb8 });
    const esw = told(p, dv.queryHcaCapCommand(dv.MLX5_CAP_ESW_FLOW_TABLE), CAPS);
    p.says(esw.subarray(0, 84), { 16: 3, 19: 40, 80: 0xb5, 81: 0xb7, 82: 0xb8 });
  },
  "QUERY_HCA_CAP: advanced RDMA": (p) => {
    const rdma = told(p, dv.queryHcaCapCommand(dv.MLX5_CAP_ADV_RDMA), CAPS);
    p.says(rdma.subarray(0, 84), { 80: 0xf5, 81: 0xb7, 82: 0xb8 });
    p.says(rdma.subarray(144, 148), { 0: 0xb5, 1: 0xb7, 2: 0xb8 });
  },
  "QUERY_HCA_CAP: QoS, general 2": (p) => {
    const aso = p.older ? {} : { 53: 24, 54: 24 };
    p.says(told(p, dv.queryHcaCapCommand(dv.MLX5_CAP_QOS), CAPS), { 16: 1, 18: 24, 19: 255, 21: 128, ...aso });
    p.says(told(p, dv.queryHcaCapCommand(dv.MLX5_CAP_GENERAL_2), CAPS), { 90: 24 });
    p.fails("bad_value", general(p, dv.queryHcaCapCommand(0x77)));
  },
  QUERY_ESW_VPORT_CONTEXT: (p) => {
    p.says(told(p, dv.queryEswVportContextCommand(2), 272), { 16: 0x80, 17: 3 });
    const output = new Uint8Array(272);
    p.refuses("EREMOTEIO", () =>
      dv.mlx5dv_devx_general_cmd(p.context(1), dv.queryEswVportContextCommand(), undefined, output, undefined),
    );
  },
  QUERY_HCA_VPORT_CONTEXT: (p) => {
    const output = told(p, dv.queryHcaVportContextCommand(1), 528);
    // Then GUIDs, which are those of the node.
    p.says(output.subarray(0, 56), { 48: 0x20, 50: 0x50, 51: 0x41 });
    const { node_guid } = v.ibv_query_device(p.context());
    same(new DataView(output.buffer).getBigUint64(72), node_guid, "GUID");
  },
};

const GENERAL: Readonly<Record<string, Run>> = {
  ...CAP,
  "QUERY_FLOW_COUNTER, QUERY_FLOW_TABLE, QUERY_GENERAL_OBJECT": (p) => {
    const counter = p.counters(1);
    const action = dv.mlx5dv_dr_action_create_flow_counter(counter, 1);
    p.rule(p.entry(p.rx), [action, dv.mlx5dv_dr_action_create_drop()]);
    p.gets(p.received(FRAME), "drop drop_action");
    p.says(told(p, dv.queryFlowCounterCommand(counter.id + 1), 32), { 23: 1, 31: 64 });
    const table = created(p.context(), dv.createFlowTableCommand(RX, { level: 7, log_size: 3 }));
    p.says(told(p, dv.queryFlowTableCommand(RX, table.id), 64), { 25: 7, 27: 3 });
    const meter = created(p.context(), dv.createFlowMeterCommand({ active: true }));
    p.says(told(p, dv.queryGeneralObjectCommand(TYPE, meter.id), 144), { 11: meter.id, 24: 0x80 });
  },
  SYNC_STEERING: (p) => {
    p.says(told(p, dv.syncSteeringCommand(), 16), {});
    p.fails("short_output", (out) => general(p, dv.syncSteeringCommand())(out.subarray(0, 12)));
  },
  "DESTROY_FLOW_TABLE, DESTROY_FLOW_GROUP, DELETE_FLOW_TABLE_ENTRY": (p) => {
    const table = flowTable(p);
    const [group] = table.groups;
    const flow = deviceFlow(p, {}, [INTO(table)]);
    flowEntry(p, table, { ...leads(dv.MLX5_FLOW_DESTINATION_TYPE_TIR, tirOf(p, "a").id), flow_index: 1 });
    flowEntry(p, table, DROP_ENTRY);
    p.gets(p.received(FRAME), "drop drop_action");
    p.says(told(p, dv.deleteFlowTableEntryCommand(RX, table.id, 0), 16), {});
    p.gets(p.received(FRAME), "a deliver");
    const destroy = [dv.destroyFlowGroupCommand(RX, table.id, group!.id), dv.destroyFlowTableCommand(RX, table.id)];
    for (const one of destroy) p.fails("in_use", general(p, one));
    told(p, dv.deleteFlowTableEntryCommand(RX, table.id, 1), 16);
    v.ibv_destroy_flow(flow);
    for (const one of destroy) p.says(told(p, one, 16), {});
    p.fails("unknown_object", general(p, dv.queryFlowTableCommand(RX, table.id)));
  },
  "DESTROY_TIR, DESTROY_RQT": (p) => {
    const rqt = created(p.context(), dv.createRqtCommand([p.queue("a").qp_num]));
    const fields = { disp_type: dv.MLX5_TIRC_DISP_TYPE_INDIRECT, indirect_table: rqt.id };
    const tir = created(p.context(), dv.createTirCommand(fields));
    const flow = deviceFlow(p, {}, [INTO(tir)]);
    p.gets(p.received(FRAME), "a deliver");
    p.fails("in_use", general(p, dv.destroyRqtCommand(rqt.id)));
    p.fails("in_use", general(p, dv.destroyTirCommand(tir.id)));
    v.ibv_destroy_flow(flow);
    p.says(told(p, dv.destroyTirCommand(tir.id), 16), {});
    p.says(told(p, dv.destroyRqtCommand(rqt.id), 16), {});
    p.fails("unknown_object", general(p, dv.destroyTirCommand(tir.id)));
  },
  "DEALLOC_FLOW_COUNTER, _MODIFY_HEADER_CONTEXT, _PACKET_REFORMAT_CONTEXT, DESTROY_GENERAL_OBJECT": (p) => {
    const context = p.context();
    const set = dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 1 }]);
    const bulk = p.counters(2);
    p.fails("unknown_object", general(p, dv.deallocFlowCounterCommand(bulk.id + 1)));
    const meter = created(context, dv.createFlowMeterCommand({}));
    for (const command of [
      dv.deallocFlowCounterCommand(bulk.id),
      dv.deallocModifyHeaderCommand(created(context, dv.allocModifyHeaderCommand(RX, set)).id),
      dv.deallocPacketReformatCommand(created(context, dv.allocPacketReformatCommand(3, FRAME.subarray(0, 14))).id),
      dv.destroyGeneralObjectCommand(TYPE, meter.id),
    ]) {
      p.says(told(p, command, 16), {});
      p.fails("unknown_object", general(p, command));
    }
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_create_flow_counter(bulk, 0));
  },
  "commands that make something, or do not exist": (p) => {
    p.fails("wrong_call", general(p, dv.allocFlowCounterCommand()));
    p.fails("unknown_opcode", general(p, new Uint8Array(16)));
  },
};

const OPEN: Readonly<Record<string, Run>> = {
  "device commands on every context": (p) => {
    const contexts = [
      v.ibv_open_device(p.device),
      dv.mlx5dv_open_device(p.device),
      dv.mlx5dv_open_device(p.device, null),
      ...[0, dv.MLX5DV_CONTEXT_FLAGS_DEVX].map((flags) => dv.mlx5dv_open_device(p.device, { flags, comp_mask: 0 })),
    ];
    for (const context of contexts) {
      const synced = new Uint8Array(16).fill(0xee);
      dv.mlx5dv_devx_general_cmd(context, dv.syncSteeringCommand(), undefined, synced, undefined);
      p.says(synced, {});
      const counter = created(context, dv.allocFlowCounterCommand());
      p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), p.toQueue("a")]);
    }
    p.gets(p.received(FRAME), "a deliver");
  },
  "unknown flags, comp_mask": (p) => {
    const open = (attr: dv.ContextAttr) => () => dv.mlx5dv_open_device(p.device, attr);
    for (const flags of [2, 3, 2 ** 31, 2 ** 32]) p.refuses("EINVAL", open({ flags }));
    for (const comp_mask of [2, 3, 2n ** 63n]) p.refuses("EINVAL", open({ comp_mask }));
  },
  "file descriptors": (p) => {
    const comp_mask = dv.MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY;
    const context = dv.mlx5dv_open_device(p.device, { comp_mask, fds: { arr: [3, 4], count: 2 } });
    const counter = created(context, dv.allocFlowCounterCommand());
    p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), p.toQueue("a")]);
    p.gets(p.received(FRAME), "a deliver");
    p.refuses("EINVAL", () => dv.mlx5dv_open_device(p.device, { comp_mask, fds: { arr: [-1] } }));
  },
  "of a function": (p) => {
    const context = dv.mlx5dv_open_device(p.device.function(1));
    const matcher = dv.mlx5dv_create_flow_matcher(context, {
      match_mask: new Uint8Array(4),
      flags: v.IBV_FLOW_ATTR_FLAGS_EGRESS,
    });
    dv.mlx5dv_create_flow(matcher, new Uint8Array(4), 1, [DROPS]);
    p.gets(p.sent(FRAME, 1), "drop drop_action");
    p.gets(p.sent(FRAME), "port:1 transmit");
  },
};

const SUPPORTED: Readonly<Record<string, Run>> = {
  "devices and functions": (p) => {
    const devices = [p.device, p.device.function(1)];
    same(devices.map(dv.mlx5dv_is_supported).join(), "true,true", "is supported");
    // The objects of these calls do match frames.
    p.rule(p.entry(p.rx), [p.toQueue("a")], TO_FRAME);
    p.gets(p.received(FRAME), "a deliver");
  },
};

const PORT: Readonly<Record<string, Run>> = {
  "what a frame came from, by source_port": (p) => {
    const source = (vport: number): number => {
      const info: Partial<dv.Mlx5dvPort> = {};
      same(dv.mlx5dv_query_port(p.context(vport), 1, info), 0, "returned");
      same(`${info.flags},${info.vport_vhca_id},${info.esw_owner_vhca_id}`, `35,${vport},0`, "flags and owners");
      return info.vport as number;
    };
    p.listen("b", 2);
    const to = [dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 2)];
    for (const vport of [0, 1]) p.rule(p.entry(p.fdb), to, { "misc.source_port": source(vport) });
    p.gets(p.received(FRAME), "b deliver");
    p.gets(p.sent(FRAME, 1), "b deliver");
    p.gets(p.sent(FRAME, 2), "miss no_rule");
  },
  "ports that the device does not have": (p) => {
    for (const port of [0, 3]) p.refuses("EINVAL", () => dv.mlx5dv_query_port(p.context(), port, {}));
  },
};

/**
 * A rule that drops, and its record in a dump, after that of its domain, which has the device's
 * steering format.
 */
function scene(p: Probe): { lines: (last: number) => string[]; rule: ReturnType<Probe["rule"]> } {
  const { rx } = p;
  const table = p.table(rx, 3);
  const rule = p.rule(table, [dv.mlx5dv_dr_action_create_drop()], {}, 2);
  const version = v.ibv_query_device(p.context()).fw_ver;
  const empty = Array.from({ length: 7 }, () => "").join(",");
  const lines = [
    `3000,0x1,0,00,1,flowsteer,flowsteer0,0,0,0,0,${p.format}`,
    `3002,0x1,3,${version},0`,
    "3004,0x1,0x0,0x0,0x0,0xf0fb8,3,1",
    "3100,0x2,0x1,0,3",
    "3101,0x2,0x3",
    "3200,0x4,0x2,2",
    `3205,0x4,${empty}`,
    "3300,0x5,0x4",
    `4300,0x5,${empty}`,
    "3403,0x6,0x5",
  ];
  return { lines: (last) => lines.slice(0, last), rule };
}

const dead = { destroyed: true };

const DUMPS: Readonly<Record<string, Record<string, Run>>> = {
  mlx5dv_dump_dr_domain: {
    "all that is in it": (p) => {
      const { lines } = scene(p);
      p.writes(
        textOf((file) => dv.mlx5dv_dump_dr_domain(file, p.rx)),
        lines(10),
      );
      p.returns("EINVAL", dv.mlx5dv_dump_dr_domain(null, p.rx));
      p.returns(
        "EINVAL",
        dv.mlx5dv_dump_dr_domain(() => 0, null),
      );
      p.returns(
        "EINVAL",
        dv.mlx5dv_dump_dr_domain(() => 0, dead as never),
      );
    },
  },
  mlx5dv_dump_dr_table: {
    "all that is in it": (p) => {
      const { lines, rule } = scene(p);
      const { table } = rule.matcher;
      p.writes(
        textOf((file) => dv.mlx5dv_dump_dr_table(file, table)),
        lines(10),
      );
      p.returns("EINVAL", dv.mlx5dv_dump_dr_table(null, table));
      p.returns(
        "EINVAL",
        dv.mlx5dv_dump_dr_table(() => 0, p.rx as never),
      );
    },
  },
  mlx5dv_dump_dr_matcher: {
    "all that is in it": (p) => {
      const { lines, rule } = scene(p);
      const { matcher } = rule;
      p.writes(
        textOf((file) => dv.mlx5dv_dump_dr_matcher(file, matcher)),
        lines(10),
      );
      dv.mlx5dv_dr_rule_destroy(rule);
      p.writes(
        textOf((file) => dv.mlx5dv_dump_dr_matcher(file, matcher)),
        lines(7),
      );
      dv.mlx5dv_dr_matcher_destroy(matcher);
      p.returns(
        "EINVAL",
        dv.mlx5dv_dump_dr_matcher(() => 0, matcher),
      );
    },
  },
  mlx5dv_dump_dr_rule: {
    "it and its actions": (p) => {
      const { lines, rule } = scene(p);
      p.writes(
        textOf((file) => dv.mlx5dv_dump_dr_rule(file, rule)),
        lines(10),
      );
      dv.mlx5dv_dr_rule_destroy(rule);
      p.returns(
        "EINVAL",
        dv.mlx5dv_dump_dr_rule(() => 0, rule),
      );
    },
    "a rule that leads to a TIR": (p) => {
      const tir = tirOf(p, "a");
      const rule = p.rule(p.table(p.rx, 3), [dv.mlx5dv_dr_action_create_dest_devx_tir(tir)]);
      const text = textOf((file) => dv.mlx5dv_dump_dr_rule(file, rule));
      p.writes(text.slice(text.indexOf("3411")), [`3411,0x6,0x5,0x${tir.id.toString(16)}`]);
    },
  },
};

export const DEVICE_CASES: readonly Case[] = [
  ...casesOf("mlx5dv_open_device", OPEN),
  ...casesOf("mlx5dv_is_supported", SUPPORTED),
  ...casesOf("mlx5dv_query_port", PORT),
  ...casesOf("mlx5dv_devx_general_cmd", GENERAL),
];

export const DUMP_CASES: readonly Case[] = Object.entries(DUMPS).flatMap(([call, runs]) => casesOf(call, runs));
