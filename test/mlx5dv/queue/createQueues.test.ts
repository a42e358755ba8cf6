/** mlx5dv_create_qp(3) and mlx5dv_create_cq(3): additional attributes, their effects, refusals. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { CompletionQueue } from "../../../src/model/queue/completionQueue.js";
import type { Context, ProtectionDomain } from "../../../src/model/base/context.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import * as v from "../../../src/verbs/index.js";
import { join, openEnd, pattern, post, postReceives, statuses } from "../../verbs/support/connected.js";
import { attr, dport, LOOP, outcomeText } from "../../verbs/support/flows.js";
import { climb } from "../../verbs/support/queuePairs.js";
import { ipv4Frame, refused } from "../support/directRules.js";

let device: Device;
let context: Context;
let pd: ProtectionDomain;
let cq: CompletionQueue;

beforeEach(async () => {
  device = await createDevice();
  context = v.ibv_open_device(device);
  pd = v.ibv_alloc_pd(context);
  cq = v.ibv_create_cq(context, 16);
});

const CAP = { max_send_wr: 4, max_send_sge: 1, max_recv_wr: 4, max_recv_sge: 1 };
const verbs = (qp_type: number) => ({
  comp_mask: v.IBV_QP_INIT_ATTR_PD,
  pd,
  send_cq: cq,
  recv_cq: cq,
  cap: CAP,
  qp_type,
});
const { IBV_QPT_RAW_PACKET: RAW, IBV_QPT_UD: UD, IBV_QPT_RC: RC, IBV_QPT_UC: UC, IBV_QPT_DRIVER: DRIVER } = v;
const FLAGS = dv.MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;

const create = (qp_type: number, mlx5?: dv.DeviceQueuePairAttributes | null): QueuePair =>
  dv.mlx5dv_create_qp(context, verbs(qp_type), mlx5);
const withFlags = (qp_type: number, create_flags: number): QueuePair =>
  create(qp_type, { comp_mask: FLAGS, create_flags });

/** The error of a call; no queue was created. */
function refusal(call: () => unknown): (string | undefined)[] {
  const before = [device.memoryUsed, device.nextNumber("qp", 0), device.nextNumber("cq", 0)];
  const error = refused(call);
  expect([device.memoryUsed, device.nextNumber("qp", 0), device.nextNumber("cq", 0)]).toEqual(before);
  return [error?.code, error?.reason, error?.path];
}

