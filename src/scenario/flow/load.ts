/** Makes the flows of a scenario. */
import { VerbsFlow } from "../../model/flow/verbsFlow.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import { at, type PlaceOf } from "../place.js";
import type { ScenarioFlowActions } from "./actions.js";
import type { LoadedFlowCounter } from "./counter.js";
import type { ScenarioFlow } from "./definition.js";
import { flowPlace, flowRequest } from "./specs.js";

export { ScenarioFlowActions } from "./actions.js";

export function loadFlow(
  path: string,
  flow: ScenarioFlow,
  name: string,
  queue: QueuePair,
  counter: (name: string) => LoadedFlowCounter,
  actions: ScenarioFlowActions,
): VerbsFlow {
  const direction = flow.flags?.includes("egress") === true ? "nic_tx" : "nic_rx";
  const request = flowRequest(path, flow, {
    counters: (one) => counter(one).counters,
    action: (one) => actions.get(one, queue.context, direction),
  });
  const place: PlaceOf = (inner) => flowPlace(inner, flow.specs ?? []);
  return at(path, () => VerbsFlow.create(queue, request, name), place);
}
