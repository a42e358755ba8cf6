/** A copy of a device with datagrams, and with operations on memory in transit, goes on as the device does. */
import { expect, test } from "vitest";
import { createDevice, type Device } from "../../src/index.js";
import { cloneDevice } from "../../src/snapshot/index.js";
import * as v from "../../src/verbs/index.js";
import { join, openEnd, pattern, postReceives } from "../verbs/support/connected.js";
import { climb, openStation, postBuffers, received, request } from "../verbs/support/queuePairs.js";

const ALL = v.IBV_ACCESS_LOCAL_WRITE | v.IBV_ACCESS_REMOTE_WRITE | v.IBV_ACCESS_REMOTE_READ;

function finish(device: Device): void {
  for (let next = device.nextDeadline(); next !== null; next = device.nextDeadline()) device.advanceTo(next);
}

test.each([
  ["READ", v.IBV_WR_RDMA_READ],
  ["WRITE", v.IBV_WR_RDMA_WRITE_WITH_IMM],
])("%s in transit", async (_, opcode) => {
  const length = 5000;
  for (let steps = 0; steps < 8; steps++) {
    const device = await createDevice({ ports: 2 });
    device.connect(1, device, 2, { delay: 1000n, rate: 1_000_000_000 });
    const [a, b] = [openEnd(device), openEnd(device, { port: 2 })];
    join(a, b, { qp_access_flags: ALL });
    postReceives(b, 1);
    const memory = pattern(length, 5);
    const { iova, rkey } = v.ibv_reg_mr(b.pd, memory, undefined, ALL);
    a.memory.set(pattern(length, 6));
    const sg_list = [{ addr: a.memory.subarray(0, length), lkey: a.mr.lkey }];
    const wr = { rdma: { remote_addr: iova, rkey } };
    v.ibv_post_send(a.qp, { wr_id: 1, opcode, send_flags: v.IBV_SEND_SIGNALED, imm_data: 9, sg_list, wr });
    for (let i = 0; i < steps; i++) device.advanceTo(device.nextDeadline() ?? device.now());
    const world = { device, a, b, memory };
    const { kept: copy } = await cloneDevice(device, { keep: world });
    for (const one of [copy, world]) {
      finish(one.device);
      expect(v.ibv_poll_cq(one.a.sent, 9)).toMatchObject([{ wr_id: 1, status: v.IBV_WC_SUCCESS }]);
      expect(v.ibv_poll_cq(one.b.received, 9).length).toBe(opcode === v.IBV_WR_RDMA_READ ? 0 : 1);
      expect(one.a.memory.subarray(0, length)).toEqual(one.memory);
    }
    expect(copy.memory).toEqual(memory);
  }
});

test("a UD queue pair receives datagrams with its number and its Q_Key", async () => {
  const station = await openStation({ type: v.IBV_QPT_UD });
  const { pd, cq } = station;
  const cap = { max_recv_wr: 1, max_recv_sge: 1 };
  climb(v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap }));
  postBuffers(station, 2);
  const { raw } = v.ibv_query_gid(station.context, 1, 0);
  const ah = v.ibv_create_ah(pd, { is_global: 1, port_num: 1, grh: { dgid: raw } });
  const { kept: copy } = await cloneDevice(station.device, { keep: { ...station, ah } });
  for (const remote_qkey of [1, 0x8001_0000]) {
    const ud = { ah: copy.ah, remote_qpn: copy.qp.qp_num, remote_qkey };
    v.ibv_post_send(copy.qp, request(copy, Uint8Array.of(1, 2, 3), { wr: { ud } }));
  }
  expect(v.ibv_poll_cq(copy.cq, 9)).toMatchObject([{ wr_id: 100, byte_len: 43, status: v.IBV_WC_SUCCESS }]);
  expect([...received(copy, 0, 43).subarray(40)]).toEqual([1, 2, 3]);
  expect(copy.device.reasons().wrong_qkey).toBe(1n);
  // The original has received nothing.
  expect(v.ibv_poll_cq(station.cq, 9)).toEqual([]);
});
