/** Queues: destinations of frames, and reasons of losses. */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { CompletionQueue } from "../../../src/model/queue/completionQueue.js";
import type { MemoryRegion, ProtectionDomain } from "../../../src/model/base/context.js";
import type { QueuePair, QueuePairAttributes } from "../../../src/model/queuePair/queuePair.js";
import { directRules } from "../../../src/model/rule/rule.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../../mlx5dv/support/directRules.js";

let bench: Bench;
let pd: ProtectionDomain;
let cq: CompletionQueue;
let qp: QueuePair;
let memory: Uint8Array;
let mr: MemoryRegion;

beforeEach(async () => {
  bench = await openBench();
  pd = v.ibv_alloc_pd(bench.context);
  cq = v.ibv_create_cq(bench.context, 3, null, null, 0);
  qp = v.ibv_create_qp(pd, {
    send_cq: cq,
    recv_cq: cq,
    cap: { max_recv_wr: 5, max_recv_sge: 2 },
    qp_type: v.IBV_QPT_RAW_PACKET,
  });
  memory = new Uint8Array(1024);
  mr = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, 0, null);
  const actions = [dv.mlx5dv_dr_action_create_tag(77), dv.mlx5dv_dr_action_create_dest_ibv_qp(qp)];
  dv.mlx5dv_dr_rule_create(matcher, null, 2, actions);
});

function to(...states: number[]): void {
  for (const qp_state of states) {
    const port = qp_state === v.IBV_QPS_INIT ? v.IBV_QP_PORT : 0;
    v.ibv_modify_qp(qp, { qp_state, port_num: 1 }, v.IBV_QP_STATE | port);
  }
}

function post(wr_id: number, from: number, length: number): void {
  v.ibv_post_recv(qp, { wr_id, sg_list: [{ addr: memory.subarray(from, from + length), length, lkey: mr.lkey }] });
}

const READY = [v.IBV_QPS_INIT, v.IBV_QPS_RTR] as const;

