/** Finds receive queues by number, as device commands name them. */
import { IBV_QPT_RAW_PACKET } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import type { Context } from "../base/context.js";
import { QueuePair } from "./queuePair.js";
import { WorkQueue } from "../queue/workQueue.js";

/**
 * The work queue, or the raw packet queue pair, with this receive queue number. MODEL: the number
 * of a queue pair's receive queue is its qp_num.
 * @throws EINVAL when the function has no such queue
 */
export function receiverAt(path: string, context: Context, number: number): QueuePair | WorkQueue {
  const found = context.device.receivers.get(number);
  const raw = found instanceof QueuePair && found.qp_type === IBV_QPT_RAW_PACKET;
  if ((raw || found instanceof WorkQueue) && found.context.function === context.function) return found;
  const hint = `use the number of a work queue or raw packet queue pair of ${context.function.name}`;
  return refuse({ code: "EINVAL", reason: "bad_object", path, value: number, hint });
}
