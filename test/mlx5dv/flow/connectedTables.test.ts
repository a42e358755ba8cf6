/**
 * Flow tables on the path of messages of connected queue pairs: RDMA tables of all four types, and
 * the tables around them.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, createSink, type MatchFields } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import { buildFrame } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import {
  attributesOf,
  connectWatched,
  join,
  openEnd,
  openPair,
  packetOf,
  pattern,
  post,
  postReceives,
  raise,
  statuses,
  type End,
  type EndOptions,
  type Wire,
} from "../../verbs/support/connected.js";
import {
  counted,
  DROPS,
  FDB,
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

const { IBV_WC_SUCCESS: OK, IBV_WC_RETRY_EXC_ERR: RETRY } = v;
const MTU = 1024;

function flow(end: End, fields: MatchFields, actions: dv.FlowActionAttr[], attr: dv.FlowMatcherAttr): dv.DeviceFlow {
  const { mask, value, match_criteria_enable } = dv.matchParameters(fields, { root: true });
  const matcher = dv.mlx5dv_create_flow_matcher(end.context, { match_mask: mask, match_criteria_enable, ...attr });
  return dv.mlx5dv_create_flow(matcher, value, undefined, actions);
}

function counter(end: End): FlowCounter {
  const devx = dv.mlx5dv_open_device(end.device.function(end.context.function.vport), {
    flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX,
  });
  return dv.mlx5dv_devx_obj_create(devx, dv.allocFlowCounterCommand(), undefined, new Uint8Array(16), undefined);
}

/** A message of two packets; results of the request and of receive requests, by status. */
function exchange(from: End, to: End): string {
  post(from, pattern(MTU + 1));
  const name = (list: [number, number][]): string => list.map(([, status]) => status).join();
  return `${name(statuses(from.sent))} ${name(statuses(to.received)) || "-"}`;
}

/** Sent, received. */
const ARRIVES = `${OK} ${OK}`;
const LOST = `${RETRY} -`;

let a: End;
let b: End;
let wire: Wire;

async function open(options: EndOptions = {}, retry_cnt = 2): Promise<void> {
  const [left, right] = await openPair();
  wire = connectWatched(left, right);
  [a, b] = [openEnd(left, options), openEnd(right, options)];
  join(a, b, { retry_cnt });
  postReceives(b);
  postReceives(a);
}

/** RDMA tables, and the end of the connection whose request packets pass them. */
const TABLES: [string, () => End, dv.FlowMatcherAttr][] = [
  ["RDMA_TX", () => a, inTable(RDMA_TX)],
  ["RDMA_TRANSPORT_TX", () => a, ofPort(TRANSPORT_TX, 1)],
  ["RDMA_RX", () => b, inTable(RDMA_RX)],
  ["RDMA_TRANSPORT_RX", () => b, ofPort(TRANSPORT_RX, 1)],
];

