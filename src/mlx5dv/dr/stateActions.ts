/** mlx5dv_dr(3): stateful and random actions (ASO, Meter, Sampler). */
import { Action } from "../../model/action/action.js";
import { AsoAction, FlowMeterAction, linkAso, unlinkAso, type FlowMeterAttr } from "../../model/action/asoActions.js";
import type { DevxObject } from "../../model/base/devxObject.js";
import type { Domain } from "../../model/table/domain.js";
import { living } from "../../model/base/handle.js";
import { inCall, refuse } from "../../errors.js";
import { samplerAction, type FlowSamplerAttr } from "../../model/action/sampler.js";

export type { FlowMeterAttr, FlowSamplerAttr };

/**
 * An action on one unit of an ASO object: a flow meter, a first-hit flag, or a connection.
 * @param offset index of the unit in the object
 * @param flags as the kind of object takes them (MLX5DV_DR_ACTION_FLAGS_ASO_*)
 * @param return_reg_c register C that gets the answer: 1, 3 or 5
 * @throws EOPNOTSUPP if the kind of object, the domain or the device does not support it
 * @throws EINVAL if flags, offset or register are wrong
 */
export function mlx5dv_dr_action_create_aso(
  domain: Domain,
  devx_obj: DevxObject,
  offset: number,
  flags: number,
  return_reg_c: number,
): AsoAction {
  return inCall("mlx5dv_dr_action_create_aso", () => {
    const choice = { offset, flags, register: return_reg_c };
    return AsoAction.create(domain, devx_obj, choice);
  });
}

/**
 * Changes an ASO action for rules that are made later; existing rules keep the old one.
 * @throws EINVAL if it is no ASO action, or flags, offset or register are wrong
 * @throws EOPNOTSUPP if flags or register of a linked object change
 */
export function mlx5dv_dr_action_modify_aso(action: Action, offset: number, flags: number, return_reg_c: number): 0 {
  return inCall("mlx5dv_dr_action_modify_aso", () => {
    const one = living<Action>("action", action, Action);
    if (!(one instanceof AsoAction)) refuse({ code: "EINVAL", reason: "bad_object", path: "action", value: one });
    one.modify({ offset, flags, register: return_reg_c });
    return 0;
  });
}

/**
 * An action that writes the colour of a frame into register C[`reg_c_index`], and goes on in
 * `next_table`.
 * @param attr `flow_meter_parameter` has 32 bytes (`flowMeterBytes`)
 * @throws EOPNOTSUPP if the table is a root table
 * @throws EINVAL if the register or the size is wrong
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_dr_action_create_flow_meter(attr: FlowMeterAttr): FlowMeterAction {
  return inCall("mlx5dv_dr_action_create_flow_meter", () => FlowMeterAction.create(attr));
}

/**
 * Changes parts of a flow meter.
 * @param modify_field_select 1 active, 2 CBS, 4 CIR, 8 EBS, 16 EIR: a bigint, or 8 big-endian bytes
 * @throws EINVAL if it is no flow meter action, or the size is wrong
 */
export function mlx5dv_dr_action_modify_flow_meter(
  action: Action,
  attr: Pick<FlowMeterAttr, "active" | "flow_meter_parameter" | "flow_meter_parameter_sz">,
  modify_field_select: bigint | Uint8Array,
): 0 {
  return inCall("mlx5dv_dr_action_modify_flow_meter", () => {
    const one = living<Action>("action", action, Action);
    if (!(one instanceof FlowMeterAction)) {
      refuse({ code: "EINVAL", reason: "bad_object", path: "action", value: one, hint: "a flow meter action" });
    }
    one.modify(attr, modify_field_select);
    return 0;
  });
}

/**
 * An action that runs `sample_actions` on a copy of some frames, chosen at random. All frames go on
 * in `default_next_table`.
 * @param attr about one frame of `sample_ratio` is copied
 * @throws EINVAL if the ratio, an action or a table is wrong
 * @throws EOPNOTSUPP in NIC_TX, or if an action cannot be sampled
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_dr_action_create_flow_sampler(attr: FlowSamplerAttr): Action {
  return inCall("mlx5dv_dr_action_create_flow_sampler", () => samplerAction(attr));
}

/**
 * Lets rules of `dmn` use the connections of an object of `peer_dmn`, with these flags and this
 * register.
 * @throws EOPNOTSUPP if it is no connection tracking object
 * @throws EINVAL if flags or register are wrong, or the domain is linked already
 */
export function mlx5dv_dr_aso_other_domain_link(
  devx_obj: DevxObject,
  peer_dmn: Domain,
  dmn: Domain,
  flags: number,
  return_reg_c: number,
): 0 {
  return inCall("mlx5dv_dr_aso_other_domain_link", () => {
    linkAso(devx_obj, peer_dmn, dmn, flags, return_reg_c);
    return 0;
  });
}

/**
 * Ends what `mlx5dv_dr_aso_other_domain_link` began.
 * @throws EOPNOTSUPP if it is no connection tracking object
 * @throws EINVAL if the domain is not linked
 * @throws EBUSY if a rule of the domain uses it
 */
export function mlx5dv_dr_aso_other_domain_unlink(devx_obj: DevxObject, dmn: Domain): 0 {
  return inCall("mlx5dv_dr_aso_other_domain_unlink", () => {
    unlinkAso(devx_obj, dmn);
    return 0;
  });
}
