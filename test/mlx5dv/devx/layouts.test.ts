/** The bytes of device commands, at the offsets of the Adapters PRM, and decoded outputs. */
import { expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import * as layouts from "../../../src/model/devx/layouts.js";
import * as queueLayouts from "../../../src/model/devx/queue/layouts.js";
import { refused } from "../support/directRules.js";

/** Bytes that are not 0, by offset. */
function set(bytes: Uint8Array): Record<number, number> {
  return Object.fromEntries([...bytes.entries()].filter(([, byte]) => byte !== 0));
}

/** The value at an offset: a number of the given size. */
function at(place: number, size: number, value: number): Record<number, number> {
  const bytes = Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** (size - 1 - i)) % 256);
  return Object.fromEntries(bytes.map((byte, i) => [place + i, byte] as const).filter(([, byte]) => byte !== 0));
}

const command = (opcode: number, ...parts: Record<number, number>[]): unknown =>
  Object.assign(at(0, 2, opcode), ...parts) as unknown;

test("counters", () => {
  expect(set(dv.allocFlowCounterCommand(5))).toEqual(command(0x939, { 14: 5 }));
  expect(set(dv.allocFlowCounterCommand(0, 0x80))).toEqual(command(0x939, { 15: 0x80 }));
  const query = dv.queryFlowCounterCommand(0x01020304, 0x2fffffff, true);
  expect(set(query)).toEqual(command(0x93b, at(24, 4, 0xafffffff), at(28, 4, 0x01020304)));
  expect([dv.allocFlowCounterCommand().length, query.length]).toEqual([16, 32]);
});

test("general objects", () => {
  const data = Uint8Array.from({ length: 64 }, (_, i) => i + 1);
  const create = dv.createAsoCommand(dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO, { log_obj_range: 9, access_pd: 0xabcdef, data });
  expect(create).toHaveLength(144);
  expect(create.slice(80)).toEqual(data);
  expect(set(create.slice(0, 80))).toEqual(command(0xa00, { 7: 0x31, 12: 9 }, at(33, 3, 0xabcdef)));
  const modify = dv.modifyAsoCommand(dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO, 0x11223344, data.subarray(0, 1));
  expect(set(modify)).toEqual(command(0xa01, { 7: 0x25, 80: 1 }, at(8, 4, 0x11223344)));
  const query = dv.queryGeneralObjectCommand(dv.MLX5_OBJ_TYPE_FLOW_METER_ASO, 5);
  expect(set(query)).toEqual(command(0xa02, { 7: 0x24, 11: 5 }));
  const meter = { active: true, return_reg_id: 5, table_type: 4, destination_table_id: 0x123456 };
  const body = { 24: 0x85, 25: 4, ...at(29, 3, 0x123456), 48: 1, 79: 32 };
  const parameters = new Uint8Array(32);
  [parameters[0], parameters[31]] = [1, 32];
  expect(set(dv.createFlowMeterCommand({ ...meter, parameters }))).toEqual(command(0xa00, { 7: 0x0a }, body));
  const change = set(dv.modifyFlowMeterCommand(7, 31, { ...meter, parameters }));
  expect(change).toEqual(command(0xa01, { 7: 0x0a, 11: 7, 23: 31 }, body));
});

test("flow tables, groups and entries", () => {
  const context = {
    reformat_en: true,
    decap_en: true,
    table_miss_action: 1,
    level: 3,
    log_size: 9,
    table_miss_id: 0x654321,
  };
  const table = dv.createFlowTableCommand(4, context);
  expect(table).toHaveLength(64);
  expect(set(table)).toEqual(command(0x930, { 16: 4, 24: 0xc1, 25: 3, 27: 9 }, at(29, 3, 0x654321)));
  expect(set(dv.queryFlowTableCommand(1, 0x010203))).toEqual(command(0x932, { 16: 1 }, at(21, 3, 0x010203)));
  const group = dv.createFlowGroupCommand({
    table_type: 1,
    table_id: 0x010203,
    start_flow_index: 0x11121314,
    end_flow_index: 0x21222324,
    match_criteria_enable: 0x7f,
    match_criteria: Uint8Array.of(9),
  });
  const range = { ...at(28, 4, 0x11121314), ...at(36, 4, 0x21222324) };
  expect(group).toHaveLength(1024);
  expect(set(group)).toEqual(command(0x933, { 16: 1, 63: 0x7f, 64: 9 }, at(21, 3, 0x010203), range));

  const fields = {
    table_type: 4,
    table_id: 2,
    flow_index: 0x31323334,
    group_id: 0x41424344,
    action: 0x0cdf,
    flow_tag: 0x515253,
    match_value: Uint8Array.of(7),
    modify_header_id: 0x61626364,
    packet_reformat_id: 0x71727374,
    push_vlan: 0x81000001,
    push_vlan_2: 0x88a80002,
  };
  const said = [
    { 16: 4, 23: 2, 128: 7 },
    ...[at(32, 4, 0x31323334), at(68, 4, 0x41424344), at(73, 3, 0x515253), at(78, 2, 0x0cdf)],
    ...[at(88, 4, 0x71727374), at(92, 4, 0x61626364), at(64, 4, 0x81000001), at(96, 4, 0x88a80002)],
  ];
  const short = dv.setFlowTableEntryCommand({
    ...fields,
    ignore_flow_level: true,
    destinations: [{ destination_type: 1, destination_id: 0x0a0b0c }],
    flow_counter_ids: [0x0d0e0f10],
  });
  expect(short).toHaveLength(848);
  const lists = { ...at(832, 4, 0x010a0b0c), ...at(840, 4, 0x0d0e0f10) };
  expect(set(short)).toEqual(command(0x936, ...said, { 24: 0x80, 83: 1, 87: 1 }, lists));
  const extended = dv.modifyFlowTableEntryCommand({
    ...fields,
    destinations: [{ destination_type: 8 }, { destination_type: 0, destination_id: 3, packet_reformat_id: 4 }],
    flow_counter_ids: [5],
  });
  expect(extended).toHaveLength(880);
  const wide = { 832: 8, 851: 3, 852: 0x40, 859: 4, 867: 5 };
  expect(set(extended)).toEqual(command(0x936, ...said, { 7: 1, 27: 0xf, 80: 0x80, 83: 2, 87: 1 }, wide));
});