describe("mlx5dv_create_qp", () => {
  test("without the third argument, or without bits, is ibv_create_qp_ex", () => {
    for (const mlx5 of [undefined, null, { comp_mask: 0 }, { comp_mask: 0n, create_flags: 0xffff }]) {
      for (const type of [RAW, UD, RC, UC]) {
        const qp = create(type, mlx5);
        expect([qp.qp_type, qp.state]).toEqual([type, v.IBV_QPS_RESET]);
        v.ibv_destroy_qp(qp);
      }
    }
    const { comp_mask, ...rest } = verbs(RAW);
    const more = (bits: number): QueuePair =>
      dv.mlx5dv_create_qp(context, { ...rest, comp_mask: comp_mask | bits }, { comp_mask: 0 });
    expect(v.ibv_qp_to_qp_ex(more(v.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)).wr_flags).toBe(0);
    expect(more(v.IBV_QP_INIT_ATTR_CREATE_FLAGS).blocksOwnMulticast).toBe(false);
    expect(refusal(() => more(v.IBV_QP_INIT_ATTR_XRCD))).toEqual([
      "EOPNOTSUPP",
      "unsupported",
      "qp_init_attr.comp_mask",
    ]);
    expect(refusal(() => create(99))).toEqual(["EINVAL", "out_of_range", "qp_type"]);
    expect(() => create(RAW, 3 as never)).toThrow(TypeError);
    expect(() => create(RAW, { comp_mask: "1" as never })).toThrow(TypeError);
  });

  test("passes messages as others do", () => {
    const [a, b] = [openEnd(device), openEnd(device)].map((end) => {
      const init = { ...verbs(RC), pd: end.pd, send_cq: end.sent, recv_cq: end.received };
      return { ...end, qp: dv.mlx5dv_create_qp(end.context, init, null) };
    }) as [ReturnType<typeof openEnd>, ReturnType<typeof openEnd>];
    join(a, b);
    postReceives(b, 1);
    post(a, pattern(2000));
    expect(statuses(b.received)).toEqual([[100, v.IBV_WC_SUCCESS]]);
  });

  test("makes queue pairs that spread", () => {
    const wq = v.ibv_create_wq(context, { wq_type: v.IBV_WQT_RQ, max_wr: 1, max_sge: 1, pd, cq });
    const rwq_ind_tbl = v.ibv_create_rwq_ind_table(context, { log_ind_tbl_size: 0, ind_tbl: [wq] });
    const rx_hash_conf = {
      rx_hash_function: v.IBV_RX_HASH_FUNC_TOEPLITZ,
      rx_hash_key: new Uint8Array(40),
      rx_hash_fields_mask: v.IBV_RX_HASH_SRC_IPV4,
    };
    const comp_mask = v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_IND_TABLE | v.IBV_QP_INIT_ATTR_RX_HASH;
    const flags = dv.MLX5DV_QP_CREATE_TUNNEL_OFFLOADS | dv.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC;
    const qp = dv.mlx5dv_create_qp(
      context,
      { comp_mask, pd, qp_type: RAW, rwq_ind_tbl, rx_hash_conf },
      { comp_mask: FLAGS, create_flags: flags },
    );
    expect(qp.isRss).toBe(true);
  });

  test.each([
    ["TUNNEL_OFFLOADS", dv.MLX5DV_QP_CREATE_TUNNEL_OFFLOADS],
    ["TIR_ALLOW_SELF_LOOPBACK_UC", dv.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC],
    ["TIR_ALLOW_SELF_LOOPBACK_MC", dv.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC],
  ])("%s is for raw packet queue pairs", (_, flag) => {
    expect(withFlags(RAW, flag).qp_type).toBe(RAW);
    for (const type of [UD, RC, UC]) {
      expect(refusal(() => withFlags(type, flag))).toEqual(["EINVAL", "bad_create_flags", "mlx5_qp_attr.create_flags"]);
    }
  });

  test("scatter to completions is allowed or not, and there is nothing to see of it", () => {
    const [off, on] = [dv.MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE, dv.MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE];
    for (const type of [RAW, UD, RC, UC]) {
      expect([withFlags(type, off), withFlags(type, on)].map(({ qp_type }) => qp_type)).toEqual([type, type]);
      expect(refusal(() => withFlags(type, off | on))).toEqual([
        "EINVAL",
        "bad_create_flags",
        "mlx5_qp_attr.create_flags",
      ]);
    }
  });

  test.each([
    ["PACKET_BASED_CREDIT_MODE", dv.MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE],
    ["SIG_PIPELINING", dv.MLX5DV_QP_CREATE_SIG_PIPELINING],
    ["OOO_DP", dv.MLX5DV_QP_CREATE_OOO_DP],
  ])("%s is nothing that the device has", (name, flag) => {
    expect(refusal(() => withFlags(RC, flag))).toEqual(["EOPNOTSUPP", "unsupported", "mlx5_qp_attr.create_flags"]);
    expect(refused(() => withFlags(RC, flag))?.message).toContain(name);
  });

  test("unknown bits, dynamic connections and send operations are refused", () => {
    const masks = (type: number, comp_mask: number): (string | undefined)[] =>
      refusal(() => create(type, { comp_mask, dc_init_attr: { dc_type: dv.MLX5DV_DCTYPE_DCI } }));
    const path = "mlx5_qp_attr.comp_mask";
    for (const bit of [dv.MLX5DV_QP_INIT_ATTR_MASK_DC, dv.MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS]) {
      expect(masks(RC, bit)).toEqual(["EINVAL", "unsupported", path]);
      expect(masks(DRIVER, bit)).toEqual(["EOPNOTSUPP", "unsupported", path]);
    }
    expect(masks(RC, dv.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS)).toEqual(["EOPNOTSUPP", "unsupported", path]);
    for (const mask of [16, -1, 0.5, 2 ** 40]) expect(masks(RC, mask)).toEqual(["EINVAL", "out_of_range", path]);
    for (const flags of [256, -1]) {
      expect(refusal(() => withFlags(RC, flags))).toEqual(["EINVAL", "out_of_range", "mlx5_qp_attr.create_flags"]);
    }
  });

  describe("self loopback", () => {
    const { MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC: UNI, MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC: MULTI } = dv;
    const frame = (first: number): Uint8Array => {
      const bytes = ipv4Frame({ dport: 80 });
      bytes[0] = first;
      return bytes;
    };
    /** Results of its own unicast and multicast frame, both of which match a flow of it. */
    function own(qp: QueuePair): string[] {
      climb(qp);
      const memory = new Uint8Array(8192);
      const { lkey } = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
      for (let i = 0; i < 4; i++) {
        const addr = memory.subarray(2048 * i, 2048 * (i + 1));
        v.ibv_post_recv(qp, { wr_id: i, sg_list: [{ addr, lkey }] });
      }
      return [2, 3].map((first) => outcomeText(device.send(qp, frame(first))));
    }

    test.each([
      [0, "port:1 transmit", "port:1 transmit"],
      [UNI, "qp1 deliver", "port:1 transmit"],
      [MULTI, "port:1 transmit", "qp1 port:1 transmit"],
      [UNI | MULTI, "qp1 deliver", "qp1 port:1 transmit"],
    ])("with flags %i: %s, %s", (flags, unicast, multicast) => {
      const qp = withFlags(RAW, flags);
      const flow = v.ibv_create_flow(qp, attr([dport(80)]));
      expect(own(qp)).toEqual([unicast, multicast]);
      const hit = device.send(qp, frame(2)).rules.map((rule) => rule === flow);
      expect(hit).toEqual((flags & UNI) === 0 ? [] : [true]);
    });

    test("is that of the sender, and leaves others as they are", () => {
      const qp = withFlags(RAW, UNI | MULTI);
      const plain = create(RAW);
      v.ibv_create_flow(plain, attr([dport(80)]));
      climb(plain);
      expect(outcomeText(device.send(plain, frame(2)))).toBe("port:1 transmit");
      const sink = createSink(context, "both");
      v.ibv_create_flow(sink, attr([dport(80)], LOOP));
      expect(own(qp)).toEqual(["both deliver", "both port:1 transmit"]);
    });
  });
});

