/** A dump as a scenario: its tables, matchers and rules, and the objects that they name. */
import { VPORT_MANAGER, VPORT_UPLINK } from "../../abi/engine.js";
import type { ScenarioRuleAction } from "../../scenario/action/definition.js";
import type { Scenario } from "../../scenario/document.js";
import type { ScenarioMatcher, ScenarioRule, ScenarioTable } from "../../scenario/rule/definition.js";
import type { Findings } from "../findings.js";
import { actionOf, type ActionNames } from "./actions.js";
import { asksSamples, askedFields, valueText, type AskedField } from "./match.js";
import { planOf, type MatcherPlan } from "./plan.js";
import { readTree, type DumpDomain, type DumpMatcher, type DumpRule, type DumpTable } from "./tree.js";
import { valueOf } from "./value.js";

/** Makes one scenario of the dumps of software steering. */
export class DumpImport implements ActionNames {
  readonly #findings: Findings;
  readonly #tables: ScenarioTable[] = [];
  readonly #matchers: ScenarioMatcher[] = [];
  readonly #rules: ScenarioRule[] = [];
  readonly #queues = new Set<string>();
  readonly #tirs = new Set<string>();
  readonly #counters = new Set<string>();
  readonly #names = new Map<DumpTable, string>();
  #vports = 0;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Adds the domains of a dump. */
  add(text: string): void {
    const { domains, misplaced, others } = readTree(text);
    for (const { line, text: found } of others) {
      this.#findings.assume({ line, column: 1 }, found, "no record of a dump: left out");
    }
    for (const { record, reason } of misplaced) this.#findings.refuse(record, record.text, reason);
    for (const domain of domains) this.#domain(domain);
    if (domains.length > 0 || misplaced.length > 0) return;
    this.#findings.refuse({ line: 1, column: 1 }, "", "there is no record of a steering dump (3000,...) in it");
  }

