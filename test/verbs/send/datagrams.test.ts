/** Datagrams that UD queue pairs receive by their numbers: the GRH and the payload, as in C. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Device, Outcome } from "../../../src/index.js";
import type { AddressHandle } from "../../../src/model/queue/addressHandle.js";
import type { SendRequest } from "../../../src/model/queuePair/sendQueue.js";
import { bytesOf, hexOf } from "../../../src/packet/bytes.js";
import { invariantCrc } from "../../../src/packet/icrc.js";
import * as v from "../../../src/verbs/index.js";
import { climb, openStation, postBuffers, received, request, type Station } from "../support/queuePairs.js";

const QKEY = 0x8001_0000;
const PAYLOAD = new TextEncoder().encode("hello");
const MACS = ["02:00:00:00:00:0a", "02:00:00:00:00:0b"];
/** The EUI-64 link-local GIDs of both MACs. */
const LEFT_GID = "fe80000000000000000000fffe00000a";
const RIGHT_GID = "fe80000000000000000000fffe00000b";

let left: Station;
let right: Station;
/** Frames that left the port of the left station. */
let wire: Uint8Array[];
/** Changes a frame on the cable. */
let onWire: (frame: Uint8Array) => Uint8Array;

beforeEach(async () => {
  left = await openStation({ name: "left", type: v.IBV_QPT_UD, macs: [MACS[0]!], gids: [["10.0.0.1"]] });
  right = await openStation({ name: "right", type: v.IBV_QPT_UD, macs: [MACS[1]!], gids: [["10.0.0.2"]] });
  wire = [];
  onWire = (frame) => frame;
  left.device.connect(1, (frame) => {
    wire.push(frame.slice());
    right.device.receive(1, onWire(frame));
  });
  postBuffers(right, 4);
});

function address(dgid: string, sgid_index: number, dmac?: string): AddressHandle {
  const grh = { dgid, sgid_index, hop_limit: 7, traffic_class: 0x42, flow_label: 0x12345 };
  return v.ibv_create_ah(left.pd, { is_global: 1, port_num: 1, grh, dmac });
}
const overIpv6 = (): AddressHandle => address("fe80::ff:fe00:b", 0);
const overIpv4 = (): AddressHandle => address("10.0.0.2", 1, MACS[1]);

function send(payload: Uint8Array, more: Partial<SendRequest> = {}, ud: object = {}): void {
  const address = { ah: overIpv6(), remote_qpn: right.qp.qp_num, remote_qkey: QKEY, ...ud };
  v.ibv_post_send(left.qp, request(left, payload, { wr: { ud: address }, ...more }));
}

const SUCCESS = { status: v.IBV_WC_SUCCESS, opcode: v.IBV_WC_RECV };

