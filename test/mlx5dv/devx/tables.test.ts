/** Flow tables of device commands: destinations of frames, and changes of the tables. */
import { expect, test } from "vitest";
import { createSink, type Outcome } from "../../../src/index.js";
import type { DevxObject } from "../../../src/model/base/devxObject.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { answer, created, creating, deviceMatch, enter, openSwitch, refusal, TableBench } from "../support/devx.js";
import { ipv4Frame, openBench, refused } from "../support/directRules.js";

const ALLOW = dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW;
const DROP = dv.MLX5_FLOW_CONTEXT_ACTION_DROP;
const FORWARD = dv.MLX5_FLOW_CONTEXT_ACTION_FWD_DEST;
const COUNT = dv.MLX5_FLOW_CONTEXT_ACTION_COUNT;
const MODIFY = dv.MLX5_FLOW_CONTEXT_ACTION_MOD_HDR;
const REFORMAT = dv.MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT;
const DECAP = dv.MLX5_FLOW_CONTEXT_ACTION_DECAP;

const toTable = (id: number): dv.EntryDestination => ({
  destination_type: dv.MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE,
  destination_id: id,
});
const toVport = (id: number): dv.EntryDestination => ({
  destination_type: dv.MLX5_FLOW_DESTINATION_TYPE_VPORT,
  destination_id: id,
});
const UPLINK: dv.EntryDestination = { destination_type: dv.MLX5_FLOW_DESTINATION_TYPE_UPLINK };

const names = (outcome: Outcome): string[] => outcome.to.map(({ name }) => name);

/** Outer headers of VXLAN over IPv4: the headers that an encapsulation prepends. */
function vxlanHeaders(): Uint8Array {
  const headers = ipv4Frame({ protocol: 17, dport: 4789, length: 50, dst: [172, 16, 0, 9] });
  headers.set([0x08, 0, 0, 0, 0, 0, 42, 0], 42);
  return headers;
}

test("entries match in the order of their indexes, not of their creation", async () => {
  const { device, context, root } = await openBench();
  const match = deviceMatch({ "outer.tcp_dport": 80 });
  const web = new TableBench(context, dv.FS_FT_NIC_RX, {}, match.group);
  enter(root, web.table);
  const frame = (dport: number): Outcome => device.receive(1, ipv4Frame({ dport }));
  expect(frame(80)).toMatchObject({ verdict: "drop", reason: "table_miss" });

  const late = web.entry({ flow_index: 9, action: DROP, match_value: match.value });
  expect(frame(80)).toMatchObject({ verdict: "drop", reason: "drop_action" });
  expect(frame(80).rules.at(-1)).toBe(late);
  expect(frame(81)).toMatchObject({ verdict: "drop", reason: "table_miss" });
  const early = web.entry({ flow_index: 3, action: ALLOW, match_value: match.value });
  expect(frame(80)).toMatchObject({ verdict: "drop", reason: "no_destination" });
  expect(frame(80).rules.at(-1)).toBe(early);
  dv.mlx5dv_devx_obj_destroy(early);
  expect(frame(80).rules.at(-1)).toBe(late);
});

test("groups of one table ask different things, each in its range of indexes", async () => {
  const { device, context, root } = await openBench();
  const table = created(context, dv.createFlowTableCommand(dv.FS_FT_NIC_RX, { log_size: 3 }));
  enter(root, table);
  const port = deviceMatch({ "outer.tcp_dport": 80 });
  const address = deviceMatch({ "outer.ipv4_dst": "10.0.0.1" });
  const named = { table_type: dv.FS_FT_NIC_RX, table_id: table.id };
  const group = (first: number, last: number, match: typeof port.group): number =>
    created(context, dv.createFlowGroupCommand({ ...named, start_flow_index: first, end_flow_index: last, ...match }))
      .id;
  const byPort = group(0, 3, port.group);
  const byAddress = group(4, 7, address.group);
  const entry = (group_id: number, flow_index: number, action: number, match_value: Uint8Array): unknown =>
    created(context, dv.setFlowTableEntryCommand({ ...named, group_id, flow_index, action, match_value }));
  entry(byAddress, 4, ALLOW, address.value);
  entry(byPort, 3, DROP, port.value);
  const reason = (dst: number[], dport: number): unknown => device.receive(1, ipv4Frame({ dst, dport })).reason;
  expect(reason([10, 0, 0, 1], 80)).toBe("drop_action");
  expect(reason([10, 0, 0, 1], 81)).toBe("no_destination");
  expect(reason([10, 0, 0, 2], 81)).toBe("table_miss");
});

