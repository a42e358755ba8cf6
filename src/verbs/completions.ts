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
} from "../abi/verbs.js";
import { refuse } from "../errors.js";
import { CompletionQueue, type WorkCompletion } from "../model/queue/completionQueue.js";
import { Context } from "../model/base/context.js";
import {
  ExtendedCompletionQueue,
  type CompletionQueueAttributes,
  type Enoent,
} from "../model/queue/extendedCompletionQueue.js";
import { unsigned } from "../checks.js";
import { living } from "../model/base/handle.js";

export type { CompletionQueue, WorkCompletion } from "../model/queue/completionQueue.js";
export type { CompletionQueueAttributes, ExtendedCompletionQueue } from "../model/queue/extendedCompletionQueue.js";

/** A completion queue with room for `cqe` completions. Context and channel are taken and not used. @throws EINVAL, ENOMEM */
export function ibv_create_cq(
  context: Context,
  cqe: number,
  _cq_context?: unknown,
  _channel?: null,
  comp_vector = 0,
): CompletionQueue {
  const call = "ibv_create_cq";
  living(call, "context", context, Context).checkVector(call, "comp_vector", comp_vector);
  return new CompletionQueue(call, context, cqe);
}

/** @throws EBUSY while a queue pair completes to it */
export function ibv_destroy_cq(cq: CompletionQueue): 0 {
  living("ibv_destroy_cq", "cq", cq, CompletionQueue).destroy("ibv_destroy_cq");
  return 0;
}

/** The oldest completions, at most `num_entries`: what C fills into `wc` and counts. */
export function ibv_poll_cq(cq: CompletionQueue, num_entries: number): WorkCompletion[] {
  living("ibv_poll_cq", "cq", cq, CompletionQueue);
  return cq.poll(unsigned("ibv_poll_cq", "num_entries", num_entries, 31));
}

/**
 * A completion queue whose completions are read field by field. Only the fields of `wc_flags` can be read, besides opcode,
 * flags and vendor error.
 * @throws EINVAL, ENOMEM; EOPNOTSUPP bits that the device does not know
 */
export function ibv_create_cq_ex(context: Context, cq_attr: CompletionQueueAttributes): ExtendedCompletionQueue {
  return ExtendedCompletionQueue.create("ibv_create_cq_ex", context, cq_attr);
}

/** The same object: what takes a completion queue takes an extended one. */
export function ibv_cq_ex_to_cq(cq: ExtendedCompletionQueue): CompletionQueue {
  return extended("ibv_cq_ex_to_cq", cq);
}

/**
 * Takes the oldest completion to hand. Without one the answer is ENOENT (2), which is no refusal, and polling has not begun.
 * @throws EINVAL between the start and the end of polling
 */
export function ibv_start_poll(cq: ExtendedCompletionQueue, attr?: { comp_mask: number } | null): 0 | Enoent {
  const call = "ibv_start_poll";
  extended(call, cq);
  if (attr !== undefined && attr !== null && attr.comp_mask !== 0) {
    const hint = "none is defined: 0";
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "attr.comp_mask", value: attr.comp_mask, hint });
  }
  return cq.startPoll(call);
}

/** Takes the next completion to hand; ENOENT (2) without one. @throws EINVAL before the start of polling */
export function ibv_next_poll(cq: ExtendedCompletionQueue): 0 | Enoent {
  return extended("ibv_next_poll", cq).nextPoll("ibv_next_poll");
}

/** Ends polling. @throws EINVAL before its start */
export function ibv_end_poll(cq: ExtendedCompletionQueue): void {
  extended("ibv_end_poll", cq).endPoll("ibv_end_poll");
}

// Fields of the completion at hand. They throw EINVAL without one, and where the queue was made without the field.

export function ibv_wc_read_opcode(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_opcode", cq, 0).opcode;
}

/**
 * What an inline ESP action could not decrypt arrives with IBV_WC_SUCCESS and 1 (the ICV is wrong) or 2 (the trailer is) here
 * (ibv_flow_action_esp(3), Inline Crypto Mode); else 0.
 */
export function ibv_wc_read_vendor_err(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_vendor_err", cq, 0).vendor_err;
}

/** Bits IBV_WC_GRH, ... */
export function ibv_wc_read_wc_flags(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_wc_flags", cq, 0).wc_flags;
}

/** Bytes. */
export function ibv_wc_read_byte_len(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_byte_len", cq, IBV_WC_EX_WITH_BYTE_LEN).byte_len;
}

export function ibv_wc_read_imm_data(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_imm_data", cq, IBV_WC_EX_WITH_IMM).imm_data;
}

export function ibv_wc_read_qp_num(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_qp_num", cq, IBV_WC_EX_WITH_QP_NUM).qp_num;
}

export function ibv_wc_read_src_qp(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_src_qp", cq, IBV_WC_EX_WITH_SRC_QP).src_qp;
}

export function ibv_wc_read_slid(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_slid", cq, IBV_WC_EX_WITH_SLID).slid;
}

export function ibv_wc_read_sl(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_sl", cq, IBV_WC_EX_WITH_SL).sl;
}

export function ibv_wc_read_dlid_path_bits(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_dlid_path_bits", cq, IBV_WC_EX_WITH_DLID_PATH_BITS).dlid_path_bits;
}

/** Tag of the rule that delivered the frame, 0 without one. */
export function ibv_wc_read_flow_tag(cq: ExtendedCompletionQueue): number {
  return read("ibv_wc_read_flow_tag", cq, IBV_WC_EX_WITH_FLOW_TAG).flow_tag;
}

/** The device's clock when the request completed; a tick is a nanosecond. */
export function ibv_wc_read_completion_ts(cq: ExtendedCompletionQueue): bigint {
  const call = "ibv_wc_read_completion_ts";
  return extended(call, cq).read(call, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP).time;
}

/** The same in nanoseconds. MODEL: the wall clock is the device's clock. */
export function ibv_wc_read_completion_wallclock_ns(cq: ExtendedCompletionQueue): bigint {
  const call = "ibv_wc_read_completion_wallclock_ns";
  return extended(call, cq).read(call, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK).time;
}

function read(call: string, cq: ExtendedCompletionQueue, field: number): WorkCompletion {
  return extended(call, cq).read(call, field).wc;
}

function extended(call: string, cq: ExtendedCompletionQueue): ExtendedCompletionQueue {
  return living(call, "cq", cq, ExtendedCompletionQueue);
}
