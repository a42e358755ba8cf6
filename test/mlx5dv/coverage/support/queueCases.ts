/** Cases for mlx5dv_create_qp and mlx5dv_create_cq: frames of such queues, and refusals. */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import * as v from "../../../../src/verbs/index.js";
import {
  connectWatched,
  join,
  openEnd,
  packetOf,
  pattern,
  post,
  postReceives,
  statuses,
  type End,
} from "../../../verbs/support/connected.js";
import { attr, dport } from "../../../verbs/support/flows.js";
import { climb } from "../../../verbs/support/queuePairs.js";
import { FRAME, joined } from "./frames.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

const CREATE_FLAGS = dv.MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
const { IBV_QPT_RAW_PACKET: RAW, IBV_QPT_UD: UD, IBV_QPT_RC: RC, IBV_QPT_UC: UC, IBV_QPT_DRIVER: DRIVER } = v;

/** The call, with existing objects. */
function creator(p: Probe): (qp_type: number, mlx5: dv.DeviceQueuePairAttributes) => QueuePair {
  const pd = v.ibv_alloc_pd(p.context());
  const cq = v.ibv_create_cq(p.context(), 9);
  const cap = { max_send_wr: 1, max_send_sge: 1, max_recv_wr: 4, max_recv_sge: 1 };
  const comp_mask = v.IBV_QP_INIT_ATTR_PD;
  return (qp_type, mlx5) =>
    dv.mlx5dv_create_qp(p.context(), { comp_mask, pd, send_cq: cq, recv_cq: cq, cap, qp_type }, mlx5);
}

const flags = (create_flags: number): dv.DeviceQueuePairAttributes => ({ comp_mask: CREATE_FLAGS, create_flags });

/**
 * Moves a raw packet queue pair to RTS and posts receive requests; a flow delivers frames to it.
 */