describe("a datagram", () => {
  test("arrives over IPv6 with the header as GRH", () => {
    send(PAYLOAD);
    expect(v.ibv_poll_cq(right.cq, 9)).toEqual([
      {
        wr_id: 100,
        ...SUCCESS,
        vendor_err: 0,
        byte_len: 45,
        imm_data: 0,
        qp_num: right.qp.qp_num,
        src_qp: left.qp.qp_num,
        wc_flags: v.IBV_WC_GRH,
        pkey_index: 0,
        slid: 0,
        sl: 0,
        dlid_path_bits: 0,
        flow_tag: 0,
      },
    ]);
    // Payload length: UDP 8, BTH 12, DETH 8, 5 + 3, ICRC 4.
    const grh = `6421234500281107${LEFT_GID}${RIGHT_GID}`;
    expect(hexOf(received(right, 0, 48))).toBe(`${grh}68656c6c6f000000`);
  });

  test("arrives over IPv4 with the header in the last 20 bytes of the GRH", () => {
    send(PAYLOAD, {}, { ah: overIpv4() });
    expect(v.ibv_poll_cq(right.cq, 9)).toMatchObject([{ ...SUCCESS, byte_len: 45, wc_flags: v.IBV_WC_GRH }]);
    // Length: IPv4 20, UDP 8, BTH 12, DETH 8, 5 + 3, ICRC 4. The checksum is that of RFC 1071.
    const header = "4542003c000040000711" + "5f6d" + "0a0000010a000002";
    expect(hexOf(received(right, 0, 48))).toBe(`${"00".repeat(20)}${header}68656c6c6f000000`);
  });

  test("has immediate data, and lengths from 0 to the MTU", () => {
    const opcode = v.IBV_WR_SEND_WITH_IMM;
    send(new Uint8Array(0), { opcode, imm_data: 0xfedc_ba98 });
    const flags = v.IBV_WC_GRH | v.IBV_WC_WITH_IMM;
    expect(v.ibv_poll_cq(right.cq, 9)).toMatchObject([{ byte_len: 40, imm_data: 0xfedc_ba98, wc_flags: flags }]);
    const addr = new Uint8Array(40 + 4096);
    const { lkey } = v.ibv_reg_mr(right.pd, addr, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    v.ibv_post_recv(right.qp, { wr_id: 9, sg_list: [{ addr, lkey }] });
    const bytes = Uint8Array.from({ length: 4096 }, (_, i) => i * 7);
    // The buffers of 2 KiB are used first.
    for (let i = 0; i < 3; i++) send(PAYLOAD);
    send(bytes);
    expect(v.ibv_poll_cq(right.cq, 9).at(-1)).toMatchObject({ wr_id: 9, ...SUCCESS, byte_len: 4136 });
    expect(addr.subarray(40)).toEqual(bytes);
  });

  test("fits a buffer of exactly 40 bytes more, with any scatter entries", async () => {
    const cap = { max_recv_wr: 4, max_recv_sge: 3 };
    const { pd, cq, memory, mr } = right;
    const qp = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap });
    climb(qp);
    const entry = (at: number, length: number) => ({ addr: memory.subarray(at, at + length), lkey: mr.lkey });
    v.ibv_post_recv(qp, { wr_id: 1, sg_list: [entry(0, 40), entry(100, 2), entry(200, 3)] });
    v.ibv_post_recv(qp, { wr_id: 2, sg_list: [entry(300, 44)] });
    send(PAYLOAD, {}, { remote_qpn: qp.qp_num });
    send(PAYLOAD, {}, { remote_qpn: qp.qp_num });
    expect(v.ibv_poll_cq(cq, 9)).toMatchObject([
      { wr_id: 1, ...SUCCESS, byte_len: 45 },
      { wr_id: 2, status: v.IBV_WC_LOC_LEN_ERR, byte_len: 0, wc_flags: 0 },
    ]);
    expect(hexOf(memory.subarray(100, 103)) + hexOf(memory.subarray(200, 204))).toBe("686500" + "6c6c6f00");
    expect(memory.subarray(300, 344).every((byte) => byte === 0)).toBe(true);
    // SPEC: the queue pair stays as it is, as for raw packets.
    expect(qp.state).toBe(v.IBV_QPS_RTS);
    expect(right.device.reasons().receive_buffer_too_short).toBe(1n);
  });

  test("comes through a VLAN, whose priority is the SL", () => {
    onWire = (frame) => Uint8Array.of(...frame.subarray(0, 12), 0x81, 0, 0xa0, 5, ...frame.subarray(12));
    send(PAYLOAD);
    expect(v.ibv_poll_cq(right.cq, 9)).toMatchObject([{ ...SUCCESS, byte_len: 45, sl: 5, slid: 0 }]);
  });

  test("of a queue pair to itself, and to another one of the device, is looped back", () => {
    postBuffers(left, 2);
    const ah = address("fe80::ff:fe00:a", 0);
    send(PAYLOAD, {}, { ah, remote_qpn: left.qp.qp_num });
    expect(v.ibv_poll_cq(left.cq, 9)).toMatchObject([{ ...SUCCESS, src_qp: left.qp.qp_num, byte_len: 45 }]);
    expect(wire).toEqual([]);
  });

  test("asks for an event", () => {
    const channel = v.ibv_create_comp_channel(right.context);
    const cq = v.ibv_create_cq(right.context, 8, null, channel, 0);
    const cap = { max_recv_wr: 4, max_recv_sge: 1 };
    const qp = v.ibv_create_qp(right.pd, { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap });
    climb(qp);
    const { memory, mr } = right;
    for (const wr_id of [1, 2])
      v.ibv_post_recv(qp, { wr_id, sg_list: [{ addr: memory.subarray(0, 64), lkey: mr.lkey }] });
    v.ibv_req_notify_cq(cq, 1);
    send(PAYLOAD, {}, { remote_qpn: qp.qp_num });
    expect(() => v.ibv_get_cq_event(channel)).toThrow("EAGAIN");
    send(PAYLOAD, { send_flags: v.IBV_SEND_SOLICITED }, { remote_qpn: qp.qp_num });
    expect(v.ibv_get_cq_event(channel).cq).toBe(cq);
  });

  test("takes requests of a shared receive queue", () => {
    const { pd, cq, memory, mr } = right;
    const srq = v.ibv_create_srq(pd, { attr: { max_wr: 4, max_sge: 1 } });
    const qp = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap: {}, srq });
    climb(qp);
    v.ibv_post_srq_recv(srq, { wr_id: 77, sg_list: [{ addr: memory.subarray(0, 64), lkey: mr.lkey }] });
    send(PAYLOAD, {}, { remote_qpn: qp.qp_num });
    expect(v.ibv_poll_cq(cq, 9)).toMatchObject([{ wr_id: 77, ...SUCCESS, byte_len: 45, qp_num: qp.qp_num }]);
    expect(hexOf(memory.subarray(40, 45))).toBe("68656c6c6f");
  });

  test("is built by calls", () => {
    const { pd, cq } = left;
    const cap = { max_send_wr: 4, max_send_sge: 1, max_inline_data: 64 };
    const init = { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap, pd };
    const comp_mask = v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    const send_ops_flags = v.IBV_QP_EX_WITH_SEND | v.IBV_QP_EX_WITH_SEND_WITH_IMM;
    const qp = v.ibv_create_qp_ex(left.context, { ...init, comp_mask, send_ops_flags });
    climb(qp);
    const qpx = v.ibv_qp_to_qp_ex(qp);
    v.ibv_wr_start(qpx);
    v.ibv_wr_send_imm(qpx, 7);
    v.ibv_wr_set_ud_addr(qpx, overIpv6(), right.qp.qp_num, QKEY);
    v.ibv_wr_set_inline_data(qpx, PAYLOAD);
    v.ibv_wr_complete(qpx);
    expect(v.ibv_poll_cq(right.cq, 9)).toMatchObject([{ ...SUCCESS, byte_len: 45, imm_data: 7, src_qp: qp.qp_num }]);
  });
});

