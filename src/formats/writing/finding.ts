/** What an exporter says of an element that the format cannot express. */
import type { Scenario } from "../../scenario/document.js";

export interface ExportFinding {
  /** Where it stands in the scenario: `rules[3].actions[0]`. */
  readonly path: string;
  /** The rule, flow or table that lacks it in the text; null if none does. */
  readonly name: string | null;
  /** Why, as a sentence without a full stop. */
  readonly reason: string;
}

/** A finding in one line. */
export function printExportFinding({ path, name, reason }: ExportFinding): string {
  return `${path}${name === null ? "" : ` (${name})`}: not exported: ${reason}`;
}

/** Collects what an exporter says. */
export class ExportFindings {
  readonly list: ExportFinding[] = [];

  refuse(path: string, reason: string, name: string | null = null): void {
    this.list.push({ path, name, reason });
  }
}

/** Refuses what is no rule of the eSwitch. */
export function refuseOthers(scenario: Scenario, findings: ExportFindings, reason: string): void {
  const { rules = [], tables = [], matchers = [] } = scenario;
  const domains = new Map(tables.map(({ name, domain = "nic_rx" }) => [name, domain]));
  rules.forEach((rule, n) => {
    const table = rule.table ?? matchers.find(({ name }) => name === rule.matcher)?.table ?? "";
    if (domains.get(table) !== "fdb") findings.refuse(`rules[${n}]`, reason, rule.name);
  });
  for (const key of ["flows", "deviceFlows", "flowEntries", "hostRules"] as const) {
    (scenario[key] ?? []).forEach(({ name }, n) => {
      findings.refuse(`${key}[${n}]`, reason, name ?? null);
    });
  }
}