describe.each(TABLES)("%s", (name, end, attr) => {
  const sends = name.endsWith("TX");
  beforeEach(() => open());

  test("counts all packets of messages, and those of one operation", () => {
    const [all, last, answers] = [counter(end()), counter(end()), counter(end())];
    flow(end(), {}, [counted(all), MISSES], { ...attr, priority: 9 });
    expect(exchange(a, b)).toBe(ARRIVES);
    // The acknowledgement takes the opposite direction.
    expect(all.read().packets).toBe(2n);
    flow(end(), { "misc.bth_opcode": 2 }, [counted(last), MISSES], { ...attr, priority: 1 });
    flow(end(), { "misc.bth_opcode": 0x11 }, [counted(answers), MISSES], { ...attr, priority: 2 });
    expect(exchange(a, b)).toBe(ARRIVES);
    expect(exchange(b, a)).toBe(ARRIVES);
    expect([all, last, answers].map((one) => one.read().packets)).toEqual([3n, 1n, 1n]);
  });

  test("drops packets, which are sent again in vain", () => {
    const drops = counter(end());
    const one = flow(end(), { "misc.bth_dst_qp": b.qp.qp_num }, [DROPS, counted(drops)], attr);
    expect(exchange(a, b)).toBe(LOST);
    // Both packets, three times.
    expect([drops.read().packets, wire.frames.length]).toEqual([6n, sends ? 0 : 6]);
    expect(end().device.reasons().drop_action).toBe(6n);
    expect([a.qp.state, b.qp.state]).toEqual([v.IBV_QPS_ERR, v.IBV_QPS_RTS]);
    v.ibv_destroy_flow(one);
    for (const { qp } of [a, b]) v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    join(a, b);
    postReceives(b);
    expect(exchange(a, b)).toBe(ARRIVES);
  });

  test("drops one packet of a message", () => {
    flow(end(), { "misc.bth_opcode": 2 }, [DROPS], attr);
    expect(exchange(a, b)).toBe(LOST);
    expect(b.qp.hw_counters).toMatchObject({ duplicate_request: 2, out_of_sequence: 0 });
    expect(statuses(a.received).every(([, status]) => status === v.IBV_WC_WR_FLUSH_ERR)).toBe(true);
  });

  test("drops acknowledgements of the other direction", () => {
    flow(end(), { "misc.bth_opcode": 0x11 }, [DROPS], attr);
    expect(exchange(a, b)).toBe(ARRIVES);
    // Received, and not acknowledged.
    expect(exchange(b, a)).toBe(`${RETRY} ${OK}`);
    expect(a.qp.hw_counters?.duplicate_request).toBe(4);
  });

  test("has nothing of what raw packet queue pairs send", () => {
    const all = counter(end());
    flow(end(), {}, [counted(all), MISSES], attr);
    end().device.send(createSink(end().context, "raw"), new Uint8Array(64));
    expect(all.read().packets).toBe(0n);
  });
});

test.each([
  ["RDMA_TRANSPORT_TX", () => a, TRANSPORT_TX],
  ["RDMA_TRANSPORT_RX", () => b, TRANSPORT_RX],
])("%s is of one port", async (_, end, type) => {
  const device = await createDevice({ ports: 2 });
  [a, b] = [openEnd(device, { port: 2 }), openEnd(device, { port: 2 })];
  join(a, b, { retry_cnt: 0 });
  postReceives(b);
  flow(end(), {}, [DROPS], ofPort(type, 1));
  expect(exchange(a, b)).toBe(ARRIVES);
  flow(end(), {}, [DROPS], ofPort(type, 2));
  expect(exchange(a, b)).toBe(LOST);
});

