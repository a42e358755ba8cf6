/** Names of what a trace meets: tables by their address, rules by the number in outcomes. */
import { isDevxFlowEntry, isDevxFlowTable } from "../../model/devx/kinds.js";
import type { Core } from "../../engine/core.js";
import type { Device } from "../../model/device/device.js";
import type { TablePlace } from "../../model/base/deviceBase.js";
import type { InstalledRule } from "../../model/base/installed.js";
import { FlowEntry } from "../../model/flow/entry.js";
import { HostRule } from "../../model/flow/hostRules.js";
import { ConnectedRule } from "../../model/roce/connectionRule.js";
import { Rule } from "../../model/rule/rule.js";
import type { Classifier } from "../../model/table/classifier.js";
import { Table } from "../../model/table/domain.js";
import { Matcher } from "../../model/table/matcher.js";
import { TablePipeline, type StageName } from "../../model/table/pipeline.js";
import type { RuleRef, TableRef } from "./trace.js";

/** Names of the stages. Root tables of domains are "root". */
const STAGES: Readonly<Record<StageName, string>> = {
  sniffers: "sniffers",
  rdmaRx: "RDMA RX",
  rdmaTransportRx: "RDMA transport RX",
  connected: "connections",
  root: "root",
  host: "host rules",
  defaults: "default flows",
  rdmaTx: "RDMA TX",
  rdmaTransportTx: "RDMA transport TX",
  sentSniffers: "sniffers",
  egress: "root",
  fdb: "root",
};

/**
 * The table at an address of `core`: that of the device, or a traced core. A function without
 * tables, `vport`, has an empty one.
 */
export function tableRef(device: Device, address: number, vport: number, core: Core = device.core): TableRef {
  const place = device.tables.get(address);
  if (place !== undefined) return { domain: place.domain, vport: place.vport, table: tableName(place) };
  const sends = address === core.exports.emptySendTable() >>> 0;
  return { domain: sends ? "nic_tx" : "nic_rx", vport, table: "root" };
}

function tableName({ object, stage }: TablePlace): string {
  return object?.name ?? STAGES[stage as StageName];
}

/** How many rules a table has. Identical flows are one rule. */
export function rulesIn(device: Device, address: number): number {
  const place = device.tables.get(address);
  if (place === undefined) return 0;
  if (isDevxFlowTable(place.object)) return place.object.entries.size;
  if (place.object instanceof Table) return directRulesIn(device, place.object.classifier);
  const stage = device
    .function(place.vport)
    .part(TablePipeline)
    .contentsOf(place.stage as StageName);
  return stage.rules + (stage.classifier === null ? 0 : directRulesIn(device, stage.classifier));
}

/** Rules that wait for a sync are not in the core. */
function directRulesIn(device: Device, classifier: Classifier): number {
  let rules = 0;
  if (device.asyncRules) {
    for (const one of device.installed) {
      if (one instanceof Rule && one.classifier === classifier && one.handle !== 0) rules++;
    }
    return rules;
  }
  for (const place of classifier.places) if (place instanceof Matcher) rules += place.users;
  return rules;
}

/** The flows or direct rules that a rule of the core stands for. */
export function ownersOf(one: InstalledRule): readonly object[] {
  if (one instanceof FlowEntry) return one.flows;
  return one.entry?.rules ?? [one];
}

/** A rule, entry or connection of the device. */
export function ruleRef(one: InstalledRule): RuleRef {
  const { id } = one;
  if (one instanceof Rule) {
    const { matcher } = one;
    const name = one.entry?.rules.map((rule) => rule.name).join(" = ") ?? one.name;
    return { kind: "rule", name, id, priority: matcher.priority, matcher: matcher.name };
  }
  if (one instanceof FlowEntry) {
    const name = one.flows.map((flow) => flow.name).join(" = ");
    return { kind: "flow", name, id, priority: one.slot >> 1, matcher: null };
  }
  if (one instanceof HostRule) {
    return { kind: "host rule", name: one.name, id, priority: one.priority, matcher: null };
  }
  if (isDevxFlowEntry(one)) {
    return { kind: "entry", name: one.name, id, priority: one.index, matcher: null };
  }
  const name = one instanceof ConnectedRule ? one.name : `rule${id}`;
  return { kind: "connection", name, id, priority: 0, matcher: null };
}
