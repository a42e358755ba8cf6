/**
 * Destroy commands: their bytes, their effects through mlx5dv_devx_general_cmd, and an encoder for
 * every command.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createSink, type Device } from "../../../src/index.js";
import * as layouts from "../../../src/model/devx/layouts.js";
import { QUEUE_COMMANDS } from "../../../src/model/devx/queue/commands.js";
import * as queue from "../../../src/model/devx/queue/layouts.js";
import { COMMANDS } from "../../../src/model/devx/commands.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import { answer, created, openCommands, refusal, TableBench, type Answer } from "../support/devx.js";
import { refused } from "../support/directRules.js";

const DONE: Answer = { code: undefined, status: 0, syndrome: 0 };
const { FS_FT_NIC_RX: RX, FS_FT_NIC_TX: TX } = dv;

let device: Device;
let context: Context;
beforeEach(async () => {
  ({ device, context } = await openCommands({ profile: "connectx7" }));
});

const general = (command: Uint8Array, on = context): Answer =>
  answer((out) => dv.mlx5dv_devx_general_cmd(on, command, undefined, out, undefined), 16);

const drop = dv.MLX5_FLOW_CONTEXT_ACTION_DROP;
const tir = (): dv.DevxObject => {
  const { qp_num } = createSink(context, "q");
  return created(context, dv.createTirCommand({ inline_rqn: qp_num }));
};

/** An object of each kind, and the command that destroys it. */
const KINDS: Record<string, () => { object: dv.DevxObject; command: Uint8Array }> = {
  "flow counter": () => {
    const object = created(context, dv.allocFlowCounterCommand(2));
    return { object, command: dv.deallocFlowCounterCommand(object.id) };
  },
  "packet reformat": () => {
    const object = created(context, dv.allocPacketReformatCommand(3, new Uint8Array(14)));
    return { object, command: dv.deallocPacketReformatCommand(object.id) };
  },
  "modify header": () => {
    const set = dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 1 }]);
    const object = created(context, dv.allocModifyHeaderCommand(RX, set));
    return { object, command: dv.deallocModifyHeaderCommand(object.id) };
  },
  TIR: () => {
    const object = tir();
    return { object, command: dv.destroyTirCommand(object.id) };
  },
  RQT: () => {
    const object = created(context, dv.createRqtCommand([createSink(context, "q").qp_num]));
    return { object, command: dv.destroyRqtCommand(object.id) };
  },
  "flow table": () => {
    const object = created(context, dv.createFlowTableCommand(TX));
    return { object, command: dv.destroyFlowTableCommand(TX, object.id) };
  },
  "flow group": () => {
    const bench = new TableBench(context, RX);
    const [group] = bench.table.groups;
    return { object: group!, command: dv.destroyFlowGroupCommand(RX, bench.table.id, group!.id) };
  },
  "entry of a flow table": () => {
    const bench = new TableBench(context, RX);
    const object = bench.entry({ flow_index: 3, action: drop });
    return { object, command: dv.deleteFlowTableEntryCommand(RX, bench.table.id, 3) };
  },
  "flow meter": () => {
    const object = created(context, dv.createFlowMeterCommand({}));
    return { object, command: dv.destroyGeneralObjectCommand(dv.MLX5_OBJ_TYPE_FLOW_METER, object.id) };
  },
  "ASO objects": () => {
    const type = dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO;
    const object = created(context, dv.createAsoCommand(type, { log_obj_range: 1 }));
    return { object, command: dv.destroyGeneralObjectCommand(type, object.id) };
  },
};

describe.each(Object.keys(KINDS))("%s", (kind) => {
  test("goes, as mlx5dv_devx_obj_destroy lets it go, and once", () => {
    const { object, command } = KINDS[kind]!();
    const used = device.memoryUsed;
    expect(general(command)).toEqual(DONE);
    expect(object.destroyed).toBe(true);
    expect(device.memoryUsed).toBeLessThanOrEqual(used);
    expect(general(command)).toEqual(refusal("unknown_object"));
    expect(refused(() => dv.mlx5dv_devx_obj_destroy(object))?.reason).toBe("object_destroyed");
  });

  test("stays while something uses it, for others, and through other calls", () => {
    const { object, command } = KINDS[kind]!();
    const stranger = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    expect(general(command, stranger)).toEqual(refusal("unknown_object"));
    const create = (out: Uint8Array): unknown => dv.mlx5dv_devx_obj_create(context, command, undefined, out, undefined);
    const query = (out: Uint8Array): unknown => dv.mlx5dv_devx_obj_query(object, command, undefined, out, undefined);
    expect([answer(create), answer(query)]).toEqual([refusal("wrong_call"), refusal("wrong_call")]);
    expect(general(command.subarray(0, command.length - 1))).toEqual(refusal("short_input"));
    object.users++;
    expect(general(command)).toEqual(refusal("in_use"));
    object.users--;
    expect(object.destroyed).toBe(false);
    expect(general(command)).toEqual(DONE);
  });
});

