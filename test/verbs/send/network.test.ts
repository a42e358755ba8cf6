/** Devices that communicate by work requests. */
import { describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { climb, openStation, postBuffers, received, request, type Station } from "../support/queuePairs.js";

/** A rule of the root table of a station: frames with these fields go to its queue pair. */
function steer({ context, qp }: Station, fields: Parameters<typeof dv.matchParameters>[0]): void {
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const { match_criteria_enable, mask, value } = dv.matchParameters(fields);
  const matcher = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, match_criteria_enable, mask);
  dv.mlx5dv_dr_rule_create(matcher, value, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(qp)]);
}

describe("two devices", () => {
  test("exchange frames, each of which has arrived when its request is posted", async () => {
    const left = await openStation({ name: "left" });
    const right = await openStation({ name: "right" });
    left.device.connect(1, right.device, 1);
    steer(left, { "outer.tcp_dport": 1000 });
    steer(right, { "outer.tcp_dport": 2000 });
    for (const station of [left, right]) postBuffers(station, 8);
    for (let i = 0; i < 4; i++) {
      const ping = ipv4Frame({ dport: 2000, length: 64 + i });
      const pong = ipv4Frame({ dport: 1000, length: 164 + i });
      v.ibv_post_send(left.qp, request(left, ping, { wr_id: i, send_flags: v.IBV_SEND_SIGNALED }));
      expect(v.ibv_poll_cq(left.cq, 9)).toMatchObject([{ wr_id: i, opcode: v.IBV_WC_SEND }]);
      const got = { wr_id: 100 + i, status: v.IBV_WC_SUCCESS, opcode: v.IBV_WC_RECV };
      expect(v.ibv_poll_cq(right.cq, 9)).toMatchObject([{ ...got, byte_len: ping.length }]);
      expect(received(right, i, ping.length)).toEqual(ping);
      v.ibv_post_send(right.qp, request(right, pong));
      expect(v.ibv_poll_cq(left.cq, 9)).toMatchObject([{ ...got, byte_len: pong.length }]);
      expect(received(left, i, pong.length)).toEqual(pong);
    }
    expect(v.ibv_poll_cq(right.cq, 9)).toEqual([]);
  });

  test("lose what nobody there wants, and complete all the same", async () => {
    const left = await openStation({ name: "left" });
    const right = await openStation({ name: "right" });
    left.device.connect(1, right.device, 1);
    v.ibv_post_send(left.qp, request(left, ipv4Frame(), { send_flags: v.IBV_SEND_SIGNALED }));
    expect(v.ibv_poll_cq(left.cq, 9)).toMatchObject([{ status: v.IBV_WC_SUCCESS }]);
    expect(right.device.reasons().no_rule).toBe(1n);
  });

  test("have datagrams steered by the numbers in them", async () => {
    const left = await openStation({ name: "left", type: v.IBV_QPT_UD, gids: [["10.0.0.1"]] });
    const right = await openStation({ name: "right", gids: [["10.0.0.2"]] });
    left.device.connect(1, right.device, 1);
    steer(right, { "misc.bth_dst_qp": 0x1234 });
    postBuffers(right, 4);
    const grh = { dgid: "10.0.0.2", sgid_index: 1, hop_limit: 64 };
    const ah = v.ibv_create_ah(left.pd, { grh, is_global: 1, port_num: 1, dmac: "02:00:00:00:00:02" });
    const send = (remote_qpn: number): void => {
      const wr = { ud: { ah, remote_qpn, remote_qkey: 1 } };
      v.ibv_post_send(left.qp, request(left, new TextEncoder().encode("four"), { wr }));
    };
    send(0x1234);
    send(0x1235);
    // Complete, with all headers: Ethernet, IPv4, UDP, BTH, DETH, payload, ICRC.
    const length = 14 + 20 + 8 + 12 + 8 + 4 + 4;
    expect(v.ibv_poll_cq(right.cq, 9)).toMatchObject([{ wr_id: 100, byte_len: length, src_qp: 0, wc_flags: 0 }]);
    expect(right.device.reasons().no_rule).toBe(1n);
    const [parsed] = right.device.parseBatch([received(right, 0, length)]);
    expect(parsed?.fields).toMatchObject({ "outer.ipv4_src": "10.0.0.1", "outer.ipv4_dst": "10.0.0.2" });
    expect(parsed?.fields).toMatchObject({ "misc.bth_dst_qp": 0x1234, "misc.bth_opcode": 0x64 });
  });
});

test("a completion of a send comes before that of the frame coming back", async () => {
  const station = await openStation();
  postBuffers(station, 2);
  steer(station, { "outer.tcp_dport": 80 });
  const wr = request(station, ipv4Frame({ dport: 80 }), { wr_id: 7, send_flags: v.IBV_SEND_SIGNALED });
  v.ibv_post_send(station.qp, wr);
  const opcodes = v.ibv_poll_cq(station.cq, 9).map(({ wr_id, opcode }) => [wr_id, opcode]);
  expect(opcodes).toEqual([
    [7, v.IBV_WC_SEND],
    [100, v.IBV_WC_RECV],
  ]);
});

test("completions of sends have the time when they are asked for it", async () => {
  const station = await openStation();
  const cq = v.ibv_create_cq_ex(station.context, {
    cqe: 4,
    wc_flags: v.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | v.IBV_WC_EX_WITH_BYTE_LEN,
  });
  const cap = { max_send_wr: 2, max_send_sge: 1 };
  const qp = v.ibv_create_qp(station.pd, { send_cq: cq, recv_cq: station.cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
  climb(qp);
  for (const wr_id of [1, 2]) {
    station.device.advance(5n);
    v.ibv_post_send(qp, request(station, ipv4Frame(), { wr_id, send_flags: v.IBV_SEND_SIGNALED }));
  }
  expect(v.ibv_start_poll(cq)).toBe(0);
  expect([v.ibv_wc_read_opcode(cq), v.ibv_wc_read_byte_len(cq), v.ibv_wc_read_completion_ts(cq)]).toEqual([0, 64, 5n]);
  // The slot of the first is free again.
  v.ibv_post_send(qp, request(station, ipv4Frame(), { wr_id: 3 }));
  expect(v.ibv_next_poll(cq)).toBe(0);
  expect([cq.wr_id, v.ibv_wc_read_completion_ts(cq)]).toEqual([2, 10n]);
});
