/** mlx5dv_create_flow(3), mlx5dv_create_flow_matcher(3), mlx5dv_create_steering_anchor(3). */
import { refuse } from "../errors.js";
import type { Context } from "../model/base/context.js";
import { DeviceFlow } from "../model/flow/deviceFlow.js";
import type { FlowActionAttr } from "../model/flow/deviceFlowActions.js";
import { FlowMatcher, type FlowMatcherAttr } from "../model/flow/matcher.js";
import { describe } from "../checks.js";
import { living } from "../model/base/handle.js";
import { SteeringAnchor, type SteeringAnchorAttr } from "../model/flow/steeringAnchor.js";
import type { FlowMatchParameters } from "./dr.js";

export type { DeviceFlow } from "../model/flow/deviceFlow.js";
export type { FlowActionAttr } from "../model/flow/deviceFlowActions.js";
export type { FlowMatcher, FlowMatcherAttr } from "../model/flow/matcher.js";
export type { SteeringAnchor, SteeringAnchorAttr } from "../model/flow/steeringAnchor.js";

/**
 * The mask of flows in device bytes, and the table that they stand in: that of received frames, of sent ones
 * (IBV_FLOW_ATTR_FLAGS_EGRESS), or of `ft_type`.
 * @throws EOPNOTSUPP unknown bits of `comp_mask`, a type other than IBV_FLOW_ATTR_NORMAL, `ib_port` with a table that has none,
 * reserved bits of the mask; EINVAL flags beside a type, unknown flags, types and ports, a mask of another size
 */
export function mlx5dv_create_flow_matcher(context: Context, attr: FlowMatcherAttr): FlowMatcher {
  return FlowMatcher.create("mlx5dv_create_flow_matcher", context, attr);
}

/** @throws EBUSY while flows of it are alive */
export function mlx5dv_destroy_flow_matcher(matcher: FlowMatcher): 0 {
  const call = "mlx5dv_destroy_flow_matcher";
  living(call, "matcher", matcher, FlowMatcher).destroy(call);
  return 0;
}

/**
 * A flow in device bytes; it takes effect at once, and `ibv_destroy_flow` destroys it. `num_actions` counts the actions that are
 * used (all of them when undefined).
 * @throws EINVAL a value outside the mask, actions that cannot stand there or not together; EPERM a context without
 * CAP_NET_RAW; EEXIST a flow that asks for the same frames and does something else; EOPNOTSUPP what the profile refuses; ENOMEM
 */
export function mlx5dv_create_flow(
  flow_matcher: FlowMatcher,
  match_value: FlowMatchParameters,
  num_actions: number | undefined,
  actions_attr: readonly FlowActionAttr[],
): DeviceFlow {
  const call = "mlx5dv_create_flow";
  if (!Array.isArray(actions_attr)) {
    throw new TypeError(`${call}: actions_attr must be an array, not ${describe(actions_attr)}`);
  }
  const count = num_actions ?? actions_attr.length;
  if (!Number.isInteger(count) || count < 0 || count > actions_attr.length) {
    const hint = `the array has ${actions_attr.length}`;
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "num_actions", value: count, hint });
  }
  return DeviceFlow.create(call, flow_matcher, match_value, actions_attr.slice(0, count) as FlowActionAttr[]);
}

/**
 * A place in the tables of flows that entries of flow tables lead to by its `id`: the first rule of a priority.
 * @throws EOPNOTSUPP `comp_mask`, tables that the function does not have; EPERM a context without CAP_NET_RAW; EINVAL an unknown
 * type, a priority that the profile does not have; ENOMEM
 */
export function mlx5dv_create_steering_anchor(context: Context, attr: SteeringAnchorAttr): SteeringAnchor {
  return SteeringAnchor.create("mlx5dv_create_steering_anchor", context, attr);
}

/** @throws EBUSY while entries lead to the last anchor of its priority */
export function mlx5dv_destroy_steering_anchor(sa: SteeringAnchor): 0 {
  const call = "mlx5dv_destroy_steering_anchor";
  living(call, "sa", sa, SteeringAnchor).destroy(call);
  return 0;
}
