/** Queue pairs: types, attributes, and state transitions. */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { AddressAttributes } from "../../../src/model/queue/addressHandle.js";
import type { CompletionQueue } from "../../../src/model/queue/completionQueue.js";
import type { ProtectionDomain } from "../../../src/model/base/context.js";
import type { QueuePair, QueuePairAttributes } from "../../../src/model/queuePair/queuePair.js";
import type { QueuePairChange } from "../../../src/model/queue/states.js";
import type { ReceiveRequest } from "../../../src/model/queue/receiveQueue.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../../mlx5dv/support/directRules.js";

let bench: Bench;
let pd: ProtectionDomain;
let cq: CompletionQueue;

beforeEach(async () => {
  bench = await openBench({ ports: 2 });
  pd = v.ibv_alloc_pd(bench.context);
  cq = v.ibv_create_cq(bench.context, 8);
});

function attributes(qp_type: number, more: Partial<QueuePairAttributes> = {}): QueuePairAttributes {
  return { send_cq: cq, recv_cq: cq, cap: { max_recv_wr: 4, max_recv_sge: 1 }, qp_type, ...more };
}

const make = (type: number, more?: Partial<QueuePairAttributes>): QueuePair =>
  v.ibv_create_qp(pd, attributes(type, more));

const { IBV_QP_STATE: STATE, IBV_QP_PORT: PORT, IBV_QP_PKEY_INDEX: PKEY, IBV_QP_QKEY: QKEY } = v;
const ah_attr: AddressAttributes = { grh: { dgid: "ff02::1" }, is_global: 1, port_num: 2 };

/** The attributes of a careful program: more than any transition accepts. */
const EVERYTHING: QueuePairChange = {
  path_mtu: v.IBV_MTU_1024,
  qkey: 0x11111111,
  rq_psn: 5,
  sq_psn: 0xffffff,
  dest_qp_num: 77,
  qp_access_flags: 6,
  ah_attr,
  pkey_index: 0,
  max_rd_atomic: 16,
  max_dest_rd_atomic: 1,
  min_rnr_timer: 31,
  port_num: 2,
  timeout: 14,
  retry_cnt: 7,
  rnr_retry: 7,
};

const PATH = v.IBV_QP_AV | v.IBV_QP_PATH_MTU | v.IBV_QP_DEST_QPN | v.IBV_QP_RQ_PSN;
const RC_RTR = PATH | v.IBV_QP_MAX_DEST_RD_ATOMIC | v.IBV_QP_MIN_RNR_TIMER;
const RC_RTS = v.IBV_QP_SQ_PSN | v.IBV_QP_MAX_QP_RD_ATOMIC | v.IBV_QP_RETRY_CNT | v.IBV_QP_RNR_RETRY | v.IBV_QP_TIMEOUT;

/** The tables of the manual page: required attributes of the transitions to INIT, RTR and RTS. */
const STEPS: [string, number, [number, number, number]][] = [
  ["raw packet", v.IBV_QPT_RAW_PACKET, [PORT, 0, 0]],
  ["UD", v.IBV_QPT_UD, [PKEY | PORT | QKEY, 0, v.IBV_QP_SQ_PSN]],
  ["UC", v.IBV_QPT_UC, [PKEY | PORT | v.IBV_QP_ACCESS_FLAGS, PATH, v.IBV_QP_SQ_PSN]],
  ["RC", v.IBV_QPT_RC, [PKEY | PORT | v.IBV_QP_ACCESS_FLAGS, RC_RTR, RC_RTS]],
];
const UP = [v.IBV_QPS_INIT, v.IBV_QPS_RTR, v.IBV_QPS_RTS];

const bitsOf = (mask: number): number[] =>
  Array.from({ length: 31 }, (_, i) => 1 << i).filter((bit) => (mask & bit) !== 0);

