/** Loads the flows in device bytes and the steering anchors of a scenario. */
import {
  MLX5DV_FLOW_ACTION_COUNTERS_DEVX,
  MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET,
  MLX5DV_FLOW_ACTION_DEFAULT_MISS,
  MLX5DV_FLOW_ACTION_DEST_DEVX,
  MLX5DV_FLOW_ACTION_DEST_IBV_QP,
  MLX5DV_FLOW_ACTION_DROP,
  MLX5DV_FLOW_ACTION_IBV_COUNTER,
  MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION,
  MLX5DV_FLOW_ACTION_TAG,
  MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
  MLX5DV_FLOW_MATCHER_MASK_IB_PORT,
} from "../../abi/mlx5dv.js";
import type { Context } from "../../model/base/context.js";
import type { FlowCounter } from "../../model/action/counter.js";
import { DeviceFlow } from "../../model/flow/deviceFlow.js";
import type { FlowActionAttr } from "../../model/flow/deviceFlowActions.js";
import type { FlowAction } from "../../model/action/flowAction.js";
import type { Counters } from "../../model/flow/counters.js";
import { FlowMatcher } from "../../model/flow/matcher.js";
import { FLOW_TABLE_TYPES } from "../../model/table/flowTableTypes.js";
import type { DomainType } from "../../model/base/domainType.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import { SteeringAnchor } from "../../model/table/steeringAnchor.js";
import type { Tir } from "../../model/queuePair/tir.js";
import {
  FT_TYPES,
  type ScenarioDeviceFlowAction,
  type ScenarioFlowTableType,
  type ScenarioDeviceFlow,
  type ScenarioSteeringAnchor,
} from "./definition.js";
import { deviceMatch } from "./match.js";
import type { LoadedFlowTable } from "./flowTables.js";
import { at, type PlaceOf } from "../place.js";
import { below } from "../schema/path.js";

/** Objects that flows lead to and count on, by name. */
export interface FlowTargets {
  readonly queuePair: (name: string) => QueuePair;
  readonly tir: (name: string) => Tir;
  readonly table: (name: string) => LoadedFlowTable;
  readonly counter: (name: string) => FlowCounter;
  readonly counters: (name: string) => Counters;
  /** Matchers that were made: flows that differ in values share one. */
  readonly matchers: Map<string, FlowMatcher>;
  /** Flow actions of a context, for tables of a direction. */
  readonly action: (name: string, context: Context, type: DomainType) => FlowAction;
}

export function loadAnchor(
  path: string,
  context: Context,
  { name, ft_type = "nic_rx", priority }: ScenarioSteeringAnchor,
): SteeringAnchor {
  const attr = { ft_type: FT_TYPES.indexOf(ft_type), priority };
  return at(path, () => SteeringAnchor.create(context, attr).called(name), attrPlace);
}

export function loadDeviceFlow(
  path: string,
  context: Context,
  flow: ScenarioDeviceFlow,
  targets: FlowTargets,
): DeviceFlow {
  const { name, ft_type = "nic_rx", ib_port, priority, match = {}, actions = [] } = flow;
  const { mask, value, match_criteria_enable } = deviceMatch(`${path}.match`, match);
  const attr = {
    ft_type: FT_TYPES.indexOf(ft_type),
    priority,
    ib_port,
    match_criteria_enable,
    match_mask: mask,
    comp_mask: MLX5DV_FLOW_MATCHER_MASK_FT_TYPE | (ib_port === undefined ? 0 : MLX5DV_FLOW_MATCHER_MASK_IB_PORT),
  };
  const key = [flow.function, ft_type, priority, ib_port, match_criteria_enable, ...mask.match_buf].join();
  const matcher = targets.matchers.get(key) ?? at(path, () => FlowMatcher.create(context, attr), attrPlace);
  targets.matchers.set(key, matcher);
  const attrs = actions.map((action) => attrOf(action, ft_type, context, targets));
  return at(
    path,
    () => DeviceFlow.create(matcher, value, attrs).called(name),
    (inner) => flowPlace(inner, actions),
  );
}

function attrOf(
  action: ScenarioDeviceFlowAction,
  ft_type: ScenarioFlowTableType,
  context: Context,
  targets: FlowTargets,
): FlowActionAttr {
  if (action === "drop") return { type: MLX5DV_FLOW_ACTION_DROP };
  if (action === "default_miss") return { type: MLX5DV_FLOW_ACTION_DEFAULT_MISS };
  const { tag, count, offset, ibv_counter, queue, tir, table, action: named = "" } = action;
  if (tag !== undefined) return { type: MLX5DV_FLOW_ACTION_TAG, tag_value: tag };
  if (ibv_counter !== undefined)
    return { type: MLX5DV_FLOW_ACTION_IBV_COUNTER, counter: targets.counters(ibv_counter) };
  if (count !== undefined) {
    const obj = targets.counter(count);
    if (offset === undefined) return { type: MLX5DV_FLOW_ACTION_COUNTERS_DEVX, obj };
    return { type: MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET, bulk_obj: { obj, offset } };
  }
  if (queue !== undefined) return { type: MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: targets.queuePair(queue) };
  if (tir !== undefined) return { type: MLX5DV_FLOW_ACTION_DEST_DEVX, obj: targets.tir(tir) };
  if (table !== undefined) return { type: MLX5DV_FLOW_ACTION_DEST_DEVX, obj: targets.table(table).table };
  const { domainType = "nic_rx" } = FLOW_TABLE_TYPES[FT_TYPES.indexOf(ft_type)] ?? {};
  return { type: MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, action: targets.action(named, context, domainType) };
}

const attrPlace: PlaceOf = (inner) => {
  if (inner.startsWith("attr.match_mask") || inner.startsWith("mask")) return ".match";
  return inner === "context" ? "" : inner.replace(/^attr/, "");
};

/**
 * Maps a path of the model to the document: `actions_attr[1].bulk_obj.offset` becomes
 * `.actions[1].offset`.
 */
function flowPlace(inner: string, actions: readonly ScenarioDeviceFlowAction[]): string {
  const [, number, rest = ""] = /^actions_attr\[(\d+)\](.*)$/.exec(inner) ?? [];
  if (number === undefined) return FLOW_PLACES[inner] ?? ".match";
  const here = below(".actions", Number(number));
  const action = actions[Number(number)];
  if (rest === "" || typeof action !== "object") return here;
  return rest.endsWith(".offset") ? `${here}.offset` : `${here}.${Object.keys(action).find((key) => key !== "offset")}`;
}

const FLOW_PLACES: Readonly<Record<string, string>> = {
  flow_matcher: "",
  num_actions: ".actions",
  match_value: ".match",
};
