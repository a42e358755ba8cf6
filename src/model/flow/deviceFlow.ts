/**
 * Flows in device bytes (mlx5dv_create_flow(3)). They rank among the verbs flows and belong to no
 * queue pair.
 */
import { LAYER_DMAC, LAYER_DST_IPV4, OUTER } from "../../abi/key.js";
import { refuse, type ErrnoName } from "../../errors.js";
import { trappingSlot } from "../table/classifier.js";
import type { DeviceBytes } from "../match/parameterBytes.js";
import { deviceFlowActions, type DeviceFlowActions, type FlowActionAttr } from "./deviceFlowActions.js";
import type { FrameTarget } from "../base/target.js";
import { Flow } from "./flow.js";
import type { KeyBits } from "./specMatch.js";
import { FlowMatcher } from "./matcher.js";
import { living } from "../base/handle.js";

export class DeviceFlow extends Flow {
  readonly matcher: FlowMatcher;
  readonly qp = null;
  readonly target: FrameTarget | null;

  private constructor(matcher: FlowMatcher, { target, counts, actions, holds }: DeviceFlowActions) {
    super(matcher.context, { counts, actions, holds: [matcher, ...holds] });
    this.matcher = matcher;
    this.target = target;
  }

  /**
   * @internal @throws EPERM, EINVAL, EOPNOTSUPP, ENOSYS not a flow; EEXIST a flow for the same frames acts
   *   otherwise; ENOMEM
   */
  static create(matcher: FlowMatcher, value: DeviceBytes, attrs: readonly FlowActionAttr[]): DeviceFlow {
    const { device, context, tableType } = living("flow_matcher", matcher, FlowMatcher);
    if (!device.managedFlowSteering) {
      const hint = "no managed flow steering";
      const code = device.profile.flows.inBytes.noSteering as ErrnoName;
      refuse({ code, reason: "unsupported", path: "flow_matcher", value: context, hint });
    }
    const does = deviceFlowActions(matcher, attrs);
    matcher.checkTakesFlows();
    const bits = matcher.matchOf(value);
    const flow = new DeviceFlow(matcher, does);
    const { stage, domainType } = tableType;
    const { drop, tag, actions } = does;
    const ordered = stage === "root" || stage === "egress";
    const last = ordered && device.profile.flows.multicastLast && isMulticastOnly(bits);
    const slot = trappingSlot(last ? 0xffff : matcher.priority);
    flow.enter([{ stage, slot, dontTrap: false, sends: domainType === "nic_tx", drop, tag, actions, bits }]);
    matcher.leftOut?.keep(flow, value);
    return flow;
  }

  /**
   * SPEC: like direct rules, which belong to no queue pair either, they take looped-back frames of
   * every queue pair.
   */
  get loopsBack(): boolean {
    return true;
  }

  get does(): string {
    return "match_value";
  }
}

/**
 * How the kernel recognises a multicast match: by the group bit of a MAC, or the first four bits of
 * an IPv4 address.
 */
function isMulticastOnly({ mask, value }: KeyBits): boolean {
  const asks = (at: number, bits: number, wanted: number): boolean =>
    ((mask[at] ?? 0) & bits) === bits && ((value[at] ?? 0) & bits) === wanted;
  return asks(OUTER + LAYER_DMAC, 1, 1) || asks(OUTER + LAYER_DST_IPV4, 0xf0, 0xe0);
}