describe("receiving", () => {
  test("bytes, completion and tag arrive", () => {
    to(...READY);
    post(11, 0, 128);
    const frame = ipv4Frame();
    expect(bench.device.receive(1, frame)).toMatchObject({ verdict: "deliver", reason: null, tag: 77 });
    expect(v.ibv_poll_cq(cq, 8)).toEqual([
      {
        wr_id: 11,
        status: v.IBV_WC_SUCCESS,
        opcode: v.IBV_WC_RECV,
        vendor_err: 0,
        byte_len: 64,
        imm_data: 0,
        qp_num: qp.qp_num,
        src_qp: 0,
        wc_flags: 0,
        pkey_index: 0,
        slid: 0,
        sl: 0,
        dlid_path_bits: 0,
        flow_tag: 77,
      },
    ]);
    expect(memory.subarray(0, 64)).toEqual(frame);
    expect(memory.subarray(64).every((byte) => byte === 0)).toBe(true);
    expect(v.ibv_poll_cq(cq, 8)).toEqual([]);
  });

  test("a frame goes over several entries", () => {
    to(...READY);
    const entry = (from: number, length: number): object => ({
      addr: memory.subarray(from, from + length),
      lkey: mr.lkey,
    });
    v.ibv_post_recv(qp, { wr_id: 1, sg_list: [entry(0, 40), entry(500, 40)] as never });
    const frame = ipv4Frame();
    bench.device.receive(1, frame);
    expect(memory.subarray(0, 40)).toEqual(frame.subarray(0, 40));
    expect(memory.subarray(500, 524)).toEqual(frame.subarray(40));
  });

  test("requests are used in their order, around the ring", () => {
    to(...READY);
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 3; i++) post(10 * round + i, 64 * i, 64);
      bench.device.receiveBatch(1, [ipv4Frame({ dport: 1 }), ipv4Frame({ dport: 2 }), ipv4Frame({ dport: 3 })]);
      expect(v.ibv_poll_cq(cq, 3).map(({ wr_id }) => wr_id)).toEqual([0, 1, 2].map((i) => 10 * round + i));
      expect([37, 101, 165].map((at) => memory[at])).toEqual([1, 2, 3]);
    }
  });

  test("each request has its own length", () => {
    to(...READY);
    for (const [i, length] of [128, 128, 63].entries()) post(i, 128 * i, length);
    const frames = [1, 2, 3].map((dport) => ipv4Frame({ dport }));
    bench.device.receiveBatch(1, frames);
    const statuses = v.ibv_poll_cq(cq, 3).map(({ status }) => status);
    expect(statuses).toEqual([v.IBV_WC_SUCCESS, v.IBV_WC_SUCCESS, v.IBV_WC_LOC_LEN_ERR]);
  });

  test("a new queue pair has no requests of a destroyed one", async () => {
    bench = await openBench();
    pd = v.ibv_alloc_pd(bench.context);
    cq = v.ibv_create_cq(bench.context, 3, null, null, 0);
    mr = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, 0, null);
    const reasons = (requests: number): (string | null)[] => {
      const cap = { max_recv_wr: 5, max_recv_sge: 2 };
      qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
      to(...READY);
      const action = dv.mlx5dv_dr_action_create_dest_ibv_qp(qp);
      const rule = dv.mlx5dv_dr_rule_create(matcher, null, 1, [action]);
      for (let i = 0; i < requests; i++) post(i, 0, 128);
      const found = [1, 2].map(() => bench.device.receive(1, ipv4Frame()).reason);
      dv.mlx5dv_dr_rule_destroy(rule);
      dv.mlx5dv_dr_action_destroy(action);
      v.ibv_destroy_qp(qp);
      return found;
    };
    expect(reasons(2)).toEqual([null, null]);
    expect(reasons(0)).toEqual(["no_receive_buffer", "no_receive_buffer"]);
  });

  test("without a buffer the frame is dropped and counted", () => {
    to(...READY);
    expect(bench.device.receive(1, ipv4Frame())).toMatchObject({
      verdict: "drop",
      reason: "no_receive_buffer",
      to: [],
    });
    expect(bench.device.reasons().no_receive_buffer).toBe(1n);
  });

  test("a buffer too short completes with a length error", () => {
    to(...READY);
    post(5, 0, 63);
    const outcome = bench.device.receive(1, ipv4Frame());
    expect(outcome).toMatchObject({ verdict: "drop", reason: "receive_buffer_too_short", to: [] });
    expect(v.ibv_poll_cq(cq, 1)).toMatchObject([{ wr_id: 5, status: v.IBV_WC_LOC_LEN_ERR, byte_len: 0 }]);
    expect(memory.every((byte) => byte === 0)).toBe(true);
  });

  test("a full completion queue drops, and keeps the buffer", () => {
    to(...READY);
    for (let i = 0; i < 5; i++) post(i, 64 * i, 64);
    const reasons = bench.device
      .receiveBatch(
        1,
        [1, 2, 3, 4].map((dport) => ipv4Frame({ dport })),
      )
      .map((o) => o.reason);
    expect(reasons).toEqual([null, null, null, "completion_queue_full"]);
    expect(v.ibv_poll_cq(cq, 1).length).toBe(1);
    expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("deliver");
    expect(v.ibv_poll_cq(cq, 9).map(({ wr_id }) => wr_id)).toEqual([1, 2, 3]);
  });
});

