/**
 * RDMA tables: received RoCE packets enter them before stage 2, packets sent by UD queue pairs
 * before all other send stages.
 */
import { expect, test } from "vitest";
import { createSink } from "../../../src/index.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import { SNIFFER } from "../../verbs/support/flows.js";
import { openStation, request } from "../../verbs/support/queuePairs.js";
import {
  counted,
  DeviceFlowBench,
  DROPS,
  inTable,
  MISSES,
  NIC_TX,
  ofPort,
  RDMA_RX,
  RDMA_TX,
  tagged,
  TRANSPORT_RX,
  TRANSPORT_TX,
} from "../support/createFlow.js";

const headers = (port: number) =>
  [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: port }] as const;
const ROCE = buildFrame([...headers(4791), new Uint8Array(24)]);
const PLAIN = buildFrame([...headers(53), new Uint8Array(24)]);

test("RDMA_RX has RoCE alone, behind the sniffers and before stage 2", async () => {
  const bench = await DeviceFlowBench.open();
  const devx = bench.counter();
  const first = bench.flow({}, [bench.to("a"), tagged(4), counted(devx)], inTable(RDMA_RX));
  bench.flow({}, [bench.to("b")]);
  bench.flows.flow("s", [], SNIFFER);
  expect([bench.flows.received(ROCE), bench.flows.received(PLAIN)]).toEqual(["(s) a4 deliver", "(s) b deliver"]);
  expect(devx.read().packets).toBe(1n);
  v.ibv_destroy_flow(first);
  expect(bench.flows.received(ROCE)).toBe("(s) b deliver");
});

test("what RDMA_RX hands on comes to stage 2, without its tag", async () => {
  const bench = await DeviceFlowBench.open();
  bench.flow({}, [MISSES, tagged(4)], inTable(RDMA_RX));
  expect(bench.flows.received(ROCE)).toBe("miss no_rule");
  bench.flow({}, [bench.to("b")]);
  expect(bench.flows.received(ROCE)).toBe("b deliver");
  const drops = bench.flow({ "misc.bth_opcode": 0 }, [DROPS], inTable(RDMA_RX));
  expect(bench.flows.received(ROCE)).toBe("b deliver");
  v.ibv_destroy_flow(drops);
});

test("within RDMA tables the order is that of all tables: priority, older mask, older flow", async () => {
  const bench = await DeviceFlowBench.open();
  bench.flow({}, [bench.to("late")], { ...inTable(RDMA_RX), priority: 2 });
  bench.flow({ "misc.bth_opcode": 0 }, [bench.to("old")], { ...inTable(RDMA_RX), priority: 1 });
  bench.flow({ "outer.udp_dport": 4791 }, [bench.to("new")], { ...inTable(RDMA_RX), priority: 1 });
  expect(bench.flows.received(ROCE)).toBe("old deliver");
  bench.flow({}, [DROPS], inTable(RDMA_RX));
  expect(bench.flows.received(ROCE)).toBe("drop drop_action");
});

test("ConnectX: flows for multicast alone have their priority in RDMA tables", async () => {
  const bench = await DeviceFlowBench.open({ profile: "connectx7" });
  const group = ROCE.slice();
  group[0] = 1;
  bench.flow({ "outer.dmac": "01:00:00:00:00:00/01:00:00:00:00:00" }, [bench.to("group")], inTable(RDMA_RX));
  bench.flow({}, [bench.to("all")], { ...inTable(RDMA_RX), priority: 1 });
  expect(bench.flows.received(group)).toBe("group deliver");
});

test("RDMA_TRANSPORT_RX has RoCE of one port, after RDMA_RX", async () => {
  const bench = await DeviceFlowBench.open();
  bench.flow({}, [bench.to("two")], ofPort(TRANSPORT_RX, 2));
  bench.flow({}, [bench.to("all")]);
  expect([bench.flows.received(ROCE, 1), bench.flows.received(ROCE, 2)]).toEqual(["all deliver", "two deliver"]);
  expect(bench.flows.received(PLAIN, 2)).toBe("all deliver");
  const first = bench.flow({}, [bench.to("first")], inTable(RDMA_RX));
  expect([bench.flows.received(ROCE, 1), bench.flows.received(ROCE, 2)]).toEqual(["first deliver", "first deliver"]);
  v.ibv_destroy_flow(first);
  bench.flow({}, [MISSES], inTable(RDMA_RX));
  expect(bench.flows.received(ROCE, 2)).toBe("two deliver");
});

test("a VF has RDMA tables of its own", async () => {
  const bench = await DeviceFlowBench.open({ vports: 1 });
  const context = v.ibv_open_device(bench.device.function(1));
  const matcher = dv.mlx5dv_create_flow_matcher(context, inTable(RDMA_RX));
  dv.mlx5dv_create_flow(matcher, null, 1, [DROPS]);
  expect(bench.flows.received(ROCE)).toBe("miss no_rule");
});

test("what a UD queue pair sends passes RDMA_TRANSPORT_TX, RDMA_TX and then EGRESS", async () => {
  const station = await openStation({ type: v.IBV_QPT_UD, ports: 2 });
  const { device, context, pd, qp } = station;
  const sent: Uint8Array[] = [];
  device.connect(1, (frame) => sent.push(frame));
  const link = v.ibv_query_gid(context, 1, 0);
  const ah = v.ibv_create_ah(pd, { is_global: 1, port_num: 1, grh: { dgid: link, sgid_index: 0, hop_limit: 9 } });
  const post = (): number => {
    const before = sent.length;
    const wr = { ud: { ah, remote_qpn: 7, remote_qkey: 1 } };
    v.ibv_post_send(qp, request(station, Uint8Array.of(1, 2, 3), { wr, send_flags: v.IBV_SEND_SIGNALED }));
    v.ibv_poll_cq(station.cq, 1);
    return sent.length - before;
  };
  const flow = (attr: dv.FlowMatcherAttr, actions: dv.FlowActionAttr[]): dv.DeviceFlow =>
    dv.mlx5dv_create_flow(dv.mlx5dv_create_flow_matcher(context, attr), null, undefined, actions);
  const counter = (): FlowCounter => {
    const devx = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    const input = dv.allocFlowCounterCommand();
    return dv.mlx5dv_devx_obj_create(devx, input, undefined, new Uint8Array(16), undefined);
  };
  const [rdma, transport, egress] = [counter(), counter(), counter()];
  const packets = (): bigint[] => [rdma, transport, egress].map((one) => one.read().packets);
  flow(inTable(RDMA_TX), [counted(rdma)]);
  flow(inTable(NIC_TX), [counted(egress)]);
  const passes = flow(ofPort(TRANSPORT_TX, 1), [counted(transport), MISSES]);
  flow(ofPort(TRANSPORT_TX, 2), [DROPS]);
  expect([post(), packets()]).toEqual([1, [1n, 1n, 1n]]);
  const raw = createSink(context, "raw");
  device.send(raw, sent[0] as Uint8Array);
  expect(packets()).toEqual([1n, 1n, 2n]);
  v.ibv_destroy_flow(passes);
  const drops = flow(ofPort(TRANSPORT_TX, 1), [DROPS]);
  expect([post(), packets()]).toEqual([0, [1n, 1n, 2n]]);
  v.ibv_destroy_flow(drops);
  flow({ ...inTable(RDMA_TX), priority: 0 }, []);
  expect([post(), packets()]).toEqual([1, [2n, 1n, 3n]]);
});
