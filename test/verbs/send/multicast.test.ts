/** Multicast groups of UD queue pairs. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, type Device } from "../../../src/index.js";
import type { AddressHandle } from "../../../src/model/queue/addressHandle.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { climb, openStation, postBuffers, request, type Station } from "../support/queuePairs.js";

const GROUP = "ff0e::7";
const ALL = 0xff_ffff;
/** With the highest bit, the own Q_Key of the sender is sent: all stations have the same. */
const KEY = 0x8000_0000;

let sender: Station;
let station: Station;
/** Three UD queue pairs with buffers; the first is that of the station. */
let queues: QueuePair[];

beforeEach(async () => {
  const gids = [["10.0.0.1"]];
  sender = await openStation({ name: "sender", type: v.IBV_QPT_UD, gids });
  station = await openStation({ name: "receiver", type: v.IBV_QPT_UD, cqe: 64, ports: 2 });
  sender.device.connect(1, station.device, 1);
  queues = [station.qp, more(), more(2)];
  postBuffers(station, 4);
});

function more(port = 1): QueuePair {
  const { pd, cq, memory, mr } = station;
  const cap = { max_recv_wr: 4, max_recv_sge: 1, max_send_wr: 4, max_send_sge: 1, max_inline_data: 8 };
  const qp = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap });
  climb(qp, port);
  for (const wr_id of [1, 2, 3])
    v.ibv_post_recv(qp, { wr_id, sg_list: [{ addr: memory.subarray(0, 512), lkey: mr.lkey }] });
  return qp;
}

function address(dgid: string, of = sender, sgid_index = 0): AddressHandle {
  return v.ibv_create_ah(of.pd, { is_global: 1, port_num: 1, grh: { dgid, sgid_index, hop_limit: 1 } });
}

function send(dgid = GROUP, remote_qpn = ALL, sgid_index = 0): void {
  const ud = { ah: address(dgid, sender, sgid_index), remote_qpn, remote_qkey: KEY };
  v.ibv_post_send(sender.qp, request(sender, new Uint8Array(8), { wr: { ud } }));
}

/** The indexes of the queue pairs that got a datagram. */
const got = (): number[] =>
  v
    .ibv_poll_cq(station.cq, 99)
    .filter(({ opcode }) => opcode === v.IBV_WC_RECV)
    .map(({ qp_num }) => queues.findIndex((qp) => qp.qp_num === qp_num))
    .sort();