describe("a packet that is not accepted", () => {
  let outcomes: Outcome[];
  /** The reason, after which no buffer is used. */
  function dropped(
    change: (frame: Uint8Array) => Uint8Array,
    more: Partial<SendRequest> = {},
    ud: object = {},
  ): unknown {
    outcomes = [];
    left.device.disconnect(1);
    left.device.connect(1, (frame) => outcomes.push(right.device.receive(1, change(frame.slice()))));
    send(PAYLOAD, more, ud);
    expect(v.ibv_poll_cq(right.cq, 9)).toEqual([]);
    const [{ verdict, reason, to } = { verdict: null, reason: null, to: [] }] = outcomes;
    expect([verdict, to]).toEqual([reason === "no_rule" ? "miss" : "drop", []]);
    return reason;
  }
  /** Writes the ICRC of a frame over IPv6. */
  function sealed(frame: Uint8Array): Uint8Array {
    frame.set(bytesOf(invariantCrc(frame.subarray(14, -4)), 4), frame.length - 4);
    return frame;
  }
  const at = (i: number, byte: number) => (frame: Uint8Array) => sealed(frame.fill(byte, i, i + 1));
  const same = (frame: Uint8Array): Uint8Array => frame;

  test("has another Q_Key", () => {
    expect(dropped(same, {}, { remote_qkey: 5 })).toBe("wrong_qkey");
    expect(right.device.reasons()).toMatchObject({ wrong_qkey: 1n, bad_datagram: 0n });
    // A modified Q_Key is compared from then on.
    v.ibv_modify_qp(right.qp, { qkey: 5 }, v.IBV_QP_QKEY);
    left.device.disconnect(1);
    left.device.connect(1, right.device, 1);
    send(PAYLOAD, {}, { remote_qkey: 5 });
    expect(v.ibv_poll_cq(right.cq, 9)).toMatchObject([{ wr_id: 100, ...SUCCESS }]);
  });

  const BTH = 14 + 40 + 8;
  test.each([
    ["a wrong ICRC", (frame: Uint8Array) => frame.fill(1, BTH + 20, BTH + 21)],
    ["the opcode of RC", at(BTH, 0x04)],
    ["the opcode SEND_FIRST of UD", at(BTH, 0x60)],
    ["another version of the transport", at(BTH + 1, 0x71)],
    ["a length of UDP that is not that of IP", at(14 + 40 + 5, 41)],
    ["fewer bytes than IP says", (frame: Uint8Array) => frame.subarray(0, -1)],
  ])("has %s", (_, change) => {
    expect(dropped(change)).toBe("bad_datagram");
    expect(right.device.reasons().bad_datagram).toBe(1n);
  });

  test("is shorter than its headers", () => {
    const cut = (frame: Uint8Array): Uint8Array => {
      const short = frame.slice(0, BTH + 12 + 8);
      short.set([0, 8 + 12 + 8], 18);
      short.set([0, 8 + 12 + 8], 14 + 40 + 4);
      return short;
    };
    expect(dropped(cut)).toBe("bad_datagram");
  });

  test("is for another number, port or MAC", () => {
    expect(dropped(same, {}, { remote_qpn: 0x1234 })).toBe("no_rule");
    expect(dropped((frame) => frame.fill(9, 5, 6))).toBe("no_rule");
  });

  test("finds no request, no room for its completion, or a queue pair that does not receive", () => {
    const reset = (): unknown => v.ibv_modify_qp(right.qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    reset();
    expect(dropped(same)).toBe("no_rule");
    climb(right.qp);
    expect(dropped(same)).toBe("no_receive_buffer");
  });
});

test("other frames, which flows lead to the queue pair, arrive whole", () => {
  const flow = { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] };
  v.ibv_create_flow(right.qp, flow);
  send(PAYLOAD, {}, { remote_qpn: 0x1234 });
  const [frame] = wire as [Uint8Array];
  expect(v.ibv_poll_cq(right.cq, 9)).toMatchObject([{ ...SUCCESS, byte_len: frame.length, src_qp: 0, wc_flags: 0 }]);
  expect(received(right, 0, frame.length)).toEqual(frame);
});

