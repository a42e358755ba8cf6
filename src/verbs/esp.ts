/** ibv_flow_action_esp(3). What the actions do to frames is in docs/esp.md. */
import { refuse } from "../errors.js";
import type { Context } from "../model/base/context.js";
import { EspAction } from "../model/esp/action.js";
import { FlowAction } from "../model/flow/action.js";
import { living } from "../model/base/handle.js";
import type { FlowActionEsp } from "./espAttr.js";
import { readEsp } from "./espBytes.js";

export type { EspAction, EspState } from "../model/esp/action.js";

/**
 * An action that encrypts (IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT) or decrypts the frames of the flows that name it with
 * IBV_FLOW_SPEC_ACTION_HANDLE. With FULL_OFFLOAD ESP header, padding, trailer and ICV come and go with the cipher, and in tunnel
 * mode the headers of `esp_encap`; without it frames bring their ESP headers and keep them. One action can be in many flows,
 * which share its sequence numbers, IVs and replay window. `ibv_destroy_flow_action` destroys it, and overwrites its key.
 *
 * Lengths are bytes; IV, salt and key are bytes as on the wire. C bytes are taken too (flowActionEspBytes).
 * @throws EOPNOTSUPP unknown bits of `comp_mask`, unknown flags, another `iv_algo`, what the profile refuses; EINVAL no
 * `esp_attr` or keymat, another keymat than AES GCM, lengths of key and ICV that RFC 4106 does not have, a chain that is no
 * encapsulation of ESP, parts that do not go with the mode; ENOMEM
 */
export function ibv_create_flow_action_esp(ctx: Context, esp: FlowActionEsp | Uint8Array): EspAction {
  const call = "ibv_create_flow_action_esp";
  return EspAction.create(call, ctx, readEsp(call, esp));
}

/**
 * Changes what is given, for all flows of the action at one moment: frames before the call meet the old action, those behind
 * it the new one. What is NULL, or left out, stays. If the call is refused, the action is as it was.
 * @throws EOPNOTSUPP, EINVAL what `ibv_create_flow_action_esp` refuses; flags other than ESN_NEW_WINDOW that are not those of
 * the action; an IV that key and salt have passed; an action of another kind; ENOMEM
 */
export function ibv_modify_flow_action_esp(action: FlowAction, esp: FlowActionEsp | Uint8Array): 0 {
  const call = "ibv_modify_flow_action_esp";
  const one = living<FlowAction>(call, "action", action, FlowAction);
  if (!(one instanceof EspAction)) {
    refuse({ code: "EINVAL", call, reason: "bad_object", path: "action", value: one, hint: "an ESP action" });
  }
  one.modify(call, readEsp(call, esp));
  return 0;
}