test("header changes, reformats, queries", () => {
  const actions = Uint8Array.from({ length: 24 }, (_, i) => i + 1);
  const modify = dv.allocModifyHeaderCommand(4, actions);
  expect(set(modify.slice(0, 16))).toEqual(command(0x940, { 12: 4, 15: 3 }));
  expect(modify.slice(16)).toEqual(actions);
  const reformat = dv.allocPacketReformatCommand(
    4,
    Uint8Array.from({ length: 0x105 }, () => 1),
  );
  expect(reformat.length % 4).toBe(0);
  expect(set(reformat.slice(0, 34))).toEqual(command(0x93d, { 28: 4, 30: 1, 31: 5 }));
  expect(reformat.slice(34, 34 + 0x106)).toEqual(Uint8Array.from({ length: 0x106 }, (_, i) => (i < 0x105 ? 1 : 0)));
  expect(set(dv.syncSteeringCommand())).toEqual(command(0xb00));
  expect(set(dv.queryHcaCapCommand(dv.MLX5_CAP_GENERAL_2))).toEqual(command(0x100, { 7: 0x41 }));
  expect(set(dv.queryHcaCapCommand(dv.MLX5_CAP_QOS, false))).toEqual(command(0x100, { 7: 0x18 }));
  expect(set(dv.queryEswVportContextCommand(0x102))).toEqual(command(0x752, { 8: 0x80, 10: 1, 11: 2 }));
  expect(set(dv.queryHcaVportContextCommand())).toEqual(command(0x762));
});

test("numbers that a field does not hold are refused, not cut", () => {
  const code = (run: () => unknown): string | undefined => refused(run)?.code;
  expect(code(() => dv.allocFlowCounterCommand(32))).toBe("EINVAL");
  expect(code(() => dv.allocFlowCounterCommand(-1))).toBe("EINVAL");
  expect(code(() => dv.queryFlowCounterCommand(1, 2 ** 30))).toBe("EINVAL");
  expect(code(() => dv.createFlowTableCommand(0, { table_miss_id: 2 ** 24 }))).toBe("EINVAL");
  expect(code(() => dv.createFlowMeterCommand({ parameters: new Uint8Array(33) }))).toBe("EINVAL");
  expect(code(() => dv.allocModifyHeaderCommand(0, new Uint8Array(12)))).toBe("EINVAL");
  expect(() => dv.createFlowTableCommand(0, { level: "1" as never })).toThrow(TypeError);
  expect(() => dv.createAsoCommand(0x25, { data: [1] as never })).toThrow(TypeError);
});

test("fields of any place and width are read as they are written, and touch nothing else", () => {
  for (const layout of [...Object.values(layouts), ...Object.values(queueLayouts)]) {
    if (typeof layout !== "object") continue;
    for (const [name, field] of Object.entries(layout.fields)) {
      const [byte, bits, bit = 0] = field;
      expect(byte * 8 + bit + bits, name).toBeLessThanOrEqual(layout.size * 8);
      for (const pattern of [0, 2 ** bits - 1, Math.floor((2 ** bits - 1) / 3)]) {
        const view = new DataView(new Uint8Array(layout.size).fill(0xff).buffer);
        layouts.writeField(view, field, pattern);
        expect(layouts.readField(view, field), name).toBe(pattern);
        layouts.writeField(view, field, 2 ** bits - 1);
        expect(
          new Uint8Array(view.buffer).every((one) => one === 0xff),
          name,
        ).toBe(true);
      }
    }
  }
});
