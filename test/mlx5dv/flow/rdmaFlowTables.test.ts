/**
 * Flow tables of RDMA types on the path of messages: what their entries do to RC, UC and UD queue
 * pairs, and where frames go on.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, createSink, type MatchFields } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { FLOW_TABLE_MISS_LIMIT } from "../../../src/abi/engine.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import type { DevxFlowTable } from "../../../src/model/devx/flowTable.js";
import { buildFrame } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import { connectWatched, join, openEnd, openPair, pattern, post, postReceives } from "../../verbs/support/connected.js";
import { statuses, type End } from "../../verbs/support/connected.js";
import { openStation, request } from "../../verbs/support/queuePairs.js";
import {
  counted,
  DeviceFlowBench,
  DROPS,
  inTable,
  MISSES,
  NIC_RX,
  NIC_TX,
  ofPort,
  RDMA_RX,
  RDMA_TX,
  tagged,
  TRANSPORT_RX,
  TRANSPORT_TX,
} from "../support/createFlow.js";
import { answer, created, creating, deviceMatch, refusal, TableBench } from "../support/devx.js";
import { refused } from "../support/directRules.js";

const ALLOW = dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW;
const DROP = dv.MLX5_FLOW_CONTEXT_ACTION_DROP;
const FORWARD = dv.MLX5_FLOW_CONTEXT_ACTION_FWD_DEST;
const COUNT = dv.MLX5_FLOW_CONTEXT_ACTION_COUNT;
const { IBV_WC_SUCCESS: OK, IBV_WC_RETRY_EXC_ERR: RETRY } = v;
const MTU = 1024;
/** Sent, received. */
const ARRIVES = `${OK} ${OK}`;
const LOST = `${RETRY} -`;

const into = (obj: DevxFlowTable): dv.FlowActionAttr => ({ type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj });
const toTable = (destination_id: number): Partial<dv.FlowEntryFields> => ({
  action: FORWARD,
  destinations: [{ destination_type: dv.MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE, destination_id }],
});
const counting = (...counters: FlowCounter[]): Partial<dv.FlowEntryFields> => ({
  action: ALLOW | COUNT,
  flow_counter_ids: counters.map(({ id }) => id),
});
const missesTo = ({ id }: DevxFlowTable): dv.FlowTableFields => ({ table_miss_action: 1, table_miss_id: id });

let a: End;
let b: End;

async function open(type: number = v.IBV_QPT_RC): Promise<void> {
  const [left, right] = await openPair();
  connectWatched(left, right);
  [a, b] = [openEnd(left, { type }), openEnd(right, { type })];
  join(a, b, { retry_cnt: 1 });
  postReceives(b);
}

/** A message of two packets; results of the request and of receive requests, by status. */
function exchange(): string {
  post(a, pattern(MTU + 1));
  const name = (list: [number, number][]): string => list.map(([, status]) => status).join();
  return `${name(statuses(a.sent))} ${name(statuses(b.received)) || "-"}`;
}

function flow(end: End, actions: dv.FlowActionAttr[], attr: dv.FlowMatcherAttr): dv.DeviceFlow {
  return dv.mlx5dv_create_flow(dv.mlx5dv_create_flow_matcher(end.context, attr), null, undefined, actions);
}

const counter = (end: End): FlowCounter => created(end.context, dv.allocFlowCounterCommand());

/** Types of flows and of tables, and the end whose request packets pass them. */
const TYPES: [string, () => End, dv.FlowMatcherAttr, number][] = [
  ["RDMA_TX", () => a, inTable(RDMA_TX), dv.FS_FT_RDMA_TX],
  ["RDMA_TRANSPORT_TX", () => a, ofPort(TRANSPORT_TX, 1), dv.FS_FT_RDMA_TRANSPORT_TX],
  ["RDMA_RX", () => b, inTable(RDMA_RX), dv.FS_FT_RDMA_RX],
  ["RDMA_TRANSPORT_RX", () => b, ofPort(TRANSPORT_RX, 1), dv.FS_FT_RDMA_TRANSPORT_RX],
];

