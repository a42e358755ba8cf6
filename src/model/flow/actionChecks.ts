/** Checks of the flow actions that a flow names (docs/rules.md, "Flow actions"). */
import {
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_SPEC_ESP,
  IBV_FLOW_SPEC_IPV4,
  IBV_FLOW_SPEC_IPV4_EXT,
  IBV_FLOW_SPEC_IPV6,
} from "../../abi/verbs.js";
import { refuse, type RefusalReason } from "../../errors.js";
import type { Context } from "../base/context.js";
import type { FlowActionCheck } from "../profile/profile.js";
import { runnable } from "../profile/refusals.js";
import { EspAction } from "../esp/action.js";
import { FlowAction } from "../action/flowAction.js";
import type { NamedObject } from "./specMatch.js";
import type { FlowRequest, Spec } from "../match/flowSpec.js";
import { wrongType } from "../../base/checks.js";
import { living } from "../base/handle.js";

/**
 * The most flow actions of one flow: the list of its entry fits the core with everything else in
 * it.
 */
export const FLOW_ACTIONS = 8;

/** The living actions that the specs of a flow name, in their order. @throws EINVAL */
export function flowActionsOf(context: Context, request: FlowRequest, handles: readonly NamedObject[]): FlowAction[] {
  const checks = runnable(context.device.profile.flows.actions, CHECKS);
  const before: FlowAction[] = [];
  for (const { object, path } of handles) {
    if (!(object instanceof FlowAction)) {
      wrongType(path, "a FlowAction", object);
    }
    const action = living<FlowAction>(path, object, FlowAction);
    for (const { check, code } of checks) {
      const found = check(action, { context, request, before });
      if (found === undefined) continue;
      const [reason, hint] = found;
      refuse({ code, reason, path, value: action, hint, cite: CITE });
    }
    before.push(action);
  }
  return before;
}

/** The flow of an action, and the actions named before it. */
interface Place {
  readonly context: Context;
  readonly request: FlowRequest;
  readonly before: readonly FlowAction[];
}

type Check = (action: FlowAction, place: Place) => readonly [RefusalReason, hint?: string] | undefined;

const has = ({ flags }: FlowRequest, flag: number): boolean => (flags & flag) !== 0;

const secondOfKind: Check = ({ kind }, { before }) =>
  before.some((other) => other.kind === kind) ? ["bad_action_list", `a flow has one ${kind} action`] : undefined;

const CHECKS: Readonly<Record<FlowActionCheck, Check>> = {
  otherDevice: ({ device }, { context }) => (device === context.device ? undefined : ["other_device"]),
  otherFunction: (action, { context }) =>
    action.context.function === context.function ? undefined : ["other_device", "it was made on another function"],
  notNormal: (_action, { request }) =>
    request.type === IBV_FLOW_ATTR_NORMAL
      ? undefined
      : ["bad_action_list", "only IBV_FLOW_ATTR_NORMAL flows change frames"],
  dontTrap: (action, { request }) =>
    has(request, IBV_FLOW_ATTR_FLAGS_DONT_TRAP) && !(action instanceof EspAction)
      ? ["bad_action_list", "of a frame that a DONT_TRAP flow lets go on, only ESP is changed"]
      : undefined,
  otherDirection: ({ domainType }, { request }) => {
    const direction = has(request, IBV_FLOW_ATTR_FLAGS_EGRESS) ? "nic_tx" : "nic_rx";
    return domainType === direction ? undefined : ["bad_object", `the flow takes those of ${direction.toUpperCase()}`];
  },
  tooMany: (_action, { before }) =>
    before.length < FLOW_ACTIONS ? undefined : ["bad_action_list", `at most ${FLOW_ACTIONS} flow actions`],
  secondOfKind,
  secondEsp: (action, place) => (action instanceof EspAction ? secondOfKind(action, place) : undefined),
  inlineWithoutEsp: (action, { request }) =>
    action instanceof EspAction && action.inline && !asksForEsp(request.specs)
      ? ["bad_action_list", INLINE_NEEDS]
      : undefined,
  egressEspWithDropOrTag: (action, { request }) =>
    action instanceof EspAction &&
    has(request, IBV_FLOW_ATTR_FLAGS_EGRESS) &&
    request.specs.some(({ kind }) => kind === "drop" || kind === "tag")
      ? ["bad_action_list", "an EGRESS flow with ESP neither drops nor tags"]
      : undefined,
};

/** ibv_flow_action_esp(3), Inline Crypto Mode. */
const INLINE_NEEDS = "the flow of an inline ESP action has an IP and an ESP spec of the outer packet";
const IP_SPECS: readonly number[] = [IBV_FLOW_SPEC_IPV4, IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV6];

function asksForEsp(specs: readonly Spec[]): boolean {
  const outer = specs.flatMap((spec) => (spec.kind === "match" && !spec.inner ? spec.layout.type : []));
  return outer.includes(IBV_FLOW_SPEC_ESP) && outer.some((type) => IP_SPECS.includes(type));
}

const CITE = "docs/rules.md, Flow actions";
