/** The eSwitch of a scenario as flows of a bridge of Open vSwitch. */
import type { Scenario, ScenarioRuleAction } from "../../../scenario/index.js";
import { refuseOthers, type ExportFindings } from "../../writing/finding.js";
import type { Format } from "../../writing/format.js";
import { lookupOrder } from "../../writing/lookupOrder.js";
import { NotExported } from "../../writing/terms.js";
import { missText, variantsOf, type Names } from "./actions.js";
import { matchedOf, portName, type Kind } from "./match.js";

interface FlowText {
  readonly words: readonly string[];
  readonly actions: string;
}

const MAX_TABLES = 254;
const HIGHEST = 65534;

export const OVS: Format = {
  title: "OpenFlow flows of Open vSwitch",
  write: (scenario, findings) => {
    refuseOthers(scenario, findings, "flows of a bridge are for the eSwitch: domain fdb");
    const { ports = 1, vports = 0 } = scenario.device ?? {};
    const fdb = (scenario.tables ?? []).filter(({ domain }) => domain === "fdb");
    const roots = fdb.filter(({ level }) => level === 0);
    const tables = new Map(roots.map(({ name }) => [name, 0]));
    for (const { name, level } of fdb) if (level > 0) tables.set(name, tables.size - roots.length + 1);
    const lines = [
      "# Flows of a bridge. Add them with OpenFlow 1.5: tags are pushed, and other_config:vlan-limit is 0.",
      `# Ports: ${[...Array(ports).keys()].map((n) => `${n + 1} is port ${n + 1}`).join(", ")}, LOCAL is the PF${vports === 0 ? "" : `, ${portName(1, ports)} is VF 1`}.`,
    ];
    for (const { name, level } of fdb) {
      const number = tables.get(name) ?? 0;
      if (number >= MAX_TABLES) {
        findings.refuse("tables", "a bridge has 254 tables", name);
        continue;
      }
      if (level === 0 && name !== roots[0]?.name) continue;
      const names: Names = { ports, isRoot: level === 0, table: numberOf(tables) };
      const own = level === 0 ? roots.map((root) => root.name) : [name];
      lines.push(...tableLines(scenario, own, number, names, findings));
    }
    return `${lines.join("\n")}\n`;
  },
};

function numberOf(tables: ReadonlyMap<string, number>): (name: string) => number {
  return (name) => {
    const found = tables.get(name);
    if (found === undefined || found === 0) throw new NotExported(`flows do not lead to ${name}`);
    return found;
  };
}

/** The flows of a table, one priority each, in the order in which the device looks its rules up. */
function tableLines(
  scenario: Scenario,
  tables: readonly string[],
  number: number,
  names: Names,
  findings: ExportFindings,
): string[] {
  const flows: FlowText[] = [];
  const tell = (path: string, reason: string, name: string): void => findings.refuse(path, reason, name);
  for (const { rule, path, terms } of lookupOrder(scenario, tables, names.isRoot, tell)) {
    try {
      const actions = (rule.actions ?? []).map((action) => shared(action, scenario));
      for (const { words, kind } of matchedOf(terms, scenario)) {
        for (const more of variantsOf(actions, kind, names)) {
          flows.push({ words: [...words, ...more.words], actions: more.actions });
        }
      }
    } catch (error) {
      if (!(error instanceof NotExported)) throw error;
      findings.refuse(path, error.message, rule.name);
    }
  }
  flows.push(...missFlows(names));
  if (flows.length > HIGHEST)
    findings.refuse("tables", "a table of a bridge has a priority for 65,534 flows", tables[0]);
  return flows.slice(0, HIGHEST).map(({ words, actions }, n) => {
    return `${[`table=${number}`, `priority=${HIGHEST - n}`, ...words].join(",")} actions=${actions}`;
  });
}

/** What frames do that no rule takes. */
function missFlows(names: Names): FlowText[] {
  const of = (from: string | undefined): Kind => ({ type: undefined, protocol: undefined, tagged: undefined, from });
  const flow = (from: string): FlowText => ({ words: [`in_port=${from}`], actions: missText(of(from), names).join() });
  const others = names.isRoot ? "output:LOCAL" : missText(of(undefined), names).join();
  return [...(names.isRoot && names.ports === 1 ? [flow("LOCAL")] : []), { words: [], actions: others }];
}

/** An action of the rule's own, or the shared one that it names. */
function shared(action: ScenarioRuleAction, { actions = [] }: Scenario): ScenarioRuleAction {
  if (typeof action === "string" || action.action === undefined) return action;
  const found = actions.find(({ name }) => name === action.action);
  if (found === undefined) return action;
  for (const word of ["drop", "default_miss", "pop_vlan"] as const) if (found[word] === true) return word;
  const own = Object.entries(found).filter(([key]) => key !== "name" && key !== "description");
  return Object.fromEntries(own);
}