/** The types of each direction. */
const SENT = [dv.FS_FT_RDMA_TRANSPORT_TX, dv.FS_FT_RDMA_TX, dv.FS_FT_NIC_TX] as const;
const RECEIVED = [dv.FS_FT_RDMA_TRANSPORT_RX, dv.FS_FT_RDMA_RX, dv.FS_FT_NIC_RX] as const;

describe.each(TYPES)("%s", (_, end, attr, type) => {
  const bench = (fields: dv.FlowTableFields = {}, match: MatchFields = {}): TableBench =>
    new TableBench(end().context, type, { level: 200, ...fields }, deviceMatch(match).group);
  beforeEach(() => open());

  test("entries allow and drop, and unmatched packets go on", () => {
    const last = deviceMatch({ "misc.bth_opcode": 2 });
    const first = bench({}, { "misc.bth_opcode": 2 });
    flow(end(), [into(first.table)], attr);
    expect(exchange()).toBe(ARRIVES);
    const allows = first.entry({ ...counting(counter(end())), flow_index: 3, match_value: last.value });
    expect(exchange()).toBe(ARRIVES);
    first.entry({ action: DROP, match_value: last.value });
    expect(exchange()).toBe(LOST);
    expect(end().device.reasons().drop_action).toBe(2n);
    dv.mlx5dv_devx_obj_destroy(allows);
  });

  test("counts, and forwards to tables of its type and a higher level", () => {
    const [first, next] = [bench({ level: 1 }), bench({ level: 2 })];
    const [one, two] = [counter(end()), counter(end())];
    const toNext = toTable(next.table.id);
    first.entry({ ...toNext, action: FORWARD | COUNT, flow_counter_ids: [one.id] });
    next.entry(counting(two));
    flow(end(), [into(first.table)], attr);
    expect(exchange()).toBe(ARRIVES);
    expect([one, two].map((each) => each.read().packets)).toEqual([2n, 2n]);
    expect(creating(end(), next.command({ ...toTable(first.table.id), flow_index: 1 }))).toEqual(
      refusal("bad_actions"),
    );
  });

  test.each([
    [0, 1, LOST],
    [1, 0, ARRIVES],
  ])("the flow of priority %i drops, that of %i allows", (drops, allows, what) => {
    const [closed, opened] = [bench(), bench()];
    closed.entry({ action: DROP });
    opened.entry({ action: ALLOW });
    flow(end(), [into(opened.table)], { ...attr, priority: allows });
    const dropping = flow(end(), [into(closed.table)], { ...attr, priority: drops });
    expect(exchange()).toBe(what);
    if (what === LOST) return;
    v.ibv_destroy_flow(dropping);
    expect(exchange()).toBe(ARRIVES);
  });

  test("a missed packet goes to table_miss_id first; allow goes past it", () => {
    const last = bench();
    const first = bench(missesTo(last.table), { "misc.bth_opcode": 2 });
    const rest = counter(end());
    last.entry(counting(rest));
    first.entry({ action: ALLOW, match_value: deviceMatch({ "misc.bth_opcode": 2 }).value });
    flow(end(), [into(first.table)], attr);
    expect(exchange()).toBe(ARRIVES);
    expect(rest.read().packets).toBe(1n);
    const output = new Uint8Array(dv.FLOW_TABLE_OUTPUT_SIZE);
    const query = dv.queryFlowTableCommand(type, first.table.id);
    dv.mlx5dv_devx_obj_query(first.table, query, undefined, output, undefined);
    expect(dv.flowTableOutput(output)).toMatchObject({ level: 200, ...missesTo(last.table) });
  });

  test("as many tables after one another as of other types, then the stages", () => {
    let { table } = bench();
    const last = table;
    for (let n = 0; n < FLOW_TABLE_MISS_LIMIT; n++) ({ table } = bench(missesTo(table)));
    const more = dv.createFlowTableCommand(type, missesTo(table));
    expect(creating(end(), more)).toEqual(refusal("bad_value"));
    flow(end(), [into(table)], attr);
    const nic = counter(end());
    flow(end(), [counted(nic), MISSES], inTable(end() === a ? NIC_TX : NIC_RX));
    expect(exchange()).toBe(ARRIVES);
    if (end() === a) expect(nic.read().packets).toBe(2n);
    expect(last.behind).toBe(0);
  });

  test("is destroyed by command, when nothing leads to it", () => {
    const { device, context } = end();
    const before = device.memoryUsed;
    const made = bench();
    const { id } = made.table;
    const entry = made.entry({ action: DROP });
    const run = (command: Uint8Array): unknown =>
      answer((out) => dv.mlx5dv_devx_general_cmd(context, command, undefined, out, undefined));
    const done = { code: undefined, status: 0, syndrome: 0 };
    const leads = flow(end(), [into(made.table)], attr);
    expect(run(dv.destroyFlowGroupCommand(type, id, made.groupId))).toEqual(refusal("in_use"));
    expect(run(dv.deleteFlowTableEntryCommand(type, id, entry.index))).toEqual(done);
    expect(run(dv.destroyFlowGroupCommand(type, id, made.groupId))).toEqual(done);
    expect(run(dv.destroyFlowTableCommand(type, id))).toEqual(refusal("in_use"));
    v.ibv_destroy_flow(leads);
    expect(run(dv.destroyFlowTableCommand(type, id))).toEqual(done);
    expect(device.memoryUsed).toBe(before);
    expect(exchange()).toBe(ARRIVES);
  });

  test("names its type, and takes objects of its type only", () => {
    const { context } = end();
    const made = bench({ reformat_en: true });
    const [otherType, rdmaType, nicType] = end() === a ? SENT : RECEIVED;
    const other = new TableBench(context, type === otherType ? rdmaType : otherType, { level: 255 });
    expect(creating(end(), made.command(toTable(other.table.id)))).toEqual(refusal("other_table"));
    const nic = new TableBench(context, nicType, { level: 255 });
    expect(creating(end(), made.command(toTable(nic.table.id)))).toEqual(refusal("other_table"));
    const ttl = dv.modifyActions([{ type: "set", field: "OUT_IP_TTL", data: 3 }]);
    for (const of of [type, nic.type]) {
      const change = created(context, dv.allocModifyHeaderCommand(of, ttl));
      const command = made.command({
        action: ALLOW | dv.MLX5_FLOW_CONTEXT_ACTION_MOD_HDR,
        modify_header_id: change.id,
        flow_index: of === type ? 1 : 2,
      });
      if (of === type) created(context, command);
      else expect(creating(end(), command)).toEqual(refusal("other_table"));
    }
    flow(end(), [into(made.table)], attr);
    expect(refused(() => flow(end(), [into(other.table)], attr))).toMatchObject({ code: "EINVAL" });
    const stage2 = inTable(end() === a ? NIC_TX : NIC_RX);
    expect(refused(() => flow(end(), [into(made.table)], stage2))).toMatchObject({
      code: "EINVAL",
      path: "actions_attr[0]",
    });
  });

  test("stages that come and go are met by frames that the table hands on", () => {
    const made = bench();
    made.entry({ action: ALLOW });
    flow(end(), [into(made.table)], attr);
    const later = end() === a ? inTable(NIC_TX) : ofPort(TRANSPORT_RX, 1);
    if (type === dv.FS_FT_RDMA_TRANSPORT_RX) return;
    expect(exchange()).toBe(ARRIVES);
    const drops = flow(
      end(),
      [end() === a ? DROPS : { type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: createSink(b.context, "x") }],
      later,
    );
    expect(exchange()).toBe(LOST);
    v.ibv_destroy_flow(drops);
    for (const one of [a, b]) v.ibv_modify_qp(one.qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    join(a, b);
    postReceives(b);
    expect(exchange()).toBe(ARRIVES);
  });
});

test.each(TYPES)("messages of UC queue pairs pass %s", async (_, end, attr, type) => {
  await open(v.IBV_QPT_UC);
  const made = new TableBench(end().context, type);
  const packets = counter(end());
  const entry = made.entry(counting(packets));
  flow(end(), [into(made.table)], attr);
  expect(exchange()).toBe(ARRIVES);
  const drop = dv.modifyFlowTableEntryCommand(made.fields({ action: DROP }));
  dv.mlx5dv_devx_obj_modify(entry, drop, undefined, new Uint8Array(16), undefined);
  expect(exchange()).toBe(`${OK} -`);
  expect(packets.read().packets).toBe(2n);
});

test("datagrams of UD queue pairs pass tables of sent frames, the transport's first", async () => {
  const station = await openStation({ type: v.IBV_QPT_UD });
  const { device, context, pd, qp } = station;
  let left = 0;
  device.connect(1, () => left++);
  const dgid = v.ibv_query_gid(context, 1, 0);
  const ah = v.ibv_create_ah(pd, { is_global: 1, port_num: 1, grh: { dgid, sgid_index: 0, hop_limit: 9 } });
  const post = (): number => {
    const before = left;
    const wr = { ud: { ah, remote_qpn: 7, remote_qkey: 1 } };
    v.ibv_post_send(qp, request(station, Uint8Array.of(1, 2, 3), { wr, send_flags: v.IBV_SEND_SIGNALED }));
    v.ibv_poll_cq(station.cq, 1);
    return left - before;
  };
  const [transport, rdma] = [dv.FS_FT_RDMA_TRANSPORT_TX, dv.FS_FT_RDMA_TX].map((type) => new TableBench(context, type));
  const [one, two] = [transport, rdma].map(() => created(context, dv.allocFlowCounterCommand()));
  transport!.entry(counting(one!));
  const entry = rdma!.entry(counting(two!));
  const lead = (bench: TableBench, attr: dv.FlowMatcherAttr): unknown =>
    dv.mlx5dv_create_flow(dv.mlx5dv_create_flow_matcher(context, attr), null, undefined, [into(bench.table)]);
  lead(transport!, ofPort(TRANSPORT_TX, 1));
  lead(rdma!, inTable(RDMA_TX));
  const packets = (): bigint[] => [one!, two!].map((each) => each.read().packets);
  expect([post(), packets()]).toEqual([1, [1n, 1n]]);
  dv.mlx5dv_devx_obj_destroy(entry);
  rdma!.entry({ action: DROP });
  expect([post(), packets()]).toEqual([0, [2n, 1n]]);
  transport!.entry({ action: ALLOW, flow_index: 1 });
  device.send(createSink(context, "raw"), new Uint8Array(64));
  expect(packets()).toEqual([2n, 1n]);
});

const headers = [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: 4791 }] as const;
const ROCE = buildFrame([...headers, new Uint8Array(24)]);