describe.each(STEPS)("%s", (_, type, masks) => {
  test("goes up, and takes no attribute less", () => {
    const qp = make(type);
    for (const [i, qp_state] of UP.entries()) {
      const mask = masks[i] as number;
      const before = v.ibv_query_qp(qp);
      for (const bit of bitsOf(mask)) {
        const error = refused(() => v.ibv_modify_qp(qp, { ...EVERYTHING, qp_state }, STATE | (mask & ~bit)));
        expect(error).toMatchObject({ code: "EINVAL", reason: "missing_attribute", path: "attr_mask" });
        expect(error?.value).toMatch(/^IBV_QP_[A-Z_]+$/);
      }
      expect(v.ibv_query_qp(qp)).toEqual(before);
      expect(v.ibv_modify_qp(qp, { ...EVERYTHING, qp_state }, STATE | mask)).toBe(0);
      expect(qp.state).toBe(qp_state);
    }
    const { attr } = v.ibv_query_qp(qp, STATE);
    const names = Object.keys(EVERYTHING) as (keyof typeof attr)[];
    const set = names.filter((name) => JSON.stringify(attr[name]) === JSON.stringify(EVERYTHING[name as never]));
    expect(attr).toMatchObject({ qp_state: v.IBV_QPS_RTS, cur_qp_state: v.IBV_QPS_RTS });
    // pkey_index is 0 from the start.
    expect(set.length - (masks[0] & PKEY ? 0 : 1)).toBe(masks.flatMap(bitsOf).length);
  });

  test("comes down from everywhere, and then has nothing", () => {
    for (let height = 0; height <= UP.length; height++) {
      const qp = make(type);
      const climb = (): void => {
        for (const [i, qp_state] of UP.slice(0, height).entries()) {
          v.ibv_modify_qp(qp, { ...EVERYTHING, qp_state }, STATE | (masks[i] as number));
        }
      };
      climb();
      v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_ERR }, STATE);
      expect(qp.state).toBe(v.IBV_QPS_ERR);
      expect(refused(() => v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, STATE | PORT))?.reason).toBe(
        "bad_state",
      );
      v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, STATE);
      expect(v.ibv_query_qp(qp).attr).toMatchObject({ qp_state: v.IBV_QPS_RESET, port_num: 0, qkey: 0, ah_attr: null });
      climb();
      expect(qp.state).toBe(height === 0 ? v.IBV_QPS_RESET : UP[height - 1]);
    }
  });

  test("skips no state and goes no step back", () => {
    const qp = make(type);
    const every = masks.reduce((all, mask) => all | mask, STATE);
    for (let height = 0; height <= UP.length; height++) {
      for (const qp_state of [v.IBV_QPS_INIT, v.IBV_QPS_RTR, v.IBV_QPS_RTS, v.IBV_QPS_SQD, v.IBV_QPS_SQE, 7]) {
        if (qp_state === UP[height] || qp_state === qp.state) continue;
        const error = refused(() => v.ibv_modify_qp(qp, { ...EVERYTHING, qp_state }, every));
        expect(error).toMatchObject({ code: "EINVAL", reason: "bad_state", path: "attr.qp_state" });
      }
      const next = UP[height];
      if (next !== undefined) v.ibv_modify_qp(qp, { ...EVERYTHING, qp_state: next }, STATE | (masks[height] as number));
    }
  });
});

