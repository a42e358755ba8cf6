/** Flow actions of mlx5 devices, for IBV_FLOW_SPEC_ACTION_HANDLE; `ibv_destroy_flow_action` destroys them. */
import { inCall, refuse } from "../../errors.js";
import type { Context } from "../../model/base/context.js";
import { EspAction } from "../../model/esp/action.js";
import { ModifyHeaderAction, PacketReformatAction } from "../../model/action/flowAction.js";
import { unsigned, wrongType, member } from "../../base/checks.js";
import type { ModifyActions } from "../../model/action/modifyHeader.js";
import type { FlowActionEsp } from "../../verbs/esp/attr.js";
import { readEsp } from "../../verbs/esp/bytes.js";
import {
  MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA,
  MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS,
} from "../../abi/mlx5dv.js";

export type { FlowAction, ModifyHeaderAction, PacketReformatAction } from "../../model/action/flowAction.js";

/**
 * Makes a flow action that changes headers and registers, as
 * `mlx5dv_dr_action_create_modify_header` does.
 * @param actions_sz bytes that are used, 8 for each change; all if undefined
 * @param ft_type MLX5DV_FLOW_TABLE_TYPE_*
 * @throws EINVAL, EOPNOTSUPP if the device cannot do a change
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_create_flow_action_modify_header(
  ctx: Context,
  actions_sz: number | undefined,
  actions: ModifyActions,
  ft_type: number,
): ModifyHeaderAction {
  return inCall("mlx5dv_create_flow_action_modify_header", () =>
    ModifyHeaderAction.create(ctx, actions_sz, actions, ft_type),
  );
}

/**
 * Makes a flow action that encapsulates or decapsulates, as
 * `mlx5dv_dr_action_create_packet_reformat` does.
 * @param data_sz bytes of `data` that are used; all if undefined
 * @param data the headers to put in front
 * @param reformat_type MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_*
 * @param ft_type MLX5DV_FLOW_TABLE_TYPE_*
 * @throws EINVAL, EOPNOTSUPP if the device cannot do it
 * @throws ENOMEM if the device has no memory left
 */
export function mlx5dv_create_flow_action_packet_reformat(
  ctx: Context,
  data_sz: number | undefined,
  data: Uint8Array | null,
  reformat_type: number,
  ft_type: number,
): PacketReformatAction {
  return inCall("mlx5dv_create_flow_action_packet_reformat", () =>
    PacketReformatAction.create(ctx, data_sz, data, reformat_type, ft_type),
  );
}

/** `struct mlx5dv_flow_action_esp` */
export interface Mlx5FlowActionEsp {
  /** MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS: `action_flags` is given. */
  comp_mask: number | bigint;
  /** MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA, or 0. */
  action_flags?: number | undefined;
}

/**
 * Makes an ESP action like `ibv_create_flow_action_esp`. With REQUIRE_METADATA its frames carry an
 * element of eight bytes after their MAC addresses, which asks for encryption or says how
 * decryption ended (docs/esp.md).
 * @param mlx5_attr the object, or C bytes: | comp_mask 8 | action_flags 4 | ignored 4 |
 * @throws EOPNOTSUPP if a bit of `comp_mask` or `action_flags` is unknown
 * @throws EINVAL if REQUIRE_METADATA is asked of full offload
 * @throws as `ibv_create_flow_action_esp`
 */
export function mlx5dv_create_flow_action_esp(
  ctx: Context,
  esp: FlowActionEsp | Uint8Array,
  mlx5_attr: Mlx5FlowActionEsp | Uint8Array,
): EspAction {
  return inCall("mlx5dv_create_flow_action_esp", () => {
    const metadata = requiresMetadata(mlx5_attr);
    return EspAction.create(ctx, readEsp(esp), metadata);
  });
}

function requiresMetadata(attr: Mlx5FlowActionEsp | Uint8Array): boolean {
  const { comp_mask: mask, action_flags = 0 } = attr instanceof Uint8Array ? espFrom(attr) : espOf(attr);
  const comp_mask = member("mlx5_attr.comp_mask", mask, 53);
  const known = (name: "comp_mask" | "action_flags", value: number, bits: number): void => {
    if (value === 0 || value === bits) return;
    refuse({
      code: "EOPNOTSUPP",
      reason: "unsupported",
      path: `mlx5_attr.${name}`,
      value,
      hint: `${bits}, or 0`,
    });
  };
  known("comp_mask", comp_mask, MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS);
  const flags = unsigned("mlx5_attr.action_flags", action_flags, 32);
  if (comp_mask !== MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS) return false;
  known("action_flags", flags, MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA);
  return flags === MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA;
}

function espOf(attr: Mlx5FlowActionEsp): Mlx5FlowActionEsp {
  if (typeof attr === "object" && attr !== null) return attr;
  wrongType("mlx5_attr", "an object or a Uint8Array", attr);
}

function espFrom(bytes: Uint8Array): Mlx5FlowActionEsp {
  if (bytes.length < 12) {
    refuse({ code: "EINVAL", reason: "too_short", path: "mlx5_attr", value: bytes, hint: "16 bytes" });
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // Any bit of the upper half is unknown.
  return {
    comp_mask: view.getUint32(0, true) + (view.getUint32(4, true) === 0 ? 0 : 2 ** 32),
    action_flags: view.getUint32(8, true),
  };
}
