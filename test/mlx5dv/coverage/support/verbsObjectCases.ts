/**
 * Cases for device commands of queues that verbs made, asynchronous queries, mlx5dv_query_device, mlx5dv_create_wq, and
 * for the functions that the model lacks.
 */
import * as dv from "../../../../src/mlx5dv/index.js";
import { MISSING_MLX5DV } from "../../../../src/mlx5dv/missing.js";
import type { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import type { WorkQueue } from "../../../../src/model/queue/workQueue.js";
import * as v from "../../../../src/verbs/index.js";
import { climb } from "../../../verbs/support/queuePairs.js";
import { created } from "../../support/devx.js";
import { FRAME } from "./frames.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

type Ask<T> = (object: T, input: Uint8Array, inlen: undefined, output: Uint8Array, outlen: undefined) => 0;

const ask =
  <T>(call: Ask<T>, object: T, input: Uint8Array) =>
  (output: Uint8Array): 0 =>
    call(object, input, undefined, output, undefined);

function answer<T>(call: Ask<T>, object: T, input: Uint8Array): Uint8Array {
  const output = new Uint8Array(300).fill(0xee);
  same(ask(call, object, input)(output), 0, "returned");
  return output;
}

function parts(p: Probe) {
  const pd = v.ibv_alloc_pd(p.context());
  const cq = v.ibv_create_cq(p.context(), 15);
  const qp = (qp_type: number): QueuePair =>
    v.ibv_create_qp(pd, { qp_type, send_cq: cq, recv_cq: cq, cap: { max_recv_wr: 4, max_recv_sge: 1 } });
  const wq = (): WorkQueue =>
    dv.mlx5dv_create_wq(p.context(), { wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq }, null);
  return { pd, cq, qp, wq };
}

/** Frames of rules reach the work queue, once it is ready. */
function leadsTo(p: Probe, wq: WorkQueue, pd: v.ProtectionDomain): void {
  const addr = new Uint8Array(256);
  const { lkey } = v.ibv_reg_mr(pd, addr, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  v.ibv_post_wq_recv(wq, { wr_id: 1, sg_list: [{ addr, lkey }] });
  const tir = created(p.context(), dv.createTirCommand({ disp_type: 0, inline_rqn: wq.wq_num }));
  p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_dest_devx_tir(tir)]);
  const outcome = p.received(FRAME);
  same(outcome.to[0]?.object, wq, "destination");
  p.bytes(outcome, FRAME);
}

