/** ibv_create_flow(3); what destroys flow actions of all kinds. */
import { inCall } from "../../errors.js";
import { Flow } from "../../model/flow/flow.js";
import { FlowAction } from "../../model/action/flowAction.js";
import { wrongType } from "../../base/checks.js";
import { checkAlive, living } from "../../model/base/handle.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { VerbsFlow } from "../../model/flow/verbsFlow.js";
import type { FlowAttr } from "./attr.js";
import { readFlow } from "./bytes.js";

export type { Flow } from "../../model/flow/flow.js";
export type { VerbsFlow } from "../../model/flow/verbsFlow.js";
export type { FlowAction } from "../../model/action/flowAction.js";

/**
 * Makes a flow (ibv_create_flow(3)): frames that match its specs reach `qp`, or meet its actions.
 * It takes effect at once. docs/flows.md says what several flows do together.
 * @param flow_attr `port` counts from 1, a lower `priority` comes first; C bytes are taken too, and
 *   their pointers are the `handle` of objects
 * @returns the flow; `ibv_destroy_flow` destroys it
 * @throws EPERM if the context has no CAP_NET_RAW
 * @throws ENOSYS if the device does not steer flows
 * @throws EINVAL if the attributes or specs are no flow
 * @throws EEXIST if a flow of the same specs has other actions
 * @throws ENOMEM if the device has no memory, or no flow, left
 * @example
 * ibv_create_flow(qp, {
 *   type: IBV_FLOW_ATTR_NORMAL,
 *   port: 1,
 *   specs: [{ type: IBV_FLOW_SPEC_TCP, val: { dst_port: 443 }, mask: { dst_port: 0xffff } }],
 * });
 */
export function ibv_create_flow(qp: QueuePair, flow_attr: FlowAttr | Uint8Array): VerbsFlow {
  return inCall("ibv_create_flow", () => {
    if (!(qp instanceof QueuePair)) wrongType("qp", "a QueuePair", qp);
    const request = readFlow(flow_attr, (handle) => qp.device.named.at(handle));
    return VerbsFlow.create(qp, request);
  });
}

/**
 * Destroys a flow of `ibv_create_flow` or `mlx5dv_create_flow`.
 * @throws EINVAL if it is destroyed
 */
export function ibv_destroy_flow(flow_id: Flow): 0 {
  return inCall("ibv_destroy_flow", () => {
    if (!(flow_id instanceof Flow)) wrongType("flow_id", "a Flow", flow_id);
    checkAlive("flow_id", flow_id);
    flow_id.destroy();
    return 0;
  });
}

/**
 * Destroys a flow action: ESP, modify header or packet reformat.
 * @throws EBUSY if a flow uses it
 */
export function ibv_destroy_flow_action(action: FlowAction): 0 {
  return inCall("ibv_destroy_flow_action", () => {
    living<FlowAction>("action", action, FlowAction).destroy();
    return 0;
  });
}
