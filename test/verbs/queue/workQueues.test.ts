/** Work queues and indirection tables: accepted attributes, states, lifetimes. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";

type Made = Awaited<ReturnType<typeof open>>;

async function open(limits: object = {}) {
  const device = await createDevice({ limits });
  const context = v.ibv_open_device(device);
  const pd = v.ibv_alloc_pd(context);
  const cq = v.ibv_create_cq(context, 8);
  const memory = new Uint8Array(256);
  const mr = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  return { device, context, pd, cq, memory, mr };
}

let made: Made;
beforeEach(async () => {
  made = await open();
});

const wq = (more: object = {}): v.WorkQueue =>
  v.ibv_create_wq(made.context, { wq_type: v.IBV_WQT_RQ, max_wr: 2, max_sge: 1, pd: made.pd, cq: made.cq, ...more });
const move = (queue: v.WorkQueue, wq_state: number, more: object = {}): 0 =>
  v.ibv_modify_wq(queue, { attr_mask: v.IBV_WQ_ATTR_STATE, wq_state, ...more });
const buffer = (wr_id: number): v.ReceiveRequest => ({
  wr_id,
  sg_list: [{ addr: made.memory, length: 64, lkey: made.mr.lkey }],
});
const { IBV_WQS_RESET: RESET, IBV_WQS_RDY: RDY, IBV_WQS_ERR: ERR } = v;

describe("a work queue", () => {
  test.each([
    ["a type that there is not", { wq_type: 1 }, "EINVAL", "wq_type"],
    ["no requests", { max_wr: 0 }, "EINVAL", "max_wr"],
    ["too many requests", { max_wr: 2 ** 15 + 1 }, "EINVAL", "max_wr"],
    ["too many entries", { max_sge: 31 }, "EINVAL", "max_sge"],
    ["bits of comp_mask", { comp_mask: 2 }, "EOPNOTSUPP", "comp_mask"],
    [
      "flags",
      { comp_mask: v.IBV_WQ_INIT_ATTR_FLAGS, create_flags: v.IBV_WQ_FLAGS_SCATTER_FCS },
      "EOPNOTSUPP",
      "create_flags",
    ],
  ])("%s is refused, and nothing is left of it", (_, more, code, path) => {
    const memory = made.device.memoryUsed;
    expect(refused(() => wq(more))).toMatchObject({ code, path, call: "ibv_create_wq" });
    expect([made.device.memoryUsed, made.pd.users, made.cq.users]).toEqual([memory, 1, 0]);
  });

  test("flags without their bit are not looked at", () => {
    expect(wq({ create_flags: 15 }).wq_num).toBeGreaterThan(0);
  });

  test("objects of another device, and what is no object", async () => {
    const other = await open();
    expect(refused(() => wq({ pd: other.pd }))).toMatchObject({ code: "EINVAL", reason: "other_device", path: "pd" });
    expect(refused(() => wq({ cq: other.cq }))).toMatchObject({ code: "EINVAL", reason: "other_device", path: "cq" });
    expect(() => wq({ cq: null })).toThrow(TypeError);
    expect(() => v.ibv_create_wq(made.context, null as never)).toThrow(TypeError);
  });

  test("has a number that no queue pair has", () => {
    const numbers = [wq().wq_num, wq().wq_num];
    numbers.push(
      v.ibv_create_qp(made.pd, { send_cq: made.cq, recv_cq: made.cq, cap: {}, qp_type: v.IBV_QPT_RAW_PACKET }).qp_num,
      wq().wq_num,
    );
    expect(new Set(numbers).size).toBe(4);
  });

  test("goes from state to state", () => {
    const queue = wq();
    const at = (): number => queue.state;
    expect(at()).toBe(RESET);
    for (const to of [RDY, RDY, ERR, ERR, RESET, ERR, RESET, RDY, RESET]) {
      move(queue, to);
      expect(at()).toBe(to);
    }
    move(queue, ERR);
    expect(refused(() => move(queue, RDY))).toMatchObject({ code: "EINVAL", reason: "bad_state" });
    expect(refused(() => move(queue, v.IBV_WQS_UNKNOWN))).toMatchObject({ code: "EINVAL", reason: "bad_state" });
    expect(at()).toBe(ERR);
  });

  test("holds curr_wq_state against its state, and takes no flags", () => {
    const queue = wq();
    const both = v.IBV_WQ_ATTR_STATE | v.IBV_WQ_ATTR_CURR_STATE;
    expect(refused(() => move(queue, RDY, { attr_mask: both, curr_wq_state: RDY }))).toMatchObject({
      code: "EINVAL",
      path: "wq_attr.curr_wq_state",
    });
    expect(refused(() => move(queue, RDY, { attr_mask: v.IBV_WQ_ATTR_FLAGS }))?.code).toBe("EOPNOTSUPP");
    expect(queue.state).toBe(RESET);
    v.ibv_modify_wq(queue, { attr_mask: both, wq_state: RDY, curr_wq_state: RESET });
    v.ibv_modify_wq(queue, { attr_mask: 0, wq_state: ERR });
    expect(queue.state).toBe(RDY);
  });

  test("takes requests in RDY and ERR alone, and as many as it has places", () => {
    const queue = wq();
    expect(refused(() => v.ibv_post_wq_recv(queue, buffer(1)))).toMatchObject({ code: "EINVAL", path: "wq" });
    move(queue, RDY);
    const third = buffer(3);
    const bad: { wr?: v.ReceiveRequest } = {};
    const list = { ...buffer(1), next: { ...buffer(2), next: third } };
    expect(refused(() => v.ibv_post_wq_recv(queue, list, bad))).toMatchObject({ code: "ENOMEM", reason: "queue_full" });
    expect(bad.wr).toBe(third);
    move(queue, ERR);
    v.ibv_post_wq_recv(queue, buffer(4));
    const found = v.ibv_poll_cq(made.cq, 9);
    expect(found.map(({ wr_id, status, qp_num }) => [wr_id, status, qp_num])).toEqual(
      [1, 2, 4].map((id) => [id, v.IBV_WC_WR_FLUSH_ERR, queue.wq_num]),
    );
    move(queue, RESET);
    move(queue, RDY);
    v.ibv_post_wq_recv(queue, { ...buffer(5), next: buffer(6) });
    move(queue, RESET);
    expect(v.ibv_poll_cq(made.cq, 9)).toEqual([]);
  });

  test("holds what it needs, and gives everything back", () => {
    const { device, pd, cq, context } = made;
    const before = [device.memoryUsed, pd.users, context.users];
    const queue = wq();
    expect(refused(() => v.ibv_destroy_cq(cq))?.code).toBe("EBUSY");
    expect(refused(() => v.ibv_dealloc_pd(pd))?.code).toBe("EBUSY");
    expect(v.ibv_destroy_wq(queue)).toBe(0);
    expect([device.memoryUsed, pd.users, context.users]).toEqual(before);
    expect(refused(() => v.ibv_destroy_wq(queue))?.reason).toBe("object_destroyed");
  });
});

describe("an indirection table", () => {
  const table = (ind_tbl: v.WorkQueue[], log_ind_tbl_size: number, more: object = {}): v.IndirectionTable =>
    v.ibv_create_rwq_ind_table(made.context, { ind_tbl, log_ind_tbl_size, ...more });

  test("holds its queues, each as often as it stands there", () => {
    const [one, other] = [wq(), wq()];
    const before = made.device.memoryUsed;
    const made4 = table([one, other, one, one, other], 2);
    expect([one.users, other.users]).toEqual([3, 1]);
    expect(refused(() => v.ibv_destroy_wq(one))?.code).toBe("EBUSY");
    expect(v.ibv_destroy_rwq_ind_table(made4)).toBe(0);
    expect([one.users, other.users, made.device.memoryUsed]).toEqual([0, 0, before]);
    expect(v.ibv_destroy_wq(one)).toBe(0);
  });

  test("is refused with fewer queues, too many, or what is none", async () => {
    const queue = wq();
    expect(refused(() => table([queue], 1))).toMatchObject({ code: "EINVAL", path: "ind_tbl" });
    expect(refused(() => table([queue], 11))).toMatchObject({ code: "EINVAL", path: "log_ind_tbl_size" });
    expect(refused(() => table([queue], 0, { comp_mask: 1 }))).toMatchObject({ code: "EOPNOTSUPP", path: "comp_mask" });
    expect(() => table([{} as never], 0)).toThrow(TypeError);
    expect(() => table(queue as never, 0)).toThrow(TypeError);
    const other = await open();
    const theirs = v.ibv_create_wq(other.context, { wq_type: 0, max_wr: 1, max_sge: 1, pd: other.pd, cq: other.cq });
    expect(refused(() => table([queue, theirs], 1))).toMatchObject({ reason: "other_device", path: "ind_tbl[1]" });
    const gone = wq();
    v.ibv_destroy_wq(gone);
    expect(refused(() => table([queue, gone], 1))).toMatchObject({ reason: "object_destroyed", path: "ind_tbl[1]" });
    expect([queue.users, theirs.users]).toEqual([0, 0]);
    expect(
      table(
        Array.from({ length: 1024 }, () => queue),
        10,
      ).log_ind_tbl_size,
    ).toBe(10);
  });
});

test("limits are what the device says, and are enforced", async () => {
  const limits = { max_wq_type_rq: 2, max_rwq_indirection_tables: 1, max_rwq_indirection_table_size: 2 };
  made = await open(limits);
  const { rss_caps, max_wq_type_rq } = v.ibv_query_device_ex(made.context);
  expect({ ...rss_caps, max_wq_type_rq }).toMatchObject(limits);
  const [one, other] = [wq(), wq()];
  expect(refused(() => wq())).toMatchObject({ code: "ENOMEM", reason: "no_memory" });
  v.ibv_destroy_wq(other);
  const second = wq();
  const attributes = { log_ind_tbl_size: 1, ind_tbl: [one, second] };
  const long = { log_ind_tbl_size: 2, ind_tbl: [one, one, one, one] };
  expect(refused(() => v.ibv_create_rwq_ind_table(made.context, long))).toMatchObject({ path: "log_ind_tbl_size" });
  const table = v.ibv_create_rwq_ind_table(made.context, attributes);
  expect(refused(() => v.ibv_create_rwq_ind_table(made.context, attributes))?.code).toBe("ENOMEM");
  v.ibv_destroy_rwq_ind_table(table);
  expect(v.ibv_create_rwq_ind_table(made.context, attributes).ind_tbl_num).toBeGreaterThan(0);
});

test("memory that is full refuses both, and everything works again", async () => {
  made = await open({ memory: 2 ** 18 });
  const queues = [wq()];
  const ind_tbl = Array.from({ length: 1024 }, () => queues[0] as v.WorkQueue);
  const table = (): v.IndirectionTable => v.ibv_create_rwq_ind_table(made.context, { log_ind_tbl_size: 10, ind_tbl });
  const tables: v.IndirectionTable[] = [];
  for (const make of [() => tables.push(table()), () => queues.push(wq({ max_wr: 1024 }))]) {
    let error: ReturnType<typeof refused>;
    while ((error = refused(make)) === undefined);
    expect(error).toMatchObject({ code: "ENOMEM", reason: "no_memory" });
  }
  const { memoryUsed } = made.device;
  const users = tables.length * 1024;
  expect(users).toBeGreaterThan(0);
  for (const make of [table, () => wq({ max_wr: 1024 })]) expect(refused(make)?.code).toBe("ENOMEM");
  expect([made.device.memoryUsed, queues[0]?.users, made.cq.users]).toEqual([memoryUsed, users, queues.length]);
  v.ibv_destroy_rwq_ind_table(tables.pop() as v.IndirectionTable);
  expect(table().log_ind_tbl_size).toBe(10);
});
