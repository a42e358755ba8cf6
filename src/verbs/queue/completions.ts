/** ibv_create_cq(3), ibv_poll_cq(3), ibv_create_cq_ex(3). */
import {
  IBV_WC_EX_WITH_BYTE_LEN,
  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
  IBV_WC_EX_WITH_DLID_PATH_BITS,
  IBV_WC_EX_WITH_FLOW_TAG,
  IBV_WC_EX_WITH_IMM,
  IBV_WC_EX_WITH_QP_NUM,
  IBV_WC_EX_WITH_SL,
  IBV_WC_EX_WITH_SLID,
  IBV_WC_EX_WITH_SRC_QP,
} from "../../abi/verbs.js";
import { IBV_CQ_ATTR_MODERATE } from "../../abi/verbsConstants.js";
import { inCall, mistyped, refuse } from "../../errors.js";
import { channelOf, type CompletionChannel } from "../../model/queue/completionChannel.js";
import { CompletionQueue, type WorkCompletion } from "../../model/queue/completionQueue.js";
import { Context } from "../../model/base/context.js";
import {
  ExtendedCompletionQueue,
  type CompletionQueueAttributes,
  type Enoent,
} from "../../model/queue/extendedCompletionQueue.js";
import { checkObject, describe, unsigned, embedded, member } from "../../base/checks.js";
import { living } from "../../model/base/handle.js";
import { fillList, type Out } from "../out.js";

import { bounded, MAX_CQ_COUNT, MAX_CQ_PERIOD } from "../../model/base/limits.js";

export type { CompletionQueue, WorkCompletion } from "../../model/queue/completionQueue.js";
export type { CompletionQueueAttributes, ExtendedCompletionQueue } from "../../model/queue/extendedCompletionQueue.js";

/**
 * Makes a completion queue (ibv_create_cq(3)).
 * @param cqe completions that it holds, from 1
 * @param cq_context returned with its events
 * @param channel gets the events that `ibv_req_notify_cq` asks for; null for none
 * @param comp_vector below the `num_comp_vectors` of the context
 * @throws EINVAL if a number is out of range
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_create_cq(
  context: Context,
  cqe: number,
  cq_context: unknown = null,
  channel: CompletionChannel<CompletionQueue> | null = null,
  comp_vector = 0,
): CompletionQueue {
  return inCall("ibv_create_cq", () => {
    living("context", context, Context).checkVector("comp_vector", comp_vector);
    return new CompletionQueue(context, cqe, {
      cq_context,
      channel: channelOf("channel", context, channel),
    });
  });
}

/**
 * Destroys a completion queue (ibv_create_cq(3)).
 * @throws EBUSY if a queue pair or work queue completes to it, or an event of it is not acknowledged
 */
export function ibv_destroy_cq(cq: CompletionQueue): 0 {
  return inCall("ibv_destroy_cq", () => {
    living("cq", cq, CompletionQueue).destroy();
    return 0;
  });
}

/**
 * Changes how many completions a queue holds (ibv_resize_cq(3)).
 * @throws EINVAL if it holds more already, or the device does not hold so many
 */
export function ibv_resize_cq(cq: CompletionQueue, cqe: number): 0 {
  return inCall("ibv_resize_cq", () => {
    living("cq", cq, CompletionQueue).resize(cqe);
    return 0;
  });
}

/** `struct ibv_modify_cq_attr` */
export interface CompletionQueueChange {
  /** IBV_CQ_ATTR_MODERATE */
  attr_mask: number;
  /** Completions of an event, and microseconds until it comes at the latest. */
  moderate?: { cq_count: number; cq_period: number } | undefined;
}

/**
 * Sets how many completions one event may stand for (ibv_modify_cq(3)). MODEL: an event comes with its
 * first completion, whatever the moderation.
 * @throws EINVAL if the mask is 0, or a number is above `cq_mod_caps` of the device
 * @throws EOPNOTSUPP if the mask has another bit
 */
export function ibv_modify_cq(cq: CompletionQueue, cq_attr: CompletionQueueChange): 0 {
  return inCall("ibv_modify_cq", () => {
    living("cq", cq, CompletionQueue);
    checkObject("cq_attr", cq_attr);
    const mask = member("cq_attr.attr_mask", cq_attr.attr_mask, 32);
    if (mask !== IBV_CQ_ATTR_MODERATE) {
      const code = mask === 0 ? "EINVAL" : "EOPNOTSUPP";
      const hint = "use IBV_CQ_ATTR_MODERATE";
      refuse({ code, reason: "unsupported", path: "cq_attr.attr_mask", value: mask, hint });
    }
    const { cq_count = 0, cq_period = 0 } = embedded("cq_attr.moderate", cq_attr.moderate);
    bounded("cq_attr.moderate.cq_count", cq_count, MAX_CQ_COUNT);
    bounded("cq_attr.moderate.cq_period", cq_period, MAX_CQ_PERIOD);
    return 0;
  });
}

