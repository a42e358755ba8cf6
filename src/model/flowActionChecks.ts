/** Which flow actions a flow can name (docs/rules.md, "Flow actions"). */
import { IBV_FLOW_ATTR_FLAGS_DONT_TRAP, IBV_FLOW_ATTR_FLAGS_EGRESS, IBV_FLOW_ATTR_NORMAL } from "../abi/verbs.js";
import { refuse } from "../errors.js";
import type { Context } from "./context.js";
import { FlowAction } from "./flowAction.js";
import type { NamedObject } from "./flowMatch.js";
import type { FlowRequest } from "./flowSpec.js";
import { describe, living } from "./handle.js";

/** Flow actions of one flow, so that an entry's list fits the core whatever else is in it. */
export const FLOW_ACTIONS = 8;

/** The living actions that the specs of a flow of this context name, in their order. @throws EINVAL */
export function flowActionsOf(
  call: string,
  context: Context,
  { type, flags }: FlowRequest,
  handles: readonly NamedObject[],
): FlowAction[] {
  const { device, function: owner } = context;
  const way = (flags & IBV_FLOW_ATTR_FLAGS_EGRESS) !== 0 ? "nic_tx" : "nic_rx";
  const mlx5 = device.profile.flows.checks === "mlx5";
  const kinds = new Set<string>();
  return handles.map(({ object, path }, i) => {
    if (!(object instanceof FlowAction)) {
      throw new TypeError(`${call}: ${path} must be a FlowAction, not ${describe(object)}`);
    }
    const action = living<FlowAction>(call, path, object, FlowAction);
    const bad = (reason: "other_device" | "bad_object" | "bad_action_list", hint?: string): never =>
      refuse({ code: "EINVAL", call, reason, path, value: action, hint, cite: CITE });
    if (action.device !== device) bad("other_device");
    if (action.context.function !== owner) bad("other_device", "it was made on another function");
    if (type !== IBV_FLOW_ATTR_NORMAL) bad("bad_action_list", "only IBV_FLOW_ATTR_NORMAL flows change frames");
    if ((flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) !== 0) {
      bad("bad_action_list", "a frame that a DONT_TRAP flow lets go on is not changed");
    }
    if (action.domainType !== way) bad("bad_object", `the flow takes those of ${way.toUpperCase()}`);
    if (i >= FLOW_ACTIONS) bad("bad_action_list", `at most ${FLOW_ACTIONS} flow actions`);
    if (mlx5 && kinds.has(action.kind)) bad("bad_action_list", `a flow has one ${action.kind} action`);
    kinds.add(action.kind);
    return action;
  });
}

const CITE = "docs/rules.md, Flow actions";
