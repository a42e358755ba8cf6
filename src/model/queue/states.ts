/**
 * The states of a queue pair, and the attributes that each transition takes, as ibv_modify_qp(3)
 * lists them.
 */
import {
  IBV_QP_ACCESS_FLAGS,
  IBV_QP_ALT_PATH,
  IBV_QP_AV,
  IBV_QP_CAP,
  IBV_QP_CUR_STATE,
  IBV_QP_DEST_QPN,
  IBV_QP_EN_SQD_ASYNC_NOTIFY,
  IBV_QP_MAX_DEST_RD_ATOMIC,
  IBV_QP_MAX_QP_RD_ATOMIC,
  IBV_QP_MIN_RNR_TIMER,
  IBV_QP_PATH_MIG_STATE,
  IBV_QP_PATH_MTU,
  IBV_QP_PKEY_INDEX,
  IBV_QP_PORT,
  IBV_QP_QKEY,
  IBV_QP_RATE_LIMIT,
  IBV_QP_RETRY_CNT,
  IBV_QP_RNR_RETRY,
  IBV_QP_RQ_PSN,
  IBV_QP_SQ_PSN,
  IBV_QP_STATE,
  IBV_QP_TIMEOUT,
  IBV_QPS_ERR,
  IBV_QPS_INIT,
  IBV_QPS_RESET,
  IBV_QPS_RTR,
  IBV_QPS_RTS,
  IBV_QPT_RAW_PACKET,
  IBV_QPT_RC,
  IBV_QPT_UC,
  IBV_QPT_UD,
} from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import { routeOf, type AddressAttributes } from "./addressHandle.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { checkObject, unsigned, member } from "../../base/checks.js";
import { MAX_RD_ATOMIC } from "../base/limits.js";
import { MTU, PKEY_TABLE_LENGTH } from "../base/port/ports.js";

/**
 * The attributes of `struct ibv_qp_attr` that a queue pair keeps. All are numbers except the
 * address.
 */
export interface QueuePairState {
  qp_state: number;
  path_mtu: number;
  qkey: number;
  rq_psn: number;
  sq_psn: number;
  dest_qp_num: number;
  qp_access_flags: number;
  ah_attr: AddressAttributes | null;
  pkey_index: number;
  max_rd_atomic: number;
  max_dest_rd_atomic: number;
  min_rnr_timer: number;
  port_num: number;
  timeout: number;
  retry_cnt: number;
  rnr_retry: number;
}

/** The argument of `ibv_modify_qp`: `struct ibv_qp_attr`. */
export type QueuePairChange = Partial<QueuePairState> & { cur_qp_state?: number };

/** The state of a queue pair that is new or was reset. */
export const RESET_STATE: Readonly<QueuePairState> = {
  qp_state: IBV_QPS_RESET,
  path_mtu: 0,
  qkey: 0,
  rq_psn: 0,
  sq_psn: 0,
  dest_qp_num: 0,
  qp_access_flags: 0,
  ah_attr: null,
  pkey_index: 0,
  max_rd_atomic: 0,
  max_dest_rd_atomic: 0,
  min_rnr_timer: 0,
  port_num: 0,
  timeout: 0,
  retry_cnt: 0,
  rnr_retry: 0,
};

/** Names of the states, by number. */
export const STATE_NAMES: Readonly<Record<number, string>> = {
  [IBV_QPS_RESET]: "RESET",
  [IBV_QPS_INIT]: "INIT",
  [IBV_QPS_RTR]: "RTR",
  [IBV_QPS_RTS]: "RTS",
  [IBV_QPS_ERR]: "ERR",
};

/**
 * The transition upward from each state; RESET and ERR can be reached from every state. MODEL:
 * requests are done when a call returns, so SQD and SQE do not exist.
 */
const NEXT: Readonly<Record<number, number>> = {
  [IBV_QPS_RESET]: IBV_QPS_INIT,
  [IBV_QPS_INIT]: IBV_QPS_RTR,
  [IBV_QPS_RTR]: IBV_QPS_RTS,
};

/** The attributes that a transition requires, and those that it also accepts. */
interface Step {
  readonly must: number;
  readonly may: number;
}

/** The transitions of a queue pair type: up to a state, and staying in a state. */
interface Steps {
  readonly up: Readonly<Record<number, Step>>;
  readonly stay: Readonly<Record<number, number>>;
}

const PATH = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
const RC_RTR = PATH | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
const RC_RTS = IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT;
const CONNECTED_INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
const CONNECTED_RTR_MAY = IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS;
const DATAGRAM_INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