test("an entry that is deleted no longer takes frames, and frees its index, group and table", () => {
  const bench = new TableBench(context, RX);
  const { table, groupId } = bench;
  const destroys = [dv.destroyFlowGroupCommand(RX, table.id, groupId), dv.destroyFlowTableCommand(RX, table.id)];
  bench.entry({ flow_index: 1, action: drop });
  expect(destroys.map((one) => general(one))).toEqual([refusal("in_use"), refusal("in_use")]);
  expect(general(dv.deleteFlowTableEntryCommand(RX, table.id, 2))).toEqual(refusal("unknown_object"));
  expect(general(dv.deleteFlowTableEntryCommand(RX, table.id, 1))).toEqual(DONE);
  bench.entry({ flow_index: 1, action: drop });
  general(dv.deleteFlowTableEntryCommand(RX, table.id, 1));
  expect(destroys.map((one) => general(one))).toEqual([DONE, DONE]);
});

test("bulks go by their first number, tables and groups by all that names them", () => {
  const counters = created(context, dv.allocFlowCounterCommand(2));
  expect(general(dv.deallocFlowCounterCommand(counters.id + 1))).toEqual(refusal("unknown_object"));
  const type = dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO;
  const flags = created(context, dv.createAsoCommand(type, { log_obj_range: 1 }));
  expect(general(dv.destroyGeneralObjectCommand(type, flags.id + 1))).toEqual(refusal("unknown_object"));
  const other = dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO;
  expect(general(dv.destroyGeneralObjectCommand(other, flags.id))).toEqual(refusal("unknown_object"));
  const [one, two] = [new TableBench(context, RX), new TableBench(context, RX)];
  expect(general(dv.destroyFlowTableCommand(TX, one.table.id))).toEqual(refusal("other_table"));
  expect(general(dv.destroyFlowGroupCommand(RX, one.table.id, two.groupId))).toEqual(refusal("other_object"));
  expect(general(dv.deleteFlowTableEntryCommand(RX, counters.id + 90, 0))).toEqual(refusal("unknown_object"));
  for (const command of [
    dv.destroyFlowTableCommand(RX, one.table.id),
    dv.destroyFlowGroupCommand(RX, one.table.id, one.groupId),
    dv.deleteFlowTableEntryCommand(RX, one.table.id, 0),
  ]) {
    command[8] = 0x80;
    expect(general(command)).toEqual(refusal("unsupported"));
  }
  expect([counters, flags, one.table, two.table].map(({ destroyed }) => destroyed)).toEqual(Array(4).fill(false));
});

/** Bytes that are not 0, by offset. */
const set = (bytes: Uint8Array): Record<number, number> =>
  Object.fromEntries([...bytes.entries()].filter(([, byte]) => byte !== 0));