test("a table hands on what it does not want, and frames go on from table to table with their tag", async () => {
  const { device, context, root } = await openBench();
  const last = new TableBench(context, dv.FS_FT_NIC_RX, { level: 5 });
  const miss = { table_miss_action: 1, table_miss_id: last.table.id };
  const match = deviceMatch({ "outer.tcp_dport": 80 });
  const first = new TableBench(context, dv.FS_FT_NIC_RX, { level: 1, ...miss }, match.group);
  enter(root, first.table);
  const end = last.entry({ action: DROP });
  // The default of the domain applies only after the miss table.
  expect(device.receive(1, ipv4Frame({ dport: 81 })).rules.at(-1)).toBe(end);
  const step = first.entry({
    action: FORWARD,
    destinations: [toTable(last.table.id)],
    match_value: match.value,
    flow_tag: 7,
  });
  expect(device.receive(1, ipv4Frame())).toMatchObject({ verdict: "drop", tag: 7, rules: [{}, step, end] });
  const output = new Uint8Array(dv.FLOW_TABLE_OUTPUT_SIZE);
  const ask = dv.queryFlowTableCommand(dv.FS_FT_NIC_RX, first.table.id);
  dv.mlx5dv_devx_obj_query(first.table, ask, undefined, output, undefined);
  expect(dv.flowTableOutput(output)).toEqual({ reformat_en: false, decap_en: false, level: 1, log_size: 4, ...miss });
});

test("at most 64 tables pass a frame on, and a jump restarts the count", async () => {
  const bench = await openBench();
  const { device, context, root } = bench;
  let next = new TableBench(context, dv.FS_FT_NIC_RX);
  const [last, chain] = [next, [next]];
  const behind = (): dv.FlowTableFields => ({ table_miss_action: 1, table_miss_id: next.table.id });
  while (chain.length < 64) chain.push((next = new TableBench(context, dv.FS_FT_NIC_RX, behind())));
  expect(creating(bench, dv.createFlowTableCommand(dv.FS_FT_NIC_RX, behind()))).toEqual(refusal("bad_value"));
  enter(root, next.table);
  const reason = (): unknown => device.receive(1, ipv4Frame()).reason;
  expect(reason()).toBe("table_miss");
  const end = last.entry({ action: DROP });
  expect([reason(), device.receive(1, ipv4Frame()).rules.at(-1)]).toEqual(["drop_action", end]);
  // Back to the first, until there are too many jumps.
  dv.mlx5dv_devx_obj_destroy(end);
  last.entry({ action: FORWARD, ignore_flow_level: true, destinations: [toTable(next.table.id)] });
  expect(reason()).toBe("hop_limit");
});

test("an eSwitch table hands on too, and sends to functions and out of the port", async () => {
  const { device, context, root } = await openSwitch();
  const last = new TableBench(context, dv.FS_FT_FDB, { level: 2 });
  const match = deviceMatch({ "outer.tcp_dport": 80 });
  const miss = { table_miss_action: 1, table_miss_id: last.table.id };
  const first = new TableBench(context, dv.FS_FT_FDB, { level: 1, ...miss }, match.group);
  enter(root, first.table);
  // Without an entry: the manager.
  expect(names(device.receive(1, ipv4Frame({ dport: 81 })))).toEqual(["qp:vport0"]);
  last.entry({ action: FORWARD, destinations: [toVport(2)] });
  first.entry({ action: FORWARD, destinations: [toVport(1)], match_value: match.value });
  expect(names(device.receive(1, ipv4Frame({ dport: 81 })))).toEqual(["qp:vport2"]);
  expect(names(device.receive(1, ipv4Frame({ dport: 80 })))).toEqual(["qp:vport1"]);
});

