/**
 * Where the fields of the commands of verbs queues lie (docs/devx.md), as in layouts.ts: those that the model has, and
 * those that it refuses.
 */
import { COMMAND, layout } from "../layouts.js";

/** | header 8 | 0 1 | number 3 | 0 4 | */
export const NUMBERED = layout(16, { ...COMMAND.fields, id: [9, 24] });

/** | header 8 | 0 1 | number 3 | 0 4 | optional 4 | 0 4 | context 232 | 0 16 |: RST2INIT and the others. */
export const MODIFY_QP = layout(272, { ...NUMBERED.fields, opt_param_mask: [16, 32] });
/** Of an input and of the output of QUERY_QP. */
export const QP_CONTEXT_AT = 24;
export const QP_CONTEXT = layout(232, {
  state: [0, 4],
  st: [1, 8],
  pm_state: [2, 2, 3],
  mtu: [8, 3],
  log_msg_max: [8, 5, 3],
  log_rq_size: [9, 4, 1],
  no_sq: [10, 1],
  log_sq_size: [10, 4, 1],
  remote_qpn: [21, 24],
  log_sra_max: [113, 3],
  retry_count: [113, 3, 5],
  rnr_retry: [114, 3],
  next_send_psn: [121, 24],
  cqn_snd: [125, 24],
  log_rra_max: [145, 3],
  rre: [146, 1],
  rwe: [146, 1, 1],
  rae: [146, 1, 2],
  min_rnr_nak: [148, 5, 3],
  next_rcv_psn: [149, 24],
  cqn_rcv: [157, 24],
  q_key: [168, 32],
  rq_type: [172, 3, 5],
  srqn_rmpn_xrqn: [173, 24],
});
/** The primary address path in a context. */
export const PATH_AT = 24;
export const PATH = layout(44, {
  pkey_index: [2, 16],
  ack_timeout: [8, 5],
  src_addr_index: [9, 8],
  hop_limit: [11, 8],
  tclass: [12, 8, 4],
  flow_label: [13, 20, 4],
  vhca_port_num: [37, 8],
});
export const PATH_GID_AT = 16;
export const PATH_MAC_AT = 38;

/** | header 8 | 0 1 | number 3 | select 4 | context 64 | 0 192 | */
export const MODIFY_CQ = layout(272, { ...NUMBERED.fields, modify_field_select: [12, 32] });
/** Of an input and of the output of QUERY_CQ. */
export const CQ_CONTEXT_AT = 16;
export const CQ_CONTEXT = layout(64, {
  status: [0, 4],
  oi: [1, 1, 6],
  log_cq_size: [12, 5, 3],
  cq_period: [16, 12, 4],
  cq_max_count: [18, 16],
});

/** | header 8 | state 4 bits, 0 4 bits | number 3 | 0 4 | high bits 4 | low bits 4 | 0 8 | context 240 | */
export const MODIFY_RQ = layout(272, {
  ...NUMBERED.fields,
  rq_state: [8, 4],
  bitmask_high: [16, 32],
  bitmask_low: [20, 32],
});
/** Of an input and of the output of QUERY_RQ. */
export const RQ_CONTEXT_AT = 32;
export const RQ_CONTEXT = layout(240, {
  vsd: [0, 1, 3],
  mem_rq_type: [0, 4, 4],
  state: [1, 4],
  flush_in_error_en: [1, 1, 5],
  cqn: [9, 24],
  wq_type: [48, 4],
  log_wq_sz: [83, 5, 3],
});

/** | header 8 | state 4 bits, 0 4 bits | number 3 | 0 4 | high bits 4 | low bits 4 | 0 8 | context 240 | */
export const MODIFY_RMP = layout(272, {
  ...NUMBERED.fields,
  rmp_state: [8, 4],
  bitmask_high: [16, 32],
  bitmask_low: [20, 32],
});
/** Of an input and of the output of QUERY_RMP. */
export const RMP_CONTEXT_AT = 32;
export const RMP_CONTEXT = layout(240, {
  state: [1, 4],
  basic_cyclic_rcv_wqe: [4, 1],
  wq_type: [48, 4],
  lwm: [54, 16],
  log_wq_sz: [83, 5, 3],
});

/**
 * | header 8 | 0 1 | number 3 | 0 4 | high bits 4 | low bits 4 | 0 8 | 0 20 | 0 5 bits, type 3 bits | 0 1 | most 2 | 0 2 | size 2
 * | 0 212 |, then the queues as in CREATE_RQT. The output of QUERY_RQT has the context and the queues at the same places.
 */
export const MODIFY_RQT = layout(272, {
  ...NUMBERED.fields,
  bitmask_high: [16, 32],
  bitmask_low: [20, 32],
  list_q_type: [52, 3, 5],
  rqt_max_size: [54, 16],
  rqt_actual_size: [58, 16],
});
