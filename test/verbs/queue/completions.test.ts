/** Extended completion queues: available completions, requested fields, the clock. */
import { beforeEach, describe, expect, test } from "vitest";
import { ERRNO } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { ExtendedCompletionQueue } from "../../../src/model/queue/extendedCompletionQueue.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../../mlx5dv/support/directRules.js";

const { ENOENT } = ERRNO;
const TIMES = v.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | v.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
const ALL = v.IBV_WC_STANDARD_FLAGS | v.IBV_WC_EX_WITH_FLOW_TAG | TIMES;

let bench: Bench;
let qp: QueuePair;
let posted: number;
let post: () => void;

beforeEach(async () => {
  bench = await openBench();
  posted = 0;
});

/** A queue pair that completes to `cq` and receives every frame, with tag 77. */
function receiver(cq: ExtendedCompletionQueue): void {
  const pd = v.ibv_alloc_pd(bench.context);
  const cap = { max_recv_wr: 8, max_recv_sge: 1 };
  qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
  const addr = new Uint8Array(128);
  const { lkey } = v.ibv_reg_mr(pd, addr, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, v.IBV_QP_STATE | v.IBV_QP_PORT);
  v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTR }, v.IBV_QP_STATE);
  post = () => v.ibv_post_recv(qp, { wr_id: BigInt(++posted), sg_list: [{ addr, lkey }] });
  const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, 0, null);
  const actions = [dv.mlx5dv_dr_action_create_tag(77), dv.mlx5dv_dr_action_create_dest_ibv_qp(qp)];
  dv.mlx5dv_dr_rule_create(matcher, null, 2, actions);
}

function open(wc_flags: number | bigint, cqe = 4): ExtendedCompletionQueue {
  const cq = v.ibv_create_cq_ex(bench.context, { cqe, wc_flags });
  receiver(cq);
  return cq;
}

/** Frames of these lengths arrive, one every 10 ns. */
function arrive(...lengths: number[]): void {
  for (const length of lengths) {
    post();
    bench.device.advance(10n);
    bench.device.receive(1, ipv4Frame({ length }));
  }
}

test("completions are read one by one, field by field", () => {
  const cq = open(BigInt(ALL));
  expect(v.ibv_start_poll(cq, { comp_mask: 0 })).toBe(ENOENT);
  arrive(64, 100);
  expect(v.ibv_start_poll(cq, null)).toBe(0);
  expect([cq.wr_id, cq.status]).toEqual([1n, v.IBV_WC_SUCCESS]);
  expect(v.ibv_wc_read_opcode(cq)).toBe(v.IBV_WC_RECV);
  expect(v.ibv_wc_read_byte_len(cq)).toBe(64);
  expect(v.ibv_wc_read_flow_tag(cq)).toBe(77);
  expect(v.ibv_wc_read_qp_num(cq)).toBe(qp.qp_num);
  expect(v.ibv_wc_read_completion_ts(cq)).toBe(10n);
  expect(v.ibv_wc_read_completion_wallclock_ns(cq)).toBe(10n);
  const zeros = [
    v.ibv_wc_read_vendor_err,
    v.ibv_wc_read_wc_flags,
    v.ibv_wc_read_imm_data,
    v.ibv_wc_read_src_qp,
    v.ibv_wc_read_slid,
    v.ibv_wc_read_sl,
    v.ibv_wc_read_dlid_path_bits,
  ];
  expect(zeros.map((read) => read(cq))).toEqual([0, 0, 0, 0, 0, 0, 0]);
  expect(v.ibv_next_poll(cq)).toBe(0);
  expect([cq.wr_id, v.ibv_wc_read_byte_len(cq), v.ibv_wc_read_completion_ts(cq)]).toEqual([2n, 100, 20n]);
  expect(v.ibv_next_poll(cq)).toBe(ENOENT);
  expect(refused(() => cq.wr_id)?.reason).toBe("no_completion");
  // The next step finds a completion that arrives during polling.
  arrive(72);
  expect(v.ibv_next_poll(cq)).toBe(0);
  expect(v.ibv_wc_read_byte_len(cq)).toBe(72);
  v.ibv_end_poll(cq);
  expect(v.ibv_start_poll(cq)).toBe(ENOENT);
});

