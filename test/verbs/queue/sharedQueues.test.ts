/** Shared receive queues: one list of requests for several queue pairs. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, type Device } from "../../../src/index.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import {
  inSlot,
  join,
  openEnd,
  openPair,
  pattern,
  post,
  postReceives,
  statuses,
  type End,
} from "../support/connected.js";
import { climb, openStation, type Station } from "../support/queuePairs.js";

let station: Station;
let srq: v.SharedReceiveQueue;

beforeEach(async () => {
  station = await openStation({ cqe: 32 });
  srq = v.ibv_create_srq(station.pd, { srq_context: "mine", attr: { max_wr: 4, max_sge: 1, srq_limit: 3 } });
});

/** A raw packet queue pair that takes all frames to a TCP port. */
function queuePair(dst_port: number, of = srq): QueuePair {
  const { pd, cq } = station;
  const qp = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_RAW_PACKET, send_cq: cq, recv_cq: cq, srq: of, cap: {} });
  climb(qp);
  v.ibv_create_flow(qp, {
    type: v.IBV_FLOW_ATTR_NORMAL,
    port: 1,
    specs: [{ type: v.IBV_FLOW_SPEC_TCP, val: { dst_port }, mask: { dst_port: 0xffff } }],
  });
  return qp;
}

function postTo(wr_id: number, length = 256): void {
  const addr = station.memory.subarray(1024 * wr_id, 1024 * wr_id + length);
  v.ibv_post_srq_recv(srq, { wr_id, sg_list: [{ addr, lkey: station.mr.lkey }] });
}

const frameTo = (dport: number): Uint8Array => ipv4Frame({ dport });
const completed = (): unknown[] =>
  v.ibv_poll_cq(station.cq, 99).map(({ wr_id, qp_num, status }) => [wr_id, qp_num, status]);

