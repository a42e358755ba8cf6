/** Which flow actions a flow can name (docs/rules.md, "Flow actions"). */
import {
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_SPEC_ESP,
  IBV_FLOW_SPEC_IPV4,
  IBV_FLOW_SPEC_IPV4_EXT,
  IBV_FLOW_SPEC_IPV6,
} from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import type { Context } from "../base/context.js";
import { EspAction } from "../esp/action.js";
import { FlowAction } from "./action.js";
import type { NamedObject } from "./specMatch.js";
import type { FlowRequest, Spec } from "./spec.js";
import { describe } from "../../checks.js";
import { living } from "../base/handle.js";

/** Flow actions of one flow, so that an entry's list fits the core whatever else is in it. */
export const FLOW_ACTIONS = 8;

/** The living actions that the specs of a flow of this context name, in their order. @throws EINVAL */
export function flowActionsOf(
  call: string,
  context: Context,
  { type, flags, specs }: FlowRequest,
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
    const esp = action instanceof EspAction ? action : null;
    if ((flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) !== 0 && esp === null) {
      bad("bad_action_list", "of a frame that a DONT_TRAP flow lets go on, only ESP is changed");
    }
    if (action.domainType !== way) bad("bad_object", `the flow takes those of ${way.toUpperCase()}`);
    if (i >= FLOW_ACTIONS) bad("bad_action_list", `at most ${FLOW_ACTIONS} flow actions`);
    if ((mlx5 || esp !== null) && kinds.has(action.kind))
      bad("bad_action_list", `a flow has one ${action.kind} action`);
    kinds.add(action.kind);
    if (esp?.inline === true && !asksForEsp(specs)) bad("bad_action_list", INLINE_WANTS);
    if (mlx5 && esp !== null && way === "nic_tx" && specs.some(({ kind }) => kind === "drop" || kind === "tag")) {
      bad("bad_action_list", "an EGRESS flow with ESP neither drops nor tags");
    }
    return action;
  });
}

/** What an inline ESP action is told where it is not sure to meet ESP (ibv_flow_action_esp(3), Inline Crypto Mode). */
const INLINE_WANTS = "the flow of an inline ESP action has an IP and an ESP spec of the outer packet";
const IP_SPECS: readonly number[] = [IBV_FLOW_SPEC_IPV4, IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV6];

function asksForEsp(specs: readonly Spec[]): boolean {
  const outer = specs.flatMap((spec) => (spec.kind === "match" && !spec.inner ? spec.layout.type : []));
  return outer.includes(IBV_FLOW_SPEC_ESP) && outer.some((type) => IP_SPECS.includes(type));
}

const CITE = "docs/rules.md, Flow actions";