const RUNS: Readonly<Record<string, Readonly<Record<string, Run>>>> = {
  mlx5dv_devx_qp_query: {
    "QUERY_QP of a datagram queue pair": (p) => {
      const ud = parts(p).qp(v.IBV_QPT_UD);
      climb(ud, 1, 1);
      const output = answer(dv.mlx5dv_devx_qp_query, ud, dv.queryQpCommand(ud.qp_num));
      p.says(output.subarray(0, 72), { 24: 0x10, 25: 3, 26: 0x18, 32: 12, 33: 0x10, 34: 0x80 });
      p.says(output.subarray(192), { 0: 0x80, 1: 1 });
    },
    "of another object, of a raw packet queue pair": (p) => {
      const { qp } = parts(p);
      const [ud, raw] = [qp(v.IBV_QPT_UD), qp(v.IBV_QPT_RAW_PACKET)];
      p.fails("other_object", ask(dv.mlx5dv_devx_qp_query, ud, dv.queryQpCommand(raw.qp_num)));
      p.fails("wrong_call", ask(dv.mlx5dv_devx_qp_query, raw, dv.queryQpCommand(raw.qp_num)));
    },
  },
  mlx5dv_devx_qp_modify: {
    "RST2INIT_QP": (p) => {
      const ud = parts(p).qp(v.IBV_QPT_UD);
      const init = (port: number): Uint8Array =>
        dv.modifyQpCommand(dv.MLX5_CMD_OP_RST2INIT_QP, ud.qp_num, {
          q_key: 7,
          primary_address_path: { vhca_port_num: port },
        });
      p.fails("refused", ask(dv.mlx5dv_devx_qp_modify, ud, init(0)));
      p.says(answer(dv.mlx5dv_devx_qp_modify, ud, init(1)), {});
      same(ud.state, v.IBV_QPS_INIT, "state");
    },
  },
  mlx5dv_devx_cq_query: {
    "QUERY_CQ": (p) => {
      const { cq } = parts(p);
      p.says(answer(dv.mlx5dv_devx_cq_query, cq, dv.queryCqCommand(cq.cqn)), { 28: 4 });
      p.fails("other_object", ask(dv.mlx5dv_devx_cq_query, cq, dv.queryCqCommand(cq.cqn + 1)));
    },
  },
  mlx5dv_devx_cq_modify: {
    "a field of MODIFY_CQ": (p) => {
      const { cq } = parts(p);
      p.fails("unsupported", ask(dv.mlx5dv_devx_cq_modify, cq, dv.modifyCqCommand(cq.cqn, 1, { cq_period: 2 })));
    },
  },
  mlx5dv_devx_wq_query: {
    "QUERY_RQ": (p) => {
      const { cq, wq } = parts(p);
      const queue = wq();
      const expected = { 32: 0x10, 33: 4, 43: cq.cqn, 80: 0x10, 115: 2 };
      p.says(answer(dv.mlx5dv_devx_wq_query, queue, dv.queryRqCommand(queue.wq_num)), expected);
    },
  },
  mlx5dv_devx_wq_modify: {
    "MODIFY_RQ to ready": (p) => {
      const { pd, wq } = parts(p);
      const queue = wq();
      const ready = dv.modifyRqCommand(queue.wq_num, 0, { state: dv.MLX5_RQC_STATE_RDY });
      p.says(answer(dv.mlx5dv_devx_wq_modify, queue, ready), {});
      p.fails("refused", ask(dv.mlx5dv_devx_wq_modify, queue, ready));
      leadsTo(p, queue, pd);
    },
  },
  mlx5dv_devx_srq_query: {
    "QUERY_RMP": (p) => {
      const { pd } = parts(p);
      const srq = v.ibv_create_srq(pd, { attr: { max_wr: 4, max_sge: 1 } });
      const expected = { 33: 0x10, 36: 0x80, 80: 0x10, 115: 2 };
      p.says(answer(dv.mlx5dv_devx_srq_query, srq, dv.queryRmpCommand(srq.srqn)), expected);
    },
  },
  mlx5dv_devx_srq_modify: {
    "MODIFY_RMP": (p) => {
      const { pd } = parts(p);
      const srq = v.ibv_create_srq(pd, { attr: { max_wr: 4, max_sge: 1 } });
      for (let n = 0; n < 4; n++) v.ibv_post_srq_recv(srq, { wr_id: n, sg_list: [] });
      p.says(answer(dv.mlx5dv_devx_srq_modify, srq, dv.modifyRmpCommand(srq.srqn, 3)), {});
      p.fails("refused", ask(dv.mlx5dv_devx_srq_modify, srq, dv.modifyRmpCommand(srq.srqn, 5)));
      const expected = { 33: 0x10, 36: 0x80, 80: 0x10, 87: 3, 115: 2 };
      p.says(answer(dv.mlx5dv_devx_srq_query, srq, dv.queryRmpCommand(srq.srqn)), expected);
    },
  },
  mlx5dv_devx_ind_tbl_query: {
    "QUERY_RQT": (p) => {
      const queue = parts(p).wq();
      const table = v.ibv_create_rwq_ind_table(p.context(), { log_ind_tbl_size: 0, ind_tbl: [queue] });
      const output = answer(dv.mlx5dv_devx_ind_tbl_query, table, dv.queryRqtCommand(table.ind_tbl_num));
      p.says(output, { 55: 1, 59: 1, 275: queue.wq_num });
    },
  },
  mlx5dv_devx_ind_tbl_modify: {
    "MODIFY_RQT": (p) => {
      const { wq } = parts(p);
      const [a, b] = [wq(), wq()];
      const table = v.ibv_create_rwq_ind_table(p.context(), { log_ind_tbl_size: 0, ind_tbl: [a] });
      const to = (...numbers: number[]): Uint8Array => dv.modifyRqtCommand(table.ind_tbl_num, numbers);
      p.fails("unsupported", ask(dv.mlx5dv_devx_ind_tbl_modify, table, to(a.wq_num, b.wq_num)));
      p.says(answer(dv.mlx5dv_devx_ind_tbl_modify, table, to(b.wq_num)), {});
      same([a.users, b.users].join(), "0,1", "users");
    },
  },
  mlx5dv_devx_obj_query_async: {
    "its answer later": (p) => {
      const counter = created(p.context(), dv.allocFlowCounterCommand());
      const completions = dv.mlx5dv_devx_create_cmd_comp(p.context());
      const query = dv.queryFlowCounterCommand(counter.id);
      p.refuses("EAGAIN", () => dv.mlx5dv_devx_obj_query_async(counter, query, undefined, 2 ** 21, 1, completions));
      p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), p.toQueue("a")]);
      p.gets(p.received(FRAME), "a deliver");
      dv.mlx5dv_devx_obj_query_async(counter, query, undefined, 32, 1, completions);
      const response = { out_data: new Uint8Array(32) };
      dv.mlx5dv_devx_get_async_cmd_comp(completions, response, undefined);
      p.says(response.out_data, { 23: 1, 31: FRAME.length });
    },
  },
  mlx5dv_devx_create_cmd_comp: {
    "of a closed context": (p) => {
      const context = v.ibv_open_device(p.device);
      v.ibv_close_device(context);
      p.refuses("EINVAL", () => dv.mlx5dv_devx_create_cmd_comp(context));
    },
  },
  mlx5dv_devx_get_async_cmd_comp: {
    "no answer": (p) => {
      const completions = dv.mlx5dv_devx_create_cmd_comp(p.context());
      const response = { out_data: new Uint8Array(32) };
      p.refuses("EAGAIN", () => dv.mlx5dv_devx_get_async_cmd_comp(completions, response, undefined));
    },
  },
  mlx5dv_devx_destroy_cmd_comp: {
    "twice": (p) => {
      const completions = dv.mlx5dv_devx_create_cmd_comp(p.context());
      dv.mlx5dv_devx_destroy_cmd_comp(completions);
      p.refuses("EINVAL", () => dv.mlx5dv_devx_destroy_cmd_comp(completions));
    },
  },
  mlx5dv_query_device: {
    "flow_action_flags tell what ESP actions can be made": (p) => {
      const { flow_action_flags } = dv.mlx5dv_query_device(p.context());
      same(flow_action_flags, p.manual ? 0x1f : 0x17, "flow_action_flags");
      const flags = v.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD | v.IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT;
      const keymat_ptr = { salt: new Uint8Array(4), icv_len: 16, aes_key: new Uint8Array(16) };
      const esp = { esp_attr: { spi: 1, flags }, keymat_ptr };
      const make = () => v.ibv_create_flow_action_esp(p.context(), esp);
      if (p.manual) p.says(Uint8Array.of(Number(make().destroyed)), {});
      else p.refuses("EOPNOTSUPP", make);
    },
  },
  mlx5dv_create_wq: {
    "frames, strides": (p) => {
      const { pd, cq, wq } = parts(p);
      const queue = wq();
      v.ibv_modify_wq(queue, { attr_mask: v.IBV_WQ_ATTR_STATE, wq_state: v.IBV_WQS_RDY });
      const init = { wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq };
      const striding = { comp_mask: dv.MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ };
      p.refuses("EOPNOTSUPP", () => dv.mlx5dv_create_wq(p.context(), init, striding));
      leadsTo(p, queue, pd);
    },
  },
};

export const VERBS_OBJECT_CASES: readonly Case[] = Object.entries(RUNS).flatMap(([call, runs]) => casesOf(call, runs));

/** Functions that refuse every call. */
export const MISSING_CASES: readonly Case[] = Object.entries(MISSING_MLX5DV).flatMap(([what, names]) =>
  names.flatMap((call) =>
    casesOf(call, {
      [what]: (p) => {
        p.refuses("EOPNOTSUPP", () => dv[call](p.context()));
      },
    }),
  ),
);