describe("attributes", () => {
  function datagram(...states: number[]): QueuePair {
    const qp = make(v.IBV_QPT_UD);
    for (const [i, qp_state] of states.entries()) {
      v.ibv_modify_qp(qp, { ...EVERYTHING, qp_state }, STATE | (STEPS[1]?.[2][i] ?? 0));
    }
    return qp;
  }

  test("that a step does not take", () => {
    const raw = make(v.IBV_QPT_RAW_PACKET);
    const attr = { ...EVERYTHING, qp_state: v.IBV_QPS_INIT };
    const error = refused(() => v.ibv_modify_qp(raw, attr, STATE | PORT | QKEY | v.IBV_QP_SQ_PSN));
    expect(error).toMatchObject({ reason: "bad_attribute", value: "IBV_QP_QKEY | IBV_QP_SQ_PSN" });
    expect(error?.hint).toBe("from RESET to INIT it takes IBV_QP_PORT");
    expect(refused(() => v.ibv_modify_qp(raw, attr, STATE | PORT | (1 << 21)))?.value).toBe("0x200000");
    expect(refused(() => v.ibv_modify_qp(raw, { qp_state: v.IBV_QPS_ERR, port_num: 1 }, STATE | PORT))?.reason).toBe(
      "bad_attribute",
    );
    expect(refused(() => v.ibv_modify_qp(raw, { port_num: 1 }, PORT))?.reason).toBe("bad_attribute");
    expect(raw.state).toBe(v.IBV_QPS_RESET);
  });

  test("that change without a step", () => {
    const qp = datagram(v.IBV_QPS_INIT);
    v.ibv_modify_qp(qp, { port_num: 1 }, PORT);
    v.ibv_modify_qp(qp, { qkey: 9, qp_state: v.IBV_QPS_INIT }, STATE | QKEY);
    expect(v.ibv_query_qp(qp).attr).toMatchObject({ port_num: 1, qkey: 9, qp_state: v.IBV_QPS_INIT });
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTR, qkey: 10 }, STATE | QKEY);
    expect(refused(() => v.ibv_modify_qp(qp, { qkey: 11 }, QKEY))?.reason).toBe("bad_attribute");
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTS, sq_psn: 3 }, STATE | v.IBV_QP_SQ_PSN);
    v.ibv_modify_qp(qp, { qkey: 12 }, QKEY);
    expect(v.ibv_query_qp(qp).attr).toMatchObject({ qkey: 12, sq_psn: 3 });
    v.ibv_modify_qp(qp, {}, 0);
  });

  test("whose value cannot be", () => {
    const rc = make(v.IBV_QPT_RC);
    const masks = STEPS[3]?.[2] ?? [0, 0, 0];
    const wrong: QueuePairChange[][] = [
      [{ port_num: 0 }, { port_num: 3 }, { pkey_index: 1 }, { qp_access_flags: -1 }],
      [{ path_mtu: 0 }, { path_mtu: 6 }, { rq_psn: 2 ** 24 }, { dest_qp_num: 2 ** 24 }, { max_dest_rd_atomic: 17 }],
      [{ sq_psn: 2 ** 24 }, { max_rd_atomic: 17 }, { retry_cnt: 8 }, { rnr_retry: 8 }, { timeout: 32 }],
    ];
    for (const [i, qp_state] of UP.entries()) {
      const mask = STATE | masks[i]!;
      for (const change of wrong[i] ?? []) {
        const error = refused(() => v.ibv_modify_qp(rc, { ...EVERYTHING, qp_state, ...change }, mask));
        expect(error).toMatchObject({ code: "EINVAL", reason: "out_of_range", path: `attr.${Object.keys(change)[0]}` });
      }
      v.ibv_modify_qp(rc, { ...EVERYTHING, qp_state }, mask);
    }
    expect(v.ibv_query_device(bench.context).max_qp_rd_atom).toBe(16);
  });

  test("of the path", () => {
    const uc = make(v.IBV_QPT_UC);
    v.ibv_modify_qp(uc, { ...EVERYTHING, qp_state: v.IBV_QPS_INIT }, STATE | (STEPS[2]?.[2][0] ?? 0));
    const attr = { ...EVERYTHING, qp_state: v.IBV_QPS_RTR };
    const attempt = (address: unknown): void =>
      void v.ibv_modify_qp(uc, { ...attr, ah_attr: address as AddressAttributes }, STATE | PATH);
    expect(refused(() => attempt({ ...ah_attr, port_num: 3 }))?.path).toBe("attr.ah_attr.port_num");
    expect(() => attempt(undefined)).toThrow(TypeError);
    const mine = { ...ah_attr, grh: { ...ah_attr.grh, hop_limit: 3 } };
    attempt(mine);
    mine.grh.hop_limit = 4;
    expect(v.ibv_query_qp(uc).attr.ah_attr?.grh.hop_limit).toBe(3);
  });

  test("that the device lacks", () => {
    const qp = datagram(v.IBV_QPS_INIT);
    for (const bit of [
      v.IBV_QP_EN_SQD_ASYNC_NOTIFY,
      v.IBV_QP_ALT_PATH,
      v.IBV_QP_PATH_MIG_STATE,
      v.IBV_QP_CAP,
      v.IBV_QP_RATE_LIMIT,
    ]) {
      expect(refused(() => v.ibv_modify_qp(qp, {}, bit))).toMatchObject({ code: "EOPNOTSUPP", path: "attr_mask" });
    }
  });

  test("cur_qp_state is held against the state", () => {
    const qp = datagram(v.IBV_QPS_INIT, v.IBV_QPS_RTR);
    const attr = { qp_state: v.IBV_QPS_RTS, sq_psn: 1 };
    const mask = STATE | v.IBV_QP_SQ_PSN | v.IBV_QP_CUR_STATE;
    const error = refused(() => v.ibv_modify_qp(qp, { ...attr, cur_qp_state: v.IBV_QPS_INIT }, mask));
    expect(error).toMatchObject({ code: "EINVAL", reason: "bad_state", path: "attr.cur_qp_state" });
    expect(error?.hint).toBe("the queue pair is in RTR");
    v.ibv_modify_qp(qp, { ...attr, cur_qp_state: v.IBV_QPS_RTR }, mask);
    expect(qp.state).toBe(v.IBV_QPS_RTS);
  });

  test("of another type", () => {
    const qp = make(v.IBV_QPT_UD);
    expect(() => v.ibv_modify_qp(qp, null as never, STATE)).toThrow(TypeError);
    // An absent state is IBV_QPS_RESET.
    expect(v.ibv_modify_qp(qp, {}, STATE)).toBe(0);
    expect(() => v.ibv_modify_qp(qp, {}, "1" as never)).toThrow(TypeError);
    expect(() => v.ibv_modify_qp(cq as never, {}, 0)).toThrow(TypeError);
    expect(() => v.ibv_query_qp(cq as never)).toThrow(TypeError);
    expect(refused(() => v.ibv_modify_qp(bench.queue, { qp_state: 0 }, STATE))?.reason).toBe("bad_object");
    expect(refused(() => v.ibv_query_qp(bench.queue))?.reason).toBe("bad_object");
  });
});

