/** Loads the flow tables, anchors, entries and device flows of a scenario, list by list. */
import type { Counters } from "../../model/flow/counters.js";
import type { Context } from "../../model/base/context.js";
import type { FlowAction } from "../../model/action/flowAction.js";
import type { DomainType } from "../../model/base/domainType.js";
import type { FlowCounter } from "../../model/action/counter.js";
import type { DeviceFlow } from "../../model/flow/deviceFlow.js";
import type { FlowMatcher } from "../../model/flow/matcher.js";
import type { DevxFlowEntry } from "../../model/devx/flowEntry.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { SteeringAnchor } from "../../model/table/steeringAnchor.js";
import type { Tir } from "../../model/queuePair/tir.js";
import { loadAnchor, loadDeviceFlow } from "./load.js";
import type { Scenario } from "../document.js";
import type { ScenarioDomains } from "../device/domains.js";
import type { ScenarioFlowActions } from "../flow/actions.js";
import { loadFlowEntry, loadFlowTable, type LoadedFlowTable } from "./flowTables.js";
import { attemptEach, made, NotMade, type Report } from "../report.js";

/** Objects that they lead to and count on, by name. */
export interface DeviceFlowTargets {
  readonly domains: ScenarioDomains;
  /** Null for a document without flows and flow actions. */
  readonly flowActions: ScenarioFlowActions | null;
  readonly counter: (name: string) => FlowCounter;
  readonly counters: (name: string) => Counters;
  readonly queuePair: (name: string) => QueuePair;
  readonly tir: (name: string) => Tir;
}

export class DeviceFlowObjects {
  readonly flowEntries = new Map<string, DevxFlowEntry>();
  readonly deviceFlows = new Map<string, DeviceFlow>();

  constructor(scenario: Scenario, report: Report, targets: DeviceFlowTargets) {
    const { flowTables, steeringAnchors, flowEntries, deviceFlows } = scenario;
    const { domains, flowActions } = targets;
    const tables = new Map<string, LoadedFlowTable>();
    const anchors = new Map<string, SteeringAnchor>();
    const all = {
      ...targets,
      matchers: new Map<string, FlowMatcher>(),
      table: (name: string) => made(tables, name),
      anchor: (name: string) => made(anchors, name),
      action: (name: string, context: Context, type: DomainType): FlowAction => {
        if (flowActions === null) throw new NotMade(`loadScenario: ${name} was not made`);
        return flowActions.get(name, context, type);
      },
    };
    attemptEach(report, "flowTables", flowTables, (table, path) => {
      const miss = table.table_miss === undefined ? null : made(tables, table.table_miss);
      const owner = domains.context(table.function);
      tables.set(table.name, loadFlowTable(path, owner, table, miss));
    });
    attemptEach(report, "steeringAnchors", steeringAnchors, (anchor, path) => {
      const owner = domains.context(anchor.function);
      anchors.set(anchor.name, loadAnchor(path, owner, anchor));
    });
    attemptEach(report, "flowEntries", flowEntries, (entry, path) => {
      this.flowEntries.set(entry.name, loadFlowEntry(path, entry, all));
    });
    attemptEach(report, "deviceFlows", deviceFlows, (flow, path) => {
      const owner = domains.context(flow.function);
      this.deviceFlows.set(flow.name, loadDeviceFlow(path, owner, flow, all));
    });
  }
}
