/** ibv_create_cq(3), ibv_poll_cq(3), ibv_create_qp(3), ibv_modify_qp(3), ibv_post_recv(3). */
import { IBV_QP_STATE } from "../abi/verbs.js";
import { refuse } from "../errors.js";
import type { Context, ProtectionDomain } from "../model/context.js";
import { living, unsigned } from "../model/handle.js";
import {
  CompletionQueue,
  QueuePair,
  type QueuePairAttributes,
  type ReceiveRequest,
  type WorkCompletion,
} from "../model/queues.js";

/** A completion queue with room for `cqe` completions. Context, channel and vector are taken and not used. */
export function ibv_create_cq(
  context: Context,
  cqe: number,
  _cq_context?: unknown,
  _channel?: null,
  _comp_vector?: number,
): CompletionQueue {
  return new CompletionQueue("ibv_create_cq", context, cqe);
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

/** A queue pair in state RESET; it receives in RTR and RTS. */
export function ibv_create_qp(pd: ProtectionDomain, qp_init_attr: QueuePairAttributes): QueuePair {
  return QueuePair.create("ibv_create_qp", pd, qp_init_attr);
}

/** Moves a queue pair to `attr.qp_state`. @throws EINVAL for a step that the state machine does not have */
export function ibv_modify_qp(qp: QueuePair, attr: { qp_state: number; port_num?: number }, attr_mask: number): 0 {
  const call = "ibv_modify_qp";
  living(call, "qp", qp, QueuePair);
  if ((attr_mask & IBV_QP_STATE) === 0) {
    const hint = "IBV_QP_STATE is what this release modifies";
    refuse({ code: "EOPNOTSUPP", call, reason: "unsupported", path: "attr_mask", value: attr_mask, hint });
  }
  qp.modify(call, attr.qp_state);
  return 0;
}

/** Posts a list of receive requests. @throws at the first bad one; those before it are posted */
export function ibv_post_recv(qp: QueuePair, wr: ReceiveRequest): 0 {
  living("ibv_post_recv", "qp", qp, QueuePair).post("ibv_post_recv", wr);
  return 0;
}

/** @throws EBUSY while an action leads to it */
export function ibv_destroy_qp(qp: QueuePair): 0 {
  living("ibv_destroy_qp", "qp", qp, QueuePair).destroy("ibv_destroy_qp");
  return 0;
}
