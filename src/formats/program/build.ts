/** Makes a program of a scenario, and tells what a program cannot have. */
import { flowRequest } from "../../scenario/flow/specs.js";
import type { Scenario } from "../../scenario/document.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";
import type { ExportFindings } from "../writing/finding.js";
import { Missing, ProgramActions } from "./actions.js";
import { matchersOf, type OrderedRule } from "./order.js";
import { criteriaOf, deviceMask, deviceMatches, parametersOf, sizeOf, type DeviceMatch } from "./parameters.js";
import type {
  Program,
  ProgramCounter,
  ProgramFlow,
  ProgramFlowCounter,
  ProgramMatcher,
  ProgramQueue,
  ProgramRule,
  ProgramTable,
} from "./program.js";

/** @param findings takes what the program lacks */
export function programOf(scenario: Scenario, findings: ExportFindings): Program {
  return new Builder(scenario, findings).program();
}

/** Sections that are made by device commands, or that another function has. */
const WITHOUT = {
  connect: "a program does not make cables",
  indirectionTables: "the program does not make RSS queues",
  rqts: "they are made by device commands, which the program does not have",
  tirs: "they are made by device commands, which the program does not have",
  asoObjects: "they are made by device commands, which the program does not have",
  flowTables: "they are made by device commands, which the program does not have",
  steeringAnchors: "the program does not make them",
  flowEntries: "they are made by device commands, which the program does not have",
  deviceFlows: "the program does not make flows in device bytes",
  hostRules: "they are made by other programs",
} as const satisfies Partial<Record<keyof Scenario, string>>;

const OTHER_FUNCTION = "it belongs to another function: a program has the function of the device that it opens";

interface Planned extends OrderedRule {
  readonly actions: readonly number[];
}

/** What becomes matchers of a table, in the order in which the scenario creates it. */
interface Group {
  readonly name: string;
  readonly priority: number;
  /** Of a matcher; null if each rule has its own. */
  readonly mask: Uint8Array | null;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly rules: Planned[];
}

class Builder {
  readonly #queues: ProgramQueue[] = [];
  readonly #counters: ProgramCounter[] = [];
  readonly #domains: ("nic_rx" | "nic_tx" | "fdb")[] = [];
  readonly #tables: ProgramTable[] = [];
  readonly #matchers: ProgramMatcher[] = [];
  readonly #rules: ProgramRule[] = [];
  readonly #flowCounters: ProgramFlowCounter[] = [];
  readonly #flows: ProgramFlow[] = [];
  readonly #actions: ProgramActions;

  constructor(
    private readonly scenario: Scenario,
    private readonly findings: ExportFindings,
  ) {
    const named = (list: readonly { readonly name: string }[]) => (name: string) => indexOf(list, name);
    this.#actions = new ProgramActions(scenario, {
      queue: named(this.#queues),
      table: named(this.#tables),
      counter: named(this.#counters),
    });
  }

  program(): Program {
    const { title = "rules of a NIC" } = this.scenario;
    for (const [key, reason] of Object.entries(WITHOUT)) {
      if (((this.scenario as Record<string, unknown>)[key] as readonly unknown[] | undefined)?.length) {
        this.findings.refuse(key, reason);
      }
    }
    this.#addQueues();
    this.#addTables();
    this.#addRules();
    this.#addFlows();
    return {
      title,
      queues: this.#queues,
      counters: this.#counters,
      domains: this.#domains,
      tables: this.#tables,
      actions: this.#actions.list,
      matchers: this.#matchers,
      rules: this.#rules,
      flowCounters: this.#flowCounters,
      flows: this.#flows,
    };
  }

  #addQueues(): void {
    const { queues = [], counters = [] } = this.scenario;
    for (const [i, { name, type = "raw_packet", function: of = 0, port = 1, rwq_ind_tbl: rss }] of queues.entries()) {
      const path = `queues[${i}]`;
      if (of !== 0) this.findings.refuse(path, OTHER_FUNCTION, name);
      else if (rss !== undefined) this.findings.refuse(path, WITHOUT.indirectionTables, name);
      else if (type !== "raw_packet" && type !== "ud") {
        this.findings.refuse(path, `the program does not make queues of type ${type}`, name);
      } else this.#queues.push({ name, port, type });
    }
    for (const [i, { name, function: of = 0, flow_counter_bulk_log_size: bulkLog = 0 }] of counters.entries()) {
      if (of === 0) this.#counters.push({ name, bulkLog });
      else this.findings.refuse(`counters[${i}]`, OTHER_FUNCTION, name);
    }
  }

  #addTables(): void {
    for (const [i, { name, domain = "nic_rx", function: of = 0, level }] of (this.scenario.tables ?? []).entries()) {
      if (of !== 0) {
        this.findings.refuse(`tables[${i}]`, OTHER_FUNCTION, name);
        continue;
      }
      if (!this.#domains.includes(domain)) this.#domains.push(domain);
      this.#tables.push({ name, domain: this.#domains.indexOf(domain), level });
    }
  }