test("their bytes", () => {
  const id = 0x01020304;
  const number = { 8: 1, 9: 2, 10: 3, 11: 4 };
  expect(set(dv.deallocFlowCounterCommand(id))).toEqual({ 0: 9, 1: 0x3a, ...number });
  expect(set(dv.deallocPacketReformatCommand(id))).toEqual({ 0: 9, 1: 0x3e, ...number });
  expect(set(dv.deallocModifyHeaderCommand(id))).toEqual({ 0: 9, 1: 0x41, ...number });
  expect(set(dv.destroyGeneralObjectCommand(0x31, id))).toEqual({ 0: 0x0a, 1: 3, 7: 0x31, ...number });
  expect(set(dv.destroyTirCommand(0x020304))).toEqual({ 0: 9, 1: 2, 9: 2, 10: 3, 11: 4 });
  expect(set(dv.destroyRqtCommand(0x020304))).toEqual({ 0: 9, 1: 0x18, 9: 2, 10: 3, 11: 4 });
  const table = { 16: 4, 21: 2, 22: 3, 23: 4 };
  expect(set(dv.destroyFlowTableCommand(4, 0x020304))).toEqual({ 0: 9, 1: 0x31, ...table });
  const group = { 24: 1, 25: 2, 26: 3, 27: 4 };
  expect(set(dv.destroyFlowGroupCommand(4, 0x020304, id))).toEqual({ 0: 9, 1: 0x34, ...table, ...group });
  const index = { 32: 1, 33: 2, 34: 3, 35: 4 };
  expect(set(dv.deleteFlowTableEntryCommand(4, 0x020304, id))).toEqual({ 0: 9, 1: 0x38, ...table, ...index });
  const sizes = Object.values(KINDS).map((make) => make().command.length);
  expect(sizes).toEqual([16, 16, 16, 16, 16, 64, 64, 64, 16, 16]);
  expect(refused(() => dv.destroyTirCommand(2 ** 24))?.code).toBe("EINVAL");
});

/** The opcodes that `modifyQpCommand` takes. */
const TRANSITIONS = Object.entries(dv).flatMap(([name, opcode]) =>
  /^MLX5_CMD_OP_.*_QP$/.test(name) ? [opcode as number] : [],
);