describe("received frames", () => {
  let bench: DeviceFlowBench;
  beforeEach(async () => {
    bench = await DeviceFlowBench.open();
  });

  test.each([
    ["a miss", undefined],
    ["allow", { action: ALLOW }],
    ["allow of an entry with a tag", { action: ALLOW, flow_tag: 9 }],
  ])("leave a table without a tag: %s", (_, entry) => {
    const made = new TableBench(bench.context, dv.FS_FT_RDMA_RX);
    if (entry !== undefined) made.entry(entry);
    bench.flow({}, [into(made.table), tagged(4)], inTable(RDMA_RX));
    expect(bench.flows.received(ROCE)).toBe("miss no_rule");
    bench.flow({}, [bench.to("behind")]);
    expect(bench.flows.received(ROCE)).toBe("behind deliver");
  });

  test("keep the tag of a flow from table to table, and reach TIRs", () => {
    const last = new TableBench(bench.context, dv.FS_FT_RDMA_TRANSPORT_RX, { level: 2 });
    const first = new TableBench(bench.context, dv.FS_FT_RDMA_TRANSPORT_RX, { level: 1, ...missesTo(last.table) });
    const tir = created(bench.context, dv.createTirCommand({ inline_rqn: bench.flows.qp("web").qp_num }));
    const to = { destination_type: dv.MLX5_FLOW_DESTINATION_TYPE_TIR, destination_id: tir.id };
    const entry = last.entry({ action: FORWARD, destinations: [to] });
    bench.flow({}, [into(first.table), tagged(4)], ofPort(TRANSPORT_RX, 1));
    expect(bench.flows.received(ROCE)).toBe("web4 deliver");
    dv.mlx5dv_devx_obj_destroy(entry);
    last.entry({ action: FORWARD, destinations: [to], flow_tag: 7 });
    expect(bench.flows.received(ROCE)).toBe("web7 deliver");
    // Port 2 has no flow that leads there.
    expect(bench.flows.received(ROCE, 2)).toBe("miss no_rule");
  });

  test("go from a table to the first flow of a priority", () => {
    const made = new TableBench(bench.context, dv.FS_FT_RDMA_RX);
    bench.flow({}, [into(made.table)], inTable(RDMA_RX));
    bench.flow({}, [bench.to("early")], { ...inTable(RDMA_RX), priority: 3 });
    bench.flow({}, [bench.to("late")], { ...inTable(RDMA_RX), priority: 4 });
    const anchor = dv.mlx5dv_create_steering_anchor(bench.context, { ft_type: RDMA_RX, priority: 4 });
    made.entry({ ...toTable(anchor.id), ignore_flow_level: true });
    expect(bench.flows.received(ROCE)).toBe("late deliver");
  });
});

