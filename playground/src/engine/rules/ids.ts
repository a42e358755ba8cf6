/** Ids of tables and ends: as traces and outcomes name them. */
import type { Scenario, ScenarioFlowTable } from "flowsteer/scenario";
import type { PipelineTable } from "../api.js";

export type DomainName = PipelineTable["domain"];

/** The id of a table of a domain by its name in traces: that of the document, or of a stage. */
export function stageId(domain: DomainName, vport: number, name: string): string {
  return `${domain}/${vport}/${name}`;
}

export function portId(port: number): string {
  return `port:${port}`;
}

export function hostId(queue: number, vport: number): string {
  return `${vport === 0 ? "" : `vf${vport}/`}host:${queue}`;
}

export function queueId({ queues = [] }: Scenario, name: string): string {
  return `${queues.find((queue) => queue.name === name)?.type === "wq" ? "wq" : "qp"}:${name}`;
}

/** The table of this name: one of rules, or one of device commands. All root tables of a domain are one. */
export function tableId({ tables = [], flowTables = [] }: Scenario, name: string): string[] {
  const table = tables.find((one) => one.name === name);
  if (table !== undefined) {
    return [stageId(table.domain ?? "nic_rx", table.function ?? 0, table.level === 0 ? "root" : name)];
  }
  const flowTable = flowTables.find((one) => one.name === name);
  return flowTable === undefined ? [] : [flowTableId(flowTable)];
}

export function flowTableId({ name, table_type = "nic_rx", function: vport = 0 }: ScenarioFlowTable): string {
  return stageId(domainOf(table_type), vport, name);
}

/** The domain of a flow table type of mlx5dv. */
export function domainOf(type: string): DomainName {
  return type === "fdb" ? "fdb" : type.endsWith("tx") ? "nic_tx" : "nic_rx";
}