test("the rule goes with the queue pair, and leaves no memory", () => {
  const { device, pd, cq } = right;
  const make = (): void => {
    const qp = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap: {} });
    climb(qp);
    v.ibv_destroy_qp(qp);
  };
  make();
  const { memoryUsed }: Device = device;
  for (let i = 0; i < 100; i++) make();
  expect(device.memoryUsed).toBe(memoryUsed);
});

describe("memory that is not registered any more", () => {
  test("fails the request of a datagram, and the queue pair", () => {
    const { pd, qp, cq, memory } = right;
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    climb(qp);
    const mr = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    for (const wr_id of [1, 2]) {
      v.ibv_post_recv(qp, { wr_id, sg_list: [{ addr: memory.subarray(0, 64), lkey: mr.lkey }] });
    }
    v.ibv_dereg_mr(mr);
    send(PAYLOAD);
    expect(v.ibv_poll_cq(cq, 9)).toMatchObject([
      { wr_id: 1, status: v.IBV_WC_LOC_PROT_ERR },
      { wr_id: 2, status: v.IBV_WC_WR_FLUSH_ERR },
    ]);
    expect(memory.subarray(0, 64).every((byte) => byte === 0)).toBe(true);
    expect(qp.state).toBe(v.IBV_QPS_ERR);
  });

  test("fails raw packet queue pairs in the middle of a batch, and later frames of it are flushed", async () => {
    const station = await openStation();
    const { pd, qp, cq, memory, mr } = station;
    v.ibv_create_flow(qp, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    const gone = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    for (const [wr_id, { lkey }] of [mr, gone, mr, mr].entries()) {
      v.ibv_post_recv(qp, { wr_id, sg_list: [{ addr: memory.subarray(100 * wr_id, 100 * wr_id + 100), lkey }] });
    }
    v.ibv_dereg_mr(gone);
    const frames = [1, 2, 3].map((byte) => new Uint8Array(60).fill(byte));
    station.device.receiveBatch(1, frames);
    expect(v.ibv_poll_cq(cq, 9).map(({ wr_id, status, byte_len }) => [wr_id, status, byte_len])).toEqual([
      [0, v.IBV_WC_SUCCESS, 60],
      [1, v.IBV_WC_LOC_PROT_ERR, 0],
      [2, v.IBV_WC_WR_FLUSH_ERR, 0],
      [3, v.IBV_WC_WR_FLUSH_ERR, 0],
    ]);
    expect(memory.subarray(100, 400).every((byte) => byte === 0)).toBe(true);
    expect(qp.state).toBe(v.IBV_QPS_ERR);
  });
});
