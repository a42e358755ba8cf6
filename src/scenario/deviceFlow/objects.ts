/** Loads the flow tables, anchors, entries and device flows of a scenario, list by list. */
import type { Counters } from "../../model/flow/counters.js";
import type { FlowCounter } from "../../model/action/counter.js";
import type { DeviceFlow } from "../../model/flow/deviceFlow.js";
import type { DevxFlowEntry } from "../../model/devx/flowEntry.js";
import type { QueuePair } from "../../model/queue/queuePair.js";
import type { SteeringAnchor } from "../../model/flow/steeringAnchor.js";
import type { Tir } from "../../model/queue/tir.js";
import { loadAnchor, loadDeviceFlow } from "./load.js";
import type { Scenario } from "../document.js";
import type { ScenarioDomains } from "../device/domains.js";
import type { ScenarioFlowActions } from "../flow/actions.js";
import { loadFlowEntry, loadFlowTable, type LoadedFlowTable } from "./flowTables.js";
import { below } from "../schema/validator.js";

/** Objects that they lead to and count on, by name. */
export interface DeviceFlowTargets {
  readonly domains: ScenarioDomains;
  readonly flowActions: ScenarioFlowActions;
  readonly counter: (name: string) => FlowCounter;
  readonly counters: (name: string) => Counters;
  readonly queuePair: (name: string) => QueuePair;
  readonly tir: (name: string) => Tir;
}

export class DeviceFlowObjects {
  readonly flowEntries = new Map<string, DevxFlowEntry>();
  readonly deviceFlows = new Map<string, DeviceFlow>();

  constructor(scenario: Scenario, targets: DeviceFlowTargets) {
    const { flowTables = [], steeringAnchors = [], flowEntries = [], deviceFlows = [] } = scenario;
    const { domains, flowActions } = targets;
    const tables = new Map<string, LoadedFlowTable>();
    const anchors = new Map<string, SteeringAnchor>();
    const all = {
      ...targets,
      table: (name: string) => get(tables, name),
      anchor: (name: string) => get(anchors, name),
      action: flowActions.get.bind(flowActions),
    };
    flowTables.forEach((table, i) => {
      const miss = table.table_miss === undefined ? null : get(tables, table.table_miss);
      const owner = domains.context(table.function);
      tables.set(table.name, loadFlowTable(below("flowTables", i), owner, table, miss));
    });
    steeringAnchors.forEach((anchor, i) => {
      const owner = domains.context(anchor.function);
      anchors.set(anchor.name, loadAnchor(below("steeringAnchors", i), owner, anchor));
    });
    flowEntries.forEach((entry, i) => {
      this.flowEntries.set(entry.name, loadFlowEntry(below("flowEntries", i), entry, all));
    });
    deviceFlows.forEach((flow, i) => {
      const owner = domains.context(flow.function);
      this.deviceFlows.set(flow.name, loadDeviceFlow(below("deviceFlows", i), owner, flow, all));
    });
  }
}

function get<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`loadScenario: ${name} is not in the document that was checked`);
  return value;
}