describe("states", () => {
  test("a queue pair receives in RTR and RTS only", () => {
    expect(refused(() => post(1, 0, 64))?.reason).toBe("bad_state");
    to(v.IBV_QPS_INIT);
    for (let i = 0; i < 3; i++) post(i, 0, 64);
    expect(bench.device.receive(1, ipv4Frame()).reason).toBe("queue_not_ready");
    to(v.IBV_QPS_RTR);
    expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("deliver");
    to(v.IBV_QPS_RTS);
    expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("deliver");
    to(v.IBV_QPS_ERR);
    expect(bench.device.receive(1, ipv4Frame()).reason).toBe("queue_not_ready");
  });

  test("a step that the machine lacks is refused", () => {
    expect(refused(() => to(v.IBV_QPS_RTS))).toMatchObject({ code: "EINVAL", reason: "bad_state" });
    expect(refused(() => to(v.IBV_QPS_INIT, v.IBV_QPS_RTS))?.message).toContain(
      "from INIT it can go to RTR, RESET or ERR",
    );
    expect(qp.state).toBe(v.IBV_QPS_INIT);
  });

  test("an error flushes what is posted, a reset forgets it", () => {
    to(...READY);
    post(1, 0, 64);
    post(2, 64, 64);
    to(v.IBV_QPS_ERR);
    expect(v.ibv_poll_cq(cq, 9)).toMatchObject([
      { wr_id: 1, status: v.IBV_WC_WR_FLUSH_ERR },
      { wr_id: 2, status: v.IBV_WC_WR_FLUSH_ERR },
    ]);
    to(v.IBV_QPS_RESET, ...READY);
    post(3, 0, 64);
    to(v.IBV_QPS_RESET, ...READY);
    expect(bench.device.receive(1, ipv4Frame()).reason).toBe("no_receive_buffer");
    expect(v.ibv_poll_cq(cq, 9)).toEqual([]);
  });
});

test("flushed completions take room in the completion queue, and give it back", () => {
  to(...READY);
  for (let i = 0; i < 3; i++) post(i, 64 * i, 64);
  to(v.IBV_QPS_ERR);
  to(v.IBV_QPS_RESET, ...READY);
  post(7, 0, 64);
  expect(bench.device.receive(1, ipv4Frame()).reason).toBe("completion_queue_full");
  expect(v.ibv_poll_cq(cq, 9).length).toBe(3);
  expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("deliver");
  expect(v.ibv_poll_cq(cq, 9)).toMatchObject([{ wr_id: 7, status: v.IBV_WC_SUCCESS }]);
});

