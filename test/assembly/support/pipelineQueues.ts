/** Queues of a random device: those that take everything, those that take nothing, and TIRs that lead to each. */
import { createSink } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { Tir } from "../../../src/model/queuePair/tir.js";
import * as v from "../../../src/verbs/index.js";
import { DEAF_QUEUES, PORTS, QUEUE_NAMES, VPORTS } from "../../oracle/generate/pipeline.js";
import type { Pipeline } from "../../oracle/walk/pipeline.js";
import { climb } from "../../verbs/support/queuePairs.js";

export function makeQueues(world: Pipeline, contexts: readonly Context[]): Map<string, QueuePair> {
  const queues = new Map<string, QueuePair>();
  for (const [i, name] of QUEUE_NAMES.entries()) {
    const vport = i % (VPORTS + 1);
    const port = ((i >> 1) % PORTS) + 1;
    const queue = createSink(contexts[vport] as Context, name, port);
    queues.set(name, queue);
    world.queues.set(name, { vport, port, number: queue.qp_num, refuses: null });
  }
  for (const { name, vport, refuses } of DEAF_QUEUES) {
    const context = contexts[vport] as Context;
    const cq = v.ibv_create_cq(context, 4);
    const cap = { max_send_wr: 1, max_recv_wr: 1, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
    const attributes = { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET };
    const queue = v.ibv_create_qp(v.ibv_alloc_pd(context), attributes);
    if (refuses === "no_receive_buffer") climb(queue, 1, 2);
    queues.set(name, queue);
    world.queues.set(name, { vport, port: 1, number: queue.qp_num, refuses });
  }
  return queues;
}

/** TIRs of their functions, each of which leads to one queue. */
export function makeTirs(queues: ReadonlyMap<string, QueuePair>): Map<string, Tir> {
  const tirs = [...queues].map(([name, { context, qp_num }]): [string, Tir] => {
    const command = dv.createTirCommand({ disp_type: dv.MLX5_TIRC_DISP_TYPE_DIRECT, inline_rqn: qp_num });
    return [name, dv.mlx5dv_devx_obj_create(context, command, undefined, new Uint8Array(16), undefined)];
  });
  return new Map(tirs);
}
