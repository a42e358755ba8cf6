/** The attributes of ibv_create_qp(3) and their checks. */
import { IBV_QPT_DRIVER, IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND } from "../../abi/verbs.js";
import { checkObject, flagOf, checkNumber, embedded } from "../../base/checks.js";
import { refuse } from "../../errors.js";
import type { ProtectionDomain } from "../base/context.js";
import { living } from "../base/handle.js";
import { bounded, MAX_INLINE_DATA } from "../base/limits.js";
import { CompletionQueue } from "../queue/completionQueue.js";
import { SharedReceiveQueue } from "../queue/sharedReceiveQueue.js";
import { hasSteps } from "../queue/states.js";

/**
 * `struct ibv_qp_cap`; a field that is left out is 0. MODEL: a queue pair gets exactly these sizes,
 * not larger ones.
 */
export interface QueuePairCapabilities {
  max_send_wr?: number | undefined;
  max_recv_wr?: number | undefined;
  max_send_sge?: number | undefined;
  max_recv_sge?: number | undefined;
  /** Bytes. */
  max_inline_data?: number | undefined;
}

/** `struct ibv_qp_init_attr` */
export interface QueuePairAttributes {
  qp_context?: unknown;
  send_cq: CompletionQueue;
  recv_cq: CompletionQueue;
  /** Its receive requests are those of this shared receive queue; `cap.max_recv_*` is ignored then. */
  srq?: SharedReceiveQueue | null | undefined;
  cap: QueuePairCapabilities;
  qp_type: number;
  /**
   * Nonzero: every send request gives a completion, not only those with IBV_SEND_SIGNALED. @default
   * 0
   */
  sq_sig_all?: number | boolean | undefined;
}

/** The attributes of a queue pair with all sizes set. */
export type CheckedAttributes = QueuePairAttributes & { srq: SharedReceiveQueue | null } & {
  cap: Required<{ [K in keyof QueuePairCapabilities]: number }>;
};

/** Checks the attributes of a queue pair to be made. */
export function checkAttributes(pd: ProtectionDomain, attributes: QueuePairAttributes): CheckedAttributes {
  checkObject("qp_init_attr", attributes);
  const { qp_type = 0, srq, sq_sig_all = 0 } = attributes as Partial<QueuePairAttributes>;
  checkType(qp_type);
  const shared = srq ?? null;
  if (shared !== null && living("srq", shared, SharedReceiveQueue).device !== pd.device) {
    refuse({ code: "EINVAL", reason: "other_device", path: "srq", value: shared });
  }
  const send_cq = completionQueueOf(pd, "send_cq", attributes.send_cq);
  const recv_cq = completionQueueOf(pd, "recv_cq", attributes.recv_cq);
  const cap = embedded("cap", attributes.cap);
  const { max_qp_wr, max_sge } = pd.device.hardware.inventory.limits;
  const limit = (name: keyof QueuePairCapabilities, most: number): number =>
    bounded(`cap.${name}`, cap[name] ?? 0, most);
  return {
    ...attributes,
    srq: shared,
    send_cq,
    recv_cq,
    sq_sig_all: flagOf("sq_sig_all", sq_sig_all) ? 1 : 0,
    cap: {
      max_recv_wr: shared === null ? limit("max_recv_wr", max_qp_wr) : 0,
      max_recv_sge: shared === null ? limit("max_recv_sge", max_sge) : 0,
      max_send_wr: limit("max_send_wr", max_qp_wr),
      max_send_sge: limit("max_send_sge", max_sge),
      max_inline_data: limit("max_inline_data", MAX_INLINE_DATA),
    },
  };
}

/** Refuses a type: EOPNOTSUPP for types that other devices have, EINVAL for unknown ones. */
function checkType(type: number): void {
  checkNumber("qp_type", type);
  if (hasSteps(type)) return;
  const exists = [IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER].includes(type);
  const hint = "use IBV_QPT_RAW_PACKET, IBV_QPT_UD, IBV_QPT_UC or IBV_QPT_RC";
  if (exists) refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "qp_type", value: type, hint });
  refuse({ code: "EINVAL", reason: "out_of_range", path: "qp_type", value: type, hint });
}

/** Checks a completion queue: it must exist, on the device of the protection domain. */
function completionQueueOf(pd: ProtectionDomain, path: string, queue: CompletionQueue): CompletionQueue {
  living(path, queue, CompletionQueue);
  if (queue.device !== pd.device) refuse({ code: "EINVAL", reason: "other_device", path, value: queue });
  return queue;
}