/**
 * Takes the oldest completions out of a queue (ibv_poll_cq(3)).
 * @param num_entries the most completions to return
 * @param wc filled from its start if given, an array or, for one completion, a struct; the call then
 *   returns the number of completions
 * @returns the completions; empty if there are none
 * @example
 * for (const { wr_id, status, byte_len } of ibv_poll_cq(cq, 16)) console.log(wr_id, status, byte_len);
 */
export function ibv_poll_cq(cq: CompletionQueue, num_entries: number, wc?: null): WorkCompletion[];
export function ibv_poll_cq(
  cq: CompletionQueue,
  num_entries: number,
  wc: Out<WorkCompletion>[] | Out<WorkCompletion>,
): number;
export function ibv_poll_cq(
  cq: CompletionQueue,
  num_entries: number,
  wc?: Out<WorkCompletion>[] | Out<WorkCompletion> | null,
): WorkCompletion[] | number {
  return inCall("ibv_poll_cq", () => {
    living("cq", cq, CompletionQueue);
    const count = unsigned("num_entries", num_entries, 31);
    if (wc === undefined || wc === null) return cq.poll(count);
    if (typeof wc !== "object") mistyped(`wc must be an array or an object, not ${describe(wc)}`);
    if (Array.isArray(wc)) return fillList("wc", wc, cq.poll(count));
    return fillList("wc", [wc], cq.poll(Math.min(count, 1)));
  });
}

/**
 * Makes a completion queue whose completions are read field by field (ibv_create_cq_ex(3)).
 * @param cq_attr `wc_flags` (IBV_WC_EX_WITH_*) names the fields that can be read, besides opcode,
 *   flags and vendor error
 * @throws EINVAL if a number is out of range
 * @throws EOPNOTSUPP if a bit of `comp_mask`, `wc_flags` or `flags` is unknown
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_create_cq_ex(context: Context, cq_attr: CompletionQueueAttributes): ExtendedCompletionQueue {
  return inCall("ibv_create_cq_ex", () => ExtendedCompletionQueue.create(context, cq_attr));
}

/** The same object: an extended queue can stand where a completion queue does. */
export function ibv_cq_ex_to_cq(cq: ExtendedCompletionQueue): CompletionQueue {
  return inCall("ibv_cq_ex_to_cq", () => extended(cq));
}

/**
 * Begins to poll an extended queue, and makes its oldest completion current (ibv_create_cq_ex(3)).
 * @param attr `comp_mask` must be 0
 * @returns 0; or ENOENT (2), which is not thrown, if there is no completion: polling has not begun
 *   then
 * @throws EINVAL if polling has begun already
 * @example
 * for (let found = ibv_start_poll(cq); found === 0; found = ibv_next_poll(cq)) console.log(ibv_wc_read_byte_len(cq));
 */
export function ibv_start_poll(cq: ExtendedCompletionQueue, attr?: { comp_mask: number } | null): 0 | Enoent {
  return inCall("ibv_start_poll", () => {
    extended(cq);
    if (attr !== undefined && attr !== null && attr.comp_mask !== 0) {
      const hint = "none is defined: 0";
      refuse({ code: "EINVAL", reason: "out_of_range", path: "attr.comp_mask", value: attr.comp_mask, hint });
    }
    return cq.startPoll();
  });
}

/**
 * Makes the next completion current (ibv_create_cq_ex(3)).
 * @returns 0; or ENOENT (2), which is not thrown, if there is none
 * @throws EINVAL if polling has not begun
 */
export function ibv_next_poll(cq: ExtendedCompletionQueue): 0 | Enoent {
  return inCall("ibv_next_poll", () => extended(cq).nextPoll());
}

/**
 * Ends polling and frees the room of the completions that were read (ibv_create_cq_ex(3)).
 * @throws EINVAL if polling has not begun
 */
export function ibv_end_poll(cq: ExtendedCompletionQueue): void {
  inCall("ibv_end_poll", () => extended(cq).endPoll());
}

// Fields of the completion at hand. They throw EINVAL without one, and where the queue was made without the field.

