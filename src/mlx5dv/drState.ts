/** mlx5dv_dr(3): actions that remember (ASO, Meter, Sampler). */
import { Action } from "../model/action/action.js";
import { AsoAction, FlowMeterAction, linkAso, unlinkAso, type FlowMeterAttr } from "../model/action/asoActions.js";
import type { AsoObject } from "../model/action/asoObject.js";
import type { Domain } from "../model/table/domain.js";
import { living } from "../model/base/handle.js";
import { refuse } from "../errors.js";
import { samplerAction, type FlowSamplerAttr } from "../model/action/sampler.js";

export type { FlowMeterAttr, FlowSamplerAttr };

/**
 * One unit of an ASO object: `flags` and `return_reg_c` (1, 3, 5) as its kind takes them.
 * @throws EOPNOTSUPP another kind of object, a root-only domain, a device without; EINVAL flags, offset, register
 */
export function mlx5dv_dr_action_create_aso(
  domain: Domain,
  devx_obj: AsoObject,
  offset: number,
  flags: number,
  return_reg_c: number,
): AsoAction {
  const choice = { offset, flags, register: return_reg_c };
  return AsoAction.create("mlx5dv_dr_action_create_aso", domain, devx_obj, choice);
}

/**
 * For rules that are made from now on; those that are there keep what the action had.
 * @throws EINVAL not an ASO action, flags, offset, register; EOPNOTSUPP flags or register of one that is linked
 */
export function mlx5dv_dr_action_modify_aso(action: Action, offset: number, flags: number, return_reg_c: number): 0 {
  const call = "mlx5dv_dr_action_modify_aso";
  const one = living<Action>(call, "action", action, Action);
  if (!(one instanceof AsoAction)) refuse({ code: "EINVAL", call, reason: "bad_object", path: "action", value: one });
  one.modify(call, { offset, flags, register: return_reg_c });
  return 0;
}

/**
 * Colours a frame in register C[reg_c_index], and goes on in `next_table`.
 * @throws EOPNOTSUPP a root table; EINVAL register, size of the parameters; ENOMEM
 */
export function mlx5dv_dr_action_create_flow_meter(attr: FlowMeterAttr): FlowMeterAction {
  return FlowMeterAction.create("mlx5dv_dr_action_create_flow_meter", attr);
}

/**
 * Changes what `modify_field_select` names: 1 active, 2 CBS, 4 CIR, 8 EBS, 16 EIR (big-endian, as a bigint or 8 bytes).
 * @throws EINVAL not a flow meter action, size of the parameters
 */
export function mlx5dv_dr_action_modify_flow_meter(
  action: Action,
  attr: Pick<FlowMeterAttr, "active" | "flow_meter_parameter" | "flow_meter_parameter_sz">,
  modify_field_select: bigint | Uint8Array,
): 0 {
  const call = "mlx5dv_dr_action_modify_flow_meter";
  const one = living<Action>(call, "action", action, Action);
  if (!(one instanceof FlowMeterAction)) {
    refuse({ code: "EINVAL", call, reason: "bad_object", path: "action", value: one, hint: "a flow meter action" });
  }
  one.modify(call, attr, modify_field_select);
  return 0;
}

/**
 * Some frames, by chance, do `sample_actions` on a copy; all of them go on in `default_next_table`.
 * @throws EINVAL ratio, actions, tables; EOPNOTSUPP NIC_TX, other actions; ENOMEM
 */
export function mlx5dv_dr_action_create_flow_sampler(attr: FlowSamplerAttr): Action {
  return samplerAction("mlx5dv_dr_action_create_flow_sampler", attr);
}

/**
 * Lets rules of `dmn` use connections of `peer_dmn`, with these flags and this register.
 * @throws EOPNOTSUPP not a connection tracking object; EINVAL flags, register, a domain that is linked already
 */
export function mlx5dv_dr_aso_other_domain_link(
  devx_obj: AsoObject,
  peer_dmn: Domain,
  dmn: Domain,
  flags: number,
  return_reg_c: number,
): 0 {
  linkAso("mlx5dv_dr_aso_other_domain_link", devx_obj, peer_dmn, dmn, flags, return_reg_c);
  return 0;
}

/** @throws EOPNOTSUPP not a connection tracking object; EINVAL never linked; EBUSY while a rule of the domain uses it */
export function mlx5dv_dr_aso_other_domain_unlink(devx_obj: AsoObject, dmn: Domain): 0 {
  unlinkAso("mlx5dv_dr_aso_other_domain_unlink", devx_obj, dmn);
  return 0;
}