const STEPS: Readonly<Record<number, Steps>> = {
  [IBV_QPT_RAW_PACKET]: {
    up: {
      [IBV_QPS_INIT]: { must: IBV_QP_PORT, may: 0 },
      [IBV_QPS_RTR]: { must: 0, may: 0 },
      [IBV_QPS_RTS]: { must: 0, may: 0 },
    },
    stay: { [IBV_QPS_INIT]: IBV_QP_PORT },
  },
  [IBV_QPT_UD]: {
    up: {
      [IBV_QPS_INIT]: { must: DATAGRAM_INIT, may: 0 },
      [IBV_QPS_RTR]: { must: 0, may: IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
      [IBV_QPS_RTS]: { must: IBV_QP_SQ_PSN, may: IBV_QP_QKEY },
    },
    stay: { [IBV_QPS_INIT]: DATAGRAM_INIT, [IBV_QPS_RTS]: IBV_QP_QKEY },
  },
  [IBV_QPT_UC]: {
    up: {
      [IBV_QPS_INIT]: { must: CONNECTED_INIT, may: 0 },
      [IBV_QPS_RTR]: { must: PATH, may: CONNECTED_RTR_MAY },
      [IBV_QPS_RTS]: { must: IBV_QP_SQ_PSN, may: IBV_QP_ACCESS_FLAGS },
    },
    stay: { [IBV_QPS_INIT]: CONNECTED_INIT, [IBV_QPS_RTS]: IBV_QP_ACCESS_FLAGS },
  },
  [IBV_QPT_RC]: {
    up: {
      [IBV_QPS_INIT]: { must: CONNECTED_INIT, may: 0 },
      [IBV_QPS_RTR]: { must: RC_RTR, may: CONNECTED_RTR_MAY },
      [IBV_QPS_RTS]: { must: RC_RTS, may: IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
    },
    stay: { [IBV_QPS_INIT]: CONNECTED_INIT, [IBV_QPS_RTS]: IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
  },
};

/** Whether a queue pair of this type has one peer. */
export function isConnected(type: number): boolean {
  return type === IBV_QPT_RC || type === IBV_QPT_UC;
}

/** Whether queue pairs of this type can be created. */
export function hasSteps(type: number): boolean {
  return type in STEPS;
}

/** The range of a numeric attribute. */
interface NumberField {
  readonly bit: number;
  readonly name: Exclude<keyof QueuePairState, "ah_attr" | "qp_state">;
  /** The name of the bit in C. */
  readonly mask: string;
  readonly low: number;
  readonly high: number | ((device: DeviceBase) => number);
}

const PSN = 0xffffff;

const NUMBERS: readonly NumberField[] = [
  { bit: IBV_QP_ACCESS_FLAGS, name: "qp_access_flags", mask: "IBV_QP_ACCESS_FLAGS", low: 0, high: 0xffffffff },
  { bit: IBV_QP_PKEY_INDEX, name: "pkey_index", mask: "IBV_QP_PKEY_INDEX", low: 0, high: PKEY_TABLE_LENGTH - 1 },
  { bit: IBV_QP_PORT, name: "port_num", mask: "IBV_QP_PORT", low: 1, high: (device) => device.ports },
  { bit: IBV_QP_QKEY, name: "qkey", mask: "IBV_QP_QKEY", low: 0, high: 0xffffffff },
  { bit: IBV_QP_PATH_MTU, name: "path_mtu", mask: "IBV_QP_PATH_MTU", low: 1, high: MTU },
  { bit: IBV_QP_TIMEOUT, name: "timeout", mask: "IBV_QP_TIMEOUT", low: 0, high: 31 },
  { bit: IBV_QP_RETRY_CNT, name: "retry_cnt", mask: "IBV_QP_RETRY_CNT", low: 0, high: 7 },
  { bit: IBV_QP_RNR_RETRY, name: "rnr_retry", mask: "IBV_QP_RNR_RETRY", low: 0, high: 7 },
  { bit: IBV_QP_RQ_PSN, name: "rq_psn", mask: "IBV_QP_RQ_PSN", low: 0, high: PSN },
  { bit: IBV_QP_SQ_PSN, name: "sq_psn", mask: "IBV_QP_SQ_PSN", low: 0, high: PSN },
  {
    bit: IBV_QP_MAX_QP_RD_ATOMIC,
    name: "max_rd_atomic",
    mask: "IBV_QP_MAX_QP_RD_ATOMIC",
    low: 0,
    high: MAX_RD_ATOMIC,
  },
  {
    bit: IBV_QP_MAX_DEST_RD_ATOMIC,
    name: "max_dest_rd_atomic",
    mask: "IBV_QP_MAX_DEST_RD_ATOMIC",
    low: 0,
    high: MAX_RD_ATOMIC,
  },
  { bit: IBV_QP_MIN_RNR_TIMER, name: "min_rnr_timer", mask: "IBV_QP_MIN_RNR_TIMER", low: 0, high: 31 },
  { bit: IBV_QP_DEST_QPN, name: "dest_qp_num", mask: "IBV_QP_DEST_QPN", low: 0, high: 0xffffff },
];

/** Attributes of features that this device lacks. */
const LACKING = IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_CAP | IBV_QP_RATE_LIMIT;

const MASK_NAMES: readonly (readonly [number, string])[] = [
  ...NUMBERS.map(({ bit, mask }) => [bit, mask] as const),
  [IBV_QP_AV, "IBV_QP_AV"],
];

/**
 * The state of the queue pair after `ibv_modify_qp`. The function changes nothing, so a refused
 * call leaves the queue pair as it was.
 *
 * @throws EINVAL for a transition that does not exist, an attribute that is missing or not
 *   accepted, or a value out of range; EOPNOTSUPP for features that the device lacks
 */
export function changedState(
  device: DeviceBase,
  type: number,
  now: Readonly<QueuePairState>,
  attr: QueuePairChange,
  mask: number,
): QueuePairState {
  checkObject("attr", attr);
  unsigned("attr_mask", mask, 31);
  if ((mask & LACKING) !== 0) {
    const hint = "the device has no resizing, alternate paths, draining or pacing";
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "attr_mask", value: mask, hint });
  }
  if ((mask & IBV_QP_CUR_STATE) !== 0 && attr.cur_qp_state !== now.qp_state) {
    const hint = `the queue pair is in ${STATE_NAMES[now.qp_state]}`;
    const path = "attr.cur_qp_state";
    refuse({ code: "EINVAL", reason: "bad_state", path, value: attr.cur_qp_state, hint });
  }
  const to = (mask & IBV_QP_STATE) === 0 ? now.qp_state : targetState(now.qp_state, attr.qp_state);
  checkMask(type, now.qp_state, to, mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE));
  if (to === IBV_QPS_RESET) return { ...RESET_STATE };
  const changed: QueuePairState = { ...now, qp_state: to };
  for (const field of NUMBERS) {
    if ((mask & field.bit) !== 0) changed[field.name] = numberOf(device, field, attr[field.name]);
  }
  if ((mask & IBV_QP_AV) !== 0) {
    const address = attr.ah_attr as AddressAttributes;
    const { port } = routeOf("attr.ah_attr", device, address);
    if (port.number !== changed.port_num) {
      const hint = `the queue pair is on port ${changed.port_num}`;
      refuse({ code: "EINVAL", reason: "bad_route", path: "attr.ah_attr.port_num", value: port.number, hint });
    }
    changed.ah_attr = { ...address, grh: { ...address.grh } };
  }
  return changed;
}

