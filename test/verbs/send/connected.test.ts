/** Messages of RC and UC queue pairs: on one device, over a cable, in one packet and in several. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, type Device } from "../../../src/index.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import {
  attributesOf,
  connectWatched,
  inSlot,
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
} from "../support/connected.js";

const { IBV_QPT_RC: RC, IBV_QPT_UC: UC } = v;
const MTU = 1024;
const OK = v.IBV_WC_SUCCESS;

/** Two ends on one device, or on two with a cable between them. */
const PLACES: Readonly<Record<string, (options: EndOptions) => Promise<[End, End]>>> = {
  "one device": async (options) => {
    const device = await createDevice({ gids: [["10.0.0.1"]] });
    return [openEnd(device, options), openEnd(device, options)];
  },
  "two devices": async (options) => {
    const [left, right] = await openPair();
    left.connect(1, right, 1);
    return [openEnd(left, options), openEnd(right, options)];
  },
  "two devices, whose frames cross in one array that is used again": async (options) => {
    const [left, right] = await openPair();
    for (const [from, to] of [
      [left, right],
      [right, left],
    ] as const) {
      const room = new Uint8Array(2 * MTU);
      from.connect(1, (frame) => {
        room.set(frame);
        to.receive(1, room.subarray(0, frame.length));
        room.fill(0xff);
      });
    }
    return [openEnd(left, options), openEnd(right, options)];
  },
  "two ports of one device, with a cable": async (options) => {
    const device = await createDevice({ ports: 2, gids: [["10.0.0.1"], ["10.0.0.2"]] });
    device.connect(1, device, 2);
    return [openEnd(device, options), openEnd(device, { ...options, port: 2 })];
  },
};

const LENGTHS = [0, 1, 3, MTU - 1, MTU, MTU + 1, 2 * MTU, 5 * MTU + 7];

describe.each(Object.entries(PLACES))("%s", (_, open) => {
  describe.each([
    ["RC, IPv6", RC, 0],
    ["RC, IPv4", RC, 1],
    ["UC, IPv6", UC, 0],
    ["UC, IPv4", UC, 1],
  ])("%s", (_name, type, gid) => {
    test("messages of all lengths arrive, both ways", async () => {
      const [a, b] = await open({ type });
      join(a, b, {}, gid);
      for (const [from, to] of [
        [a, b],
        [b, a],
      ] as const) {
        postReceives(to, LENGTHS.length);
        for (const [i, length] of LENGTHS.entries()) {
          const bytes = pattern(length, i);
          post(from, bytes, { wr_id: i });
          expect(v.ibv_poll_cq(from.sent, 9)).toMatchObject([
            { wr_id: i, status: OK, opcode: v.IBV_WC_SEND, byte_len: length, qp_num: from.qp.qp_num },
          ]);
          expect(v.ibv_poll_cq(to.received, 9)).toMatchObject([
            {
              wr_id: 100 + i,
              status: OK,
              opcode: v.IBV_WC_RECV,
              byte_len: length,
              qp_num: to.qp.qp_num,
              src_qp: from.qp.qp_num,
              wc_flags: 0,
              imm_data: 0,
            },
          ]);
          expect(inSlot(to, i, length)).toEqual(bytes);
          // The bytes after them are unchanged.
          expect(inSlot(to, i, length + 1)[length]).toBe(0);
        }
      }
      expect(a.qp.hw_counters).toEqual(b.qp.hw_counters);
      expect(Object.values(a.qp.hw_counters ?? {}).every((count) => count === 0)).toBe(true);
    });

    test("immediate data comes with them", async () => {
      const [a, b] = await open({ type });
      join(a, b, {}, gid);
      postReceives(b);
      for (const [i, length] of [0, 5, 2 * MTU + 1].entries()) {
        const imm_data = 0xdead_bee0 + i;
        post(a, pattern(length), { opcode: v.IBV_WR_SEND_WITH_IMM, imm_data });
        expect(v.ibv_poll_cq(b.received, 9)).toMatchObject([
          { wr_id: 100 + i, byte_len: length, imm_data, wc_flags: v.IBV_WC_WITH_IMM },
        ]);
        expect(inSlot(b, i, length)).toEqual(pattern(length));
      }
    });
  });
});

