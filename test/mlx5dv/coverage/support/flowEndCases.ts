/** Cases for mlx5dv_create_flow: destinations of frames. */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import * as v from "../../../../src/verbs/index.js";
import { DROPS, FDB, inTable, MISSES, NIC_RX, NIC_TX, RDMA_RX, RDMA_TX, tagged } from "../../support/createFlow.js";
import { created } from "../../support/devx.js";
import {
  deviceFlow,
  DROP_ENTRY,
  flowEntry,
  flowMatcher,
  flowTable,
  INTO,
  tirOf,
  TO,
  TO_FRAME,
  TO_OTHER,
} from "./flows.js";
import { changed, FRAME, OTHER } from "./frames.js";
import { casesOf, same, type Case, type Run } from "./record.js";

const qp = (one: QueuePair): dv.FlowActionAttr => ({ type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: one });

const END: Readonly<Record<string, Run>> = {
  "DEST_IBV_QP in NIC_RX, from every port": (p) => {
    deviceFlow(p, TO_FRAME, [TO(p, "a")]);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(FRAME, 2), "a deliver");
    p.gets(p.received(OTHER), "miss no_rule");
  },
  "DEST_IBV_QP in RDMA_RX": (p) => {
    const roce = changed(FRAME, 23, 17);
    roce.set([0x12, 0xb7], 36);
    deviceFlow(p, {}, [TO(p, "a"), tagged(6)], inTable(RDMA_RX));
    p.gets(p.received(roce), "a6 deliver");
  },
  "DEST_IBV_QP elsewhere": (p) => {
    const a = TO(p, "a");
    for (const type of [NIC_TX, FDB, RDMA_TX]) {
      const matcher = flowMatcher(p, {}, inTable(type));
      p.refuses("EINVAL", () => deviceFlow(p, {}, [a], matcher));
    }
  },
  "DEST_IBV_QP: UD, RC, of another function": (p) => {
    const cq = v.ibv_create_cq(p.context(), 4);
    const pd = v.ibv_alloc_pd(p.context());
    const make = (qp_type: number): v.QueuePair =>
      v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap: { max_recv_wr: 1, max_recv_sge: 1 }, qp_type });
    const [ud, rc, foreign] = [make(v.IBV_QPT_UD), make(v.IBV_QPT_RC), p.queue("b", 1)];
    const matcher = flowMatcher(p, TO_FRAME);
    const flow = (one: QueuePair) => () => deviceFlow(p, TO_FRAME, [qp(one)], matcher);
    for (const one of [rc, foreign]) p.refuses("EINVAL", flow(one));
    if (p.manual) flow(ud)();
    else p.refuses("EINVAL", flow(ud));
  },
  "DEST_IBV_QP that spreads": (p) => {
    const pd = v.ibv_alloc_pd(p.context());
    const cq = v.ibv_create_cq(p.context(), 4);
    const wq = v.ibv_create_wq(p.context(), { wq_type: v.IBV_WQT_RQ, max_wr: 1, max_sge: 1, pd, cq });
    v.ibv_modify_wq(wq, { attr_mask: v.IBV_WQ_ATTR_STATE, wq_state: v.IBV_WQS_RDY });
    const addr = new Uint8Array(64);
    const { lkey } = v.ibv_reg_mr(pd, addr, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    v.ibv_post_wq_recv(wq, { wr_id: 1, sg_list: [{ addr, lkey }] });
    const rx_hash_conf = {
      rx_hash_function: v.IBV_RX_HASH_FUNC_TOEPLITZ,
      rx_hash_key: new Uint8Array(40).fill(0x5a),
      rx_hash_fields_mask: v.IBV_RX_HASH_SRC_PORT_TCP,
    };
    const spreading = v.ibv_create_qp_ex(p.context(), {
      comp_mask: v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_IND_TABLE | v.IBV_QP_INIT_ATTR_RX_HASH,
      qp_type: v.IBV_QPT_RAW_PACKET,
      pd,
      rwq_ind_tbl: v.ibv_create_rwq_ind_table(p.context(), { log_ind_tbl_size: 0, ind_tbl: [wq] }),
      rx_hash_conf,
    });
    deviceFlow(p, TO_FRAME, [qp(spreading), tagged(2)]);
    const outcome = p.received(FRAME);
    p.gets(outcome, `wq:${wq.name}2 deliver`);
    p.bytes(outcome, FRAME);
    same(addr.join(), FRAME.join(), "bytes in the buffer");
    p.refuses("EBUSY", () => v.ibv_destroy_qp(spreading));
  },
  "DEST_DEVX: a flow table in NIC_RX, NIC_TX, FDB": (p) => {
    p.listen("a", 0);
    for (const [type, in_device, end] of [
      [NIC_RX, dv.FS_FT_NIC_RX, () => p.received(FRAME)],
      [NIC_TX, dv.FS_FT_NIC_TX, () => p.sent(FRAME)],
      [FDB, dv.FS_FT_FDB, () => p.sent(FRAME, 1)],
    ] as const) {
      const table = flowTable(p, in_device);
      const flow = deviceFlow(p, TO_FRAME, [INTO(table)], inTable(type));
      const entry = flowEntry(p, table, DROP_ENTRY);
      p.gets(end(), "drop drop_action");
      p.gets(p.received(OTHER), "a deliver");
      dv.mlx5dv_devx_obj_destroy(entry);
      dv.mlx5dv_devx_obj_destroy([...table.groups][0]!);
      p.refuses("EBUSY", () => dv.mlx5dv_devx_obj_destroy(table));
      v.ibv_destroy_flow(flow);
      dv.mlx5dv_devx_obj_destroy(table);
    }
  },
  "DEST_DEVX: a flow table of another direction or function": (p) => {
    const [matcher, sent] = [flowMatcher(p), flowTable(p, dv.FS_FT_NIC_TX)];
    const foreign = created(p.context(1), dv.createFlowTableCommand(dv.FS_FT_NIC_RX));
    for (const table of [sent, foreign]) p.refuses("EINVAL", () => deviceFlow(p, {}, [INTO(table)], matcher));
  },
  "DEST_DEVX: a TIR": (p) => {
    const tir = tirOf(p, "a");
    const flow = deviceFlow(p, TO_FRAME, [INTO(tir), tagged(5)]);
    p.gets(p.received(FRAME), "a5 deliver");
    p.refuses("EBUSY", () => dv.mlx5dv_devx_obj_destroy(tir));
    v.ibv_destroy_flow(flow);
    dv.mlx5dv_devx_obj_destroy(tir);
  },
  "DEST_DEVX: a TIR where queues are not, what is no destination": (p) => {
    const tir = tirOf(p, "a");
    for (const type of [NIC_TX, FDB, RDMA_RX]) {
      const matcher = flowMatcher(p, {}, inTable(type));
      p.refuses("EINVAL", () => deviceFlow(p, {}, [INTO(tir)], matcher));
    }
    const [matcher, counter] = [flowMatcher(p), p.counters()];
    p.refuses("EINVAL", () => deviceFlow(p, {}, [INTO(counter)], matcher));
  },
  "DROP in NIC_RX, NIC_TX, FDB": (p) => {
    p.listen("a", 0);
    deviceFlow(p, TO_FRAME, [DROPS], inTable(NIC_RX));
    deviceFlow(p, TO_FRAME, [DROPS], inTable(NIC_TX));
    p.gets(p.received(FRAME), "drop drop_action");
    p.gets(p.sent(FRAME), "drop drop_action");
    deviceFlow(p, TO_FRAME, [DROPS], inTable(FDB));
    p.gets(p.sent(FRAME, 1), "drop drop_action");
    p.gets(p.received(OTHER), "a deliver");
  },
  "DEFAULT_MISS in NIC_RX: the next stage": (p) => {
    p.device.hostRules.add({ application: "nic", action: { queue: 0 } });
    deviceFlow(p, TO_FRAME, [MISSES]);
    deviceFlow(p, {}, [TO(p, "a")], { priority: 1 });
    p.gets(p.received(FRAME), "host:0 deliver");
    p.gets(p.received(OTHER), "a deliver");
  },
  "DEFAULT_MISS in NIC_TX: on": (p) => {
    deviceFlow(p, TO_FRAME, [MISSES], inTable(NIC_TX));
    deviceFlow(p, {}, [DROPS], { ...inTable(NIC_TX), priority: 1 });
    p.gets(p.sent(FRAME), "port:1 transmit");
    p.gets(p.sent(OTHER), "drop drop_action");
  },
  "DEFAULT_MISS in FDB": (p) => {
    p.listen("a", 0);
    const matcher = flowMatcher(p, TO_FRAME, inTable(FDB));
    const make = () => deviceFlow(p, TO_FRAME, [MISSES], matcher);
    if (!p.manual) {
      p.refuses("EINVAL", make);
      return;
    }
    make();
    deviceFlow(p, {}, [DROPS], { ...inTable(FDB), priority: 1 });
    p.gets(p.sent(FRAME, 1), "a deliver");
    p.gets(p.sent(OTHER, 1), "drop drop_action");
  },
  "DEFAULT_MISS in RDMA_RX": (p) => {
    const matcher = flowMatcher(p, {}, inTable(RDMA_RX));
    const make = () => deviceFlow(p, {}, [MISSES], matcher);
    if (!p.manual) {
      p.refuses("EINVAL", make);
      return;
    }
    make();
    deviceFlow(p, {}, [TO(p, "a")]);
    const roce = changed(FRAME, 23, 17);
    roce.set([0x12, 0xb7], 36);
    p.gets(p.received(roce), "a deliver");
  },
  "no destination": (p) => {
    deviceFlow(p, TO_OTHER, []);
    deviceFlow(p, {}, [], inTable(NIC_TX));
    p.gets(p.received(OTHER), "drop no_destination");
    p.gets(p.sent(FRAME), "port:1 transmit");
    const fdb = flowMatcher(p, {}, inTable(FDB));
    if (!p.manual) p.refuses("EINVAL", () => deviceFlow(p, {}, [], fdb));
  },
};

export const FLOW_END_CASES: readonly Case[] = casesOf("mlx5dv_create_flow", END);
