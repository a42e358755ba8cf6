/** mlx5dv_create_flow(3), mlx5dv_create_flow_matcher(3), mlx5dv_create_steering_anchor(3). */
import { inCall } from "../../errors.js";
import type { Context } from "../../model/base/context.js";
import { DeviceFlow } from "../../model/flow/deviceFlow.js";
import type { FlowActionAttr } from "../../model/flow/deviceFlowActions.js";
import { FlowMatcher, type FlowMatcherAttr } from "../../model/flow/matcher.js";
import { countedActions } from "../../base/checks.js";
import { living } from "../../model/base/handle.js";
import { SteeringAnchor, type SteeringAnchorAttr } from "../../model/table/steeringAnchor.js";
import type { FlowMatchParameters } from "../dr/dr.js";

export type { DeviceFlow } from "../../model/flow/deviceFlow.js";
export type { FlowActionAttr } from "../../model/flow/deviceFlowActions.js";
export type { FlowMatcher, FlowMatcherAttr } from "../../model/flow/matcher.js";
export type { SteeringAnchor, SteeringAnchorAttr } from "../../model/table/steeringAnchor.js";

/**
 * Makes the mask of flows in device bytes, and chooses their table: that of received frames, of
 * sent ones (IBV_FLOW_ATTR_FLAGS_EGRESS), or of `ft_type` (mlx5dv_create_flow_matcher(3)).
 * @throws EOPNOTSUPP if a bit of `comp_mask` is unknown, the type is not IBV_FLOW_ATTR_NORMAL, the
 *   table has no `ib_port`, or a reserved bit is masked
 * @throws EINVAL if flags stand beside a table type, or a flag, type, port or the size of the mask
 *   is wrong
 */
export function mlx5dv_create_flow_matcher(context: Context, attr: FlowMatcherAttr): FlowMatcher {
  return inCall("mlx5dv_create_flow_matcher", () => FlowMatcher.create(context, attr));
}

/**
 * Destroys a flow matcher.
 * @throws EBUSY if flows of it are alive
 */
export function mlx5dv_destroy_flow_matcher(matcher: FlowMatcher): 0 {
  return inCall("mlx5dv_destroy_flow_matcher", () => {
    living("matcher", matcher, FlowMatcher).destroy();
    return 0;
  });
}

/**
 * Makes a flow in device bytes (mlx5dv_create_flow(3)). It takes effect at once.
 * @param match_value device bytes, as `mlx5dv_dr_rule_create` takes them
 * @param num_actions actions of the list that are used; all if undefined. With 0 the list may be null
 * @returns the flow; `ibv_destroy_flow` destroys it
 * @throws EINVAL if the value has a bit outside the mask, or the actions cannot stand there or
 *   together
 * @throws EPERM if the context has no CAP_NET_RAW
 * @throws EEXIST if a flow of the same mask and value has other actions
 * @throws EOPNOTSUPP if the profile refuses it
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_create_flow(
  flow_matcher: FlowMatcher,
  match_value: FlowMatchParameters,
  num_actions: number,
  actions_attr: null,
): DeviceFlow;
export function mlx5dv_create_flow(
  flow_matcher: FlowMatcher,
  match_value: FlowMatchParameters,
  num_actions: number | undefined,
  actions_attr: readonly FlowActionAttr[],
): DeviceFlow;
export function mlx5dv_create_flow(
  flow_matcher: FlowMatcher,
  match_value: FlowMatchParameters,
  num_actions: number | undefined,
  actions_attr: readonly FlowActionAttr[] | null,
): DeviceFlow {
  return inCall("mlx5dv_create_flow", () => {
    const attrs = countedActions(num_actions, "actions_attr", actions_attr);
    return DeviceFlow.create(flow_matcher, match_value, attrs);
  });
}

/**
 * Makes a steering anchor: entries of flow tables lead by its `id` to a priority of the flows of a
 * table type (mlx5dv_create_steering_anchor(3)).
 * @throws EOPNOTSUPP if `comp_mask` is not 0, or the function has no such table
 * @throws EPERM if the context has no CAP_NET_RAW
 * @throws EINVAL if the type is unknown, or the profile has no such priority
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_create_steering_anchor(context: Context, attr: SteeringAnchorAttr): SteeringAnchor {
  return inCall("mlx5dv_create_steering_anchor", () => SteeringAnchor.create(context, attr));
}

/**
 * Destroys a steering anchor.
 * @throws EBUSY if entries lead to the last anchor of its priority
 */
export function mlx5dv_destroy_steering_anchor(sa: SteeringAnchor): 0 {
  return inCall("mlx5dv_destroy_steering_anchor", () => {
    living("sa", sa, SteeringAnchor).destroy();
    return 0;
  });
}