/**
 * The operation of the current completion: IBV_WC_*.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_opcode(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_opcode", () => read(cq, 0).opcode);
}

/**
 * The vendor error of the current completion. A frame that an inline ESP action could not decrypt
 * has the status IBV_WC_SUCCESS, and here 1 (wrong ICV) or 2 (wrong trailer); else 0
 * (ibv_flow_action_esp(3), Inline Crypto Mode).
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_vendor_err(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_vendor_err", () => read(cq, 0).vendor_err);
}

/**
 * The flags of the current completion: bits IBV_WC_GRH and so on.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_wc_flags(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_wc_flags", () => read(cq, 0).wc_flags);
}

/**
 * Bytes that the current completion received.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_byte_len(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_byte_len", () => read(cq, IBV_WC_EX_WITH_BYTE_LEN).byte_len);
}

/**
 * The immediate data of the current completion.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_imm_data(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_imm_data", () => read(cq, IBV_WC_EX_WITH_IMM).imm_data);
}

/**
 * The number of the queue pair that completed.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_qp_num(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_qp_num", () => read(cq, IBV_WC_EX_WITH_QP_NUM).qp_num);
}

/**
 * The number of the queue pair that sent the datagram.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_src_qp(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_src_qp", () => read(cq, IBV_WC_EX_WITH_SRC_QP).src_qp);
}

/**
 * The source LID of the current completion: 0 on Ethernet.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_slid(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_slid", () => read(cq, IBV_WC_EX_WITH_SLID).slid);
}

/**
 * The service level of the current completion.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_sl(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_sl", () => read(cq, IBV_WC_EX_WITH_SL).sl);
}

/**
 * The path bits of the destination LID: 0 on Ethernet.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_dlid_path_bits(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_dlid_path_bits", () => read(cq, IBV_WC_EX_WITH_DLID_PATH_BITS).dlid_path_bits);
}

/**
 * The tag of the rule that delivered the frame, 0 without one.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_flow_tag(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_flow_tag", () => read(cq, IBV_WC_EX_WITH_FLOW_TAG).flow_tag);
}

/**
 * The clock of the device when the request completed, in ticks of a nanosecond.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_completion_ts(cq: ExtendedCompletionQueue): bigint {
  return inCall("ibv_wc_read_completion_ts", () => extended(cq).read(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP).time);
}

/**
 * The time when the request completed, in nanoseconds. MODEL: the wall clock is the clock of the
 * device.
 * @throws EINVAL if no completion is current, or the queue was made without the field
 */
export function ibv_wc_read_completion_wallclock_ns(cq: ExtendedCompletionQueue): bigint {
  return inCall(
    "ibv_wc_read_completion_wallclock_ns",
    () => extended(cq).read(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK).time,
  );
}

/**
 * The VLAN tag that the device removed from the frame. MODEL: tags stay in the frame, so no queue can
 * be made with IBV_WC_EX_WITH_CVLAN.
 * @throws EINVAL always
 */
export function ibv_wc_read_cvlan(cq: ExtendedCompletionQueue): never {
  return inCall("ibv_wc_read_cvlan", () => lacking(cq, "no completion has a tag: tags stay in the frame"));
}

/**
 * The tag matching of the current completion. MODEL: there is none, so no queue can be made with
 * IBV_WC_EX_WITH_TM_INFO.
 * @throws EINVAL always
 */
export function ibv_wc_read_tm_info(cq: ExtendedCompletionQueue, _tm_info: unknown): never {
  return inCall("ibv_wc_read_tm_info", () => lacking(cq, "there is no tag matching here"));
}

/**
 * The remote key that the sender invalidated. MODEL: no operation does, so IBV_WC_WITH_INV is never
 * set; as in C it is the field of the immediate data.
 * @throws EINVAL if no completion is current, or the queue was made without IBV_WC_EX_WITH_IMM
 */
export function ibv_wc_read_invalidated_rkey(cq: ExtendedCompletionQueue): number {
  return inCall("ibv_wc_read_invalidated_rkey", () => read(cq, IBV_WC_EX_WITH_IMM).imm_data);
}

function lacking(cq: ExtendedCompletionQueue, hint: string): never {
  refuse({ code: "EINVAL", reason: "not_requested", path: "cq", value: extended(cq), hint });
}

function read(cq: ExtendedCompletionQueue, field: number): WorkCompletion {
  return extended(cq).read(field).wc;
}

function extended(cq: ExtendedCompletionQueue): ExtendedCompletionQueue {
  return living("cq", cq, ExtendedCompletionQueue);
}
