/** The eSwitch of a scenario as filters of tc. */
import { PORT_VXLAN } from "../../../abi/protocols.js";
import type { Scenario } from "../../../scenario/index.js";
import { refuseOthers, type ExportFindings } from "../../writing/finding.js";
import type { Format } from "../../writing/format.js";
import { actionsText, type Names } from "./actions.js";
import { lookupOrder, type OrderedRule } from "../../writing/lookupOrder.js";
import { NotExported, type Terms } from "../../writing/terms.js";
import { variantsOf } from "./match.js";

const UPLINK = 0xffffn;
const MAX_PRIOS = 65535;

export const TC: Format = {
  title: "filters of tc",
  write: (scenario, findings) => {
    refuseOthers(scenario, findings, "filters of tc are for the eSwitch: domain fdb");
    const fdb = (scenario.tables ?? []).filter(({ domain }) => domain === "fdb");
    const chains = new Map<string, number>();
    for (const { name, level } of fdb)
      chains.set(name, level === 0 ? 0 : [...chains.values()].filter((n) => n > 0).length + 1);
    const tell = (path: string, reason: string, name: string): void => findings.refuse(path, reason, name);
    const entries = new Map<string, readonly OrderedRule[]>();
    for (const { name, level } of fdb) entries.set(name, lookupOrder(scenario, [name], level === 0, tell));
    const { ports = 1, vports = 0 } = scenario.device ?? {};
    const lines = (scenario.device?.parser?.vxlanPorts ?? []).flatMap((port) =>
      port === PORT_VXLAN ? [] : [`ip link add vxlan${port} type vxlan dstport ${port} external`],
    );
    for (let port = 1; port <= ports; port++) {
      lines.push(...deviceLines(`eth${port - 1}`, { port }, entries, chains, scenario, findings));
    }
    for (let vport = 1; vport <= vports; vport++) {
      lines.push(...deviceLines(`eth0_${vport - 1}`, { vport }, entries, chains, scenario, findings));
    }
    return `${lines.join("\n")}\n`;
  },
};

/** The filters of one device: those of the rules that its frames can hit. */
function deviceLines(
  device: string,
  source: { port: number } | { vport: number },
  entries: ReadonlyMap<string, readonly OrderedRule[]>,
  chains: ReadonlyMap<string, number>,
  scenario: Scenario,
  findings: ExportFindings,
): string[] {
  const { ports = 1 } = scenario.device ?? {};
  const own = "port" in source ? device : "eth0";
  const names: Names = {
    port: (port) => `eth${port - 1}`,
    vport: (vport) => {
      if (vport === "uplink" || vport === Number(UPLINK)) return own;
      return vport === 0 ? "pf0hpf" : `eth0_${vport - 1}`;
    },
    chain: (table) => chains.get(table) ?? 0,
  };
  const lines: string[] = [];
  const told = new Set(findings.list.map(({ path }) => path));
  for (const [table, rules] of entries) {
    const prios = new Map<string, number>();
    for (const entry of rules) {
      const { rule, path, terms, group } = entry;
      try {
        if (!comesFrom(terms, source, ports)) continue;
        const filters: string[] = [];
        for (const variant of variantsOf(terms)) {
          const key = `${group} ${variant.protocol} ${variant.keys.map((one) => one.split(" ")[0]).join(" ")} ${variant.version ?? 0}`;
          const prio = prios.get(key) ?? prios.size + 1;
          if (prio > MAX_PRIOS) throw new NotExported("a chain of tc has 65535 priorities");
          prios.set(key, prio);
          const chain = chains.get(table) ?? 0;
          const where = `dev ${device} ingress${chain === 0 ? "" : ` chain ${chain}`} protocol ${variant.protocol} prio ${prio}`;
          const text = actionsText(rule.actions ?? [], variant, names);
          filters.push(`tc filter add ${where} ${["flower", ...variant.keys].join(" ")} ${text}`);
        }
        lines.push(...filters);
      } catch (error) {
        if (!(error instanceof NotExported)) throw error;
        if (!told.has(path)) findings.refuse(path, error.message, rule.name);
        told.add(path);
      }
    }
  }
  return lines.length === 0 ? [] : [`tc qdisc add dev ${device} clsact`, ...lines];
}

/** Whether a rule is for frames of a port or a function. @throws NotExported */
function comesFrom(terms: Terms, source: { port: number } | { vport: number }, ports: number): boolean {
  const asked = terms.get("misc.source_port");
  if (asked !== undefined) {
    if (asked.kind !== "bits" || asked.mask !== UPLINK) throw new NotExported("a filter of tc is on one device");
    if (asked.value === 0n) throw new NotExported("tc does not filter what the PF sends");
    if (asked.value !== ("port" in source ? UPLINK : BigInt(source.vport))) return false;
  }
  const port = terms.get("ext.port");
  if (port === undefined) return true;
  if (port.kind !== "bits" || port.mask !== UPLINK) throw new NotExported("a filter of tc is on one device");
  if ("vport" in source) throw new NotExported("a filter of tc does not see the port that a function sends to");
  return ports === 1 || port.value === BigInt(source.port);
}
