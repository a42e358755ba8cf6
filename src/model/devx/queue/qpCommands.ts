/** Commands of queue pairs of the verbs: QUERY_QP, and those that change its state (docs/devx.md). */
import * as ib from "../../../abi/verbs.js";
import {
  IBV_ACCESS_REMOTE_ATOMIC,
  IBV_ACCESS_REMOTE_READ,
  IBV_ACCESS_REMOTE_WRITE,
} from "../../../abi/verbsConstants.js";
import { unsigned } from "../../../base/checks.js";
import { gidFrom, macFrom } from "../../base/port/gids.js";
import type { AddressAttributes } from "../../queue/addressHandle.js";
import type { QueuePair } from "../../queuePair/queuePair.js";
import type { QueuePairChange, QueuePairState } from "../../queue/states.js";
import type { Command } from "../command.js";
import { writeFields } from "../layouts.js";
import { MODIFY_QP, PATH, PATH_AT, PATH_GID_AT, PATH_MAC_AT, QP_CONTEXT, QP_CONTEXT_AT } from "./layouts.js";

/** `st` of a queue pair, by type. Raw packet queue pairs have no context of their own. */
const SERVICE: Readonly<Record<number, number>> = { [ib.IBV_QPT_RC]: 0, [ib.IBV_QPT_UC]: 1, [ib.IBV_QPT_UD]: 3 };
/** The largest message of 2^31 bytes; a datagram fits a packet of 4,096 bytes. */
const LOG_MESSAGE = { connected: 31, datagram: 12 };
const MIGRATED = 3;
const ACCESS = { rre: IBV_ACCESS_REMOTE_READ, rwe: IBV_ACCESS_REMOTE_WRITE, rae: IBV_ACCESS_REMOTE_ATOMIC };

/** Bits of `opt_param_mask` that the model has, with the attributes that they change. */
const OPTIONAL: readonly (readonly [bit: number, mask: number])[] = [
  [1 << 1, ib.IBV_QP_ACCESS_FLAGS],
  [1 << 2, ib.IBV_QP_ACCESS_FLAGS],
  [1 << 3, ib.IBV_QP_ACCESS_FLAGS],
  [1 << 4, ib.IBV_QP_PKEY_INDEX],
  [1 << 5, ib.IBV_QP_QKEY],
  [1 << 6, ib.IBV_QP_MIN_RNR_TIMER],
  [1 << 8, ib.IBV_QP_MAX_QP_RD_ATOMIC],
  [1 << 9, ib.IBV_QP_MAX_DEST_RD_ATOMIC],
  [1 << 12, ib.IBV_QP_RETRY_CNT],
  [1 << 13, ib.IBV_QP_RNR_RETRY],
  [1 << 14, ib.IBV_QP_TIMEOUT],
  [1 << 16, ib.IBV_QP_PORT],
];

/** A command that changes the state: from which to which, and the attributes that it always has, by type. */
export interface Transition {
  readonly from: number | null;
  readonly to: number;
  readonly rc: number;
  readonly uc: number;
  readonly ud: number;
}

const INIT = ib.IBV_QP_PKEY_INDEX | ib.IBV_QP_PORT;
const ROUTE = ib.IBV_QP_AV | ib.IBV_QP_PATH_MTU | ib.IBV_QP_DEST_QPN | ib.IBV_QP_RQ_PSN;
const RETRIES = ib.IBV_QP_RETRY_CNT | ib.IBV_QP_RNR_RETRY | ib.IBV_QP_TIMEOUT | ib.IBV_QP_MAX_QP_RD_ATOMIC;
const NOTHING = { rc: 0, uc: 0, ud: 0 };