describe("received packets", () => {
  beforeEach(() => open());

  test.each([
    ["RDMA_RX", inTable(RDMA_RX)],
    ["RDMA_TRANSPORT_RX", ofPort(TRANSPORT_RX, 1)],
  ])("go to another queue where %s says so, whole and with a tag", (_, attr) => {
    const cq = v.ibv_create_cq(b.context, 9);
    const cap = { max_recv_wr: 9, max_recv_sge: 1 };
    const raw = v.ibv_create_qp(b.pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
    v.ibv_modify_qp(raw, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, v.IBV_QP_STATE | v.IBV_QP_PORT);
    v.ibv_modify_qp(raw, { qp_state: v.IBV_QPS_RTR }, v.IBV_QP_STATE);
    const addr = b.memory.subarray(0, 4096);
    for (let i = 0; i < 9; i++) v.ibv_post_recv(raw, { wr_id: i, sg_list: [{ addr, lkey: b.mr.lkey }] });
    const last = { "misc.bth_opcode": 2 };
    flow(b, last, [{ type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: raw }, tagged(0x51)], attr);
    expect(exchange(a, b)).toBe(LOST);
    const completions = v.ibv_poll_cq(cq, 9);
    expect(completions.map(({ flow_tag, byte_len }) => [flow_tag, byte_len])).toEqual(
      Array.from({ length: 3 }, () => [0x51, 14 + 40 + 8 + 12 + 4 + 4]),
    );
    expect(addr.slice(0, 82)).toEqual(wire.frames[1]);
    expect(packetOf(addr)).toMatchObject({ opcode: 2, dst_qp: b.qp.qp_num });
  });

  test("pass sniffers, RDMA_RX, RDMA_TRANSPORT_RX and the connection, in this order, and stage 2 not at all", () => {
    const [transport, rdma, nic] = [counter(b), counter(b), counter(b)];
    flow(b, {}, [counted(transport), tagged(9), MISSES], ofPort(TRANSPORT_RX, 1));
    flow(b, {}, [counted(rdma), MISSES], inTable(RDMA_RX));
    flow(b, {}, [counted(nic), DROPS], inTable(NIC_RX));
    const ear = createSink(b.context, "ear");
    v.ibv_create_flow(ear, {
      comp_mask: 0,
      type: v.IBV_FLOW_ATTR_SNIFFER,
      priority: 0,
      port: 1,
      flags: 0,
      specs: [],
    });
    expect(exchange(a, b)).toBe(ARRIVES);
    expect([transport, rdma, nic].map((one) => one.read().packets)).toEqual([2n, 2n, 0n]);
    const again = wire.frames[1] as Uint8Array;
    const { verdict, to, copies, rules } = b.device.receive(1, again);
    expect([verdict, to.map(({ name, tag }) => [name, tag]), copies.map(({ name }) => name)]).toEqual([
      "deliver",
      [[b.qp.label, 0]],
      ["qp:ear"],
    ]);
    // The connection itself is not a hit rule; the hits are a sniffer and two RDMA tables.
    expect(rules.length).toBe(3);
    v.ibv_modify_qp(b.qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    expect(b.device.receive(1, again).reason).toBe("drop_action");
    expect(nic.read().packets).toBe(1n);
  });
});

describe("sent packets", () => {
  beforeEach(() => open());

  test("pass RDMA_TRANSPORT_TX, RDMA_TX and NIC_TX, in this order", () => {
    const [rdma, transport, nic] = [counter(a), counter(a), counter(a)];
    const read = (): bigint[] => [transport, rdma, nic].map((one) => one.read().packets);
    flow(a, {}, [counted(transport)], ofPort(TRANSPORT_TX, 1));
    flow(a, {}, [counted(rdma)], { ...inTable(RDMA_TX), priority: 1 });
    flow(a, {}, [counted(nic)], { ...inTable(NIC_TX), priority: 1 });
    expect(exchange(a, b)).toBe(ARRIVES);
    expect(read()).toEqual([2n, 2n, 2n]);
    // Last packets do not pass the second table, first ones do not pass the third.
    flow(a, { "misc.bth_opcode": 2 }, [DROPS], inTable(RDMA_TX));
    flow(a, { "misc.bth_opcode": 0 }, [DROPS], inTable(NIC_TX));
    expect(exchange(a, b)).toBe(LOST);
    expect([read(), wire.frames.length]).toEqual([[8n, 5n, 2n], 3]);
  });

  test("are those of their queue pair", () => {
    const mine = counter(a);
    flow(a, { "misc.source_sqn": a.qp.qp_num }, [counted(mine)], inTable(RDMA_TX));
    expect(exchange(a, b)).toBe(ARRIVES);
    flow(a, { "misc.source_sqn": a.qp.qp_num + 1 }, [DROPS], inTable(RDMA_TX));
    expect(exchange(a, b)).toBe(ARRIVES);
    expect(mine.read().packets).toBe(4n);
  });

  test("go where the FDB says", () => {
    const drops = flow(a, { "misc.bth_opcode": 2 }, [DROPS], inTable(FDB));
    expect(exchange(a, b)).toBe(LOST);
    expect(wire.frames.length).toBe(3);
    v.ibv_destroy_flow(drops);
  });
});

describe("on one device", () => {
  beforeEach(async () => {
    const device = await createDevice();
    [a, b] = [openEnd(device), openEnd(device)];
    join(a, b, { retry_cnt: 1 });
    postReceives(b);
  });

  test.each([
    ["RDMA_RX", inTable(RDMA_RX)],
    ["RDMA_TRANSPORT_RX", ofPort(TRANSPORT_RX, 1)],
  ])("looped packets pass %s", (_, attr) => {
    const all = counter(b);
    const counts = flow(b, {}, [counted(all), MISSES], attr);
    expect(exchange(a, b)).toBe(ARRIVES);
    // Two packets and the response.
    expect(all.read().packets).toBe(3n);
    flow(b, { "misc.bth_dst_qp": b.qp.qp_num }, [DROPS], { ...attr, priority: 0 });
    v.ibv_destroy_flow(counts);
    const out: Uint8Array[] = [];
    a.device.connect(1, (frame) => out.push(frame));
    expect(exchange(a, b)).toBe(LOST);
    // SPEC: rules that drop received packets do not stop sent ones.
    expect(out.map((frame) => packetOf(frame).opcode)).toEqual([0, 2, 0, 2]);
  });

  test("raw RoCE frames pass RDMA_RX where they are for the MAC of the port", () => {
    const [rdma, nic] = [counter(b), counter(b)];
    flow(b, {}, [counted(rdma), MISSES], inTable(RDMA_RX));
    flow(b, {}, [counted(nic), MISSES], inTable(NIC_RX));
    const { mac } = a.device.hardware.ports[0] as { mac: Uint8Array };
    const headers = [{ header: "ipv4" }, { header: "udp", destination_port: 4791 }] as const;
    for (const destination of [mac, Uint8Array.of(2, 0, 0, 0, 0, 9)]) {
      const roce = buildFrame([{ header: "ethernet", destination }, ...headers, new Uint8Array(24)]);
      a.device.send(createSink(a.context, "raw"), roce);
    }
    expect([rdma, nic].map((one) => one.read().packets)).toEqual([1n, 2n]);
  });

  test("what is for another MAC leaves the port, and asks no rules of it", () => {
    const all = counter(b);
    flow(b, {}, [counted(all), { type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: createSink(b.context, "all") }], {});
    for (const { qp } of [a, b]) v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    const attr = attributesOf(a, b, { retry_cnt: 0 });
    raise(a, { ...attr, ah_attr: { ...(attr.ah_attr as object), dmac: "02:00:00:00:00:99" } as never });
    const out: number[] = [];
    a.device.connect(1, (frame) => out.push(packetOf(frame).opcode));
    post(a, pattern(1));
    expect([out, all.read().packets]).toEqual([[4], 0n]);
  });
});

test("connections of a VF have RDMA tables of their own, and the eSwitch before them", async () => {
  const device = await createDevice({ vports: 1 });
  const vf = device.function(1);
  [a, b] = [openEnd(vf), openEnd(device)];
  join(a, b, { retry_cnt: 0 });
  postReceives(b);
  postReceives(a);
  // Packets from the PF for the VF's queue pair.
  const domain = dv.mlx5dv_dr_domain_create(b.context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
  const { mask, value, match_criteria_enable } = dv.matchParameters({ "misc.bth_dst_qp": a.qp.qp_num }, { root: true });
  const matcher = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, match_criteria_enable, mask);
  dv.mlx5dv_dr_rule_create(matcher, value, 1, [dv.mlx5dv_dr_action_create_dest_vport(domain, 1)]);
  expect(exchange(a, b)).toBe(ARRIVES);
  expect(exchange(b, a)).toBe(ARRIVES);
  const [pf, own] = [counter(b), counter(a)];
  flow(b, {}, [counted(pf), MISSES], inTable(RDMA_RX));
  const counts = flow(a, {}, [counted(own), MISSES], inTable(RDMA_RX));
  expect(exchange(a, b)).toBe(ARRIVES);
  // Two packets for the PF, their acknowledgement for the VF.
  expect([pf, own].map((one) => one.read().packets)).toEqual([2n, 1n]);
  flow(a, { "misc.bth_opcode": 0x11 }, [DROPS], { ...inTable(RDMA_RX), priority: 0 });
  v.ibv_destroy_flow(counts);
  expect(exchange(a, b)).toBe(`${RETRY} ${OK}`);
});