describe("making", () => {
  test("gives what was asked for", () => {
    const cap = { max_send_wr: 3, max_recv_wr: 4, max_send_sge: 2, max_recv_sge: 1, max_inline_data: 64 };
    const qp_context = { mine: true };
    const qp = make(v.IBV_QPT_UD, { cap, qp_context, sq_sig_all: 1 });
    expect(qp.qp_type).toBe(v.IBV_QPT_UD);
    expect([qp.send_cq, qp.recv_cq, qp.qp_context, qp.pd]).toEqual([cq, cq, qp_context, pd]);
    const { attr, init_attr } = v.ibv_query_qp(qp);
    expect(attr.cap).toEqual(cap);
    expect(init_attr).toMatchObject({ qp_context, cap, sq_sig_all: 1, qp_type: v.IBV_QPT_UD });
    expect(init_attr.send_cq).toBe(cq);
    expect([bench.queue.send_cq, bench.queue.recv_cq, bench.queue.qp_context]).toEqual([null, null, null]);
  });

  test("is refused beyond the limits", () => {
    const { max_qp_wr, max_sge } = v.ibv_query_device(bench.context);
    const attempt = (cap: object): string | undefined => refused(() => make(v.IBV_QPT_UD, { cap }))?.path;
    expect(attempt({ max_send_wr: max_qp_wr + 1 })).toBe("cap.max_send_wr");
    expect(attempt({ max_recv_wr: max_qp_wr + 1 })).toBe("cap.max_recv_wr");
    expect(attempt({ max_send_sge: max_sge + 1 })).toBe("cap.max_send_sge");
    expect(attempt({ max_recv_sge: max_sge + 1 })).toBe("cap.max_recv_sge");
    expect(attempt({ max_inline_data: 1025 })).toBe("cap.max_inline_data");
    expect(attempt({ max_send_wr: max_qp_wr, max_recv_wr: max_qp_wr, max_send_sge: max_sge })).toBeUndefined();
    expect([pd.users, cq.users]).toEqual([1, 2]);
  });

  test.each([
    [v.IBV_QPT_XRC_SEND, "EOPNOTSUPP"],
    [v.IBV_QPT_XRC_RECV, "EOPNOTSUPP"],
    [v.IBV_QPT_DRIVER, "EOPNOTSUPP"],
    [0, "EINVAL"],
    [77, "EINVAL"],
  ])("type %i is refused", (type, code) => {
    expect(refused(() => make(type))).toMatchObject({ code, path: "qp_type" });
    expect([pd.users, cq.users]).toEqual([0, 0]);
  });

  test("with something that is no shared receive queue is refused", () => {
    expect(() => make(v.IBV_QPT_UD, { srq: {} as never })).toThrow("srq must be a SharedReceiveQueue, not Object");
  });

  test("by the extended call", async () => {
    const attr = (comp_mask: number): Parameters<typeof v.ibv_create_qp_ex>[1] => {
      return { ...attributes(v.IBV_QPT_UD), comp_mask, pd };
    };
    expect(v.ibv_create_qp_ex(bench.context, attr(v.IBV_QP_INIT_ATTR_PD)).pd).toBe(pd);
    expect(refused(() => v.ibv_create_qp_ex(bench.context, attr(0)))?.code).toBe("EINVAL");
    expect(refused(() => v.ibv_create_qp_ex(bench.context, attr(3)))?.code).toBe("EOPNOTSUPP");
    const other = await openBench();
    expect(refused(() => v.ibv_create_qp_ex(other.context, attr(1)))?.reason).toBe("other_device");
  });
});

