/** Refusals of flow tables of device commands: status, syndrome, errno, and no lost objects. */
import { beforeEach, describe, expect, test } from "vitest";
import type { SyndromeName } from "../../../src/model/devx/syndromes.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { answer, created, creating, deviceMatch, enter, openCommands, refusal, TableBench } from "../support/devx.js";
import { ipv4Frame, openBench } from "../support/directRules.js";

const FORWARD = dv.MLX5_FLOW_CONTEXT_ACTION_FWD_DEST;
const RX = dv.FS_FT_NIC_RX;

let bench: Awaited<ReturnType<typeof openCommands>>;
let receive: TableBench;
let fdb: TableBench;

beforeEach(async () => {
  bench = await openCommands({ vports: 2 });
  const match = deviceMatch({ "outer.tcp_dport": 80 });
  receive = new TableBench(bench.context, RX, { level: 4 }, match.group);
  fdb = new TableBench(bench.context, dv.FS_FT_FDB, { level: 4, reformat_en: true });
});

/** Bytes of a command with some of them set. */
function patched(command: Uint8Array, bytes: Record<number, number>): Uint8Array {
  const copy = command.slice();
  for (const [at, byte] of Object.entries(bytes)) copy[Number(at)] = byte;
  return copy;
}

describe("tables", () => {
  const table = (fields: dv.FlowTableFields = {}): Uint8Array => dv.createFlowTableCommand(RX, fields);
  const cases: [string, () => Uint8Array, SyndromeName][] = [
    ["a type that there is not", () => dv.createFlowTableCommand(5), "unsupported"],
    ["of another vport", () => patched(table(), { 8: 0x80 }), "unsupported"],
    ["software-owned", () => patched(table(), { 24: 0x20 }), "unsupported"],
    ["termination", () => patched(table(), { 24: 0x10 }), "unsupported"],
    ["a LAG table", () => patched(table(), { 35: 1 }), "unsupported"],
    ["too large", () => table({ log_size: 25 }), "bad_value"],
    ["a miss action that there is not", () => table({ table_miss_action: 2 }), "unsupported"],
    ["a miss table that there is not", () => table({ table_miss_action: 1, table_miss_id: 99 }), "unknown_object"],
    ["a miss table of another type", () => table({ table_miss_action: 1, table_miss_id: fdb.table.id }), "other_table"],
    ["cut", () => table().subarray(0, 63), "short_input"],
  ];
  test.each(cases)("%s", (_, command, cause) => {
    expect(creating(bench, command())).toEqual(refusal(cause));
  });

  test("the eSwitch is the manager's", () => {
    const vf = dv.mlx5dv_open_device(bench.device.function(1), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    const of = { ...bench, context: vf };
    expect(creating(of, dv.createFlowTableCommand(dv.FS_FT_FDB))).toEqual(refusal("not_manager"));
    expect(creating(of, dv.allocModifyHeaderCommand(dv.FS_FT_FDB, new Uint8Array(8)))).toEqual(refusal("not_manager"));
  });

  test("a query of another type or table", () => {
    const ask = (type: number, id: number, outlen = 64): unknown =>
      answer((out) => {
        dv.mlx5dv_devx_obj_query(receive.table, dv.queryFlowTableCommand(type, id), undefined, out, undefined);
      }, outlen);
    expect(ask(RX, receive.table.id)).toMatchObject({ code: undefined, status: 0 });
    expect(ask(dv.FS_FT_FDB, receive.table.id)).toEqual(refusal("other_table"));
    expect(ask(dv.FS_FT_FDB, fdb.table.id)).toEqual(refusal("other_object"));
    expect(ask(RX, receive.table.id, 63)).toEqual(refusal("short_output"));
  });
});

describe("groups", () => {
  const group = (fields: Partial<dv.FlowGroupFields> = {}): Uint8Array => {
    const empty = created(bench.context, dv.createFlowTableCommand(RX, { log_size: 3 }));
    const range = { start_flow_index: 0, end_flow_index: 7 };
    return dv.createFlowGroupCommand({ table_type: RX, table_id: empty.id, ...range, ...fields });
  };
  const overlapping = (first: number, last: number) => (): Uint8Array =>
    dv.createFlowGroupCommand({
      table_type: RX,
      table_id: receive.table.id,
      start_flow_index: first,
      end_flow_index: last,
    });
  const cases: [string, () => Uint8Array, SyndromeName][] = [
    ["a table that there is not", () => group({ table_id: 99 }), "unknown_object"],
    ["a table of another type", () => group({ table_type: 1 }), "other_table"],
    ["a range from its end", () => group({ start_flow_index: 7, end_flow_index: 6 }), "bad_value"],
    ["beyond the table", () => group({ end_flow_index: 8 }), "outside_table"],
    ["an index of another group", overlapping(15, 15), "overlap"],
    ["around another group", overlapping(0, 15), "overlap"],
    ["a criteria bit that names no group", () => group({ match_criteria_enable: 0x80 }), "unsupported"],
    [
      "a reserved bit",
      () => group({ match_criteria_enable: 1, match_criteria: new Uint8Array(512).fill(0xff) }),
      "unsupported",
    ],
    ["of another vport", () => patched(group(), { 8: 0x80 }), "unsupported"],
    ["cut", () => group().subarray(0, 1023), "short_input"],
  ];
  test.each(cases)("%s", (_, make, cause) => {
    const command = make();
    expect(creating(bench, command)).toEqual(refusal(cause));
  });

  test("an undeclared sample", () => {
    const match_criteria = new Uint8Array(512);
    match_criteria.set([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 3], 320);
    const command = group({ match_criteria_enable: 0x20, match_criteria });
    expect(creating(bench, command)).toEqual(refusal("unsupported"));
  });
});

describe("entries", () => {
  const rx = (fields: Partial<dv.FlowEntryFields>): Uint8Array => receive.command(fields);
  const to = (destination_type: number, destination_id = 0, packet_reformat_id?: number): dv.EntryDestination => ({
    destination_type,
    destination_id,
    ...(packet_reformat_id === undefined ? {} : { packet_reformat_id }),
  });
  const forward = (...destinations: dv.EntryDestination[]): Partial<dv.FlowEntryFields> => ({
    action: FORWARD,
    destinations,
  });
  const decapsulating = (): number => {
    const data = new Uint8Array(14);
    return created(bench.context, dv.allocPacketReformatCommand(dv.MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2, data)).id;
  };
  const changing = (type: number): number => {
    const actions = dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 1 }]);
    return created(bench.context, dv.allocModifyHeaderCommand(type, actions)).id;
  };
  const cases: [string, () => Uint8Array, SyndromeName][] = [
    ["a table that there is not", () => rx({ table_id: 99 }), "unknown_object"],
    ["a group that there is not", () => rx({ group_id: 99 }), "unknown_object"],
    ["a group of another table", () => rx({ group_id: fdb.groupId }), "other_object"],
    ["an index that is not of the group", () => rx({ flow_index: 16 }), "outside_group"],
    ["a value outside the mask", () => rx({ match_value: new Uint8Array([1]) }), "value_outside_mask"],
    ["no end", () => rx({ action: 0 }), "bad_actions"],
    ["two ends", () => rx({ action: 3 }), "bad_actions"],
    ["drop and forward", () => rx({ ...forward(to(1, receive.table.id)), action: FORWARD | 2 }), "bad_actions"],
    ["encryption", () => rx({ action: 0x1001 }), "unsupported"],
    ["execute ASO", () => rx({ action: 0x4001 }), "unsupported"],
    ["a second pop alone", () => rx({ action: 0x401 }), "bad_actions"],
    ["a second push alone", () => rx({ action: 0x801 }), "bad_actions"],
    ["a push that is no tag", () => rx({ action: 0x101, push_vlan: 0x9100_0001 }), "bad_value"],
    ["decap without decap_en", () => rx({ action: 0x21 }), "bad_actions"],
    ["a reformat without reformat_en", () => rx({ action: 0x11, packet_reformat_id: decapsulating() }), "bad_actions"],
    ["a reformat that there is not", () => fdb.command({ action: 0x11, packet_reformat_id: 99 }), "unknown_object"],
    ["a header change that there is not", () => rx({ action: 0x41, modify_header_id: 99 }), "unknown_object"],
    ["one of another table type", () => rx({ action: 0x41, modify_header_id: changing(1) }), "other_table"],
    ["a tag in the eSwitch", () => fdb.command({ flow_tag: 1 }), "bad_value"],
    ["a flow source", () => patched(fdb.command({}), { 80: 0x10 }), "unsupported"],
    ["forward to nowhere", () => rx({ action: FORWARD }), "bad_value"],
    ["destinations without forward", () => rx({ destinations: [to(1, receive.table.id)] }), "bad_value"],
    ["a destination that there is not", () => rx(forward(to(1, 99))), "unknown_object"],
    ["a table of another type", () => rx(forward(to(1, fdb.table.id))), "other_table"],
    ["a table of no higher level", () => rx(forward(to(1, receive.table.id))), "bad_actions"],
    ["a vport outside the eSwitch", () => rx(forward(to(0))), "bad_actions"],
    ["the uplink outside the eSwitch", () => rx(forward(to(8))), "bad_actions"],
    ["a vport that there is not", () => fdb.command(forward(to(0, 3))), "bad_value"],
    ["a sampler", () => fdb.command(forward(to(6, 1))), "unsupported"],
    ["a decapsulation of one copy", () => fdb.command(forward(to(0, 1, decapsulating()), to(0, 2))), "bad_actions"],
    ["a reformat of no extended one", () => patched(fdb.command(forward(to(0, 1))), { 836: 0x40 }), "bad_value"],
    ["count without counters", () => rx({ action: 9 }), "bad_value"],
    ["counters without count", () => rx({ flow_counter_ids: [1] }), "bad_value"],
    ["a counter that there is not", () => rx({ action: 9, flow_counter_ids: [99] }), "unknown_object"],
    [
      "more destinations than can be",
      () => fdb.command(forward(...Array.from({ length: 65 }, () => to(0)))),
      "bad_value",
    ],
    ["a list that is cut", () => fdb.command(forward(to(0), to(0))).subarray(0, 847), "short_input"],
    ["cut before the list", () => rx({}).subarray(0, 831), "short_input"],
    ["op_mod of a change", () => patched(rx({}), { 7: 1 }), "bad_value"],
    ["of another vport", () => patched(rx({}), { 8: 0x80 }), "unsupported"],
  ];
  test.each(cases)("%s", (_, make, cause) => {
    const command = make();
    const { entries } = receive.table;
    const users = [receive, fdb].map(({ table }) => table.users);
    expect(creating(bench, command)).toEqual(refusal(cause));
    expect(entries.size).toBe(0);
    expect([receive, fdb].map(({ table }) => table.users)).toEqual(users);
  });

  test("an index twice; changes that name no entry, or not all of it; and the entry stays as it was", () => {
    const { context, device } = bench;
    const entry = receive.entry({ flow_index: 2 });
    expect(creating(bench, receive.command({ flow_index: 2 }))).toEqual(refusal("overlap"));
    const change = (command: Uint8Array): unknown =>
      answer((out) => dv.mlx5dv_devx_obj_modify(entry, command, undefined, out, undefined));
    const used = device.memoryUsed;
    const modify = (fields: Partial<dv.FlowEntryFields>): Uint8Array =>
      dv.modifyFlowTableEntryCommand(receive.fields({ flow_index: 2, ...fields }));
    expect(change(modify({ flow_index: 3 }))).toEqual(refusal("unknown_object"));
    expect(change(patched(modify({}), { 7: 0 }))).toEqual(refusal("bad_value"));
    expect(change(patched(modify({}), { 27: 1 }))).toEqual(refusal("unsupported"));
    expect(change(modify({ action: 3 }))).toEqual(refusal("bad_actions"));
    const other = receive.entry({ flow_index: 5 });
    expect(change(modify({ flow_index: 5 }))).toEqual(refusal("other_object"));
    dv.mlx5dv_devx_obj_destroy(other);
    expect(device.memoryUsed).toBe(used);
    expect(context.numbered.at("flow_group", receive.groupId)?.users).toBe(1);
  });

  test("without memory for a change, an entry does what it did", async () => {
    const small = await openBench({ limits: { memory: 200_000 } });
    const one = new TableBench(small.context, RX, { level: 1 });
    const entry = one.entry({ flow_index: 1, action: 2 });
    enter(small.root, one.table);
    let counters = 0;
    while (
      answer((out) => dv.mlx5dv_devx_obj_create(small.context, dv.allocFlowCounterCommand(4), 16, out, 16)).status === 0
    )
      counters++;
    expect(counters).toBeGreaterThan(1);
    const id = small.context.numbered.at("flow_counter", 1)!.id;
    const many = one.fields({ flow_index: 1, action: 9, flow_counter_ids: Array.from({ length: 60 }, () => id) });
    const command = dv.modifyFlowTableEntryCommand(many);
    const used = small.device.memoryUsed;
    expect(answer((out) => dv.mlx5dv_devx_obj_modify(entry, command, undefined, out, undefined))).toEqual(
      refusal("no_memory"),
    );
    expect(small.device.memoryUsed).toBe(used);
    expect(small.device.receive(1, ipv4Frame())).toMatchObject({ reason: "drop_action", rules: [{}, entry] });
    expect(small.context.numbered.at("flow_counter", 1)?.users).toBe(0);
  });
});

test("header changes and reformats that the device cannot carry out", () => {
  const unknown = new Uint8Array([0x1f, 0xff, 0, 0, 0, 0, 0, 0]);
  expect(creating(bench, dv.allocModifyHeaderCommand(RX, unknown))).toEqual(refusal("refused"));
  expect(creating(bench, dv.allocModifyHeaderCommand(RX, new Uint8Array()))).toEqual(refusal("refused"));
  expect(creating(bench, dv.allocModifyHeaderCommand(9, unknown))).toEqual(refusal("unsupported"));
  expect(creating(bench, dv.allocModifyHeaderCommand(RX, unknown).subarray(0, 20))).toEqual(refusal("short_input"));
  const reformat = (type: number, length: number): Uint8Array =>
    dv.allocPacketReformatCommand(type, new Uint8Array(length));
  expect(creating(bench, reformat(5, 14))).toEqual(refusal("unsupported"));
  expect(creating(bench, reformat(3, 13))).toEqual(refusal("refused"));
  expect(creating(bench, reformat(2, 50))).toEqual(refusal("refused"));
  expect(creating(bench, reformat(3, 14).subarray(0, 47))).toEqual(refusal("short_input"));
});