describe("packets", () => {
  let left: Device;
  let right: Device;
  let wire: Wire;
  beforeEach(async () => {
    [left, right] = await openPair();
    wire = connectWatched(left, right);
  });

  function pair(options: EndOptions, change = {}): [End, End] {
    const [a, b] = [openEnd(left, options), openEnd(right, options)];
    join(a, b, change);
    postReceives(b);
    return [a, b];
  }
  const crossed = (): [number, number][] =>
    wire.frames.splice(0).map((frame) => {
      const { opcode, psn } = packetOf(frame);
      return [opcode, psn];
    });

  test("are FIRST, MIDDLE, LAST or ONLY, and numbers go on behind the last one of 24 bits", () => {
    const [a, b] = pair({}, { sq_psn: 0xfffffe, rq_psn: 0xfffffe });
    post(a, pattern(3 * MTU + 1));
    expect(crossed()).toEqual([
      [0, 0xfffffe],
      [1, 0xffffff],
      [1, 0],
      [2, 1],
      [0x11, 1],
    ]);
    post(a, pattern(2 * MTU), { opcode: v.IBV_WR_SEND_WITH_IMM });
    post(a, pattern(MTU));
    post(a, new Uint8Array(), { opcode: v.IBV_WR_SEND_WITH_IMM });
    expect(crossed()).toEqual([
      [0, 2],
      [3, 3],
      [0x11, 3],
      [4, 4],
      [0x11, 4],
      [5, 5],
      [0x11, 5],
    ]);
    expect(v.ibv_query_qp(a.qp).attr).toMatchObject({ sq_psn: 6 });
    expect(v.ibv_query_qp(b.qp).attr).toMatchObject({ rq_psn: 6 });
    expect(statuses(b.received).map(([, status]) => status)).toEqual([OK, OK, OK, OK]);
  });

  test("of UC have operations of their own, and nobody answers", () => {
    const [a, b] = pair({ type: UC }, { sq_psn: 7, rq_psn: 7 });
    post(a, pattern(2 * MTU + 1), { opcode: v.IBV_WR_SEND_WITH_IMM });
    post(a, pattern(1));
    expect(crossed()).toEqual([
      [0x20, 7],
      [0x21, 8],
      [0x23, 9],
      [0x24, 10],
    ]);
    expect(statuses(b.received)).toEqual([
      [100, OK],
      [101, OK],
    ]);
  });

  test.each([
    [v.IBV_MTU_256, 256],
    [v.IBV_MTU_512, 512],
    [v.IBV_MTU_1024, 1024],
    [v.IBV_MTU_2048, 2048],
    [v.IBV_MTU_4096, 4096],
  ])("are as long as path_mtu %i says", (path_mtu, bytes) => {
    const [a, b] = pair({}, { path_mtu });
    post(a, pattern(2 * bytes + 2));
    const lengths = wire.frames.splice(0).map((frame) => packetOf(frame).length);
    // Ethernet, IPv6, UDP, BTH, ICRC; two bytes are padded to four.
    const rest = 14 + 40 + 8 + 12 + 4;
    expect(lengths).toEqual([bytes + rest, bytes + rest, 4 + rest, 4 + rest]);
    expect(inSlot(b, 0, 2 * bytes + 2)).toEqual(pattern(2 * bytes + 2));
  });

  test("of the longest message there is", () => {
    const [a, b] = pair({ attributes: { cap: { max_send_wr: 4, max_send_sge: 1, max_recv_wr: 4, max_recv_sge: 8 } } });
    const { max_msg_sz } = v.ibv_query_port(a.context, 1);
    const sg_list = [0, 1, 2, 3].map((i) => ({
      addr: b.memory.subarray(i * (max_msg_sz / 4), (i + 1) * (max_msg_sz / 4)),
      lkey: b.mr.lkey,
    }));
    v.ibv_modify_qp(b.qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    raise(b, attributesOf(b, a));
    v.ibv_post_recv(b.qp, { wr_id: 7, sg_list });
    const bytes = pattern(max_msg_sz);
    post(a, bytes);
    expect([statuses(a.sent), statuses(b.received)]).toEqual([[[1, OK]], [[7, OK]]]);
    expect(b.memory.subarray(0, max_msg_sz)).toEqual(bytes);
    const addr = new Uint8Array(a.memory.buffer, 0, max_msg_sz + 1);
    const wr = { wr_id: 1, sg_list: [{ addr, lkey: a.mr.lkey }], opcode: v.IBV_WR_SEND };
    expect(refused(() => v.ibv_post_send(a.qp, wr))).toMatchObject({ code: "EINVAL", reason: "bad_frame" });
  });

  test("the last one of a message has the solicited event, and alone asks to be acknowledged", () => {
    const [a] = pair({});
    post(a, pattern(2 * MTU), { send_flags: v.IBV_SEND_SOLICITED | v.IBV_SEND_FENCE });
    const bits = wire.frames.splice(0).map((frame) => [frame[63], frame[70]]);
    // SE and M; A. The acknowledgement has M only.
    expect(bits).toEqual([
      [0x40, 0],
      [0xc0, 0x80],
      [0x40, 0],
    ]);
    expect(statuses(a.sent)).toEqual([]);
  });
});

describe("requests", () => {
  let a: End;
  let b: End;
  beforeEach(async () => {
    const device = await createDevice();
    [a, b] = [openEnd(device), openEnd(device)];
    join(a, b);
    postReceives(b, 8);
  });

  test("complete when they are told to, behind the message that they send", () => {
    post(a, pattern(9), { send_flags: 0 });
    expect(statuses(a.sent)).toEqual([]);
    const cq = v.ibv_create_cq(a.context, 8);
    const cap = { max_send_wr: 2, max_send_sge: 1, max_recv_wr: 2, max_recv_sge: 1 };
    const qp = v.ibv_create_qp(a.pd, { send_cq: cq, recv_cq: cq, cap, qp_type: RC, sq_sig_all: 1 });
    // Connected to itself.
    const self: End = { ...a, qp };
    raise(self, attributesOf(self, self));
    postReceives(self, 1);
    post(self, pattern(30), { send_flags: 0 });
    expect(v.ibv_poll_cq(cq, 9)).toMatchObject([
      { wr_id: 100, opcode: v.IBV_WC_RECV, byte_len: 30 },
      { wr_id: 1, opcode: v.IBV_WC_SEND, byte_len: 30 },
    ]);
  });

  test("gather and scatter, and go inline from any memory", () => {
    const { lkey } = a.mr;
    a.memory.set(pattern(3000), 0);
    const sg_list = [
      { addr: a.memory.subarray(2000, 3000), lkey },
      { addr: a.memory.subarray(0, 2000), lkey },
    ];
    v.ibv_post_send(a.qp, { wr_id: 1, sg_list, opcode: v.IBV_WR_SEND });
    const sent = Uint8Array.of(...pattern(3000).subarray(2000), ...pattern(3000).subarray(0, 2000));
    expect(inSlot(b, 0, 3000)).toEqual(sent);
    const addr = pattern(64, 5);
    const inline = { wr_id: 2, sg_list: [{ addr, lkey: 0 }], opcode: v.IBV_WR_SEND, send_flags: v.IBV_SEND_INLINE };
    v.ibv_post_send(a.qp, inline);
    expect(inSlot(b, 1, 64)).toEqual(addr);
    expect(statuses(b.received)).toEqual([
      [100, OK],
      [101, OK],
    ]);
  });

  test("hold their places until a completion is polled", () => {
    for (let i = 0; i < 16; i++) {
      if (i === 8) postReceives(b, 8, 1 << 16, 0);
      post(a, pattern(1), { send_flags: i === 9 ? v.IBV_SEND_SIGNALED : 0 });
    }
    expect(refused(() => post(a, pattern(1)))).toMatchObject({ code: "ENOMEM", reason: "queue_full" });
    expect(statuses(a.sent)).toEqual([[1, OK]]);
    statuses(b.received);
    postReceives(b, 1);
    post(a, pattern(1));
    expect(statuses(a.sent)).toEqual([[1, OK]]);
  });

  test("that the device does not carry out are refused", () => {
    const attempt = (opcode: number, qp = a): (string | undefined)[] => {
      const error = refused(() => post(qp, pattern(4), { opcode }));
      return [error?.code, error?.reason, error?.path];
    };
    const lacks = ["EOPNOTSUPP", "unsupported", "wr.opcode"];
    const never = ["EINVAL", "bad_opcode", "wr.opcode"];
    for (const opcode of [7, 8, 9, 10]) expect(attempt(opcode)).toEqual(lacks);
    for (const opcode of [11, 99, -1]) expect(attempt(opcode)).toEqual(never);
    const [c, d] = [openEnd(a.device, { type: UC }), openEnd(a.device, { type: UC })];
    join(c, d);
    for (const opcode of [7, 8, 9, 10]) expect(attempt(opcode, c)).toEqual(lacks);
    for (const opcode of [4, 5, 6, 11]) expect(attempt(opcode, c)).toEqual(never);
    const flags = (end: End, send_flags: number): string | undefined =>
      refused(() => post(end, pattern(4), { send_flags }))?.reason;
    expect([flags(a, v.IBV_SEND_IP_CSUM), flags(c, v.IBV_SEND_FENCE), flags(a, 32)]).toEqual(
      Array.from({ length: 3 }, () => "bad_send_flags"),
    );
    expect([statuses(a.sent), statuses(b.received), statuses(c.sent)]).toEqual([[], [], []]);
  });

  test("of a queue pair that is not in RTS are refused, or flushed", () => {
    const c = openEnd(a.device);
    raise(c, attributesOf(c, a), 2);
    expect(refused(() => post(c, pattern(1)))).toMatchObject({ code: "EINVAL", reason: "bad_state", value: "RTR" });
    v.ibv_modify_qp(c.qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    post(c, pattern(1), { send_flags: 0 });
    expect(statuses(c.sent)).toEqual([[1, v.IBV_WC_WR_FLUSH_ERR]]);
  });
});

describe("connections", () => {
  test("have the port of their queue pair, and are refused without memory", async () => {
    const device = await createDevice({ ports: 2 });
    const [a, b] = [openEnd(device), openEnd(device)];
    const attr = attributesOf(a, b);
    raise(a, attr, 1);
    const before = v.ibv_query_qp(a.qp);
    const rtr = v.IBV_QP_STATE | v.IBV_QP_AV | v.IBV_QP_PATH_MTU | v.IBV_QP_DEST_QPN | v.IBV_QP_RQ_PSN;
    const mask = rtr | v.IBV_QP_MAX_DEST_RD_ATOMIC | v.IBV_QP_MIN_RNR_TIMER;
    const other = { ...attr, qp_state: v.IBV_QPS_RTR, ah_attr: { ...attr.ah_attr, port_num: 2 } as never };
    expect(refused(() => v.ibv_modify_qp(a.qp, other, mask))).toMatchObject({
      code: "EINVAL",
      reason: "bad_route",
      path: "attr.ah_attr.port_num",
    });
    const { exports } = device.core;
    exports.limitArena(device.memoryUsed);
    // It has no requests left either.
    for (let units = 4096; units >= 1; units /= 2) while (exports.createCounters(units) !== 0);
    const right = { ...attr, qp_state: v.IBV_QPS_RTR };
    expect(refused(() => v.ibv_modify_qp(a.qp, right, mask))?.code).toBe("ENOMEM");
    expect(v.ibv_query_qp(a.qp)).toEqual(before);
    exports.limitArena(1 << 24);
    v.ibv_modify_qp(a.qp, right, mask);
    expect(a.qp.state).toBe(v.IBV_QPS_RTR);
  });

  test("take memory while they stand, and give it back", async () => {
    const device = await createDevice();
    const [a, b] = [openEnd(device), openEnd(device)];
    const used = device.memoryUsed;
    for (const leave of [v.IBV_QPS_RESET, v.IBV_QPS_ERR]) {
      join(a, b);
      expect(device.memoryUsed).toBeGreaterThan(used);
      for (const { qp } of [a, b]) v.ibv_modify_qp(qp, { qp_state: leave }, v.IBV_QP_STATE);
      expect(device.memoryUsed).toBe(used);
      for (const { qp } of [a, b]) v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    }
    join(a, b);
    v.ibv_destroy_qp(a.qp);
    v.ibv_destroy_qp(b.qp);
    expect(device.memoryUsed).toBeLessThan(used);
  });

  test("begin anew after a reset", async () => {
    const [left, right] = await openPair();
    left.connect(1, right, 1);
    const [a, b] = [openEnd(left), openEnd(right)];
    join(a, b);
    postReceives(b, 2);
    post(a, pattern(3000));
    for (const { qp } of [a, b]) v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    join(a, b, { sq_psn: 77, rq_psn: 77 });
    postReceives(b, 1, 1 << 16, 5);
    post(a, pattern(2000, 3), { wr_id: 2 });
    expect(statuses(a.sent)).toEqual([
      [1, OK],
      [2, OK],
    ]);
    // Requests posted before the reset are discarded.
    expect(statuses(b.received)).toEqual([
      [100, OK],
      [105, OK],
    ]);
    expect(inSlot(b, 5, 2000)).toEqual(pattern(2000, 3));
  });

  test("between functions go where the eSwitch leads them", async () => {
    const device = await createDevice({ vports: 1 });
    const [pf, vf] = [openEnd(device), openEnd(device.function(1))];
    join(pf, vf, { retry_cnt: 1 });
    postReceives(pf);
    postReceives(vf);
    // Packets of a VF arrive at the PF; packets of the PF leave by the port, so no answer arrives.
    post(vf, pattern(5));
    expect(statuses(pf.received)).toEqual([[100, OK]]);
    expect(statuses(vf.sent)).toEqual([[1, v.IBV_WC_RETRY_EXC_ERR]]);
  });
});
