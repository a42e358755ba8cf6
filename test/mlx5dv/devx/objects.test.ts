/** General objects by device commands: ASO objects, flow meters. */
import { expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { answer, created, creating, make, openCommands, refusal } from "../support/devx.js";
import { ipv4Frame, openBench, refused } from "../support/directRules.js";

const ASO_TYPES = [dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO, dv.MLX5_OBJ_TYPE_FLOW_METER_ASO, dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO];

const bytes = (seed: number, length = 64): Uint8Array => Uint8Array.from({ length }, (_, i) => (seed + 3 * i) & 0xff);

/** 32 bytes of a meter: CBS and CIR are given, the bytes of the state are 0. */
function meter(cbs: number, cir: number): Uint8Array {
  const parameters = new Uint8Array(32);
  parameters.set([0x80 | (2 << 4) | 3]);
  parameters.set([0, cbs, 6, cir], 8);
  return parameters;
}

function read(context: Parameters<typeof dv.mlx5dv_devx_general_cmd>[0], type: number, id: number): Uint8Array {
  const output = new Uint8Array(dv.GENERAL_OBJECT_OUTPUT_SIZE);
  dv.mlx5dv_devx_general_cmd(context, dv.queryGeneralObjectCommand(type, id), undefined, output, undefined);
  expect(dv.commandOutput(output)).toEqual({ status: 0, syndrome: 0, id });
  return dv.asoOutput(output);
}

test.each([dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO, dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO])(
  "objects of type 0x%x begin with their data, and change one by one",
  async (type) => {
    const { context, device } = await openCommands();
    const used = device.memoryUsed;
    const { object, output } = make(context, dv.createAsoCommand(type, { log_obj_range: 2, data: bytes(1) }));
    expect(dv.commandOutput(output).id).toBe(object.id);
    const modify = (out: Uint8Array): 0 =>
      dv.mlx5dv_devx_obj_modify(object, dv.modifyAsoCommand(type, object.id + 2, bytes(9)), undefined, out, undefined);
    expect(answer(modify)).toMatchObject({ code: undefined, status: 0 });
    const [before, changed, behind] = [1, 2, 3].map((n) => read(context, type, object.id + n));
    expect([before, changed, behind]).toEqual([bytes(1), bytes(9), bytes(1)]);
    const asked = new Uint8Array(dv.GENERAL_OBJECT_OUTPUT_SIZE);
    dv.mlx5dv_devx_obj_query(object, dv.queryGeneralObjectCommand(type, object.id + 2), undefined, asked, undefined);
    expect(dv.asoOutput(asked)).toEqual(bytes(9));
    dv.mlx5dv_devx_obj_destroy(object);
    expect(device.memoryUsed).toBe(used);
  },
);

test("meters of one object change without those of the others, and frames meet them", async () => {
  const bench = await openBench();
  const { context, device, domain, root } = bench;
  const type = dv.MLX5_OBJ_TYPE_FLOW_METER_ASO;
  const both = (a: Uint8Array, b: Uint8Array): Uint8Array => new Uint8Array([...a, ...b]);
  const data = both(meter(200, 1), meter(150, 1));
  const object = created(context, dv.createAsoCommand(type, { log_obj_range: 1, data }));
  const modify = (out: Uint8Array): 0 => {
    const command = dv.modifyAsoCommand(type, object.id + 1, both(meter(129, 2), meter(100, 3)));
    return dv.mlx5dv_devx_obj_modify(object, command, undefined, out, undefined);
  };
  expect(answer(modify).code).toBeUndefined();
  // Without the state: committed tokens at 12, excess at 20, time at 24 of each.
  const parameters = (id: number): number[] => [9, 11, 41, 43].map((at) => read(context, type, id)[at] ?? 0);
  expect(parameters(object.id)).toEqual([200, 1, 150, 1]);
  expect(parameters(object.id + 1)).toEqual([129, 2, 100, 3]);
  const next = dv.mlx5dv_dr_table_create(domain, 1);
  const matcher = dv.mlx5dv_dr_matcher_create(next, 0, 0, null);
  const green = 4;
  const action = dv.mlx5dv_dr_action_create_aso(domain, object, 2, green, 1);
  dv.mlx5dv_dr_rule_create(matcher, null, 1, [action]);
  const way = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
  dv.mlx5dv_dr_rule_create(way, null, 1, [dv.mlx5dv_dr_action_create_dest_table(next)]);
  // A packet costs 128 units: one is there, the second is not.
  expect([1, 2].map(() => device.receive(1, ipv4Frame()).registers["C1"])).toEqual([2, 0]);
  expect(refused(() => dv.mlx5dv_devx_obj_destroy(object))?.code).toBe("EBUSY");
});

test("a flow meter object says what it was told, and changes by selection", async () => {
  const { context, device } = await openCommands();
  const used = device.memoryUsed;
  const table = created(context, dv.createFlowTableCommand(dv.FS_FT_NIC_TX));
  const fields = {
    active: true,
    return_reg_id: 3,
    table_type: dv.FS_FT_NIC_TX,
    destination_table_id: table.id,
    parameters: bytes(0, 32),
  };
  const object = created(context, dv.createFlowMeterCommand(fields));
  const said = (): unknown => {
    const output = new Uint8Array(dv.GENERAL_OBJECT_OUTPUT_SIZE);
    const query = dv.queryGeneralObjectCommand(dv.MLX5_OBJ_TYPE_FLOW_METER, object.id);
    dv.mlx5dv_devx_obj_query(object, query, undefined, output, undefined);
    expect(dv.commandOutput(output).id).toBe(object.id);
    return dv.flowMeterOutput(output);
  };
  const change = (select: number, asked: dv.FlowMeterFields): unknown =>
    answer((out) =>
      dv.mlx5dv_devx_obj_modify(object, dv.modifyFlowMeterCommand(object.id, select, asked), undefined, out, undefined),
    );
  expect(said()).toEqual(fields);
  const other = bytes(100, 32);
  expect(change(1 | 4, { active: false, parameters: other })).toMatchObject({ code: undefined, status: 0 });
  const mixed = (...places: number[]): Uint8Array => {
    const parameters = bytes(0, 32);
    for (const at of places) parameters.set(other.subarray(at, at + 2), at);
    return parameters;
  };
  expect(said()).toEqual({ ...fields, active: false, parameters: mixed(10) });
  change(2 | 8 | 16, { active: true, parameters: other });
  expect(said()).toEqual({ ...fields, active: false, parameters: mixed(8, 10, 16, 18) });
  expect(change(32, {})).toEqual(refusal("bad_value"));
  expect(refused(() => dv.mlx5dv_devx_obj_destroy(table))?.code).toBe("EBUSY");
  dv.mlx5dv_devx_obj_destroy(object);
  dv.mlx5dv_devx_obj_destroy(table);
  expect(device.memoryUsed).toBe(used);
});

test("what general objects are refused for", async () => {
  const bench = await openCommands();
  const { context } = bench;
  const flags = created(context, dv.createAsoCommand(dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO, { log_obj_range: 1 }));
  const query = (type: number, id: number, outlen = dv.GENERAL_OBJECT_OUTPUT_SIZE): unknown => {
    const command = dv.queryGeneralObjectCommand(type, id);
    return answer((out) => dv.mlx5dv_devx_general_cmd(context, command, undefined, out, undefined), outlen);
  };
  expect(query(dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO, flags.id + 1)).toMatchObject({ code: undefined });
  expect(query(dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO, flags.id + 2)).toEqual(refusal("unknown_object"));
  expect(query(dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO, flags.id)).toEqual(refusal("unknown_object"));
  expect(query(0x77, flags.id)).toEqual(refusal("unknown_object_type"));
  expect(query(dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO, flags.id, 100)).toEqual(refusal("short_output"));
  for (const type of ASO_TYPES) {
    expect(creating(bench, dv.createAsoCommand(type).subarray(0, 143))).toEqual(refusal("short_input"));
    expect(creating(bench, dv.createAsoCommand(type, { log_obj_range: 31 }))).toEqual(refusal("no_memory"));
  }
  const table = created(context, dv.createFlowTableCommand(dv.FS_FT_NIC_RX));
  const meterOf = (fields: dv.FlowMeterFields): unknown => creating(bench, dv.createFlowMeterCommand(fields));
  expect(meterOf({ return_reg_id: 8 })).toEqual(refusal("bad_value"));
  expect(meterOf({ table_type: dv.FS_FT_NIC_TX })).toEqual(refusal("bad_value"));
  expect(meterOf({ destination_table_id: table.id + 1 })).toEqual(refusal("unknown_object"));
  expect(meterOf({ destination_table_id: table.id, table_type: 1 })).toEqual(refusal("other_table"));
  const bulk = dv.createFlowMeterCommand({});
  bulk[12] = 1;
  expect(creating(bench, bulk)).toEqual(refusal("unsupported"));
});

test("ConnectX-5 has no ASO objects", async () => {
  const bench = await openCommands({ profile: "connectx5" });
  for (const type of ASO_TYPES) expect(creating(bench, dv.createAsoCommand(type))).toEqual(refusal("unsupported"));
});