test("the current completion can be read after polling has ended, until polling begins again", () => {
  const cq = open(v.IBV_WC_EX_WITH_FLOW_TAG);
  arrive(64);
  expect(v.ibv_start_poll(cq)).toBe(0);
  v.ibv_end_poll(cq);
  expect([v.ibv_wc_read_flow_tag(cq), cq.wr_id, cq.status]).toEqual([77, 1n, v.IBV_WC_SUCCESS]);
  expect(v.ibv_start_poll(cq)).toBe(ENOENT);
  expect(refused(() => v.ibv_wc_read_flow_tag(cq))?.reason).toBe("no_completion");
});

test("a length error is a status", () => {
  const cq = open(v.IBV_WC_EX_WITH_BYTE_LEN);
  arrive(129);
  expect(v.ibv_start_poll(cq)).toBe(0);
  expect([cq.status, v.ibv_wc_read_byte_len(cq)]).toEqual([v.IBV_WC_LOC_LEN_ERR, 0]);
});

test("polling the plain way works too", () => {
  const cq = open(ALL);
  arrive(64, 64, 64);
  expect(v.ibv_poll_cq(v.ibv_cq_ex_to_cq(cq), 2)).toMatchObject([{ wr_id: 1n, flow_tag: 77 }, { wr_id: 2n }]);
  expect(v.ibv_start_poll(cq)).toBe(0);
  expect(refused(() => v.ibv_poll_cq(cq, 1))).toMatchObject({
    code: "EINVAL",
    call: "ibv_poll_cq",
    reason: "bad_poll",
  });
  expect(cq.wr_id).toBe(3n);
  v.ibv_end_poll(cq);
  expect(v.ibv_poll_cq(cq, 1)).toEqual([]);
});

test("a completion at hand has given its place back", () => {
  const cq = open(0, 1);
  arrive(64);
  post();
  expect(bench.device.receive(1, ipv4Frame()).reason).toBe("completion_queue_full");
  v.ibv_start_poll(cq);
  expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("deliver");
  expect(cq.wr_id).toBe(1n);
});