  scenario(): Scenario {
    const named = (name: string): { name: string } => ({ name });
    const tirs = [...this.#tirs];
    const queues = [...this.#queues, ...tirs].map(named);
    return {
      flowsteer: 1,
      ...(this.#vports === 0 ? {} : { device: { vports: this.#vports } }),
      ...(queues.length === 0 ? {} : { queues }),
      ...(tirs.length === 0 ? {} : { tirs: tirs.map((name) => ({ name, queue: name })) }),
      ...(this.#counters.size === 0 ? {} : { counters: [...this.#counters].map(named) }),
      tables: this.#tables,
      matchers: this.#matchers,
      rules: this.#rules,
    };
  }

  #domain(domain: DumpDomain): void {
    for (const vport of domain.vports.keys()) if (vport !== VPORT_UPLINK) this.#vports = Math.max(this.#vports, vport);
    const tables = domain.tables.filter(({ level }) => level > 0);
    for (const table of tables) this.#addTable(table);
    const jumped = new Set<string>();
    for (const table of tables) {
      // Dumps list matchers in the order of lookups; among equal priorities that is the newest first.
      for (const matcher of table.matchers.toReversed()) this.#addMatcher(matcher, jumped);
    }
    this.#enter(domain, tables, jumped);
  }

  #addTable(table: DumpTable): void {
    const { domain, level, id } = table;
    const plain = `${domain.type} level ${level}`;
    const name = this.#tables.some((one) => one.name === plain) ? `${plain} ${id}` : plain;
    this.#names.set(table, name);
    this.#tables.push({ name, description: id, ...placeOf(domain), level });
  }

  /** The rules of root tables are in the kernel: frames go to the first table that no rule leads to. */
  #enter(domain: DumpDomain, tables: readonly DumpTable[], jumped: ReadonlySet<string>): void {
    const byLevel = tables.filter(({ matchers }) => matchers.length > 0).toSorted((a, b) => a.level - b.level);
    const first = byLevel.find((table) => !jumped.has(this.table(table))) ?? byLevel[0];
    if (first === undefined) return;
    const root = `${domain.type} root`;
    if (this.#tables.some(({ name }) => name === root)) return;
    const to = this.table(first);
    this.#tables.push({ name: root, ...placeOf(domain), level: 0 });
    this.#rules.push({ name: `${root} to ${to}`, table: root, actions: [{ table: to }] });
    this.#findings.assume(
      first.record,
      first.record.text,
      `the rules of the root table are in the kernel, not in the dump: all frames go from "${root}" to "${to}"`,
    );
  }

  #addMatcher(matcher: DumpMatcher, jumped: Set<string>): void {
    const plan = planOf(matcher);
    const name = matcher.id;
    const fields = askedFields(plan.asked);
    const missing = this.#missingOf(plan);
    const mask = Object.fromEntries(fields.map(({ field, maskText }) => [field.name, maskText]));
    this.#matchers.push({
      ...{ name, table: this.table(matcher.table), priority: matcher.priority },
      ...(missing.length > 0 ? {} : { mask }),
    });
    if (missing.length === 0) for (const rule of matcher.rules) this.#addRule(plan, fields, name, rule, jumped);
    else {
      this.#matchers.pop();
      for (const { record } of matcher.rules) this.#findings.refuse(record, record.text, missing.join("; "));
    }
  }

  /** Why no rule of a matcher can be imported. */
  #missingOf({ matcher, asked, left }: MatcherPlan): string[] {
    for (const { name } of left) {
      const reason = `no entry compares ${name}: the device's driver left it out of the mask`;
      this.#findings.assume(matcher.record, matcher.record.text, reason);
    }
    return asksSamples(asked)
      ? ["its matcher asks for a programmable sample, and a dump does not say where it lies"]
      : [];
  }

  #addRule(
    plan: MatcherPlan,
    fields: readonly AskedField[],
    matcher: string,
    rule: DumpRule,
    jumped: Set<string>,
  ): void {
    const name = rule.id;
    const { value, unknown } = valueOf(plan, rule);
    if (rule.value === null && rule.entries.length === 0) {
      this.#findings.refuse(rule.record, rule.record.text, "the dump has no entries of it", name);
      return;
    }
    if (unknown.length > 0) {
      const what = unknown.map((field) => field.name).join(", ");
      this.#findings.refuse(rule.record, rule.record.text, `its entries do not say which ${what} it asks for`, name);
      return;
    }
    const actions: ScenarioRuleAction[] = [];
    const missing: string[] = [];
    for (const action of rule.actions) {
      const imported = actionOf(rule, action, this);
      if (typeof imported === "object" && "refused" in imported) {
        this.#findings.refuse(action.record, action.record.text, imported.refused, name);
        missing.push(`${action.record.text}: ${imported.refused}`);
        continue;
      }
      actions.push(imported);
      if (typeof imported === "object" && imported.table !== undefined) jumped.add(imported.table);
      if (typeof imported === "object" && typeof imported.vport === "number")
        this.#vports = Math.max(this.#vports, imported.vport);
    }
    this.#rules.push({
      ...{ name, matcher },
      match: Object.fromEntries(fields.map((field) => [field.field.name, valueText(field, value)])),
      actions,
      ...(missing.length === 0 ? {} : { notImported: missing }),
    });
  }

  table(table: DumpTable): string {
    return this.#names.get(table) ?? table.id;
  }

  queue(number: string): string {
    return added(this.#queues, `qp ${number}`);
  }

  tir(address: string): string {
    return added(this.#tirs, `tir ${address}`);
  }

  counter(number: string): string {
    return added(this.#counters, `counter ${number}`);
  }
}

function added(names: Set<string>, name: string): string {
  names.add(name);
  return name;
}

/** The domain of a table, and its function: the vport that has the gvmi. */
function placeOf({ type, gvmi, vports }: DumpDomain): Pick<ScenarioTable, "domain" | "function"> {
  const [vport = VPORT_MANAGER] = [...vports].find(([number, of]) => of === gvmi && number !== VPORT_UPLINK) ?? [];
  return { domain: type, ...(type === "fdb" || vport === VPORT_MANAGER ? {} : { function: vport }) };
}