export const TRANSITIONS = {
  RST2INIT_QP: {
    from: ib.IBV_QPS_RESET,
    to: ib.IBV_QPS_INIT,
    rc: INIT | ib.IBV_QP_ACCESS_FLAGS,
    uc: INIT | ib.IBV_QP_ACCESS_FLAGS,
    ud: INIT | ib.IBV_QP_QKEY,
  },
  INIT2RTR_QP: {
    from: ib.IBV_QPS_INIT,
    to: ib.IBV_QPS_RTR,
    rc: ROUTE | ib.IBV_QP_MAX_DEST_RD_ATOMIC | ib.IBV_QP_MIN_RNR_TIMER,
    uc: ROUTE,
    ud: 0,
  },
  RTR2RTS_QP: {
    from: ib.IBV_QPS_RTR,
    to: ib.IBV_QPS_RTS,
    rc: ib.IBV_QP_SQ_PSN | RETRIES,
    uc: ib.IBV_QP_SQ_PSN,
    ud: ib.IBV_QP_SQ_PSN,
  },
  INIT2INIT_QP: { from: ib.IBV_QPS_INIT, to: ib.IBV_QPS_INIT, ...NOTHING },
  RTS2RTS_QP: { from: ib.IBV_QPS_RTS, to: ib.IBV_QPS_RTS, ...NOTHING },
  "2RST_QP": { from: null, to: ib.IBV_QPS_RESET, ...NOTHING },
  "2ERR_QP": { from: null, to: ib.IBV_QPS_ERR, ...NOTHING },
} as const satisfies Readonly<Record<string, Transition>>;

/** QUERY_QP. */
export function queryQp(command: Command, qp: QueuePair): void {
  const { attr, init_attr } = qp.query();
  const { cap } = attr;
  command.expect(0, QP_CONTEXT_AT + QP_CONTEXT.size);
  const connected = qp.qp_type !== ib.IBV_QPT_UD;
  command.succeed(
    QP_CONTEXT,
    {
      state: attr.qp_state,
      st: SERVICE[qp.qp_type] ?? command.fail("unsupported", "qp", qp, "RC, UC or UD: QUERY_RQ for a raw packet one"),
      pm_state: MIGRATED,
      mtu: attr.path_mtu,
      log_msg_max: connected ? LOG_MESSAGE.connected : LOG_MESSAGE.datagram,
      log_rq_size: log2(cap.max_recv_wr),
      no_sq: cap.max_send_wr === 0 ? 1 : 0,
      log_sq_size: log2(cap.max_send_wr),
      remote_qpn: attr.dest_qp_num,
      log_sra_max: log2(attr.max_rd_atomic),
      retry_count: attr.retry_cnt,
      rnr_retry: attr.rnr_retry,
      next_send_psn: attr.sq_psn,
      cqn_snd: init_attr.send_cq.cqn,
      log_rra_max: log2(attr.max_dest_rd_atomic),
      ...accessBits(attr.qp_access_flags),
      min_rnr_nak: attr.min_rnr_timer,
      next_rcv_psn: attr.rq_psn,
      cqn_rcv: init_attr.recv_cq.cqn,
      q_key: attr.qkey,
    },
    QP_CONTEXT_AT,
  );
  writePath(command, attr);
}

/** The base-2 logarithm of the power of two that holds `count`; 0 for none. */
function log2(count: number): number {
  return Math.ceil(Math.log2(Math.max(count, 1)));
}

function accessBits(flags: number): Record<keyof typeof ACCESS, number> {
  const has = (bit: number): number => ((flags & bit) === 0 ? 0 : 1);
  return { rre: has(ACCESS.rre), rwe: has(ACCESS.rwe), rae: has(ACCESS.rae) };
}

function writePath(command: Command, { ah_attr, ...attr }: QueuePairState): void {
  const at = QP_CONTEXT_AT + PATH_AT;
  const { grh } = ah_attr ?? {};
  writeFields(
    command.out,
    PATH,
    {
      pkey_index: attr.pkey_index,
      ack_timeout: attr.timeout,
      vhca_port_num: attr.port_num,
      src_addr_index: grh?.sgid_index,
      hop_limit: grh?.hop_limit,
      tclass: grh?.traffic_class,
      flow_label: grh?.flow_label,
    },
    at,
  );
  if (ah_attr === null || grh === undefined) return;
  const bytes = new Uint8Array(command.out.buffer, command.out.byteOffset);
  bytes.set(gidFrom("grh.dgid", grh.dgid), at + PATH_GID_AT);
  if (ah_attr.dmac !== undefined) bytes.set(macFrom("dmac", ah_attr.dmac), at + PATH_MAC_AT);
}

