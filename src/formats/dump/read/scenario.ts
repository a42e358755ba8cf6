/** A dump as a scenario: its tables, matchers and rules, and the objects that they name. */
import { VPORT_MANAGER, VPORT_UPLINK } from "../../../abi/engine.js";
import type { Field } from "../../../model/match/fields.js";
import type { ScenarioRuleAction } from "../../../scenario/action/definition.js";
import type { ScenarioTable } from "../../../scenario/rule/definition.js";
import { nameIn, ofFunction, type Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { actionOf, type ActionNames } from "./actions.js";
import { askedFields, ipv6Levels, undeclared, valueText, type AskedField } from "../../rules/deviceMatch.js";
import { HardwareImport } from "./hardware/scenario.js";
import { fitting, maskMisfit, matchMisfit } from "./misfit.js";
import { planOf, type MatcherPlan } from "./plan.js";
import { readTree, type DumpDomain, type DumpMatcher, type DumpRule, type DumpTable } from "./tree.js";
import { valueOf } from "./value.js";

/** A matcher of the scenario, and the fields of its mask. */
interface NamedMatcher {
  readonly name: string;
  readonly fields: readonly AskedField[];
}

/** Reads steering dumps into a draft. */
export class DumpImport implements Importer, ActionNames {
  readonly #names = new Map<DumpTable, string>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {}

  /** Adds the domains of a dump. */
  add(text: string): void {
    const { domains, misplaced, others, noNumbers, hardware } = readTree(text);
    for (const { line, text: found } of others) {
      this.findings.assume({ line, column: 1 }, found, "not a dump record: ignored");
    }
    for (const { line, text: found } of noNumbers)
      this.findings.assume({ line, column: 1 }, found, "not a number, as in this column of other records");
    for (const { record, reason } of misplaced) this.findings.refuse(record, record.text, reason);
    for (const domain of domains) this.#domain(domain);
    new HardwareImport(this.draft, this.findings).add(hardware);
    if (domains.length > 0 || misplaced.length > 0 || hardware.contexts.length > 0 || hardware.misplaced.length > 0)
      return;
    this.findings.refuse(
      { line: 1, column: 1 },
      "",
      "there is no record of a steering dump (3000,... or 4000,...) in it",
    );
  }

  #domain(domain: DumpDomain): void {
    for (const vport of domain.vports.keys()) this.#uses(vport);
    // A dump of flowsteer has the rules of root tables, those of devices have not.
    const tables = domain.tables.filter(({ level, matchers }) => domain.isOwn || level > 0 || matchers.length > 0);
    for (const table of tables) this.#addTable(table);
    const jumped = new Set<string>();
    for (const table of tables) {
      // Dumps list matchers in the order of lookups; among equal priorities that is the newest first, in
      // root tables the oldest.
      const byAge = table.level === 0 ? table.matchers : table.matchers.toReversed();
      for (const matcher of byAge) this.#addMatcher(matcher, jumped);
    }
    if (!domain.isOwn && !tables.some(({ level }) => level === 0)) this.#enter(domain, tables, jumped);
  }

  #addTable(table: DumpTable): void {
    const { domain, level, id } = table;
    this.draft.comesFrom(table.record, table.record.text);
    const plain = `${domain.type} level ${level}`;
    const name = this.draft.has("tables", plain) ? this.draft.freeName("tables", `${plain} ${id}`) : plain;
    this.#names.set(table, name);
    this.draft.push("tables", { name, description: id, ...placeOf(domain), level });
  }

  /** The rules of root tables are in the kernel: frames go to the first table that no rule leads to. */
  #enter(domain: DumpDomain, tables: readonly DumpTable[], jumped: ReadonlySet<string>): void {
    const byLevel = tables.filter(({ matchers }) => matchers.length > 0).toSorted((a, b) => a.level - b.level);
    const first = byLevel.find((table) => !jumped.has(this.table(table))) ?? byLevel[0];
    if (first === undefined) return;
    const root = `${domain.type} root`;
    const to = this.table(first);
    if (this.draft.has("tables", root)) {
      const reason = `"${root}" leads to another table: no frame comes from it to "${to}"`;
      this.findings.assume(first.record, first.record.text, reason);
      return;
    }
    this.draft.push("tables", { name: root, ...placeOf(domain), level: 0 });
    this.draft.push("rules", { name: `${root} to ${to}`, table: root, actions: [{ table: to }] });
    this.findings.assume(
      first.record,
      first.record.text,
      `the rules of the root table are in the kernel, not in the dump: all frames go from "${root}" to "${to}"`,
    );
  }

  #addMatcher(matcher: DumpMatcher, jumped: Set<string>): void {
    this.draft.comesFrom(matcher.record, matcher.record.text);
    const plan = planOf(matcher);
    const missing = this.#missingOf(plan);
    if (missing.length > 0) {
      for (const { record } of matcher.rules) this.findings.refuse(record, record.text, missing.join("; "));
      return;
    }
    const made = new Map<string, NamedMatcher | string>();
    // A matcher without rules stands in the scenario, too.
    if (matcher.rules.length === 0) this.#namedMatcher(plan, [], made);
    for (const rule of matcher.rules) {
      const { value, unknown } = valueOf(plan, rule);
      const of = this.#namedMatcher(plan, ipv6Levels(plan.asked, value), made);
      if (typeof of === "string") this.findings.refuse(rule.record, rule.record.text, of);
      else this.#addRule(of, rule, value, unknown, jumped);
    }
  }

  /** The matcher in the scenario, of rules whose addresses are read alike; or why no device has its mask. */
  #namedMatcher(
    { matcher, asked }: MatcherPlan,
    ipv6: readonly string[],
    made: Map<string, NamedMatcher | string>,
  ): NamedMatcher | string {
    const key = ipv6.join(" ");
    const known = made.get(key);
    if (known !== undefined) return known;
    const fields = askedFields(asked, ipv6);
    const mask = Object.fromEntries(fields.map(({ field, maskText }) => [field.name, maskText]));
    const misfit = maskMisfit(mask);
    const name = this.draft.freeName("matchers", matcher.id);
    made.set(key, misfit ?? { name, fields });
    if (misfit !== null) return misfit;
    this.draft.comesFrom(matcher.record, matcher.record.text);
    this.draft.push("matchers", { name, table: this.table(matcher.table), priority: matcher.priority, mask });
    return { name, fields };
  }

  /** Why no rule of a matcher can be imported. */
  #missingOf({ matcher, asked, left }: MatcherPlan): string[] {
    for (const { name } of left) {
      const reason = `no entry compares ${name}: the device's driver left it out of the mask`;
      this.findings.assume(matcher.record, matcher.record.text, reason);
    }
    const reason = undeclared(asked, this.draft.hasGeneveOption);
    return reason === null ? [] : [`of its matcher: ${reason}`];
  }

  #addRule(
    { name: matcher, fields }: NamedMatcher,
    rule: DumpRule,
    value: Uint8Array,
    unknown: readonly Field[],
    jumped: Set<string>,
  ): void {
    const name = this.draft.freeName("rules", rule.id);
    this.draft.comesFrom(rule.record, rule.record.text);
    if (rule.value === null && rule.entries.length === 0) {
      this.findings.refuse(rule.record, rule.record.text, "the dump has no entries of it", name);
      return;
    }
    if (unknown.length > 0) {
      const what = unknown.map((field) => field.name).join(", ");
      this.findings.refuse(rule.record, rule.record.text, `its entries do not tell which ${what} it matches`, name);
      return;
    }
    const match = Object.fromEntries(fields.map((field) => [field.field.name, valueText(field, value)]));
    const misfit = matchMisfit(match);
    if (misfit !== null) {
      this.findings.refuse(rule.record, rule.record.text, misfit, name);
      return;
    }
    const actions: ScenarioRuleAction[] = [];
    const missing: string[] = [];
    for (const action of rule.actions) {
      const imported = fitting(actionOf(rule, action, this), actions, rule.matcher.table);
      if (typeof imported === "object" && "refused" in imported) {
        this.findings.refuse(action.record, action.record.text, imported.refused, name);
        missing.push(`${action.record.text}: ${imported.refused}`);
        continue;
      }
      actions.push(imported);
      if (typeof imported === "object" && imported.table !== undefined) jumped.add(imported.table);
      if (typeof imported === "object" && typeof imported.vport === "number") this.#uses(imported.vport);
    }
    this.draft.push("rules", {
      name,
      matcher,
      match,
      actions,
      ...(missing.length === 0 ? {} : { notImported: missing }),
    });
  }

  table(table: DumpTable): string {
    return this.#names.get(table) ?? table.id;
  }

  queue(number: string, domain: DumpDomain): string {
    const vport = functionOf(domain);
    return this.draft.queue(nameIn(vport, `qp ${number}`), vport);
  }

  tir(address: string, domain: DumpDomain): string {
    const vport = functionOf(domain);
    const name = nameIn(vport, `tir ${address}`);
    return this.draft.once("tirs", { name, queue: this.draft.queue(name, vport) });
  }

  counter(number: string, domain: DumpDomain): string {
    const vport = functionOf(domain);
    return this.draft.counter(nameIn(vport, `counter ${number}`), vport);
  }

  #uses(vport: number): void {
    if (vport !== VPORT_UPLINK) this.draft.endpoint({ vport });
  }
}

/** The function of a domain: the vport that has its gvmi. The FDB is the PF's. */
function functionOf({ type, gvmi, vports }: DumpDomain): number {
  const [vport = VPORT_MANAGER] = [...vports].find(([number, of]) => of === gvmi && number !== VPORT_UPLINK) ?? [];
  return type === "fdb" ? VPORT_MANAGER : vport;
}

function placeOf(domain: DumpDomain): Pick<ScenarioTable, "domain" | "function"> {
  return { domain: domain.type, ...ofFunction(functionOf(domain)) };
}
