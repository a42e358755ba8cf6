/** ibv_create_flow(3); what destroys flow actions of all kinds. */
import { Flow } from "../model/flow/flow.js";
import { FlowAction } from "../model/flow/action.js";
import { describe } from "../checks.js";
import { living } from "../model/base/handle.js";
import { QueuePair } from "../model/queue/queuePair.js";
import { VerbsFlow } from "../model/flow/verbsFlow.js";
import type { FlowAttr } from "./flowAttr.js";
import { readFlow } from "./flowBytes.js";

export type { Flow } from "../model/flow/flow.js";
export type { VerbsFlow } from "../model/flow/verbsFlow.js";
export type { FlowAction } from "../model/flow/action.js";

/**
 * Makes a flow: frames that `flow_attr` asks for reach `qp`, or what its actions say. It takes effect at once. C bytes are
 * taken too; pointers in them are the `handle` of the object.
 * @throws EPERM a context without CAP_NET_RAW; ENOSYS a device that steers no flows; EINVAL what is no flow; EEXIST a flow
 * that asks for the same frames and does something else; ENOMEM
 */
export function ibv_create_flow(qp: QueuePair, flow_attr: FlowAttr | Uint8Array): VerbsFlow {
  const call = "ibv_create_flow";
  if (!(qp instanceof QueuePair)) throw new TypeError(`${call}: qp must be a QueuePair, not ${describe(qp)}`);
  const request = readFlow(call, flow_attr, (handle) => qp.device.named.at(handle));
  return VerbsFlow.create(call, qp, request);
}

/** Destroys a flow, of mlx5dv_create_flow too. @throws EINVAL it has been destroyed */
export function ibv_destroy_flow(flow_id: Flow): 0 {
  living<Flow>("ibv_destroy_flow", "flow_id", flow_id, Flow).destroy("ibv_destroy_flow");
  return 0;
}

/** @throws EBUSY while a flow uses it */
export function ibv_destroy_flow_action(action: FlowAction): 0 {
  const call = "ibv_destroy_flow_action";
  living<FlowAction>(call, "action", action, FlowAction).destroy(call);
  return 0;
}