describe("requests", () => {
  test("go to the queue pair that has the next frame, also in a batch", () => {
    const [a, b] = [queuePair(80), queuePair(81)];
    for (const wr_id of [1, 2, 3, 4]) postTo(wr_id);
    const outcomes = station.device.receiveBatch(1, [81, 80, 80, 81, 81].map(frameTo));
    expect(outcomes.map(({ reason }) => reason)).toEqual([null, null, null, null, "no_receive_buffer"]);
    expect(completed()).toEqual([
      [1, b.qp_num, 0],
      [2, a.qp_num, 0],
      [3, a.qp_num, 0],
      [4, b.qp_num, 0],
    ]);
    expect(station.memory.slice(1024, 1024 + frameTo(81).length)).toEqual(frameTo(81));
    expect(station.memory.slice(2048, 2048 + frameTo(80).length)).toEqual(frameTo(80));
  });

  test("go round the ring as they are posted again", () => {
    const a = queuePair(80);
    for (let wr_id = 1; wr_id < 30; wr_id++) {
      postTo(wr_id);
      station.device.receive(1, frameTo(80));
      expect(completed()).toEqual([[wr_id, a.qp_num, 0]]);
    }
  });

  test("stay when a queue pair is reset, fails, or is destroyed", () => {
    const [a, b] = [queuePair(80), queuePair(81)];
    for (const wr_id of [1, 2]) postTo(wr_id);
    v.ibv_modify_qp(a, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    v.ibv_modify_qp(a, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    const { event_type, element } = v.ibv_get_async_event(station.context);
    expect(event_type).toBe(v.IBV_EVENT_QP_LAST_WQE_REACHED);
    expect("qp" in element && element.qp).toBe(a);
    station.device.receiveBatch(1, [81, 81].map(frameTo));
    expect(completed()).toEqual([
      [1, b.qp_num, 0],
      [2, b.qp_num, 0],
    ]);
  });

  test("that are too short complete with an error", () => {
    const a = queuePair(80);
    postTo(1, 8);
    station.device.receive(1, frameTo(80));
    expect(completed()).toEqual([[1, a.qp_num, v.IBV_WC_LOC_LEN_ERR]]);
  });

  test("are checked like those of a queue pair", () => {
    const { memory, mr, context } = station;
    const sg_list = [{ addr: memory.subarray(0, 8), lkey: mr.lkey }];
    const first = { wr_id: 1, sg_list, next: { wr_id: 2, sg_list: [...sg_list, ...sg_list] } };
    const bad: { wr?: v.ReceiveRequest } = {};
    expect(refused(() => v.ibv_post_srq_recv(srq, first, bad))?.path).toBe("wr.num_sge");
    expect(bad.wr?.wr_id).toBe(2);
    const other = v.ibv_reg_mr(v.ibv_alloc_pd(context), memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    const foreign = [{ addr: memory.subarray(0, 8), lkey: other.lkey }];
    expect(refused(() => v.ibv_post_srq_recv(srq, { wr_id: 3, sg_list: foreign }))?.reason).toBe("bad_key");
    for (const wr_id of [2, 3, 4]) postTo(wr_id);
    expect(refused(() => postTo(5))).toMatchObject({ code: "ENOMEM", reason: "queue_full", path: "srq" });
    const qp = queuePair(80);
    expect(refused(() => v.ibv_post_recv(qp, { wr_id: 9, sg_list }))).toMatchObject({ code: "EINVAL", path: "qp" });
  });
});

describe("the limit", () => {
  test("makes one event when fewer requests wait", () => {
    queuePair(80);
    for (const wr_id of [1, 2, 3, 4]) postTo(wr_id);
    expect(v.ibv_query_srq(srq)).toEqual({ max_wr: 4, max_sge: 1, srq_limit: 0 });
    v.ibv_modify_srq(srq, { srq_limit: 3 }, v.IBV_SRQ_LIMIT);
    expect(v.ibv_query_srq(srq).srq_limit).toBe(3);
    station.device.receive(1, frameTo(80));
    expect(refused(() => v.ibv_get_async_event(station.context))?.code).toBe("EAGAIN");
    station.device.receiveBatch(1, [80, 80].map(frameTo));
    const event = v.ibv_get_async_event(station.context);
    expect(event).toEqual({ event_type: v.IBV_EVENT_SRQ_LIMIT_REACHED, element: { srq } });
    expect(refused(() => v.ibv_get_async_event(station.context))?.code).toBe("EAGAIN");
    const attr: v.Out<v.SharedQueueLimits> = {};
    expect([v.ibv_query_srq(srq, attr), attr.srq_limit]).toEqual([0, 0]);
    // With one request left, a new limit is reached already.
    v.ibv_modify_srq(srq, { srq_limit: 2 }, v.IBV_SRQ_LIMIT);
    v.ibv_ack_async_event(v.ibv_get_async_event(station.context));
    v.ibv_ack_async_event(event);
  });

  test("is at most max_wr", () => {
    const change = (attr: object, mask: number): unknown => refused(() => v.ibv_modify_srq(srq, attr, mask));
    expect(change({ srq_limit: 5 }, v.IBV_SRQ_LIMIT)).toMatchObject({ code: "EINVAL", path: "srq_attr.srq_limit" });
    expect(change({}, 4)).toMatchObject({ code: "EINVAL", path: "srq_attr_mask" });
    expect(v.ibv_modify_srq(srq, {}, 0)).toBe(0);
    expect(() => v.ibv_modify_srq(srq, null as never, 0)).toThrow(TypeError);
  });
});

describe("the size", () => {
  test("changes while requests wait, which keep their order", () => {
    const a = queuePair(80);
    for (let wr_id = 1; wr_id <= 3; wr_id++) {
      postTo(wr_id);
      station.device.receive(1, frameTo(80));
    }
    completed();
    // The ring of four has wrapped.
    for (const wr_id of [4, 5, 6, 7]) postTo(wr_id);
    const start = station.device.memoryUsed;
    expect(v.ibv_modify_srq(srq, { max_wr: 40, srq_limit: 2 }, v.IBV_SRQ_MAX_WR | v.IBV_SRQ_LIMIT)).toBe(0);
    expect(v.ibv_query_srq(srq)).toEqual({ max_wr: 40, max_sge: 1, srq_limit: 2 });
    for (let wr_id = 8; wr_id < 28; wr_id++) postTo(wr_id);
    station.device.receiveBatch(1, Array<Uint8Array>(24).fill(frameTo(80)));
    const ids = Array.from({ length: 24 }, (_, i) => [i + 4, a.qp_num, 0]);
    expect(completed()).toEqual(ids);
    postTo(1);
    v.ibv_modify_srq(srq, { max_wr: 3 }, v.IBV_SRQ_MAX_WR);
    expect(station.device.memoryUsed).toBe(start);
    postTo(2);
    postTo(3);
    expect(refused(() => postTo(4))?.reason).toBe("queue_full");
    const resize = (max_wr: number): unknown =>
      refused(() => v.ibv_modify_srq(srq, { max_wr }, v.IBV_SRQ_MAX_WR))?.path;
    expect([resize(2), resize(2 ** 15 + 1)]).toEqual(["srq_attr.max_wr", "srq_attr.max_wr"]);
    const both = refused(() => v.ibv_modify_srq(srq, { max_wr: 8, srq_limit: 9 }, 3));
    expect([both?.path, v.ibv_query_srq(srq).max_wr]).toEqual(["srq_attr.srq_limit", 3]);
  });

  test("stays on ConnectX", async () => {
    const { pd, context } = await openStation({ profile: "connectx7" });
    const fixed = v.ibv_create_srq(pd, { attr: { max_wr: 4, max_sge: 1 } });
    const error = refused(() => v.ibv_modify_srq(fixed, { max_wr: 8 }, v.IBV_SRQ_MAX_WR));
    expect(error).toMatchObject({ code: "EINVAL", reason: "unsupported", path: "srq_attr_mask" });
    expect(v.ibv_query_device(context).device_cap_flags & v.IBV_DEVICE_SRQ_RESIZE).toBe(0);
    expect(v.ibv_query_device(station.context).device_cap_flags & v.IBV_DEVICE_SRQ_RESIZE).not.toBe(0);
  });
});

describe("messages", () => {
  let [left, right]: Device[] = [];
  let a: End;
  let b: End;
  let c: End;
  let d: End;
  let shared: v.SharedReceiveQueue;

  function open(type: number): void {
    [a, b] = [openEnd(left as Device, { type }), openEnd(left as Device, { type })];
    const base = openEnd(right as Device);
    shared = v.ibv_create_srq(base.pd, { attr: { max_wr: 8, max_sge: 2 } });
    const end = (): End => {
      const cap = { max_send_wr: 4, max_send_sge: 1 };
      const attributes = { qp_type: type, send_cq: base.sent, recv_cq: base.received, cap, srq: shared };
      return { ...base, qp: v.ibv_create_qp(base.pd, attributes) };
    };
    [c, d] = [end(), end()];
    join(a, c);
    join(b, d);
  }

  beforeEach(async () => {
    [left, right] = await openPair();
    left.connect(1, right, 1);
  });

  const give = (wr_id: number): void => {
    const addr = c.memory.subarray(65_536 * wr_id, 65_536 * wr_id + 5000);
    v.ibv_post_srq_recv(shared, { wr_id, sg_list: [{ addr, lkey: c.mr.lkey }] });
  };

  test.each([
    ["RC", v.IBV_QPT_RC],
    ["UC", v.IBV_QPT_UC],
  ])("of %s take a request each", (_, type) => {
    open(type);
    for (const wr_id of [1, 2, 3]) give(wr_id);
    post(a, pattern(3000));
    post(b, pattern(10, 5));
    post(a, pattern(4000, 9));
    expect(v.ibv_poll_cq(c.received, 9)).toMatchObject([
      { wr_id: 1, qp_num: c.qp.qp_num, byte_len: 3000 },
      { wr_id: 2, qp_num: d.qp.qp_num, byte_len: 10 },
      { wr_id: 3, qp_num: c.qp.qp_num, byte_len: 4000 },
    ]);
    expect(c.memory.slice(65_536 * 3, 65_536 * 3 + 4000)).toEqual(pattern(4000, 9));
  });

  test("of RC wait for a request, and a half received one is flushed", () => {
    open(v.IBV_QPT_RC);
    post(a, pattern(10));
    expect(statuses(a.sent)).toEqual([[1, v.IBV_WC_RNR_RETRY_EXC_ERR]]);
    give(1);
    give(2);
    let packets = 0;
    left!.disconnect(1);
    left!.connect(1, (frame) => {
      if (packets++ === 0) right!.receive(1, frame);
    });
    post(b, pattern(3000));
    v.ibv_modify_qp(d.qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    expect(statuses(c.received)).toEqual([[1, v.IBV_WC_WR_FLUSH_ERR]]);
    v.ibv_destroy_qp(c.qp);
    v.ibv_ack_async_event(v.ibv_get_async_event(d.context));
    v.ibv_destroy_qp(d.qp);
    expect(v.ibv_destroy_srq(shared)).toBe(0);
  });

  test("share requests with frames of other queue pairs in a batch", () => {
    open(v.IBV_QPT_RC);
    const sniffer = v.ibv_create_qp(c.pd, {
      qp_type: v.IBV_QPT_RAW_PACKET,
      send_cq: c.sent,
      recv_cq: c.received,
      cap: {},
      srq: shared,
    });
    climb(sniffer);
    v.ibv_create_flow(sniffer, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    for (const wr_id of [1, 2, 3]) give(wr_id);
    const frames: Uint8Array[] = [];
    left!.disconnect(1);
    left!.connect(1, (frame) => frames.push(frame));
    post(a, pattern(10));
    right!.receiveBatch(1, [ipv4Frame(), frames[0] as Uint8Array, ipv4Frame()]);
    const byId = v.ibv_poll_cq(c.received, 9).map(({ wr_id, qp_num }) => [wr_id, qp_num === c.qp.qp_num]);
    expect(byId.map(([wr_id]) => wr_id).sort()).toEqual([1, 2, 3]);
    expect(byId.filter(([, message]) => message)).toHaveLength(1);
  });

  test("without a shared queue are as before", () => {
    const [x, y] = [openEnd(left as Device), openEnd(right as Device)];
    join(x, y);
    postReceives(y, 1);
    post(x, pattern(20));
    expect(inSlot(y, 0, 20)).toEqual(pattern(20));
    expect(y.qp.srq).toBeNull();
  });
});

describe("objects", () => {
  test("queues are made, counted, used and destroyed", async () => {
    const made = await openStation({ limits: { max_srq: 2 } });
    const { max_srq, max_srq_wr, max_srq_sge } = v.ibv_query_device(made.context);
    expect([max_srq, max_srq_wr, max_srq_sge]).toEqual([2, 2 ** 15, 30]);
    const attr = { max_wr: 1, max_sge: 30 };
    const start = made.device.memoryUsed;
    const one = v.ibv_create_srq(made.pd, { attr });
    const comp_mask = v.IBV_SRQ_INIT_ATTR_PD | v.IBV_SRQ_INIT_ATTR_TYPE;
    const two = v.ibv_create_srq_ex(made.context, { attr, comp_mask, srq_type: v.IBV_SRQT_BASIC, pd: made.pd });
    expect(refused(() => v.ibv_create_srq(made.pd, { attr }))?.code).toBe("ENOMEM");
    const qp = v.ibv_create_qp(made.pd, {
      qp_type: v.IBV_QPT_UD,
      send_cq: made.cq,
      recv_cq: made.cq,
      cap: { max_recv_wr: 99, max_recv_sge: 9 },
      srq: one,
    });
    const { init_attr } = v.ibv_query_qp(qp);
    expect(init_attr.srq).toBe(one);
    expect(init_attr.cap).toMatchObject({ max_recv_wr: 0, max_recv_sge: 0 });
    expect(refused(() => v.ibv_destroy_srq(one))).toMatchObject({ code: "EBUSY", path: "srq" });
    v.ibv_destroy_qp(qp);
    v.ibv_destroy_srq(one);
    v.ibv_destroy_srq(two);
    expect(made.device.memoryUsed).toBe(start);
    expect(refused(() => v.ibv_post_srq_recv(one, { wr_id: 1, sg_list: [] }))?.reason).toBe("object_destroyed");
    expect(srq.srq_context).toBe("mine");
  });

  test("bad attributes are refused", async () => {
    const { pd, context } = station;
    const attr = { max_wr: 4, max_sge: 1 };
    const make = (change: object): unknown =>
      refused(() => v.ibv_create_srq(pd, { attr: { ...attr, ...change } }))?.path;
    expect(make({ max_wr: 2 ** 15 + 1 })).toBe("srq_init_attr.attr.max_wr");
    const none = v.ibv_create_srq(pd, { attr: { ...attr, max_wr: 0 } });
    expect(refused(() => v.ibv_post_srq_recv(none, { wr_id: 1, sg_list: [] }))?.code).toBe("ENOMEM");
    expect(make({ max_sge: 31 })).toBe("srq_init_attr.attr.max_sge");
    expect(v.ibv_create_srq(pd, {} as never).srqn).toBeGreaterThan(none.srqn);
    const extended = (change: object): unknown => {
      const error = refused(() => v.ibv_create_srq_ex(context, { attr, comp_mask: 3, srq_type: 0, pd, ...change }));
      return [error?.code, error?.path];
    };
    expect(extended({ comp_mask: 7 })).toEqual(["EOPNOTSUPP", "srq_init_attr_ex.comp_mask"]);
    expect(extended({ comp_mask: 1 })).toEqual(["EINVAL", "srq_init_attr_ex.comp_mask"]);
    expect(extended({ srq_type: v.IBV_SRQT_XRC })).toEqual(["EOPNOTSUPP", "srq_init_attr_ex.srq_type"]);
    expect(extended({ srq_type: 9 })).toEqual(["EINVAL", "srq_init_attr_ex.srq_type"]);
    const elsewhere = v.ibv_open_device(await createDevice());
    const other = v.ibv_create_srq(v.ibv_alloc_pd(elsewhere), { attr });
    const { cq } = station;
    const init = { qp_type: v.IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap: {}, srq: other };
    expect(refused(() => v.ibv_create_qp(pd, init))).toMatchObject({
      code: "EINVAL",
      reason: "other_device",
      path: "srq",
    });
    expect(() => v.ibv_create_qp(pd, { ...init, srq: {} as never })).toThrow(TypeError);
  });
});
