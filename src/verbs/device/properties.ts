/** ibv_query_rt_values_ex(3), ibv_query_qp_data_in_order(3), ibv_fork_init(3), ibv_inc_rkey(3). */
import {
  IBV_FORK_UNNEEDED,
  IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES,
  IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY,
  IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS,
  IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG,
  IBV_VALUES_MASK_RAW_CLOCK,
} from "../../abi/verbsConstants.js";
import { checkObject, unsigned, member } from "../../base/checks.js";
import { inCall, refuse } from "../../errors.js";
import { Context } from "../../model/base/context.js";
import { living } from "../../model/base/handle.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { hasOperation } from "../../model/queuePair/sendOperations.js";

/** `struct ibv_values_ex` */
export interface DeviceValues {
  /** Bits IBV_VALUES_MASK_*: what to read; after the call what was read. */
  comp_mask: number;
  /** The clock of the device: `tv_nsec` is the whole number of its ticks, which are nanoseconds. */
  raw_clock?: { tv_sec: bigint; tv_nsec: bigint } | undefined;
}

/**
 * Reads values of a device that change (ibv_query_rt_values_ex(3)): its clock.
 * @param values `comp_mask` says which; the call fills them
 * @throws EOPNOTSUPP if another value is asked for
 */
export function ibv_query_rt_values_ex(context: Context, values: DeviceValues): 0 {
  return inCall("ibv_query_rt_values_ex", () => {
    const { device } = living("context", context, Context);
    checkObject("values", values);
    const mask = member("values.comp_mask", values.comp_mask, 32);
    if ((mask & ~IBV_VALUES_MASK_RAW_CLOCK) !== 0) {
      const hint = "use IBV_VALUES_MASK_RAW_CLOCK";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "values.comp_mask", value: mask, hint });
    }
    if (mask !== 0) values.raw_clock = { tv_sec: 0n, tv_nsec: device.now() };
    return 0;
  });
}

/**
 * Whether the bytes of a message arrive in order (ibv_query_qp_data_in_order(3)). MODEL: the bytes of
 * a message are written at one moment, so they do for every operation that the queue pair has.
 * @param op IBV_WR_*
 * @param flags IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS for a mask of IBV_QUERY_QP_DATA_IN_ORDER_*
 *   instead of 1
 * @returns 0 for an operation that the queue pair does not have
 */
export function ibv_query_qp_data_in_order(qp: QueuePair, op: number, flags = 0): number {
  return inCall("ibv_query_qp_data_in_order", () => {
    const { qp_type } = living("qp", qp, QueuePair);
    const known = IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS | IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY;
    unsigned("op", op, 32);
    if ((unsigned("flags", flags, 32) & ~known) !== 0) {
      const hint = "use RETURN_CAPS and DEVICE_ONLY";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "flags", value: flags, hint });
    }
    if (!hasOperation(qp_type, op)) return 0;
    if ((flags & IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS) === 0) return 1;
    return IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG | IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES;
  });
}

/** Prepares for fork (ibv_fork_init(3)): there is nothing to do, because memory is not pinned. */
export function ibv_fork_init(): 0 {
  return 0;
}

/** IBV_FORK_UNNEEDED (ibv_is_fork_initialized(3)). */
export function ibv_is_fork_initialized(): number {
  return IBV_FORK_UNNEEDED;
}

/** Links providers into a program (ibv_static_providers in verbs.h). Every device has its provider already. */
export function ibv_static_providers(..._providers: readonly unknown[]): void {
  // Nothing is linked.
}

/** A remote key with the next tag, its lowest byte (ibv_inc_rkey(3)). */
export function ibv_inc_rkey(rkey: number): number {
  return inCall("ibv_inc_rkey", () => {
    const key = unsigned("rkey", rkey, 32);
    return ((key & 0xffff_ff00) | ((key + 1) & 0xff)) >>> 0;
  });
}

/** Whether a mask of types (1 << IBV_QPT_*) has a type of queue pair: 1 or 0. */
export function ibv_is_qpt_supported(caps: number, qpt: number): number {
  return inCall("ibv_is_qpt_supported", () => {
    unsigned("caps", caps, 32);
    return (caps & (1 << unsigned("qpt", qpt, 32))) === 0 ? 0 : 1;
  });
}