  #addRules(): void {
    const groups = this.#groups();
    for (const [table, list] of groups) {
      const at = indexOf(this.#tables, table);
      if (at === undefined) continue;
      const isRoot = this.#tables[at]?.level === 0;
      const split = list.map((group) => ({
        ...group,
        matchers: group.mask === null ? matchersOf(group.rules) : [{ mask: group.mask, rules: group.rules }],
      }));
      const renumbers = !isRoot && split.some(({ matchers }) => matchers.length > 1);
      // In the order of lookups, where each gets a priority of its own.
      const ordered = renumbers ? split.toReversed().toSorted((a, b) => a.priority - b.priority) : split;
      let number = 0;
      for (const { name, priority, fields, mask: given, matchers } of ordered) {
        for (const [n, { mask, rules }] of matchers.entries()) {
          const called = matchers.length === 1 ? name : `${name} ${n + 1}`;
          const first: Readonly<Record<string, unknown>> = given === null ? masksOf(rules[0] as Planned) : fields;
          this.#addMatcher(at, called, renumbers ? number++ : priority, mask, first, rules);
        }
      }
    }
  }

  #addMatcher(
    table: number,
    name: string,
    priority: number,
    mask: Uint8Array,
    fields: Readonly<Record<string, unknown>>,
    rules: readonly Planned[],
  ): void {
    const criteria = criteriaOf(mask);
    const size = sizeOf(criteria);
    this.#matchers.push({ name, table, priority, criteria, mask: parametersOf(mask, size, fields) });
    for (const rule of rules) {
      const value = parametersOf(rule.value, size, rule.fields);
      const { path, actions } = rule;
      this.#rules.push({ name: rule.name, path, matcher: this.#matchers.length - 1, value, actions });
    }
  }

  /** Matchers, and the rules that have masks of their own, by table. */
  #groups(): Map<string, Group[]> {
    const groups = new Map<string, Group[]>();
    const byName = new Map<string, { group: Group; table: string }>();
    const add = (table: string, key: string, group: Group): Group => {
      const list = groups.get(table) ?? [];
      list.push(group);
      groups.set(table, list);
      byName.set(key, { group, table });
      return group;
    };
    for (const [i, { name, table, priority = 0, mask, layout }] of (this.scenario.matchers ?? []).entries()) {
      const path = `matchers[${i}]`;
      if (layout !== undefined) this.findings.refuse(`${path}.layout`, "the program does not set layouts", name);
      const device = mask === undefined ? null : deviceMask(mask);
      if (typeof device === "string") this.findings.refuse(path, device, name);
      else add(table, `matcher ${name}`, { name, priority, mask: device, fields: mask ?? {}, rules: [] });
    }
    for (const [i, rule] of (this.scenario.rules ?? []).entries()) {
      const { matcher, table = "", priority = 0 } = rule;
      const key = matcher === undefined ? `${table} at priority ${priority}` : `matcher ${matcher}`;
      const known = byName.get(key);
      if (known === undefined && matcher !== undefined) {
        this.findings.refuse(`rules[${i}]`, "the program does not have its matcher", rule.name);
        continue;
      }
      const group = known?.group ?? add(table, key, { name: key, priority, mask: null, fields: {}, rules: [] });
      group.rules.push(...this.#planned(rule, `rules[${i}]`, known?.table ?? table, group));
    }
    return groups;
  }

  /** A rule, as one of the device or several; none if it cannot be expressed. */
  #planned(rule: ScenarioRule, path: string, table: string, group: Group): Planned[] {
    const place = this.#tables[indexOf(this.#tables, table) ?? -1];
    if (place === undefined) {
      this.findings.refuse(path, "the program does not have its table", rule.name);
      return [];
    }
    const matches = deviceMatches(rule.match ?? {});
    if (typeof matches === "string") {
      this.findings.refuse(`${path}.match`, matches, rule.name);
      return [];
    }
    const actions: number[] = [];
    for (const [n, action] of (rule.actions ?? []).entries()) {
      const made = this.#actions.of(action, place.domain, place.level === 0);
      if (!(made instanceof Missing)) actions.push(made);
      else {
        this.findings.refuse(`${path}.actions[${n}]`, made.reason, rule.name);
        return [];
      }
    }
    if (matches.length > 1 && group.mask !== null) {
      this.findings.refuse(`${path}.match`, "a range, in a matcher whose mask all its rules share", rule.name);
      return [];
    }
    return matches.map((match: DeviceMatch, n) => ({
      ...match,
      name: matches.length === 1 ? rule.name : `${rule.name} ${n + 1}`,
      path,
      actions,
    }));
  }

  #addFlows(): void {
    for (const { name, points = [] } of this.scenario.flowCounters ?? []) this.#flowCounters.push({ name, points });
    for (const [i, flow] of (this.scenario.flows ?? []).entries()) {
      const name = flow.name ?? `flow ${i + 1}`;
      const path = `flows[${i}]`;
      const queue = indexOf(this.#queues, flow.queue);
      const handled = (flow.specs ?? []).some((spec) => typeof spec === "object" && spec.action !== undefined);
      if (queue === undefined) this.findings.refuse(path, "the program does not have its queue", name);
      else if (handled) this.findings.refuse(path, "the program does not make flow actions", name);
      else {
        const counters = (of: string): number => indexOf(this.#flowCounters, of) ?? 0;
        const request = flowRequest(path, flow, { counters, action: () => 0 });
        this.#flows.push({ name, queue, request });
      }
    }
  }
}

function indexOf(list: readonly { readonly name: string }[], name: string): number | undefined {
  const at = list.findIndex((one) => one.name === name);
  return at < 0 ? undefined : at;
}

/** The fields of a rule, for the comments of a mask that its rule alone says. */
function masksOf({ fields }: Planned): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const [, mask] = String(text).split("/");
      return [name, mask === undefined ? "full" : `/${mask}`];
    }),
  );
}
