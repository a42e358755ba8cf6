/** Correct arguments for every function of `flowsteer/verbs`. */
import { createDevice, type DeviceOptions } from "../../../src/index.js";
import * as v from "../../../src/verbs/index.js";
import type { Calls } from "../../support/everyCall.js";
import { climb } from "./queuePairs.js";

const CAP = { max_send_wr: 64, max_recv_wr: 64, max_send_sge: 2, max_recv_sge: 1, max_inline_data: 64 };
const GROUP = "ff0e::7";

/**
 * Arguments by name of the function. Destructive calls come last.
 * @param memory registered, for work requests
 */
export async function everyCall(options: DeviceOptions = {}, memory = new Uint8Array(4096)): Promise<Calls> {
  const device = await createDevice({ gids: [["10.0.0.1"]], ...options });
  const context = v.ibv_open_device(device);
  const pd = v.ibv_alloc_pd(context);
  const channel = v.ibv_create_comp_channel(context);
  const cq = v.ibv_create_cq(context, 256);
  const mr = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const init = { send_cq: cq, recv_cq: cq, cap: CAP, qp_type: v.IBV_QPT_RAW_PACKET, sq_sig_all: 0 };
  const qp = v.ibv_create_qp(pd, init);
  climb(qp);
  const ops = {
    comp_mask: v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
    send_ops_flags: v.IBV_QP_EX_WITH_SEND | v.IBV_QP_EX_WITH_SEND_WITH_IMM,
  };
  const ud = v.ibv_create_qp_ex(context, { ...init, ...ops, qp_type: v.IBV_QPT_UD, pd });
  climb(ud);
  const qpx = v.ibv_qp_to_qp_ex(ud);
  /** A posting with a request that lacks its data. */
  const posting = (): typeof qpx => {
    const one = v.ibv_create_qp_ex(context, { ...init, ...ops, qp_type: v.IBV_QPT_UD, pd });
    climb(one);
    const other = v.ibv_qp_to_qp_ex(one);
    v.ibv_wr_start(other);
    v.ibv_wr_send(other);
    return other;
  };
  const empty = posting();
  v.ibv_wr_abort(empty);
  v.ibv_wr_start(empty);
  const reset = v.ibv_create_qp(pd, init);
  const srq = v.ibv_create_srq(pd, { attr: { max_wr: 16, max_sge: 1 } });
  const wq = v.ibv_create_wq(context, { wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq });
  const table = v.ibv_create_rwq_ind_table(context, { log_ind_tbl_size: 0, ind_tbl: [wq], comp_mask: 0 });
  const ah_attr = {
    is_global: 1,
    port_num: 1,
    grh: { dgid: "10.0.0.2", sgid_index: 1, hop_limit: 1 },
    dmac: "02:00:00:00:00:01",
  };
  const ah = v.ibv_create_ah(pd, ah_attr);
  const counters = v.ibv_create_counters(context, { comp_mask: 0 });
  const attach = { counter_desc: v.IBV_COUNTER_PACKETS, index: 0, comp_mask: 0 };
  v.ibv_attach_counters_point_flow(counters, attach, null);
  const flow_attr = {
    type: v.IBV_FLOW_ATTR_NORMAL,
    priority: 0,
    port: 1,
    flags: 0,
    specs: [
      { type: v.IBV_FLOW_SPEC_ETH, val: { dst_mac: "02:00:00:00:00:01" }, mask: { dst_mac: "ff:ff:ff:ff:ff:ff" } },
      { type: v.IBV_FLOW_SPEC_IPV4, val: { dst_ip: "10.0.0.1" }, mask: { dst_ip: 0xffffffff } },
      { type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id: 1 },
    ],
  };
  const flow = v.ibv_create_flow(qp, flow_attr);
  const esp = {
    esp_attr: { spi: 1, seq: 1, flags: v.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD },
    keymat_ptr: { salt: new Uint8Array(4), icv_len: 16, aes_key: new Uint8Array(16) },
    replay_proto: v.IBV_FLOW_ACTION_ESP_REPLAY_BMP,
    replay_ptr: { size: 64 },
    esp_encap: [{ type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: "10.0.0.1", dst_ip: "10.0.0.2" } }],
  };
  const action = v.ibv_create_flow_action_esp(context, esp);
  const sge = { addr: memory.subarray(0, 64), lkey: mr.lkey, length: 64 };
  const send = { wr_id: 1, sg_list: [sge], num_sge: 1, opcode: v.IBV_WR_SEND, send_flags: v.IBV_SEND_SIGNALED };
  const receive = { wr_id: 1, sg_list: [sge], num_sge: 1 };
  const cq_attr = { cqe: 16, comp_vector: 0, wc_flags: 0n, comp_mask: 0 };
  const cqx = v.ibv_create_cq_ex(context, cq_attr);
  const unused = {
    ah: v.ibv_create_ah(pd, ah_attr),
    channel: v.ibv_create_comp_channel(context),
    counters: v.ibv_create_counters(context, { comp_mask: 0 }),
    cq: v.ibv_create_cq(context, 16),
    srq: v.ibv_create_srq(pd, { attr: { max_wr: 16, max_sge: 1 } }),
    wq: v.ibv_create_wq(context, { wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq }),
    pd: v.ibv_alloc_pd(context),
    context: v.ibv_open_device(device),
  };
  return {
    flowActionEspBytes: [esp],
    flowActionEspFromBytes: [v.flowActionEspBytes(esp)],
    flowAttrBytes: [flow_attr, () => 1n],
    flowAttrFromBytes: [v.flowAttrBytes(flow_attr, () => 1n), () => counters],
    ibv_alloc_pd: [context],
    ibv_attach_counters_point_flow: [counters, attach, null],
    ibv_attach_mcast: [ud, GROUP, 0],
    ibv_detach_mcast: [ud, GROUP, 0],
    ibv_cq_ex_to_cq: [cqx],
    ibv_create_ah: [pd, ah_attr],
    ibv_create_comp_channel: [context],
    ibv_create_counters: [context, { comp_mask: 0 }],
    ibv_create_cq: [context, 16, null, channel, 0],
    ibv_create_cq_ex: [context, cq_attr],
    ibv_create_flow: [qp, flow_attr],
    ibv_create_flow_action_esp: [context, esp],
    ibv_create_qp: [pd, init],
    ibv_create_qp_ex: [context, { ...init, ...ops, qp_type: v.IBV_QPT_UD, pd }],
    ibv_create_rwq_ind_table: [context, { log_ind_tbl_size: 0, ind_tbl: [wq], comp_mask: 0 }],
    ibv_create_srq: [pd, { attr: { max_wr: 16, max_sge: 1 } }],
    ibv_create_srq_ex: [context, { attr: { max_wr: 16, max_sge: 1 }, comp_mask: v.IBV_SRQ_INIT_ATTR_PD, pd }],
    ibv_create_wq: [context, { wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq }],
    ibv_event_type_str: [v.IBV_EVENT_CQ_ERR],
    ibv_flow_label_to_udp_sport: [0x12345],
    ibv_fork_init: [],
    ibv_free_device_list: [v.ibv_get_device_list()],
    ibv_get_device_guid: [device],
    ibv_get_device_index: [device],
    ibv_get_device_list: [[]],
    ibv_get_device_name: [device],
    ibv_get_pkey_index: [context, 1, 0xffff],
    ibv_inc_rkey: [1],
    ibv_is_fork_initialized: [],
    ibv_is_qpt_supported: [1, v.IBV_QPT_RC],
    ibv_modify_cq: [cq, { attr_mask: v.IBV_CQ_ATTR_MODERATE, moderate: { cq_count: 1, cq_period: 1 } }],
    ibv_modify_flow_action_esp: [action, { esp_attr: esp.esp_attr }],
    ibv_modify_qp: [qp, { qp_state: v.IBV_QPS_RTS }, v.IBV_QP_STATE],
    ibv_modify_srq: [srq, { srq_limit: 1 }, v.IBV_SRQ_LIMIT],
    ibv_modify_wq: [wq, { attr_mask: v.IBV_WQ_ATTR_STATE, wq_state: v.IBV_WQS_RDY }],
    ibv_node_type_str: [v.IBV_NODE_CA],
    ibv_open_device: [device, { cap_net_raw: true }],
    ibv_poll_cq: [cq, 4, [{}, {}, {}, {}]],
    ibv_port_state_str: [v.IBV_PORT_ACTIVE],
    ibv_post_recv: [qp, receive, {}],
    ibv_post_send: [qp, send, {}],
    ibv_post_srq_recv: [srq, receive, {}],
    ibv_post_wq_recv: [wq, receive, {}],
    ibv_qp_to_qp_ex: [ud],
    ibv_query_device: [context, {}],
    ibv_query_device_ex: [context, null, {}],
    ibv_query_gid: [context, 1, 0, new Uint8Array(16)],
    ibv_query_gid_ex: [context, 1, 0, {}, 0],
    ibv_query_gid_table: [context, [], 4, 0],
    ibv_query_gid_type: [context, 1, 0, []],
    ibv_query_pkey: [context, 1, 0, new Uint8Array(2)],
    ibv_query_port: [context, 1, {}],
    ibv_query_qp: [qp, {}, v.IBV_QP_STATE, {}],
    ibv_query_qp_data_in_order: [qp, v.IBV_WR_SEND, 0],
    ibv_query_rt_values_ex: [context, { comp_mask: v.IBV_VALUES_MASK_RAW_CLOCK }],
    ibv_query_srq: [srq, {}],
    ibv_rate_to_mbps: [v.IBV_RATE_100_GBPS],
    ibv_rate_to_mult: [v.IBV_RATE_100_GBPS],
    ibv_read_counters: [counters, new BigUint64Array(1), 1, 0],
    ibv_reg_mr: [pd, new Uint8Array(8), 8, 0],
    ibv_reg_mr_iova: [pd, new Uint8Array(8), 8, 0n, 0],
    ibv_req_notify_cq: [cq, 0],
    ibv_resize_cq: [cq, 256],
    ibv_wc_status_str: [v.IBV_WC_SUCCESS],
    ibv_wr_opcode_str: [v.IBV_WC_SEND],
    mbps_to_ibv_rate: [100_000],
    mult_to_ibv_rate: [1],
    ibv_wr_start: [qpx],
    ibv_wr_send: [qpx],
    ibv_static_providers: [null, 0],
    ibv_wr_set_ud_addr: [posting(), ah, 1, 1],
    ibv_wr_set_sge: [qpx, mr.lkey, memory.subarray(0, 4), 4],
    ibv_wr_set_sge_list: [posting(), 1, [sge]],
    ibv_wr_set_inline_data: [posting(), memory.subarray(0, 4), 4],
    ibv_wr_set_inline_data_list: [posting(), 1, [{ addr: memory.subarray(0, 4), length: 4 }]],
    ibv_wr_send_imm: [qpx, 1],
    ibv_wr_abort: [posting()],
    ibv_wr_complete: [empty],
    ibv_destroy_flow: [flow],
    ibv_destroy_flow_action: [action],
    ibv_destroy_rwq_ind_table: [table],
    ibv_destroy_wq: [unused.wq],
    ibv_destroy_srq: [unused.srq],
    ibv_destroy_ah: [unused.ah],
    ibv_destroy_qp: [reset],
    ibv_destroy_cq: [unused.cq],
    ibv_destroy_counters: [unused.counters],
    ibv_destroy_comp_channel: [unused.channel],
    ibv_dereg_mr: [v.ibv_reg_mr(pd, new Uint8Array(8), undefined, 0)],
    ibv_dealloc_pd: [unused.pd],
    ibv_close_device: [unused.context],
  };
}
