/** Correct arguments for every function of `flowsteer/mlx5dv`. */
import { createDevice, createSink, type DeviceOptions } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { created } from "./devx.js";

/** Arguments by name of the function. Destructive calls come last. */
export async function everyCall(options: DeviceOptions = {}): Promise<Record<string, readonly unknown[]>> {
  const device = await createDevice({ ports: 2, vports: 3, ...options });
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const rx = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const fdb = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
  const other = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_table_create(rx, 0);
  const table = dv.mlx5dv_dr_table_create(rx, 1);
  const next = dv.mlx5dv_dr_table_create(rx, 2);
  const fields = { "outer.ip_version": 4, "outer.ipv4_dst": "10.0.0.1" };
  const { match_criteria_enable, mask, value } = dv.matchParameters(fields);
  const matcher = dv.mlx5dv_dr_matcher_create(table, 1, match_criteria_enable, mask);
  const drop = dv.mlx5dv_dr_action_create_drop();
  const rule = dv.mlx5dv_dr_rule_create(matcher, value, 1, [drop]);
  const tag = dv.mlx5dv_dr_action_create_tag(1);
  const queue = createSink(context, "web");
  const toQueue = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  const toTable = dv.mlx5dv_dr_action_create_dest_table(next);
  const counter = created(context, dv.allocFlowCounterCommand(2));
  const tir = created(context, dv.createTirCommand({ disp_type: 0, inline_rqn: queue.qp_num }));
  const connection = created(context, dv.createAsoCommand(dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO));
  const aso = dv.mlx5dv_dr_action_create_aso(rx, connection, 0, 1, 1);
  const parameters = dv.flowMeterBytes({ cbs_mantissa: 1, cir_mantissa: 1 });
  const meter = { next_table: next, active: 1, reg_c_index: 1, flow_meter_parameter: parameters };
  const flowMeter = dv.mlx5dv_dr_action_create_flow_meter(meter);
  const flowMatcherAttr = { match_criteria_enable, match_mask: mask, priority: 1, comp_mask: 0 };
  const flowMatcher = dv.mlx5dv_create_flow_matcher(context, flowMatcherAttr);
  const anchor = dv.mlx5dv_create_steering_anchor(context, { ft_type: 0, priority: 1 });
  const unused = {
    counter: created(context, dv.allocFlowCounterCommand()),
    flowMatcher: dv.mlx5dv_create_flow_matcher(context, flowMatcherAttr),
    matcher: dv.mlx5dv_dr_matcher_create(next, 1, match_criteria_enable, mask),
    table: dv.mlx5dv_dr_table_create(rx, 4),
  };
  const pd = v.ibv_alloc_pd(context);
  const cq = v.ibv_create_cq(context, 16);
  const rc = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_RC, send_cq: cq, recv_cq: cq, cap: {} });
  const wq = v.ibv_create_wq(context, { wq_type: v.IBV_WQT_RQ, max_wr: 1, max_sge: 1, pd, cq });
  const srq = v.ibv_create_srq(pd, { attr: { max_wr: 4, max_sge: 1 } });
  const indTable = v.ibv_create_rwq_ind_table(context, { log_ind_tbl_size: 0, ind_tbl: [wq] });
  const completions = dv.mlx5dv_devx_create_cmd_comp(context);
  dv.mlx5dv_devx_obj_query_async(counter, dv.queryFlowCounterCommand(counter.id), undefined, 32, 1n, completions);
  const output = new Uint8Array(256);
  const data = Uint8Array.from({ length: 50 }, (_, i) => i);
  const changes = [{ type: "set", field: "OUT_IP_TTL", data: 1 }];
  const esp = {
    esp_attr: { spi: 1, flags: 0 },
    keymat_ptr: { salt: new Uint8Array(4), icv_len: 16, aes_key: new Uint8Array(16) },
  };
  const reformat = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
  const qp = { qp_type: v.IBV_QPT_RAW_PACKET, pd, send_cq: cq, recv_cq: cq, comp_mask: v.IBV_QP_INIT_ATTR_PD, cap: {} };
  const entry = {
    table_type: 4,
    table_id: 1,
    flow_index: 0,
    group_id: 1,
    action: 0xc,
    match_value: value.match_buf,
    destinations: [{ destination_type: 0, destination_id: 1 }],
    flow_counter_ids: [1],
  };
  const commands = {
    allocFlowCounterCommand: [1, 0],
    allocModifyHeaderCommand: [0, new Uint8Array(8)],
    allocPacketReformatCommand: [1, data],
    asoOutput: [output],
    commandOutput: [output],
    connectionBytes: [{ valid: 1, original: { max_ack: 1 } }],
    connectionFromBytes: [new Uint8Array(64)],
    createAsoCommand: [dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO, { log_obj_range: 1, data: new Uint8Array(64) }],
    createFlowGroupCommand: [
      { table_type: 4, table_id: 1, start_flow_index: 0, end_flow_index: 1, match_criteria: mask.match_buf },
    ],
    createFlowMeterCommand: [{ active: true, parameters }],
    createFlowTableCommand: [4, { level: 1 }],
    createRqtCommand: [[1, 2]],
    createTirCommand: [{ disp_type: 0, inline_rqn: 1, rx_hash_toeplitz_key: new Uint8Array(40) }],
    deallocFlowCounterCommand: [1],
    deallocModifyHeaderCommand: [1],
    deallocPacketReformatCommand: [1],
    deleteFlowTableEntryCommand: [4, 1, 0],
    destroyFlowGroupCommand: [4, 1, 1],
    destroyFlowTableCommand: [4, 1],
    destroyGeneralObjectCommand: [1, 1],
    destroyRqtCommand: [1],
    destroyTirCommand: [1],
    firstHitBytes: [[0, 5]],
    firstHitFromBytes: [new Uint8Array(64)],
    flowCounterOutput: [output],
    flowCounterOutputSize: [2],
    flowMeterBytes: [{ cbs_mantissa: 1, meter_mode: 0 }, {}],
    flowMeterOutput: [output],
    flowMetersFromBytes: [new Uint8Array(64)],
    flowTableOutput: [output],
    modifyAsoCommand: [dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO, connection.id, new Uint8Array(64)],
    modifyFlowMeterCommand: [1, 1, { active: true }],
    modifyFlowTableEntryCommand: [entry],
    numberOutput: [output],
    cqOutput: [new Uint8Array(80)],
    modifyCqCommand: [1, 0, {}],
    modifyQpCommand: [
      dv.MLX5_CMD_OP_RST2INIT_QP,
      1,
      { mtu: 1, primary_address_path: { hop_limit: 1, rgid: new Uint8Array(16), rmac: new Uint8Array(6) } },
    ],
    modifyRmpCommand: [1, 1],
    queryRmpCommand: [1],
    rmpOutput: [new Uint8Array(272)],
    modifyRqCommand: [1, 0, { state: 1 }],
    modifyRqtCommand: [1, [1, 2]],
    qpOutput: [new Uint8Array(256)],
    queryCqCommand: [1],
    queryQpCommand: [1],
    queryRqCommand: [1],
    queryRqtCommand: [1],
    rqOutput: [new Uint8Array(272)],
    rqtOutput: [new Uint8Array(272)],
    queryEswVportContextCommand: [1],
    queryFlowCounterCommand: [1, 1, false],
    queryFlowTableCommand: [4, 1],
    queryGeneralObjectCommand: [1, 1],
    queryHcaCapCommand: [0, true],
    queryHcaVportContextCommand: [1],
    setFlowTableEntryCommand: [entry],
    syncSteeringCommand: [],
  };
  return {
    ...commands,
    createRules: [matcher, value, [drop]],
    matchParameters: [fields, { root: false }],
    matchParametersFromBytes: [Uint8Array.from([2, 0, 0, 0, 0, 0, 0, 0, 1, 2])],
    modifyActions: [changes],
    modifyActionsFromBytes: [dv.modifyActions([{ type: "set", field: "OUT_IP_TTL", data: 1 }])],
    mlx5dv_create_cq: [context, { cqe: 1, comp_vector: 0, wc_flags: 0n }, { comp_mask: 0n }],
    mlx5dv_create_flow: [flowMatcher, value, 1, [{ type: dv.MLX5DV_FLOW_ACTION_DROP }]],
    mlx5dv_create_flow_action_esp: [context, esp, { comp_mask: 0n, action_flags: 0 }],
    mlx5dv_create_flow_action_modify_header: [context, undefined, changes, 0],
    mlx5dv_create_flow_action_packet_reformat: [context, undefined, null, reformat, 0],
    mlx5dv_create_flow_matcher: [context, flowMatcherAttr],
    mlx5dv_create_qp: [context, qp, { comp_mask: 0n }],
    mlx5dv_create_wq: [context, { wq_type: v.IBV_WQT_RQ, max_wr: 1, max_sge: 1, pd, cq }, { comp_mask: 0n }],
    mlx5dv_devx_qp_query: [rc, dv.queryQpCommand(rc.qp_num), undefined, new Uint8Array(256), undefined],
    mlx5dv_devx_qp_modify: [
      rc,
      dv.modifyQpCommand(dv.MLX5_CMD_OP_2RST_QP, rc.qp_num),
      undefined,
      new Uint8Array(16),
      undefined,
    ],
    mlx5dv_devx_cq_query: [cq, dv.queryCqCommand(cq.cqn), undefined, new Uint8Array(80), undefined],
    mlx5dv_devx_cq_modify: [cq, dv.modifyCqCommand(cq.cqn, 0), undefined, new Uint8Array(16), undefined],
    mlx5dv_devx_srq_query: [srq, dv.queryRmpCommand(srq.srqn), undefined, new Uint8Array(272), undefined],
    mlx5dv_devx_srq_modify: [srq, dv.modifyRmpCommand(srq.srqn, 0), undefined, new Uint8Array(272), undefined],
    mlx5dv_devx_wq_query: [wq, dv.queryRqCommand(wq.wq_num), undefined, new Uint8Array(272), undefined],
    mlx5dv_devx_wq_modify: [
      wq,
      dv.modifyRqCommand(wq.wq_num, 0, { state: 0 }),
      undefined,
      new Uint8Array(16),
      undefined,
    ],
    mlx5dv_devx_ind_tbl_query: [
      indTable,
      dv.queryRqtCommand(indTable.ind_tbl_num),
      undefined,
      new Uint8Array(276),
      undefined,
    ],
    mlx5dv_devx_ind_tbl_modify: [
      indTable,
      dv.modifyRqtCommand(indTable.ind_tbl_num, [wq.wq_num]),
      undefined,
      new Uint8Array(16),
      undefined,
    ],
    mlx5dv_devx_create_cmd_comp: [context],
    mlx5dv_devx_obj_query_async: [counter, dv.queryFlowCounterCommand(counter.id), undefined, 32, 1n, completions],
    mlx5dv_devx_get_async_cmd_comp: [completions, { out_data: new Uint8Array(64) }, undefined],
    mlx5dv_query_device: [context, { comp_mask: 0n }],
    mlx5dv_create_steering_anchor: [context, { ft_type: 0, priority: 1, comp_mask: 0n }],
    mlx5dv_devx_general_cmd: [context, dv.queryHcaCapCommand(0), undefined, new Uint8Array(4112), undefined],
    mlx5dv_devx_obj_create: [context, dv.allocFlowCounterCommand(), undefined, new Uint8Array(16), undefined],
    mlx5dv_devx_obj_query: [counter, dv.queryFlowCounterCommand(counter.id), undefined, new Uint8Array(64), undefined],
    mlx5dv_devx_obj_modify: [
      connection,
      dv.modifyAsoCommand(dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO, connection.id, new Uint8Array(64)),
      undefined,
      new Uint8Array(64),
      undefined,
    ],
    mlx5dv_dr_action_create_aso: [rx, connection, 0, 1, 1],
    mlx5dv_dr_action_create_default_miss: [],
    mlx5dv_dr_action_create_dest_array: [
      rx,
      2,
      [
        { type: dv.MLX5DV_DR_ACTION_DEST, dest: toQueue },
        { type: dv.MLX5DV_DR_ACTION_DEST, dest: toTable },
      ],
    ],
    mlx5dv_dr_action_create_dest_devx_tir: [tir],
    mlx5dv_dr_action_create_dest_ib_port: [fdb, 1],
    mlx5dv_dr_action_create_dest_ibv_qp: [queue],
    mlx5dv_dr_action_create_dest_root_table: [root, 1],
    mlx5dv_dr_action_create_dest_table: [next],
    mlx5dv_dr_action_create_dest_vport: [fdb, 1],
    mlx5dv_dr_action_create_drop: [],
    mlx5dv_dr_action_create_flow_counter: [counter, 0],
    mlx5dv_dr_action_create_flow_meter: [meter],
    mlx5dv_dr_action_create_flow_sampler: [
      { sample_ratio: 2, default_next_table: next, num_sample_actions: 2, sample_actions: [tag, toQueue] },
    ],
    mlx5dv_dr_action_create_modify_header: [rx, 0, undefined, changes],
    mlx5dv_dr_action_create_packet_reformat: [rx, 0, reformat, undefined, null],
    mlx5dv_dr_action_create_pop_vlan: [],
    mlx5dv_dr_action_create_push_vlan: [rx, 0x81000064],
    mlx5dv_dr_action_create_tag: [1],
    mlx5dv_dr_action_modify_aso: [aso, 0, 1, 1],
    mlx5dv_dr_action_modify_flow_meter: [flowMeter, { active: 1, flow_meter_parameter: parameters }, 1n],
    mlx5dv_dr_aso_other_domain_link: [connection, rx, other, 1, 1],
    mlx5dv_dr_aso_other_domain_unlink: [connection, other],
    mlx5dv_dr_domain_allow_duplicate_rules: [rx, true],
    mlx5dv_dr_domain_create: [context, 0],
    mlx5dv_dr_domain_set_reclaim_device_memory: [rx, true],
    mlx5dv_dr_domain_sync: [rx, 1],
    mlx5dv_dr_matcher_create: [table, 1, match_criteria_enable, mask],
    mlx5dv_dr_matcher_set_layout: [matcher, { flags: 2, log_num_of_rules_hint: 3 }],
    mlx5dv_dr_rule_create: [matcher, value, 2, [tag, toQueue]],
    mlx5dv_dr_table_create: [rx, 3],
    mlx5dv_dump_dr_domain: [{ write: () => true }, rx],
    mlx5dv_dump_dr_matcher: [{ write: () => true }, matcher],
    mlx5dv_dump_dr_rule: [{ write: () => true }, rule],
    mlx5dv_dump_dr_table: [{ write: () => true }, table],
    mlx5dv_is_supported: [device],
    mlx5dv_open_device: [device, { flags: 1, comp_mask: 0n }],
    mlx5dv_query_port: [context, 1, {}],
    mlx5dv_dr_rule_destroy: [rule],
    mlx5dv_dr_action_destroy: [aso],
    mlx5dv_dr_matcher_destroy: [unused.matcher],
    mlx5dv_dr_table_destroy: [unused.table],
    mlx5dv_dr_domain_destroy: [fdb],
    mlx5dv_destroy_flow_matcher: [unused.flowMatcher],
    mlx5dv_destroy_steering_anchor: [anchor],
    mlx5dv_devx_destroy_cmd_comp: [completions],
    mlx5dv_devx_obj_destroy: [unused.counter],
  };
}
