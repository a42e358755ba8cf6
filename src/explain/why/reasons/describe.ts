/** Names of rules, tables and functions, as sentences use them. */
import type { DomainType } from "../../../model/base/domainType.js";
import type { RuleRef, TableRef } from "../../trace/trace.js";

const DOMAINS: Readonly<Record<DomainType, string>> = { nic_rx: "NIC_RX", nic_tx: "NIC_TX", fdb: "FDB" };

/** "FDB", "NIC_RX". */
export function domainText(domain: DomainType): string {
  return DOMAINS[domain];
}

/** "the PF", "VF 1". */
export function functionText(vport: number): string {
  return vport === 0 ? "the PF" : `VF ${vport}`;
}

/** `rule "web"`. */
export function ruleText({ kind, name }: Pick<RuleRef, "kind" | "name">): string {
  return kind === "connection" ? `the rule of connection "${name}"` : `${kind} "${name}"`;
}

/** Names of stages, as model/table/pipeline.ts orders them. */
const STAGES: ReadonlySet<string> = new Set([
  "sniffers",
  "RDMA RX",
  "RDMA transport RX",
  "connections",
  "host rules",
  "default flows",
  "RDMA TX",
  "RDMA transport TX",
]);

/** `table "overlay"`, "the root table of the FDB", "the host rules of VF 1". */
export function tableText({ domain, vport, table }: TableRef): string {
  if (STAGES.has(table)) return `the ${table} of ${functionText(vport)}`;
  if (table !== "root") return `table "${table}"`;
  return domain === "fdb"
    ? "the root table of the FDB"
    : `the ${domainText(domain)} root table of ${functionText(vport)}`;
}

/** "a", "a and b", "a, b and 3 more". */
export function listText(names: readonly string[], most = 3): string {
  if (names.length <= 1) return names[0] ?? "";
  const shown = names.slice(0, most);
  if (names.length > most) return `${shown.join(", ")} and ${names.length - most} more`;
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1) ?? ""}`;
}