function targetState(now: number, asked: unknown): number {
  const state = member("attr.qp_state", asked, 31);
  const next = NEXT[now];
  if (state === IBV_QPS_RESET || state === IBV_QPS_ERR || state === now || state === next) return state;
  const up = next === undefined ? "" : `${STATE_NAMES[next]}, `;
  const hint = `from ${STATE_NAMES[now]} it can go to ${up}RESET or ERR`;
  return refuse({ code: "EINVAL", reason: "bad_state", path: "attr.qp_state", value: asked, hint });
}

function checkMask(type: number, now: number, to: number, given: number): void {
  const { up, stay } = STEPS[type] as Steps;
  const step: Step | undefined = to === now ? undefined : up[to];
  const must = step?.must ?? 0;
  const may = to === now ? (stay[now] ?? 0) : must | (step?.may ?? 0);
  const missing = must & ~given;
  if (missing !== 0) {
    const hint = `to ${STATE_NAMES[to]} it requires ${maskText(must)}`;
    refuse({ code: "EINVAL", reason: "missing_attribute", path: "attr_mask", value: maskText(missing), hint });
  }
  const extra = given & ~may;
  if (extra === 0) return;
  const hint = `from ${STATE_NAMES[now]} to ${STATE_NAMES[to]} it takes ${maskText(may)}`;
  refuse({ code: "EINVAL", reason: "bad_attribute", path: "attr_mask", value: maskText(extra), hint });
}

function numberOf(device: DeviceBase, { name, low, high }: NumberField, value: unknown): number {
  const path = `attr.${name}`;
  const most = typeof high === "number" ? high : high(device);
  const number = unsigned(path, value, 32);
  if (number >= low && number <= most) return number;
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: `${low} to ${most}` });
}

function maskText(mask: number): string {
  const names = MASK_NAMES.filter(([bit]) => (mask & bit) !== 0).map(([, name]) => name);
  const rest = MASK_NAMES.reduce((left, [bit]) => left & ~bit, mask);
  if (rest !== 0) names.push(`0x${rest.toString(16)}`);
  return names.join(" | ") || "none";
}
