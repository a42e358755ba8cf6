/** Flows in device bytes on a device whose assertions are recorded. */
import type { MatchFields, Outcome } from "../../../../src/index.js";
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Context } from "../../../../src/model/base/context.js";
import type { DevxFlowEntry } from "../../../../src/model/devx/flowEntry.js";
import type { DevxFlowTable } from "../../../../src/model/devx/flowTable.js";
import * as v from "../../../../src/verbs/index.js";
import { climb } from "../../../verbs/support/queuePairs.js";
import { created } from "../../support/devx.js";
import type { Probe } from "./record.js";

/** Fields that match FRAME, and fields that match OTHER. */
export const TO_FRAME = { "outer.dmac": "02:00:00:00:00:01" };
export const TO_OTHER = { "outer.dmac": "02:00:00:00:00:02" };

export const TO = (p: Probe, name: string): dv.FlowActionAttr => ({
  type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP,
  qp: p.queue(name),
});
export const INTO = (obj: dv.DevxObject): dv.FlowActionAttr => ({ type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj });

/** A TIR that leads to a queue. */
export const tirOf = (p: Probe, name: string): dv.DevxObject =>
  created(p.context(), dv.createTirCommand({ inline_rqn: p.queue(name).qp_num }));

export function flowMatcher(
  p: Probe,
  fields: MatchFields = {},
  attr: dv.FlowMatcherAttr = {},
  context: Context = p.context(),
): dv.FlowMatcher {
  const { mask, match_criteria_enable } = dv.matchParameters(fields, { root: true });
  return dv.mlx5dv_create_flow_matcher(context, { match_mask: mask, match_criteria_enable, ...attr });
}

/** A flow with its own matcher, unless one is given. */
export function deviceFlow(
  p: Probe,
  fields: MatchFields,
  actions: readonly dv.FlowActionAttr[],
  at: dv.FlowMatcherAttr | dv.FlowMatcher = {},
): dv.DeviceFlow {
  const matcher = "destroy" in at ? at : flowMatcher(p, fields, at);
  return dv.mlx5dv_create_flow(matcher, dv.matchParameters(fields, { root: true }).value, actions.length, actions);
}

/** A flow table with four entries and one group for all frames. */
export function flowTable(p: Probe, type: number = dv.FS_FT_NIC_RX, fields: dv.FlowTableFields = {}): DevxFlowTable {
  const table = created(p.context(), dv.createFlowTableCommand(type, { log_size: 2, level: 1, ...fields }));
  const range = { table_type: type, table_id: table.id, start_flow_index: 0, end_flow_index: 3 };
  created(p.context(), dv.createFlowGroupCommand(range));
  return table;
}

export const DROP_ENTRY = { action: dv.MLX5_FLOW_CONTEXT_ACTION_DROP };

/** Objects that an entry needs to lead to a table or a TIR. */
export const leads = (destination_type: number, destination_id: number): Partial<dv.FlowEntryFields> => ({
  action: dv.MLX5_FLOW_CONTEXT_ACTION_FWD_DEST,
  ignore_flow_level: true,
  destinations: [{ destination_type, destination_id }],
});

/** Fields of an entry of such a table. */
export const entryOf = (table: DevxFlowTable, fields: Partial<dv.FlowEntryFields>): dv.FlowEntryFields => ({
  table_type: table.setting.type.number,
  table_id: table.id,
  flow_index: 0,
  group_id: [...table.groups][0]!.id,
  action: 0,
  ...fields,
});

export const flowEntry = (p: Probe, table: DevxFlowTable, fields: Partial<dv.FlowEntryFields>): DevxFlowEntry =>
  created(p.context(), dv.setFlowTableEntryCommand(entryOf(table, fields)));

/**
 * Each call sends a datagram from port 1, which returns to port 2; gives the result there,
 * undefined if it never left.
 */
export function datagrams(p: Probe): () => Outcome | undefined {
  const context = p.context();
  const pd = v.ibv_alloc_pd(context);
  const cq = v.ibv_create_cq(context, 4);
  const cap = { max_send_wr: 4, max_send_sge: 1 };
  const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_UD });
  climb(qp);
  const addr = new Uint8Array(16);
  const { lkey } = v.ibv_reg_mr(pd, addr, undefined, 0);
  const dgid = v.ibv_query_gid(context, 1, 0);
  const ah = v.ibv_create_ah(pd, { is_global: 1, port_num: 1, grh: { dgid, sgid_index: 0, hop_limit: 9 } });
  let outcome: Outcome | undefined;
  p.device.connect(1, (frame) => void (outcome = p.received(frame, 2)));
  return () => {
    outcome = undefined;
    const wr = { ud: { ah, remote_qpn: 7, remote_qkey: 1 } };
    v.ibv_post_send(qp, { wr_id: 1, sg_list: [{ addr, lkey }], opcode: v.IBV_WR_SEND, wr });
    v.ibv_poll_cq(cq, 1);
    return outcome;
  };
}