test("several destinations: a copy to each, one of them encapsulated", async () => {
  const { device, context, root } = await openSwitch();
  const headers = vxlanHeaders();
  const reformat = created(context, dv.allocPacketReformatCommand(dv.MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL, headers));
  const first = new TableBench(context, dv.FS_FT_FDB, { level: 1, reformat_en: true });
  const counter = created(context, dv.allocFlowCounterCommand(1));
  enter(root, first.table);
  const entry = first.entry({
    action: FORWARD | COUNT,
    destinations: [toVport(1), { ...toVport(2), packet_reformat_id: reformat.id }],
    flow_counter_ids: [counter.id + 1, counter.id],
  });
  const outcome = device.receive(1, ipv4Frame());
  expect(names(outcome)).toEqual(["qp:vport1", "qp:vport2"]);
  expect(outcome.to.map(({ frame }) => frame.length)).toEqual([64, 114]);
  expect(outcome.to[1]!.frame.slice(50)).toEqual(ipv4Frame());
  expect([counter.read(0), counter.read(1)]).toEqual([
    { packets: 1n, bytes: 64n },
    { packets: 1n, bytes: 64n },
  ]);
  for (const used of [counter, reformat, first.table]) {
    expect(refused(() => dv.mlx5dv_devx_obj_destroy(used))?.code).toBe("EBUSY");
  }
  dv.mlx5dv_devx_obj_destroy(entry);
  expect([counter, reformat].map((used) => dv.mlx5dv_devx_obj_destroy(used))).toEqual([0, 0]);
});

test("one destination with a reformat of its own", async () => {
  const { device, context, root } = await openSwitch();
  const reformat = created(
    context,
    dv.allocPacketReformatCommand(dv.MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL, vxlanHeaders()),
  );
  const one = new TableBench(context, dv.FS_FT_FDB, { level: 1, reformat_en: true });
  enter(root, one.table);
  one.entry({ action: FORWARD, destinations: [{ ...toVport(1), packet_reformat_id: reformat.id }] });
  const outcome = device.receive(1, ipv4Frame());
  expect(outcome.to.map(({ name, frame }) => [name, frame.length])).toEqual([["qp:vport1", 114]]);
});

test("what an entry of the sending side allows leaves, changed", async () => {
  const bench = await openBench();
  const { device, context } = bench;
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const actions = dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 0xbeef }]);
  const change = created(context, dv.allocModifyHeaderCommand(dv.FS_FT_NIC_TX, actions));
  const reformat = created(
    context,
    dv.allocPacketReformatCommand(dv.MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL, vxlanHeaders()),
  );
  const sent = new TableBench(context, dv.FS_FT_NIC_TX, { level: 1, reformat_en: true });
  enter(root, sent.table);
  sent.entry({
    action: ALLOW | MODIFY | REFORMAT | dv.MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH | dv.MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2,
    modify_header_id: change.id,
    packet_reformat_id: reformat.id,
    push_vlan: 0x8100_0005,
    push_vlan_2: 0x88a8_0006,
  });
  const outcome = device.send(bench.queue, ipv4Frame());
  expect(names(outcome)).toEqual(["port:1"]);
  const inner = outcome.to[0]!.frame.slice(50);
  expect([...inner.slice(0, 6)]).toEqual([2, 0, 0, 0, 0xbe, 0xef]);
  expect([...inner.slice(12, 22)]).toEqual([0x88, 0xa8, 0, 6, 0x81, 0, 0, 5, 0x08, 0]);
});

test("tunnels end by decap and by reformat, tags by pop", async () => {
  const { device, context, root } = await openSwitch();
  const one = new TableBench(context, dv.FS_FT_FDB, { level: 1, decap_en: true, reformat_en: true });
  enter(root, one.table);
  const pops = dv.MLX5_FLOW_CONTEXT_ACTION_VLAN_POP | dv.MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2;
  const entry = one.entry({ action: FORWARD | DECAP | pops, destinations: [toVport(1)] });
  const tagged = ipv4Frame();
  const inner = new Uint8Array([...tagged.slice(0, 12), 0x88, 0xa8, 0, 6, 0x81, 0, 0, 5, ...tagged.slice(12)]);
  const outer = new Uint8Array([...vxlanHeaders(), ...inner]);
  new DataView(outer.buffer).setUint16(16, outer.length - 14);
  new DataView(outer.buffer).setUint16(38, outer.length - 34);
  expect(device.receive(1, outer).to[0]!.frame).toEqual(tagged);
  expect(device.receive(1, tagged)).toMatchObject({ verdict: "drop", reason: "not_a_tunnel" });
  // MODIFY replaces all its actions.
  const l3 = new Uint8Array([2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x08, 0]);
  const reformat = created(context, dv.allocPacketReformatCommand(dv.MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2, l3));
  const fields = { action: FORWARD | REFORMAT, destinations: [toVport(2)], packet_reformat_id: reformat.id };
  const modify = (out: Uint8Array): 0 =>
    dv.mlx5dv_devx_obj_modify(entry, dv.modifyFlowTableEntryCommand(one.fields(fields)), undefined, out, undefined);
  const used = device.memoryUsed;
  expect(answer(modify)).toMatchObject({ code: undefined, status: 0 });
  expect(device.memoryUsed).toBeLessThanOrEqual(used);
  const outcome = device.receive(1, outer);
  expect(names(outcome)).toEqual(["qp:vport2"]);
  expect(outcome.to[0]!.frame).toEqual(new Uint8Array([...l3, ...tagged.slice(14)]));
  expect(outcome.rules[1]).toBe(entry);
});