describe("a datagram to a group", () => {
  test("reaches every attached queue pair of the port, once", () => {
    send();
    expect(got()).toEqual([]);
    for (const qp of queues) expect(v.ibv_attach_mcast(qp, GROUP, 0)).toBe(0);
    v.ibv_attach_mcast(queues[0]!, { raw: Uint8Array.of(0xff, 0x0e, ...Array<number>(13).fill(0), 7) }, 0xc000);
    send();
    expect(got()).toEqual([0, 1]);
    v.ibv_detach_mcast(queues[0]!, GROUP, 0);
    send();
    expect(got()).toEqual([1]);
    v.ibv_detach_mcast(queues[1]!, GROUP, 0);
    send();
    expect(got()).toEqual([]);
  });

  test("is for the group and its queue pair number only", () => {
    v.ibv_attach_mcast(queues[0]!, GROUP, 0);
    v.ibv_attach_mcast(queues[1]!, "239.1.1.1", 0);
    send("ff0e::8");
    send(GROUP, queues[0]!.qp_num);
    expect(got()).toEqual([]);
    send("239.1.1.1", ALL, 1);
    expect(got()).toEqual([1]);
    send();
    expect(got()).toEqual([0]);
  });

  test("is taken before flows, and not by queue pairs that are not ready", () => {
    const flow = v.ibv_create_flow(queues[1]!, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    v.ibv_attach_mcast(queues[0]!, GROUP, 0);
    send();
    expect(got()).toEqual([0]);
    v.ibv_modify_qp(queues[0]!, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    send();
    expect(got()).toEqual([]);
    v.ibv_detach_mcast(queues[0]!, GROUP, 0);
    send();
    expect(got()).toEqual([1]);
    v.ibv_destroy_flow(flow);
  });

  test("comes back to the device that sent it, and to the sender itself", () => {
    const [first, second] = queues as [QueuePair, QueuePair];
    for (const qp of [first, second]) v.ibv_attach_mcast(qp, GROUP, 0);
    const left: Uint8Array[] = [];
    station.device.disconnect(1);
    station.device.connect(1, (frame) => left.push(frame));
    const ud = { ah: address(GROUP, station), remote_qpn: ALL, remote_qkey: KEY };
    v.ibv_post_send(first, request(station, new Uint8Array(8), { wr: { ud } }));
    expect([got(), left.length]).toEqual([[0, 1], 1]);
  });
});

test("a queue pair can block its own datagrams", () => {
  const { context, pd, cq, memory, mr } = station;
  const comp_mask = v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_CREATE_FLAGS | v.IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
  const cap = { max_recv_wr: 4, max_recv_sge: 1, max_send_wr: 4, max_send_sge: 1 };
  const init = { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap, comp_mask, pd, max_tso_header: 0 };
  const block = v.IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
  const qp = v.ibv_create_qp_ex(context, { ...init, create_flags: block });
  climb(qp);
  queues.push(qp);
  v.ibv_post_recv(qp, { wr_id: 1, sg_list: [{ addr: memory.subarray(0, 512), lkey: mr.lkey }] });
  for (const one of [queues[1]!, qp]) v.ibv_attach_mcast(one, GROUP, 0);
  const ud = { ah: address(GROUP, station), remote_qpn: ALL, remote_qkey: KEY };
  v.ibv_post_send(qp, request(station, new Uint8Array(8), { wr: { ud } }));
  expect(got()).toEqual([1]);
  send();
  expect(got()).toEqual([1, 3]);
  const make = (change: object): unknown => {
    const error = refused(() => v.ibv_create_qp_ex(context, { ...init, ...change }));
    return [error?.code, error?.path];
  };
  expect(make({ create_flags: v.IBV_QP_CREATE_SCATTER_FCS })).toEqual(["EOPNOTSUPP", "qp_init_attr.create_flags"]);
  const raw = { qp_type: v.IBV_QPT_RAW_PACKET, create_flags: block };
  expect(make(raw)).toEqual(["EOPNOTSUPP", "qp_init_attr.create_flags"]);
  expect(make({ max_tso_header: 64 })).toEqual(["EOPNOTSUPP", "qp_init_attr.max_tso_header"]);
});

describe("a queue pair", () => {
  test("is detached before it is destroyed; then nothing is left", () => {
    const qp = queues[1]!;
    // The table of these rules exists already, with room that the first group takes.
    v.ibv_attach_mcast(qp, GROUP, 0);
    v.ibv_detach_mcast(qp, GROUP, 0);
    const { memoryUsed } = station.device;
    v.ibv_attach_mcast(qp, GROUP, 0);
    v.ibv_attach_mcast(qp, "ff0e::9", 0);
    v.ibv_attach_mcast(queues[0]!, GROUP, 0);
    expect(refused(() => v.ibv_destroy_qp(qp))).toMatchObject({ code: "EBUSY", path: "qp" });
    v.ibv_detach_mcast(qp, GROUP, 0);
    v.ibv_detach_mcast(qp, "ff0e::9", 0);
    v.ibv_detach_mcast(queues[0]!, GROUP, 0);
    expect(station.device.memoryUsed).toBe(memoryUsed);
    expect(v.ibv_destroy_qp(qp)).toBe(0);
  });

  test("is refused where it cannot be in a group", async () => {
    const { pd, cq } = station;
    const qp = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap: {} });
    expect(refused(() => v.ibv_attach_mcast(qp, GROUP, 0))).toMatchObject({ code: "EINVAL", reason: "bad_state" });
    const raw = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_RAW_PACKET, send_cq: cq, recv_cq: cq, cap: {} });
    expect(refused(() => v.ibv_attach_mcast(raw, GROUP, 0))).toMatchObject({ code: "EINVAL", reason: "bad_object" });
    for (const gid of ["fe80::1", "10.0.0.1"]) {
      expect(refused(() => v.ibv_attach_mcast(queues[0]!, gid, 0))).toMatchObject({ code: "EINVAL", path: "gid" });
    }
    expect(refused(() => v.ibv_attach_mcast(queues[0]!, GROUP, 0x10000))?.path).toBe("lid");
    expect(refused(() => v.ibv_detach_mcast(queues[0]!, GROUP, 0))).toMatchObject({ code: "EINVAL", path: "gid" });
    expect(() => v.ibv_attach_mcast(queues[0]!, 7 as never, 0)).toThrow(TypeError);
  });

  test("finds limits that the device reports", async () => {
    const device: Device = await createDevice({ limits: { max_mcast_grp: 1 } });
    const context = v.ibv_open_device(device);
    const { max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach } = v.ibv_query_device(context);
    expect([max_mcast_grp, max_total_mcast_qp_attach]).toEqual([1, max_mcast_qp_attach]);
    const pd = v.ibv_alloc_pd(context);
    const cq = v.ibv_create_cq(context, 1);
    const make = (): QueuePair => {
      const qp = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap: {} });
      climb(qp, 1, 1);
      return qp;
    };
    for (let i = 0; i < max_mcast_qp_attach; i++) v.ibv_attach_mcast(make(), GROUP, 0);
    const last = make();
    expect(refused(() => v.ibv_attach_mcast(last, GROUP, 0))).toMatchObject({ code: "ENOMEM", path: "gid" });
    expect(refused(() => v.ibv_attach_mcast(last, "ff0e::1", 0))).toMatchObject({ code: "ENOMEM", path: "device" });
    expect(v.ibv_destroy_qp(last)).toBe(0);
  });
});
