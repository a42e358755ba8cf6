/** ibv_post_send(3). */
import { inCall } from "../../errors.js";
import { living } from "../../model/base/handle.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import type { BadRequest } from "../../model/queue/scatter.js";
import type { SendRequest } from "../../model/queuePair/sendRequest.js";

export type {
  AtomicRequest,
  DatagramAddress,
  RemoteAddress,
  SendRequest,
  SendTarget,
} from "../../model/queuePair/sendRequest.js";

/**
 * Posts a list of send requests, linked by `next` (ibv_post_send(3)): whole frames of a raw packet
 * queue pair, datagrams of a UD one, messages of RC and UC ones. All frames have run their whole
 * way when the call returns.
 * @param wr a frame is 14 to 262,144 bytes without FCS
 * @param bad_wr gets the first bad request in `wr`; those before it are sent
 * @throws EINVAL if the state does not send, the type has no such operation or flag, memory is not
 *   of the region, or the bytes are no frame
 * @throws EOPNOTSUPP if the device does not support the operation, such as memory windows
 * @throws ENOMEM if the queue or its completion queue is full
 */
export function ibv_post_send(qp: QueuePair, wr: SendRequest, bad_wr?: BadRequest<SendRequest>): 0 {
  return inCall("ibv_post_send", () => {
    living("qp", qp, QueuePair).postSend(wr, bad_wr);
    return 0;
  });
}
