/** ibv_flow_action_esp(3). What the actions do to frames is in docs/esp.md. */
import { inCall, refuse } from "../../errors.js";
import type { Context } from "../../model/base/context.js";
import { EspAction } from "../../model/esp/action.js";
import { FlowAction } from "../../model/action/flowAction.js";
import { living } from "../../model/base/handle.js";
import type { FlowActionEsp } from "./attr.js";
import { readEsp } from "./bytes.js";

export type { EspAction, EspState } from "../../model/esp/action.js";

/**
 * Makes an ESP action (ibv_flow_action_esp(3)): it encrypts or decrypts the frames of the flows
 * that name it in an IBV_FLOW_SPEC_ACTION_HANDLE spec. All its flows share sequence numbers, IVs
 * and replay window. docs/esp.md says what it does to bytes.
 *
 * With FULL_OFFLOAD the action adds and removes ESP header, padding, trailer and ICV, and in tunnel
 * mode the headers of `esp_encap`. Without it frames have their ESP headers before and after.
 * @param esp objects, or C bytes (`flowActionEspBytes`); lengths are bytes, IV, salt and key are
 *   bytes in wire order
 * @returns the action; `ibv_destroy_flow_action` destroys it and overwrites its key
 * @throws EOPNOTSUPP if `comp_mask`, a flag or `iv_algo` is unknown, or the profile refuses it
 * @throws EINVAL if `esp_attr` or the keymat is missing or not AES-GCM, a length is not one of RFC
 *   4106, `esp_encap` is no encapsulation of ESP, or a part does not fit the mode
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_create_flow_action_esp(ctx: Context, esp: FlowActionEsp | Uint8Array): EspAction {
  return inCall("ibv_create_flow_action_esp", () => EspAction.create(ctx, readEsp(esp)));
}

/**
 * Changes the given parts of an ESP action for all its flows at one moment
 * (ibv_flow_action_esp(3)). Parts that are NULL or absent stay.
 * @param esp as `ibv_create_flow_action_esp` takes it
 * @throws EOPNOTSUPP or EINVAL as `ibv_create_flow_action_esp`; and if flags other than
 *   ESN_NEW_WINDOW differ from those of the action, the IV was used with the key and salt, or the
 *   action is of another kind
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_modify_flow_action_esp(action: FlowAction, esp: FlowActionEsp | Uint8Array): 0 {
  return inCall("ibv_modify_flow_action_esp", () => {
    const one = living<FlowAction>("action", action, FlowAction);
    if (!(one instanceof EspAction)) {
      refuse({ code: "EINVAL", reason: "bad_object", path: "action", value: one, hint: "an ESP action" });
    }
    one.modify(readEsp(esp));
    return 0;
  });
}
