/** Everything that a scenario makes by device commands: the code for them loads with the first document that needs it. */
import { allocFlowCounterCommand } from "../../mlx5dv/devx/commands.js";
import type { FlowCounter } from "../../model/action/counter.js";
import type { Context } from "../../model/base/context.js";
import { at } from "../place.js";
import type { ScenarioCounter } from "../rule/definition.js";
import { madeBy } from "./deviceCommands.js";

export { loadRqt, loadTir } from "../rss/tir.js";
export { makeAsoObject } from "../state/makeAso.js";
export { DeviceFlowObjects } from "./objects.js";

export function makeCounter(path: string, context: Context, counter: ScenarioCounter): FlowCounter {
  const command = allocFlowCounterCommand(counter.flow_counter_bulk_log_size);
  return at(path, () => madeBy<FlowCounter>(context, command, counter.name));
}