/** A command that changes the state or, in a state, attributes. Attributes that its mask leaves out are ignored. */
export function modifyQp(command: Command, qp: QueuePair, name: keyof typeof TRANSITIONS): void {
  const transition = TRANSITIONS[name];
  const mask = transition[typeOf(command, qp)] | optionalMask(command);
  const { from, to } = transition;
  const change: QueuePairChange = { ...changeOf(command, mask), qp_state: to };
  if (from !== null) change.cur_qp_state = from;
  const states = ib.IBV_QP_STATE | (from === null ? 0 : ib.IBV_QP_CUR_STATE);
  command.carry(() => {
    qp.modify(change, mask | states);
  });
  command.succeed();
}

function typeOf(command: Command, qp: QueuePair): "rc" | "uc" | "ud" {
  if (qp.qp_type === ib.IBV_QPT_RC) return "rc";
  if (qp.qp_type === ib.IBV_QPT_UC) return "uc";
  if (qp.qp_type === ib.IBV_QPT_UD) return "ud";
  return command.fail("unsupported", "qp", qp, "RC, UC or UD: a raw packet queue pair has no context of its own");
}

function optionalMask(command: Command): number {
  const { opt_param_mask } = command.read(MODIFY_QP);
  const known = OPTIONAL.reduce((bits, [bit]) => bits | bit, 0);
  if ((opt_param_mask & ~known) !== 0) {
    const hint = `the model has the bits 0x${known.toString(16)}`;
    command.fail("unsupported", "opt_param_mask", `0x${opt_param_mask.toString(16)}`, hint);
  }
  return OPTIONAL.reduce((mask, [bit, attribute]) => ((opt_param_mask & bit) === 0 ? mask : mask | attribute), 0);
}

/** The attributes of the context in a command. */
function changeOf(command: Command, mask: number): QueuePairChange {
  const context = command.read(QP_CONTEXT, QP_CONTEXT_AT);
  const path = command.read(PATH, QP_CONTEXT_AT + PATH_AT);
  const granted = (["rre", "rwe", "rae"] as const).filter((name) => context[name] !== 0);
  return {
    path_mtu: context.mtu,
    qkey: context.q_key,
    rq_psn: context.next_rcv_psn,
    sq_psn: context.next_send_psn,
    dest_qp_num: context.remote_qpn,
    qp_access_flags: granted.reduce((flags, name) => flags | ACCESS[name], ib.IBV_ACCESS_LOCAL_WRITE),
    pkey_index: path.pkey_index,
    max_rd_atomic: 2 ** context.log_sra_max,
    max_dest_rd_atomic: 2 ** context.log_rra_max,
    min_rnr_timer: context.min_rnr_nak,
    port_num: unsigned("vhca_port_num", path.vhca_port_num, 8),
    timeout: path.ack_timeout,
    retry_cnt: context.retry_count,
    rnr_retry: context.rnr_retry,
    ...((mask & ib.IBV_QP_AV) === 0 ? {} : { ah_attr: addressOf(command, path) }),
  };
}

function addressOf(command: Command, path: Record<keyof typeof PATH.fields, number>): AddressAttributes {
  const at = QP_CONTEXT_AT + PATH_AT;
  const mac = command.bytes(at + PATH_MAC_AT, 6);
  return {
    is_global: 1,
    port_num: path.vhca_port_num,
    grh: {
      dgid: command.bytes(at + PATH_GID_AT, 16),
      flow_label: path.flow_label,
      sgid_index: path.src_addr_index,
      hop_limit: path.hop_limit,
      traffic_class: path.tclass,
    },
    // An address of zeros is none: it is derived from the GID.
    ...(mac.some((byte) => byte !== 0) ? { dmac: mac } : {}),
  };
}
