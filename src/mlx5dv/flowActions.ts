/** Flow actions of mlx5 devices, for IBV_FLOW_SPEC_ACTION_HANDLE; `ibv_destroy_flow_action` destroys them. */
import type { Context } from "../model/context.js";
import { ModifyHeaderAction, PacketReformatAction } from "../model/flowAction.js";
import type { ModifyActions } from "../model/modifyHeader.js";

export type { FlowAction, ModifyHeaderAction, PacketReformatAction } from "../model/flowAction.js";

/**
 * Changes of headers and registers, as `mlx5dv_dr_action_create_modify_header` takes them. `actions_sz` is in bytes (all of
 * them when undefined), `ft_type` an MLX5DV_FLOW_TABLE_TYPE_*.
 * @throws EINVAL, EOPNOTSUPP what the device cannot carry out; ENOMEM
 */
export function mlx5dv_create_flow_action_modify_header(
  ctx: Context,
  actions_sz: number | undefined,
  actions: ModifyActions,
  ft_type: number,
): ModifyHeaderAction {
  return ModifyHeaderAction.create("mlx5dv_create_flow_action_modify_header", ctx, actions_sz, actions, ft_type);
}

/**
 * Encapsulation (`data`: the headers in front), or decapsulation. `data_sz` counts the bytes that are used (all of them when
 * undefined).
 * @throws EINVAL, EOPNOTSUPP what the device cannot carry out; ENOMEM
 */
export function mlx5dv_create_flow_action_packet_reformat(
  ctx: Context,
  data_sz: number | undefined,
  data: Uint8Array | null,
  reformat_type: number,
  ft_type: number,
): PacketReformatAction {
  const call = "mlx5dv_create_flow_action_packet_reformat";
  return PacketReformatAction.create(call, ctx, data_sz, data, reformat_type, ft_type);
}