function listens(qp: QueuePair): void {
  climb(qp);
  const addr = new Uint8Array(256);
  const { lkey } = v.ibv_reg_mr(qp.pd as v.ProtectionDomain, addr, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  for (let i = 0; i < 4; i++) v.ibv_post_recv(qp, { wr_id: i, sg_list: [{ addr, lkey }] });
  v.ibv_create_flow(qp, attr([dport((FRAME[36] as number) * 256 + (FRAME[37] as number))]));
}

/** FRAME with or without the group bit of its destination. */
const addressed = (group: boolean): Uint8Array => joined(Uint8Array.of(group ? 3 : 2), FRAME.subarray(1));

/** Whether its own unicast and its own multicast frame return to it. */
function comesBack(p: Probe, create_flags: number, unicast: boolean, multicast: boolean): void {
  const qp = creator(p)(RAW, flags(create_flags));
  listens(qp);
  for (const [group, wanted] of [
    [false, unicast],
    [true, multicast],
  ] as const) {
    const outcome = p.device.send(qp, addressed(group));
    same(
      outcome.to.some(({ object }) => object === qp),
      wanted,
      "comes back",
    );
    p.bytes(outcome, ...outcome.to.map(() => addressed(group)));
  }
}

/**
 * A message of two packets between two devices: opcodes of the frames on the cable, all of them for
 * the queue pair.
 */
async function passes(p: Probe, qp_type: number, operations: readonly number[]): Promise<void> {
  const other = await p.another({ name: "other" });
  const [a, b] = [p, other].map(({ device }): End => {
    const end = openEnd(device);
    const { context, pd, sent: send_cq, received: recv_cq } = end;
    const cap = { max_send_wr: 1, max_send_sge: 1, max_recv_wr: 1, max_recv_sge: 1 };
    const init = { comp_mask: v.IBV_QP_INIT_ATTR_PD, pd, send_cq, recv_cq, cap, qp_type };
    return { ...end, qp: dv.mlx5dv_create_qp(context, init, { comp_mask: 0 }) };
  }) as [End, End];
  join(a, b);
  postReceives(b, 1);
  const { frames } = connectWatched(a.device, b.device);
  post(a, pattern(1025));
  same(JSON.stringify(statuses(b.received)), JSON.stringify([[100, v.IBV_WC_SUCCESS]]), "completions");
  same(frames.map((frame) => packetOf(frame).opcode).join(), operations.join(), "operations");
  const [first = FRAME] = frames;
  const outcome = other.received(first);
  same(outcome.to[0]?.object, b.qp, "destination");
  p.bytes(outcome, first);
}

const QUEUE_PAIRS: Readonly<Record<string, Run>> = {
  "raw packet: its own frames, without flags": (p) => comesBack(p, 0, false, false),
  TIR_ALLOW_SELF_LOOPBACK_UC: (p) => comesBack(p, dv.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC, true, false),
  TIR_ALLOW_SELF_LOOPBACK_MC: (p) => comesBack(p, dv.MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC, false, true),
  "TUNNEL_OFFLOADS, scatter to completions on and off": (p) => {
    const create = creator(p);
    const { MLX5DV_QP_CREATE_TUNNEL_OFFLOADS: TUNNELS } = dv;
    const [off, on] = [dv.MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE, dv.MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE];
    const qp = create(RAW, flags(TUNNELS | off));
    listens(qp);
    p.bytes(p.received(FRAME), FRAME);
    for (const type of [UD, RC, UC]) p.refuses("EINVAL", () => create(type, flags(TUNNELS)));
    p.refuses("EINVAL", () => create(RAW, flags(off | on)));
  },
  "RC: messages, packet by packet": (p) => passes(p, RC, [0, 2, 0x11]),
  "UC: messages, packet by packet": (p) => passes(p, UC, [0x20, 0x22]),
  "PACKET_BASED_CREDIT_MODE, SIG_PIPELINING, OOO_DP": (p) => {
    const create = creator(p);
    for (const flag of [
      dv.MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE,
      dv.MLX5DV_QP_CREATE_SIG_PIPELINING,
      dv.MLX5DV_QP_CREATE_OOO_DP,
    ]) {
      p.refuses("EOPNOTSUPP", () => create(RC, flags(flag)));
    }
  },
  "DC, DCI_STREAMS, SEND_OPS_FLAGS, unknown bits": (p) => {
    const create = creator(p);
    for (const comp_mask of [dv.MLX5DV_QP_INIT_ATTR_MASK_DC, dv.MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS]) {
      p.refuses("EINVAL", () => create(RC, { comp_mask }));
      p.refuses("EOPNOTSUPP", () => create(DRIVER, { comp_mask }));
    }
    const comp_mask = dv.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
    p.refuses("EOPNOTSUPP", () => create(RC, { comp_mask, send_ops_flags: 1 }));
    p.refuses("EINVAL", () => create(RC, { comp_mask: 16 }));
    p.refuses("EINVAL", () => create(RC, flags(256)));
  },
};

const COMPLETION_QUEUES: Readonly<Record<string, Run>> = {
  "compressed, padded, of 64 and 128 bytes": (p) => {
    const pd = v.ibv_alloc_pd(p.context());
    const frames = [
      { comp_mask: dv.MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE, cqe_size: 64 },
      {
        comp_mask: dv.MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE | dv.MLX5DV_CQ_INIT_ATTR_MASK_FLAGS,
        cqe_size: 128,
        flags: dv.MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD,
      },
      {
        comp_mask: dv.MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE,
        cqe_comp_res_format: dv.MLX5DV_CQE_RES_FORMAT_HASH,
      },
    ].map((mlx5) => {
      const cq = dv.mlx5dv_create_cq(p.context(), { cqe: 4 }, mlx5);
      const cap = { max_recv_wr: 4, max_recv_sge: 1 };
      listens(v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: RAW }));
      return FRAME;
    });
    // Flows with the same match: each queue pair receives a copy.
    p.bytes(p.received(FRAME), ...frames);
  },
  "other sizes and formats, padding without 128 bytes, unknown bits": (p) => {
    const { MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE: SIZE, MLX5DV_CQ_INIT_ATTR_MASK_FLAGS: FLAGS } = dv;
    const bad: readonly dv.DeviceCompletionQueueAttributes[] = [
      { comp_mask: SIZE, cqe_size: 32 },
      { comp_mask: SIZE | FLAGS, cqe_size: 64, flags: dv.MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD },
      { comp_mask: FLAGS, flags: 2 },
      { comp_mask: dv.MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE, cqe_comp_res_format: 8 },
      { comp_mask: 8 },
    ];
    const context = p.context();
    for (const mlx5 of bad) p.refuses("EINVAL", () => dv.mlx5dv_create_cq(context, { cqe: 4 }, mlx5));
    p.refuses("EOPNOTSUPP", () =>
      dv.mlx5dv_create_cq(context, { cqe: 4, wc_flags: v.IBV_WC_EX_WITH_CVLAN }, { comp_mask: 0 }),
    );
  },
};

export const QUEUE_CASES: readonly Case[] = [
  ...casesOf("mlx5dv_create_qp", QUEUE_PAIRS),
  ...casesOf("mlx5dv_create_cq", COMPLETION_QUEUES),
];