/** The output of each encoder, decoded with the layout of the device. */
const ENCODED: readonly [Uint8Array, layouts.Layout, Record<string, number>][] = [
  [dv.queryHcaCapCommand(7, false), layouts.QUERY_HCA_CAP, { op_mod: 14 }],
  [dv.queryEswVportContextCommand(3), layouts.QUERY_VPORT_CONTEXT, { other_vport: 1, vport_number: 3 }],
  [dv.queryHcaVportContextCommand(3), layouts.QUERY_VPORT_CONTEXT, { other_vport: 1, vport_number: 3 }],
  [dv.createTirCommand({}), layouts.CREATE_TIR, {}],
  [dv.destroyTirCommand(9), layouts.DESTROY_24, { id: 9 }],
  [dv.createRqtCommand([1, 2]), layouts.CREATE_RQT, { rqt_max_size: 2, rqt_actual_size: 2 }],
  [dv.destroyRqtCommand(9), layouts.DESTROY_24, { id: 9 }],
  [dv.createFlowTableCommand(4), layouts.CREATE_FLOW_TABLE, { table_type: 4 }],
  [dv.destroyFlowTableCommand(4, 9), layouts.DESTROY_FLOW_TABLE, { table_type: 4, table_id: 9 }],
  [dv.queryFlowTableCommand(4, 9), layouts.QUERY_FLOW_TABLE, { table_type: 4, table_id: 9 }],
  [
    dv.createFlowGroupCommand({ table_type: 1, table_id: 9, start_flow_index: 2, end_flow_index: 3 }),
    layouts.CREATE_FLOW_GROUP,
    { table_type: 1, table_id: 9, start_flow_index: 2, end_flow_index: 3 },
  ],
  [dv.destroyFlowGroupCommand(1, 9, 8), layouts.DESTROY_FLOW_GROUP, { table_type: 1, table_id: 9, group_id: 8 }],
  [
    dv.setFlowTableEntryCommand({ table_type: 1, table_id: 9, flow_index: 7, action: 1 }),
    layouts.SET_FLOW_TABLE_ENTRY,
    { table_type: 1, table_id: 9, flow_index: 7 },
  ],
  [
    dv.modifyFlowTableEntryCommand({ table_type: 1, table_id: 9, flow_index: 7, action: 1 }),
    layouts.SET_FLOW_TABLE_ENTRY,
    { op_mod: 1, modify_enable_mask: 15, table_type: 1, table_id: 9, flow_index: 7 },
  ],
  [
    dv.deleteFlowTableEntryCommand(1, 9, 8),
    layouts.DELETE_FLOW_TABLE_ENTRY,
    { table_type: 1, table_id: 9, flow_index: 8 },
  ],
  [dv.allocFlowCounterCommand(3), layouts.ALLOC_FLOW_COUNTER, { flow_counter_bulk_log_size: 3 }],
  [dv.deallocFlowCounterCommand(9), layouts.DEALLOC, { id: 9 }],
  [
    dv.queryFlowCounterCommand(9, 4, true),
    layouts.QUERY_FLOW_COUNTER,
    { clear: 1, num_of_counters: 4, flow_counter_id: 9 },
  ],
  [
    dv.allocPacketReformatCommand(2, new Uint8Array(5)),
    layouts.ALLOC_PACKET_REFORMAT,
    { reformat_type: 2, reformat_data_size: 5 },
  ],
  [dv.deallocPacketReformatCommand(9), layouts.DEALLOC, { id: 9 }],
  [
    dv.allocModifyHeaderCommand(4, new Uint8Array(16)),
    layouts.ALLOC_MODIFY_HEADER,
    { table_type: 4, num_of_actions: 2 },
  ],
  [dv.deallocModifyHeaderCommand(9), layouts.DEALLOC, { id: 9 }],
  [dv.createAsoCommand(0x31, { log_obj_range: 3 }), layouts.GENERAL_OBJECT, { obj_type: 0x31, log_obj_range: 3 }],
  [dv.createFlowMeterCommand({}), layouts.GENERAL_OBJECT, { obj_type: 0x0a }],
  [dv.modifyAsoCommand(0x31, 9, new Uint8Array(64)), layouts.GENERAL_OBJECT, { obj_type: 0x31, obj_id: 9 }],
  [dv.modifyFlowMeterCommand(9, 1, {}), layouts.GENERAL_OBJECT, { obj_type: 0x0a, obj_id: 9 }],
  [dv.queryGeneralObjectCommand(0x31, 9), layouts.GENERAL_OBJECT, { obj_type: 0x31, obj_id: 9 }],
  [dv.destroyGeneralObjectCommand(0x31, 9), layouts.GENERAL_OBJECT, { obj_type: 0x31, obj_id: 9 }],
  [dv.syncSteeringCommand(), layouts.SYNC_STEERING, {}],
  ...TRANSITIONS.map((opcode): (typeof ENCODED)[number] => [
    dv.modifyQpCommand(opcode, 9, { opt_param_mask: 4 }),
    queue.MODIFY_QP,
    { id: 9, opt_param_mask: 4 },
  ]),
  [dv.queryQpCommand(9), queue.NUMBERED, { id: 9 }],
  [dv.queryCqCommand(9), queue.NUMBERED, { id: 9 }],
  [dv.modifyCqCommand(9, 3), queue.MODIFY_CQ, { id: 9, modify_field_select: 3 }],
  [dv.queryRqCommand(9), queue.NUMBERED, { id: 9 }],
  [dv.modifyRqCommand(9, 3, {}), queue.MODIFY_RQ, { id: 9, rq_state: 3 }],
  [dv.queryRmpCommand(9), queue.NUMBERED, { id: 9 }],
  [dv.modifyRmpCommand(9, 3), queue.MODIFY_RMP, { id: 9, rmp_state: 1, bitmask_low: 1 }],
  [dv.queryRqtCommand(9), queue.NUMBERED, { id: 9 }],
  [dv.modifyRqtCommand(9, [1, 2]), queue.MODIFY_RQT, { id: 9, bitmask_low: 1, rqt_max_size: 2, rqt_actual_size: 2 }],
];

test("every command of the device has an encoder, and its bytes are read back as they were said", () => {
  const opcodes = ENCODED.map(([bytes, layout, fields]) => {
    const { opcode, ...read }: Record<string, number> = layouts.readFields(new DataView(bytes.buffer), layout);
    // The type of a general object is at the offset of op_mod in other commands.
    const same = "obj_type" in fields ? { op_mod: fields["obj_type"] } : {};
    expect(Object.fromEntries(Object.entries(read).filter(([, value]) => value !== 0))).toEqual({ ...same, ...fields });
    return opcode;
  });
  expect(new Set(opcodes)).toEqual(new Set([...COMMANDS.keys(), ...QUEUE_COMMANDS.keys()]));
  const written = Object.keys(dv).filter((name) => name.endsWith("Command"));
  // One encoder writes all transitions.
  expect(ENCODED.length - (TRANSITIONS.length - 1)).toBe(written.length);
});