test("an entry whose sides differ is one entry, and the uplink is the port that a frame was sent on", async () => {
  const { device, context, root } = await openSwitch();
  const actions = dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 0xbeef }]);
  const change = created(context, dv.allocModifyHeaderCommand(dv.FS_FT_FDB, actions));
  const counter = created(context, dv.allocFlowCounterCommand());
  const one = new TableBench(context, dv.FS_FT_FDB, { level: 1 });
  enter(root, one.table);
  const used = device.memoryUsed;
  // On send a counter runs before a push, on receive after it.
  const entry = one.entry({
    action: FORWARD | COUNT | MODIFY | dv.MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH,
    destinations: [UPLINK],
    flow_counter_ids: [counter.id],
    modify_header_id: change.id,
    push_vlan: 0x8100_0001,
  });
  expect(device.receive(1, ipv4Frame())).toMatchObject({ verdict: "drop", reason: "wire_to_wire", rules: [{}, entry] });
  expect(counter.read()).toEqual({ packets: 1n, bytes: 68n });
  const vf = dv.mlx5dv_open_device(device.function(1));
  const sender = createSink(vf, "sender");
  const outcome = device.send(sender, ipv4Frame());
  expect(names(outcome)).toEqual(["port:1"]);
  expect(counter.read()).toEqual({ packets: 2n, bytes: 132n });
  dv.mlx5dv_devx_obj_destroy(entry);
  expect(device.memoryUsed).toBeLessThanOrEqual(used + 4096);
  expect(names(device.receive(1, ipv4Frame()))).toEqual(["qp:vport0"]);
});

test("an entry gives back all its memory: a decapsulation and an array of destinations have records of their own", async () => {
  const { device, context } = await openSwitch();
  const one = new TableBench(context, dv.FS_FT_FDB, { level: 1, decap_en: true });
  const destinations = [toVport(1), toVport(2)];
  const made = [{ action: DROP }, { action: DROP | DECAP }, { action: FORWARD, destinations }];
  // The first entry of a table makes what stays with the table.
  dv.mlx5dv_devx_obj_destroy(one.entry({ action: DROP }));
  const used = device.memoryUsed;
  for (const fields of [...made, { action: FORWARD | DECAP, destinations }]) {
    dv.mlx5dv_devx_obj_destroy(one.entry(fields));
    expect(device.memoryUsed, JSON.stringify(fields)).toBe(used);
  }
});

test("what is in use cannot be destroyed, and all of it goes in the other order", async () => {
  const { device, context } = await openBench();
  const before = device.memoryUsed;
  const last = new TableBench(context, dv.FS_FT_NIC_RX, { level: 9 });
  const miss = { table_miss_action: 1, table_miss_id: last.table.id };
  const first = new TableBench(context, dv.FS_FT_NIC_RX, { level: 1, ...miss });
  const group = context.numbered.at("flow_group", first.groupId) as DevxObject;
  const lastGroup = context.numbered.at("flow_group", last.groupId) as DevxObject;
  const entry = first.entry({ action: FORWARD, destinations: [toTable(last.table.id)] });
  dv.mlx5dv_devx_obj_destroy(lastGroup);
  for (const used of [group, first.table, last.table]) {
    expect(refused(() => dv.mlx5dv_devx_obj_destroy(used))?.code).toBe("EBUSY");
  }
  for (const one of [entry, group, first.table, last.table]) expect(dv.mlx5dv_devx_obj_destroy(one)).toBe(0);
  expect(device.memoryUsed).toBe(before);
  const gone = dv.createFlowGroupCommand({
    table_type: dv.FS_FT_NIC_RX,
    table_id: first.table.id,
    start_flow_index: 0,
    end_flow_index: 0,
  });
  expect(answer((out) => dv.mlx5dv_devx_obj_create(context, gone, undefined, out, undefined))).toEqual(
    refusal("unknown_object"),
  );
});