describe("mlx5dv_create_cq", () => {
  const createCq = (mlx5?: dv.DeviceCompletionQueueAttributes | null): v.ExtendedCompletionQueue =>
    dv.mlx5dv_create_cq(context, { cqe: 4, wc_flags: v.IBV_WC_EX_WITH_BYTE_LEN }, mlx5);
  const {
    MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE: COMPRESSED,
    MLX5DV_CQ_INIT_ATTR_MASK_FLAGS: CQ_FLAGS,
    MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE: SIZE,
    MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD: PAD,
  } = dv;

  test("makes extended completion queues, whatever a completion looks like in memory", () => {
    const [hash, csum, stride] = [
      dv.MLX5DV_CQE_RES_FORMAT_HASH,
      dv.MLX5DV_CQE_RES_FORMAT_CSUM,
      dv.MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX,
    ];
    const given: (dv.DeviceCompletionQueueAttributes | null | undefined)[] = [
      undefined,
      null,
      { comp_mask: 0, cqe_size: 3, flags: 99, cqe_comp_res_format: 99 },
      { comp_mask: SIZE, cqe_size: 64 },
      { comp_mask: SIZE, cqe_size: 128 },
      { comp_mask: SIZE | CQ_FLAGS, cqe_size: 128, flags: PAD },
      { comp_mask: CQ_FLAGS, flags: 0 },
      ...[hash, csum, stride].map((cqe_comp_res_format) => ({
        comp_mask: COMPRESSED,
        cqe_comp_res_format,
      })),
    ];
    for (const mlx5 of given) {
      const queue = createCq(mlx5);
      const qp = v.ibv_create_qp(pd, { send_cq: queue, recv_cq: queue, cap: CAP, qp_type: RAW });
      climb(qp);
      const addr = ipv4Frame();
      const { lkey } = v.ibv_reg_mr(pd, addr, undefined, 0);
      const wr = { wr_id: 8, sg_list: [{ addr, lkey }], opcode: v.IBV_WR_SEND, send_flags: v.IBV_SEND_SIGNALED };
      v.ibv_post_send(qp, wr);
      expect(v.ibv_start_poll(queue)).toBe(0);
      expect([queue.wr_id, v.ibv_wc_read_byte_len(queue)]).toEqual([8, addr.length]);
      v.ibv_end_poll(queue);
    }
  });

  test.each<[string, dv.DeviceCompletionQueueAttributes]>([
    ["comp_mask", { comp_mask: 8 }],
    ["comp_mask", { comp_mask: -1 }],
    ["cqe_comp_res_format", { comp_mask: COMPRESSED }],
    ["cqe_comp_res_format", { comp_mask: COMPRESSED, cqe_comp_res_format: 8 }],
    ["cqe_comp_res_format", { comp_mask: COMPRESSED, cqe_comp_res_format: 3 }],
    ["cqe_size", { comp_mask: SIZE }],
    ["cqe_size", { comp_mask: SIZE, cqe_size: 96 }],
    ["cqe_size", { comp_mask: SIZE, cqe_size: 256 }],
    ["flags", { comp_mask: CQ_FLAGS | SIZE, flags: 2, cqe_size: 128 }],
    ["flags", { comp_mask: CQ_FLAGS | SIZE, flags: PAD, cqe_size: 64 }],
    ["flags", { comp_mask: CQ_FLAGS, flags: PAD, cqe_size: 128 }],
  ])("refuses a bad %s: %o", (name, mlx5) => {
    expect(refusal(() => createCq(mlx5))).toEqual(["EINVAL", "out_of_range", `mlx5_cq_attr.${name}`]);
  });

  test("refuses what ibv_create_cq_ex refuses", () => {
    const bad = (cq_attr: object): string | undefined =>
      refusal(() => dv.mlx5dv_create_cq(context, { cqe: 4, ...cq_attr }, { comp_mask: 0 }))[0];
    expect([bad({ cqe: 0 }), bad({ wc_flags: v.IBV_WC_EX_WITH_CVLAN }), bad({ comp_mask: 2 })]).toEqual([
      "EINVAL",
      "EOPNOTSUPP",
      "EOPNOTSUPP",
    ]);
    expect(() => createCq(1 as never)).toThrow(TypeError);
    expect(() => dv.mlx5dv_create_cq(pd as never, { cqe: 1 })).toThrow(TypeError);
  });
});