describe("refusals", () => {
  test("queues of another device", async () => {
    const other = await openBench();
    const far = v.ibv_create_cq(other.context, 4);
    const attr = (send_cq: CompletionQueue, recv_cq: CompletionQueue): QueuePairAttributes => {
      return { send_cq, recv_cq, cap: { max_recv_wr: 1, max_recv_sge: 1 }, qp_type: v.IBV_QPT_RAW_PACKET };
    };
    expect(refused(() => v.ibv_create_qp(pd, attr(cq, far)))).toMatchObject({
      reason: "other_device",
      path: "recv_cq",
    });
    expect(refused(() => v.ibv_create_qp(pd, attr(far, cq)))).toMatchObject({
      reason: "other_device",
      path: "send_cq",
    });
    expect(far.users).toBe(0);
  });

  test("numbers that are no lengths", () => {
    to(v.IBV_QPS_INIT);
    const wr = (length: number, num_sge = 1): string | undefined =>
      refused(() => v.ibv_post_recv(qp, { wr_id: 0, sg_list: [{ addr: memory, length, lkey: mr.lkey }], num_sge }))
        ?.path;
    expect(wr(-1)).toBe("wr.sg_list[0].length");
    expect(wr(NaN)).toBe("wr.sg_list[0].length");
    expect(wr(64, -1)).toBe("wr.num_sge");
    expect(wr(64, 2)).toBe("wr.num_sge");
    const bytes = { match_sz: -4, match_buf: new Uint8Array(64) };
    expect(refused(() => dv.mlx5dv_dr_matcher_create(bench.root, 0, 1, bytes))?.path).toBe("mask.match_sz");
    const command = (inlen: number): string | undefined =>
      refused(() =>
        dv.mlx5dv_devx_obj_create(bench.context, dv.allocFlowCounterCommand(), inlen, new Uint8Array(16), undefined),
      )?.path;
    expect([command(-1), command(17)]).toEqual(["inlen", "inlen"]);
  });

  test("posting", () => {
    to(v.IBV_QPS_INIT);
    const at = (addr: Uint8Array, lkey = mr.lkey, length = addr.length): string | undefined =>
      refused(() => v.ibv_post_recv(qp, { wr_id: 0, sg_list: [{ addr, length, lkey }] }))?.reason;
    expect(at(memory, 999)).toBe("bad_key");
    expect(at(new Uint8Array(64))).toBe("outside_memory_region");
    expect(at(memory.subarray(0, 8), mr.lkey, 9)).toBe("outside_memory_region");
    const readOnly = v.ibv_reg_mr(pd, memory, 64, 0);
    expect(at(memory.subarray(0, 64), readOnly.lkey)).toBe("outside_memory_region");
    const part = v.ibv_reg_mr(pd, memory, 64, v.IBV_ACCESS_LOCAL_WRITE);
    expect(at(memory.subarray(0, 65), part.lkey)).toBe("outside_memory_region");
    expect(at(memory.subarray(0, 64), part.lkey)).toBeUndefined();
    const three = [0, 1, 2].map((i) => ({ addr: memory.subarray(i, i + 1), lkey: mr.lkey }));
    expect(refused(() => v.ibv_post_recv(qp, { wr_id: 0, sg_list: three }))?.path).toBe("wr.num_sge");
    for (let i = 0; i < 4; i++) post(i, 0, 64);
    expect(refused(() => post(9, 0, 64))).toMatchObject({ code: "ENOMEM", reason: "queue_full" });
  });

  test("making and destroying", () => {
    expect(refused(() => v.ibv_create_cq(bench.context, 0))?.reason).toBe("out_of_range");
    expect(refused(() => v.ibv_create_cq(bench.context, 1, null, null, 1))?.path).toBe("comp_vector");
    expect(refused(() => v.ibv_destroy_cq(cq))?.code).toBe("EBUSY");
    expect(refused(() => v.ibv_destroy_qp(qp))?.code).toBe("EBUSY");
    expect(refused(() => v.ibv_dealloc_pd(pd))?.code).toBe("EBUSY");
    expect(refused(() => v.ibv_reg_mr(pd, memory, 1025, 1))?.reason).toBe("out_of_range");
    expect(() => v.ibv_open_device({} as never)).toThrow(TypeError);
  });

  test("everything can be taken down in order", () => {
    const [rule] = [...directRules(bench.device)];
    if (rule === undefined) throw new Error("no rule");
    dv.mlx5dv_dr_rule_destroy(rule);
    for (const action of rule.actions) dv.mlx5dv_dr_action_destroy(action);
    dv.mlx5dv_dr_matcher_destroy(rule.matcher);
    dv.mlx5dv_dr_table_destroy(bench.root);
    dv.mlx5dv_dr_domain_destroy(bench.domain);
    v.ibv_destroy_qp(qp);
    v.ibv_destroy_qp(bench.queue);
    v.ibv_destroy_cq(cq);
    v.ibv_dereg_mr(mr);
    v.ibv_dealloc_pd(pd);
    v.ibv_close_device(bench.context);
    bench.device.close();
    expect(refused(() => bench.device.receive(1, ipv4Frame()))?.reason).toBe("object_destroyed");
    expect(refused(() => v.ibv_open_device(bench.device))?.reason).toBe("object_destroyed");
  });

  test("what was made on a context stays when it is closed", () => {
    expect(v.ibv_close_device(bench.context)).toBe(0);
    expect(refused(() => v.ibv_close_device(bench.context))?.reason).toBe("object_destroyed");
    expect(refused(() => v.ibv_alloc_pd(bench.context))?.reason).toBe("object_destroyed");
    expect(bench.device.receive(1, ipv4Frame()).rules).toEqual([...directRules(bench.device)]);
    expect(v.ibv_dereg_mr(v.ibv_reg_mr(pd, memory, 8, 0))).toBe(0);
    expect(dv.mlx5dv_dr_table_destroy(dv.mlx5dv_dr_table_create(bench.domain, 3))).toBe(0);
    bench.device.close();
  });
});