describe("refusals", () => {
  test("a field that was not asked for", () => {
    const fields: [(cq: ExtendedCompletionQueue) => unknown, number][] = [
      [v.ibv_wc_read_byte_len, v.IBV_WC_EX_WITH_BYTE_LEN],
      [v.ibv_wc_read_imm_data, v.IBV_WC_EX_WITH_IMM],
      [v.ibv_wc_read_qp_num, v.IBV_WC_EX_WITH_QP_NUM],
      [v.ibv_wc_read_src_qp, v.IBV_WC_EX_WITH_SRC_QP],
      [v.ibv_wc_read_slid, v.IBV_WC_EX_WITH_SLID],
      [v.ibv_wc_read_sl, v.IBV_WC_EX_WITH_SL],
      [v.ibv_wc_read_dlid_path_bits, v.IBV_WC_EX_WITH_DLID_PATH_BITS],
      [v.ibv_wc_read_completion_ts, v.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP],
      [v.ibv_wc_read_flow_tag, v.IBV_WC_EX_WITH_FLOW_TAG],
      [v.ibv_wc_read_completion_wallclock_ns, v.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK],
    ];
    for (const [read, flag] of fields) {
      const without = v.ibv_create_cq_ex(bench.context, { cqe: 1, wc_flags: ALL & ~flag });
      const error = refused(() => read(without));
      expect(error).toMatchObject({ code: "EINVAL", call: read.name, reason: "not_requested" });
      expect(error?.hint).toContain(`0x${flag.toString(16)}`);
      const asked = v.ibv_create_cq_ex(bench.context, { cqe: 1, wc_flags: flag });
      expect(refused(() => read(asked))?.reason).toBe("no_completion");
    }
    const none = v.ibv_create_cq_ex(bench.context, { cqe: 1 });
    for (const read of [v.ibv_wc_read_opcode, v.ibv_wc_read_vendor_err, v.ibv_wc_read_wc_flags]) {
      expect(refused(() => read(none))).toMatchObject({ code: "EINVAL", reason: "no_completion" });
    }
    expect(refused(() => none.status)?.reason).toBe("no_completion");
  });

  test("steps out of order", () => {
    const cq = open(0);
    const bad = (run: () => unknown): string | undefined => refused(run)?.reason;
    expect(bad(() => v.ibv_next_poll(cq))).toBe("bad_poll");
    expect(bad(() => v.ibv_end_poll(cq))).toBe("bad_poll");
    // A start that found nothing does not begin polling.
    expect(v.ibv_start_poll(cq)).toBe(ENOENT);
    expect(bad(() => v.ibv_end_poll(cq))).toBe("bad_poll");
    arrive(64);
    v.ibv_start_poll(cq);
    expect(bad(() => v.ibv_start_poll(cq))).toBe("bad_poll");
    expect(cq.wr_id).toBe(1n);
    expect(refused(() => v.ibv_start_poll(cq, { comp_mask: 1 }))).toMatchObject({
      code: "EINVAL",
      path: "attr.comp_mask",
    });
  });

  test("what the device does not report", () => {
    const attempt = (attr: object): [string | undefined, string | undefined] => {
      const error = refused(() => v.ibv_create_cq_ex(bench.context, { cqe: 1, ...attr }));
      return [error?.code, error?.path];
    };
    expect(attempt({ wc_flags: v.IBV_WC_EX_WITH_CVLAN })).toEqual(["EOPNOTSUPP", "cq_attr.wc_flags"]);
    expect(attempt({ wc_flags: v.IBV_WC_EX_WITH_TM_INFO })).toEqual(["EOPNOTSUPP", "cq_attr.wc_flags"]);
    expect(attempt({ wc_flags: 1 << 12 })).toEqual(["EOPNOTSUPP", "cq_attr.wc_flags"]);
    expect(attempt({ comp_mask: v.IBV_CQ_INIT_ATTR_MASK_PD })).toEqual(["EOPNOTSUPP", "cq_attr.comp_mask"]);
    const flags = { comp_mask: v.IBV_CQ_INIT_ATTR_MASK_FLAGS, flags: v.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN };
    expect(attempt(flags)).toEqual(["EOPNOTSUPP", "cq_attr.flags"]);
    expect(attempt({ ...flags, flags: v.IBV_CREATE_CQ_ATTR_SINGLE_THREADED })).toEqual([undefined, undefined]);
    expect(attempt({ ...flags, comp_mask: 0 })).toEqual([undefined, undefined]);
    expect(attempt({ comp_vector: 1 })).toEqual(["EINVAL", "cq_attr.comp_vector"]);
    expect(attempt({ cqe: 0 })).toEqual(["EINVAL", "cq_attr.cqe"]);
    expect(attempt({ cqe: 2 ** 22 + 1 })).toEqual(["EINVAL", "cq_attr.cqe"]);
    expect(bench.context.num_comp_vectors).toBe(1);
  });

  test("other objects", () => {
    const plain = v.ibv_create_cq(bench.context, 1);
    expect(() => v.ibv_start_poll(plain as never)).toThrow(TypeError);
    expect(() => v.ibv_wc_read_opcode(plain as never)).toThrow(TypeError);
    expect(() => v.ibv_create_cq_ex({} as never, { cqe: 1 })).toThrow(TypeError);
    const users = bench.context.users;
    const cq = v.ibv_create_cq_ex(bench.context, { cqe: 1 });
    expect(v.ibv_destroy_cq(cq)).toBe(0);
    expect(bench.context.users).toBe(users);
    expect(refused(() => v.ibv_start_poll(cq))?.reason).toBe("object_destroyed");
  });
});

test("a queue that asks for no time does not look at the clock", async () => {
  let looks = 0n;
  bench = await openBench({ now: () => ++looks });
  // createDevice reads the clock once, to check it.
  expect(looks).toBe(1n);
  const cq = open(v.IBV_WC_EX_WITH_FLOW_TAG);
  // The program moves this clock: `advance`, which `arrive` calls, is refused.
  post();
  bench.device.receive(1, ipv4Frame({ length: 64 }));
  expect(looks).toBe(1n);
  expect(v.ibv_start_poll(cq)).toBe(0);
  const timed = v.ibv_create_cq_ex(bench.context, { cqe: 1, wc_flags: TIMES });
  expect(looks).toBe(1n);
  expect(timed.cqe).toBe(1);
});