test("numbers are those of the header", () => {
  // infiniband/mlx5dv.h of rdma-core 44, and the last of the flags of a later one.
  expect([
    dv.MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
    dv.MLX5DV_QP_INIT_ATTR_MASK_DC,
    dv.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
    dv.MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS,
  ]).toEqual([1, 2, 4, 8]);
  expect([
    dv.MLX5DV_QP_CREATE_TUNNEL_OFFLOADS,
    dv.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC,
    dv.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC,
    dv.MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
    dv.MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE,
    dv.MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE,
    dv.MLX5DV_QP_CREATE_SIG_PIPELINING,
    dv.MLX5DV_QP_CREATE_OOO_DP,
  ]).toEqual([1, 2, 4, 8, 16, 32, 64, 128]);
  expect([dv.MLX5DV_DCTYPE_DCT, dv.MLX5DV_DCTYPE_DCI]).toEqual([1, 2]);
});

describe("mlx5dv_create_wq", () => {
  const wq = () => ({ wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq });

  test("without attributes of the driver is ibv_create_wq", () => {
    for (const mlx5 of [undefined, null, { comp_mask: 0 }, { comp_mask: 0n, striding_rq_attrs: {} }]) {
      const made = dv.mlx5dv_create_wq(context, wq(), mlx5);
      expect([made.wq_type, made.state]).toEqual([v.IBV_WQT_RQ, v.IBV_WQS_RESET]);
      v.ibv_modify_wq(made, { attr_mask: v.IBV_WQ_ATTR_STATE, wq_state: v.IBV_WQS_RDY });
      expect(v.ibv_destroy_wq(made)).toBe(0);
    }
    expect(refusal(() => dv.mlx5dv_create_wq(context, { ...wq(), wq_type: 1 }))).toEqual([
      "EINVAL",
      "out_of_range",
      "wq_type",
    ]);
  });

  test("refuses strides and unknown bits", () => {
    const path = "mlx5_wq_attr.comp_mask";
    const striding = { comp_mask: dv.MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ, striding_rq_attrs: {} };
    expect(refusal(() => dv.mlx5dv_create_wq(context, wq(), striding))).toEqual(["EOPNOTSUPP", "unsupported", path]);
    for (const comp_mask of [2, 2n ** 40n]) {
      expect(refusal(() => dv.mlx5dv_create_wq(context, wq(), { comp_mask }))).toEqual([
        "EINVAL",
        "out_of_range",
        path,
      ]);
    }
    expect(() => dv.mlx5dv_create_wq(context, wq(), 1 as never)).toThrow(TypeError);
  });
});
