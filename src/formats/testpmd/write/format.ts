/** A scenario as testpmd commands. */
import type { Scenario } from "../../../scenario/index.js";
import type { ExportFindings } from "../../writing/finding.js";
import type { Format } from "../../writing/format.js";
import { lookupOrder, type OrderedRule } from "../../writing/lookupOrder.js";
import { NotExported, type Terms } from "../../writing/terms.js";
import { actionsText } from "./actions.js";
import { patternsOf } from "./pattern.js";

type Domain = "nic_rx" | "nic_tx" | "fdb";
type Table = NonNullable<Scenario["tables"]>[number];

/** A port of a rule, and the item that asks for it. */
interface Source {
  readonly port: number;
  readonly item: string;
}

const ATTRIBUTES: Readonly<Record<Domain, string>> = { nic_rx: "ingress", nic_tx: "egress", fdb: "transfer" };
const UPLINK = 0xffffn;

export const TESTPMD: Format = {
  title: "testpmd commands (rte_flow)",
  write: (scenario, findings) => {
    const commands = new Commands(scenario, findings);
    return `${commands.all().join("\n")}\n`;
  },
};

class Commands {
  readonly #groups = new Map<string, number>();
  readonly #queues = new Map<string, number>();
  readonly #counters = new Map<string, number>();

  constructor(
    private readonly scenario: Scenario,
    private readonly findings: ExportFindings,
  ) {
    this.#number();
  }

  all(): string[] {
    const { tables = [] } = this.scenario;
    this.#tellOthers();
    return tables.flatMap((table) => this.#table(table));
  }

  /** Groups of tables, numbers of queues, uses of counters. */
  #number(): void {
    const { tables = [], queues = [], rules = [] } = this.scenario;
    const taken = new Set<string>();
    for (const { name, domain = "nic_rx", function: vport = 0, level } of tables) {
      let group = level;
      while (taken.has(`${domain} ${vport} ${group}`)) group++;
      taken.add(`${domain} ${vport} ${group}`);
      this.#groups.set(name, group);
    }
    const numbers = new Set<number>();
    const own = (name: string): number | undefined => {
      const digits = /^(?:port \d+ )?queue (\d{1,5})$/.exec(name)?.[1];
      return digits === undefined || Number(digits) > 0xffff ? undefined : Number(digits);
    };
    for (const { name } of queues) {
      const number = own(name);
      if (number === undefined) continue;
      this.#queues.set(name, number);
      numbers.add(number);
    }
    let next = 0;
    for (const { name } of queues) {
      if (this.#queues.has(name)) continue;
      while (numbers.has(next)) next++;
      this.#queues.set(name, next++);
    }
    for (const { actions = [] } of rules) {
      for (const action of actions) {
        if (typeof action !== "object" || action.count === undefined) continue;
        this.#counters.set(action.count, (this.#counters.get(action.count) ?? 0) + 1);
      }
    }
  }

  #tellOthers(): void {
    for (const key of ["flows", "deviceFlows", "flowEntries", "hostRules"] as const) {
      (this.scenario[key] ?? []).forEach(({ name }, n) => {
        this.findings.refuse(`${key}[${n}]`, "testpmd has rules of tables only", name ?? null);
      });
    }
  }

  /** Rules keep their priorities where the rules of each have one mask. */
  #table(table: Table): string[] {
    const tell = (path: string, reason: string, name: string): void => this.findings.refuse(path, reason, name);
    const rules = lookupOrder(this.scenario, [table.name], table.level === 0, tell);
    const groups = new Map(rules.map(({ group, priority }) => [group, priority]));
    const isPlain = new Set(groups.values()).size === groups.size;
    return rules.flatMap((one) => this.#rule(table, isPlain ? one : { ...one, priority: one.group }));
  }

  #rule(table: Table, one: OrderedRule): string[] {
    const { domain = "nic_rx" } = table;
    try {
      const sources = this.#sources(domain, table.function ?? 0, one.terms);
      const rest = new Map(one.terms);
      if (domain === "fdb") rest.delete("misc.source_port");
      return sources.flatMap((source) => this.#commands(table, { ...one, terms: rest }, source, sources.length));
    } catch (error) {
      if (!(error instanceof NotExported)) throw error;
      this.findings.refuse(one.path, error.message, one.rule.name);
      return [];
    }
  }

  /** The ports of a rule: in the eSwitch a rule has the frames of one. */
  #sources(domain: Domain, vport: number, terms: Terms): Source[] {
    if (domain !== "fdb") return [{ port: vport, item: "" }];
    if ((this.scenario.device?.ports ?? 1) > 1) throw new NotExported("testpmd port 0 is the only port of the eSwitch");
    const asked = terms.get("misc.source_port");
    const itemOf = (source: bigint): string => {
      if (source === 0n) return "port_representor port_id is 0 / ";
      return `represented_port ethdev_port_id is ${source === UPLINK ? 0n : source} / `;
    };
    if (asked !== undefined && asked.kind !== "any" && !(asked.kind === "bits" && asked.mask === 0n)) {
      if (asked.kind !== "bits" || asked.mask !== UPLINK) throw new NotExported("an item asks for one port");
      return [{ port: 0, item: itemOf(asked.value) }];
    }
    const functions = Array.from({ length: this.scenario.device?.vports ?? 0 }, (_, n) => BigInt(n + 1));
    return [UPLINK, 0n, ...functions].map((source) => ({ port: 0, item: itemOf(source) }));
  }

  #commands(table: Table, { rule, terms, priority }: OrderedRule, { port, item }: Source, copies: number): string[] {
    const { domain = "nic_rx", level, name } = table;
    const option = this.scenario.device?.parser?.geneveOption0;
    const patterns = patternsOf(terms, { domain, option });
    const group = this.#groups.get(name) ?? 0;
    const attributes = [
      ...(group === 0 ? [] : [`group ${group}`]),
      ...(priority === 0 ? [] : [`priority ${priority}`]),
      ATTRIBUTES[domain],
    ].join(" ");
    return patterns.flatMap((pattern) => {
      const { before, text } = actionsText(rule.actions ?? [], {
        scenario: this.scenario,
        domain,
        isRoot: level === 0,
        pattern,
        group: (one) => this.#groups.get(one) ?? 0,
        queue: (one) => this.#queues.get(one) ?? 0,
        isShared: (counter) => (this.#counters.get(counter) ?? 0) > 1 || patterns.length * copies > 1,
      });
      return [...before, `flow create ${port} ${attributes} pattern ${item}${pattern.text} / end actions ${text}`];
    });
  }
}