test("a VF has tables of RDMA types of its own", async () => {
  const device = await createDevice({ vports: 1 });
  const vf = v.ibv_open_device(device.function(1));
  const { table } = new TableBench(vf, dv.FS_FT_RDMA_RX);
  const pf = dv.mlx5dv_create_flow_matcher(v.ibv_open_device(device), inTable(RDMA_RX));
  expect(refused(() => dv.mlx5dv_create_flow(pf, null, 1, [into(table)]))?.code).toBe("EINVAL");
  const own = dv.mlx5dv_create_flow_matcher(vf, inTable(RDMA_RX));
  expect(dv.mlx5dv_create_flow(own, null, 1, [into(table)])).toBeDefined();
});

test.each([
  ["RDMA_RX", inTable(RDMA_RX), "ENOMEM"],
  ["RDMA_TX", inTable(RDMA_TX), "ENOMEM"],
  ["RDMA_TRANSPORT_RX", ofPort(TRANSPORT_RX, 1), "EINVAL"],
  ["RDMA_TRANSPORT_TX", ofPort(TRANSPORT_TX, 1), "EINVAL"],
])("ConnectX: %s has 16 priorities", async (name, attr, code) => {
  const bench = await DeviceFlowBench.open({ profile: "connectx7" });
  const action = name.endsWith("RX") ? bench.to("a") : DROPS;
  expect(bench.refused({}, [action], { ...attr, priority: 16 })[0]).toBe(code);
  expect(bench.refused({}, [action], { ...attr, priority: 15 })).toEqual([]);
});

test("types are numbered as the device numbers them; others are refused", async () => {
  const device = await createDevice();
  const context = v.ibv_open_device(device);
  // CREATE_FLOW_TABLE of type 7, level 200, as rdma-core's tests write it.
  const bytes = new Uint8Array(64);
  bytes.set([0x09, 0x30]);
  bytes[16] = 7;
  bytes[25] = 200;
  expect(dv.createFlowTableCommand(dv.FS_FT_RDMA_RX, { level: 200 })).toEqual(bytes);
  for (let type = 0; type < 256; type++) {
    const known = [0, 1, 4, 7, 8, 0xd, 0xe].includes(type);
    const made = (): unknown => created(context, dv.createFlowTableCommand(type));
    expect(refused(made)?.code, `${type}`).toBe(known ? undefined : "EREMOTEIO");
  }
});
