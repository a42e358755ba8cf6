/** ibv_post_send(3). */
import { living } from "../model/base/handle.js";
import { QueuePair } from "../model/queue/queuePair.js";
import type { BadRequest } from "../model/queue/scatter.js";
import type { SendRequest } from "../model/queue/sendQueue.js";

export type { DatagramAddress, SendRequest } from "../model/queue/sendQueue.js";

/**
 * Posts a list of send requests: whole frames of a raw packet queue pair, datagrams of a UD one, messages of RC and UC ones.
 * Their frames have run their whole way when the call returns.
 * @throws at the first bad one, which is then `bad_wr.wr`; those before it are sent. EINVAL: a state that does not send, an
 * operation or flag that its type lacks, memory that is not its own, what is no frame. EOPNOTSUPP: an operation that the
 * device lacks, such as RDMA. ENOMEM: the queue or its completion queue is full
 */
export function ibv_post_send(qp: QueuePair, wr: SendRequest, bad_wr?: BadRequest<SendRequest>): 0 {
  living("ibv_post_send", "qp", qp, QueuePair).postSend("ibv_post_send", wr, bad_wr);
  return 0;
}