describe("receiving", () => {
  test("a connected queue pair is not steered to", () => {
    for (const type of [v.IBV_QPT_RC, v.IBV_QPT_UC]) {
      const qp = make(type);
      expect(refused(() => dv.mlx5dv_dr_action_create_dest_ibv_qp(qp))).toMatchObject({
        code: "EINVAL",
        reason: "bad_object",
      });
    }
  });

  test("the request that was refused is named", () => {
    const qp = make(v.IBV_QPT_RAW_PACKET);
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, STATE | PORT);
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTR }, STATE);
    const addr = new Uint8Array(256);
    const { lkey } = v.ibv_reg_mr(pd, addr, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    const request = (wr_id: number, key: number, next: ReceiveRequest | null): ReceiveRequest => {
      return { wr_id, sg_list: [{ addr, lkey: key }], next };
    };
    const third = request(3, lkey, null);
    const second = request(2, lkey + 1, third);
    const bad: { wr?: ReceiveRequest } = {};
    expect(refused(() => v.ibv_post_recv(qp, request(1, lkey, second), bad))?.reason).toBe("bad_key");
    expect(bad.wr).toBe(second);
    // The one before it is posted, the later ones are not.
    const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, 0, null);
    dv.mlx5dv_dr_rule_create(matcher, null, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(qp)]);
    expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("deliver");
    expect(bench.device.receive(1, ipv4Frame()).reason).toBe("no_receive_buffer");
    expect(v.ibv_poll_cq(cq, 2)).toMatchObject([{ wr_id: 1 }]);
  });

  test("into a region that was destroyed meanwhile", () => {
    const qp = make(v.IBV_QPT_RAW_PACKET);
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, STATE | PORT);
    const addr = new Uint8Array(64);
    const mr = v.ibv_reg_mr(pd, addr, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    v.ibv_post_recv(qp, { wr_id: 1, sg_list: [{ addr, lkey: mr.lkey }] });
    v.ibv_dereg_mr(mr);
    expect(refused(() => v.ibv_post_recv(qp, { wr_id: 1, sg_list: [{ addr, lkey: mr.lkey }] }))?.reason).toBe(
      "bad_key",
    );
    expect(() => v.ibv_post_recv(qp, { wr_id: 1, sg_list: 5 as never })).toThrow(TypeError);
    expect(refused(() => v.ibv_post_recv(qp, { wr_id: 1, sg_list: null as never, num_sge: 1 }))?.path).toBe(
      "wr.num_sge",
    );
  });
});
