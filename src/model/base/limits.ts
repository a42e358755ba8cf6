/**
 * How many objects a device has and may have. `ibv_query_device` reports the limits that this file
 * enforces.
 */
import { mistyped, refuse } from "../../errors.js";
import { checkOptions, describe, unsigned } from "../../base/checks.js";

/** Limits of a device, under their names in `struct ibv_device_attr`. */
export interface DeviceLimits {
  /** Queue pairs alive. */
  max_qp: number;
  /** Work requests that a queue of a queue pair holds. */
  max_qp_wr: number;
  /** Scatter and gather entries of a work request. */
  max_sge: number;
  /** Completion queues alive. */
  max_cq: number;
  /** Completions that a completion queue holds. */
  max_cqe: number;
  /** Memory regions alive. */
  max_mr: number;
  /** Protection domains alive. */
  max_pd: number;
  /** Address handles alive. */
  max_ah: number;
  /** Work queues alive. */
  max_wq_type_rq: number;
  /** Indirection tables alive. */
  max_rwq_indirection_tables: number;
  /** Shared receive queues alive. */
  max_srq: number;
  /** Multicast groups with queue pairs. */
  max_mcast_grp: number;
  /** Entries of an indirection table. */
  max_rwq_indirection_table_size: number;
}

/** The default of each limit, which is also its maximum. */
export const DEFAULT_LIMITS: Readonly<DeviceLimits> = {
  max_qp: 2 ** 17,
  max_qp_wr: 2 ** 15,
  max_sge: 30,
  max_cq: 2 ** 24,
  max_cqe: 2 ** 22,
  max_mr: 2 ** 24,
  max_pd: 2 ** 23,
  max_ah: 2 ** 24,
  max_wq_type_rq: 2 ** 17,
  max_rwq_indirection_tables: 2 ** 16,
  max_srq: 2 ** 23,
  max_mcast_grp: 2 ** 21,
  max_rwq_indirection_table_size: 2 ** 10,
};

/** Bytes that a work request can carry by itself (`max_inline_data`). */
export const MAX_INLINE_DATA = 1024;
/** The largest moderation of a completion queue: completions, and microseconds (`cq_mod_caps`). */
export const MAX_CQ_COUNT = 0xffff;
export const MAX_CQ_PERIOD = 0xfff;
/** Queue pairs of a multicast group (`max_mcast_qp_attach`). */
export const MAX_GROUP_QUEUE_PAIRS = 60;
/** RDMA reads and atomics that a queue pair accepts as outstanding. */
export const MAX_RD_ATOMIC = 16;
/** The last queue pair number: numbers have 24 bits and are not reused. */
export const MAX_QP_NUM = 2 ** 24 - 1;

/** Kinds of objects that are counted, and the limit of each. */
const COUNTED = {
  qp: "max_qp",
  cq: "max_cq",
  mr: "max_mr",
  pd: "max_pd",
  ah: "max_ah",
  wq: "max_wq_type_rq",
  rqt: "max_rwq_indirection_tables",
  srq: "max_srq",
  mcast: "max_mcast_grp",
} as const satisfies Record<string, keyof DeviceLimits>;
export type CountedKind = keyof typeof COUNTED;

/** Counts the living objects of a device. */
export class Inventory {
  readonly limits: Readonly<DeviceLimits>;
  private readonly _alive: Record<CountedKind, number> = {
    qp: 0,
    cq: 0,
    mr: 0,
    pd: 0,
    ah: 0,
    wq: 0,
    rqt: 0,
    srq: 0,
    mcast: 0,
  };

  constructor(limits: Readonly<DeviceLimits>) {
    this.limits = limits;
  }

  /** @throws ENOMEM as many objects are alive as the limit allows */
  checkRoom(device: object, kind: CountedKind): void {
    const most = this.limits[COUNTED[kind]];
    if (this._alive[kind] < most) return;
    const hint = `${COUNTED[kind]} of the device is ${most}`;
    refuse({ code: "ENOMEM", reason: "no_memory", path: "device", value: device, hint });
  }

  add(kind: CountedKind): void {
    this._alive[kind]++;
  }

  remove(kind: CountedKind): void {
    this._alive[kind]--;
  }
}

/** The limits that a caller set, with the defaults for the others. @throws EINVAL */
export function limitsFrom(asked: Partial<DeviceLimits>): DeviceLimits {
  const types = Object.fromEntries(["memory", "flows", ...Object.keys(DEFAULT_LIMITS)].map((name) => [name, "number"]));
  checkOptions("limits", asked, types as Record<string, "number">);
  const limits = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(limits) as (keyof DeviceLimits)[]) {
    const value = asked[name];
    if (value === undefined) continue;
    const path = `limits.${name}`;
    const most = DEFAULT_LIMITS[name];
    if (unsigned(path, value, 32) < 1 || value > most) {
      refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: `1 to ${most}` });
    }
    limits[name] = value;
  }
  return limits;
}

/** Returns a number up to a limit. @throws EINVAL it is larger */
export function bounded(path: string, value: unknown, most: number): number {
  const number = unsigned(path, value, 32);
  if (number > most) refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: `0 to ${most}` });
  return number;
}

/** A mask, an address or another number of 64 bits, as a bigint. @throws TypeError no number; EINVAL it has more bits */
export function bits64Of(path: string, value: unknown): bigint {
  if (typeof value === "number") return BigInt(unsigned(path, value, 53));
  if (typeof value !== "bigint") mistyped(`${path} must be a number, not ${describe(value)}`);
  if (value === BigInt.asUintN(64, value)) return value;
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: "64 bits" });
}

/** The bits IBV_RX_HASH_... that a queue pair can have (`rss_caps.rx_hash_fields_mask`). */
export const HASH_FIELDS = 0x8000_01ff;
