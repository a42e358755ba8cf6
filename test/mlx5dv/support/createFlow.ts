/** Flows in device bytes beside flows of the verbs, for the tests of mlx5dv_create_flow(3). */
import type { DeviceOptions, MatchFields } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import { FlowBench } from "../../verbs/support/flows.js";
import { refused } from "./directRules.js";

export const [NIC_RX, NIC_TX, FDB, RDMA_RX, RDMA_TX, TRANSPORT_RX, TRANSPORT_TX] = [0, 1, 2, 3, 4, 5, 6] as const;
const { MLX5DV_FLOW_MATCHER_MASK_FT_TYPE: FT_TYPE, MLX5DV_FLOW_MATCHER_MASK_IB_PORT: IB_PORT } = dv;

/** A table type, as a matcher names it. */
export const inTable = (ft_type: number): dv.FlowMatcherAttr => ({ ft_type, comp_mask: FT_TYPE });
export const ofPort = (ft_type: number, ib_port: number): dv.FlowMatcherAttr => ({
  ...inTable(ft_type),
  ib_port,
  comp_mask: FT_TYPE | IB_PORT,
});

export const DROPS: dv.FlowActionAttr = { type: dv.MLX5DV_FLOW_ACTION_DROP };
export const MISSES: dv.FlowActionAttr = { type: dv.MLX5DV_FLOW_ACTION_DEFAULT_MISS };
export const tagged = (tag_value: number): dv.FlowActionAttr => ({ type: dv.MLX5DV_FLOW_ACTION_TAG, tag_value });
export const changed = (action: dv.FlowAction): dv.FlowActionAttr => ({
  type: dv.MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION,
  action,
});
export const counted = (obj: FlowCounter, offset?: number): dv.FlowActionAttr =>
  offset === undefined
    ? { type: dv.MLX5DV_FLOW_ACTION_COUNTERS_DEVX, obj }
    : { type: dv.MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET, bulk_obj: { obj, offset } };

export class DeviceFlowBench {
  readonly flows: FlowBench;

  private constructor(flows: FlowBench) {
    this.flows = flows;
  }

  static async open(options: DeviceOptions = {}): Promise<DeviceFlowBench> {
    return new DeviceFlowBench(await FlowBench.open(options));
  }

  get device(): FlowBench["device"] {
    return this.flows.device;
  }

  get context(): FlowBench["context"] {
    return this.flows.context;
  }

  /** Frames go to the queue of this name. */
  to(name: string): dv.FlowActionAttr {
    return { type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: this.flows.qp(name) };
  }

  matcher(fields: MatchFields = {}, attr: dv.FlowMatcherAttr = {}): dv.FlowMatcher {
    const { mask, match_criteria_enable } = dv.matchParameters(fields, { root: true });
    return dv.mlx5dv_create_flow_matcher(this.context, { match_mask: mask, match_criteria_enable, ...attr });
  }

  /** A flow with its own matcher, or with an existing one. */
  flow(
    fields: MatchFields,
    actions: readonly dv.FlowActionAttr[],
    attr: dv.FlowMatcherAttr | dv.FlowMatcher = {},
  ): dv.DeviceFlow {
    const matcher = "destroy" in attr ? attr : this.matcher(fields, attr);
    const { value } = dv.matchParameters(fields, { root: true });
    return dv.mlx5dv_create_flow(matcher, value, undefined, actions);
  }

  /** The error of creating such a flow: errno, reason, path. The refusal has no effects. */
  refused(
    fields: MatchFields,
    actions: readonly dv.FlowActionAttr[],
    attr: dv.FlowMatcherAttr = {},
  ): (string | undefined)[] {
    const matcher = this.matcher(fields, attr);
    const before = this.flows.state();
    const refusal = refused(() => this.flow(fields, actions, matcher));
    if (refusal !== undefined && this.flows.state() !== before)
      throw new Error(`${refusal.code} has changed something`);
    if (refusal === undefined) return [];
    dv.mlx5dv_destroy_flow_matcher(matcher);
    return [refusal.code, refusal.reason, refusal.path];
  }

  counter(logSize = 0): FlowCounter {
    const input = dv.allocFlowCounterCommand(logSize);
    const devx = dv.mlx5dv_open_device(this.device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    return dv.mlx5dv_devx_obj_create(devx, input, undefined, new Uint8Array(16), undefined);
  }
}
