/** Scenarios without the rules that drivers make for frames that no other rule takes: where they are exported to, a driver makes its own. */
import { isReceiver } from "../../drivers/madeRules.js";
import type { Scenario } from "../../scenario/document.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";

/** The scenario without these rules and flows, and without tables, TIRs and RQTs that they alone lead to. */
export function withoutReceivers(scenario: Scenario): Scenario {
  const {
    rules = [],
    flows = [],
    hostRules = [],
    tables = [],
    matchers = [],
    tirs = [],
    rqts = [],
    actions = [],
  } = scenario;
  const isGone = ({ name }: { readonly name?: string }): boolean => isReceiver(name);
  if (![...rules, ...flows, ...hostRules].some(isGone)) return scenario;
  const gone = rules.filter(isGone);
  let kept = rules.filter((rule) => !isGone(rule));
  let left = [...tables];
  for (;;) {
    const [before, after] = [namesIn(gone.map(actionsOf)), namesIn([kept.map(actionsOf), actions])];
    const lost = new Set(left.flatMap(({ name }) => (before.has(name) && !after.has(name) ? [name] : [])));
    if (lost.size === 0) break;
    const masks = new Set(matchers.flatMap(({ name, table }) => (lost.has(table) ? [name] : [])));
    const isIn = ({ table, matcher }: ScenarioRule): boolean =>
      (table !== undefined && lost.has(table)) || (matcher !== undefined && masks.has(matcher));
    gone.push(...kept.filter(isIn));
    kept = kept.filter((rule) => !isIn(rule));
    left = left.filter(({ name }) => !lost.has(name));
  }
  const keptTirs = withoutLost(tirs, gone.map(actionsOf), [kept.map(actionsOf), actions]);
  const lostTirs = tirs.filter((tir) => !keptTirs.includes(tir));
  const names = new Set(left.map(({ name }) => name));
  return withLists(scenario, {
    rules: kept,
    flows: flows.filter((flow) => !isGone(flow)),
    hostRules: hostRules.filter((rule) => !isGone(rule)),
    tables: left,
    matchers: matchers.filter(({ table }) => names.has(table)),
    tirs: keptTirs,
    rqts: withoutLost(rqts, lostTirs, keptTirs),
  });
}

const actionsOf = ({ actions }: ScenarioRule): unknown => actions;

/** The objects that `kept` names, or that `gone` does not. */
function withoutLost<T extends { readonly name: string }>(all: readonly T[], gone: unknown, kept: unknown): T[] {
  const [before, after] = [namesIn(gone), namesIn(kept)];
  return all.filter(({ name }) => after.has(name) || !before.has(name));
}

/** The texts in rules and objects: names of what they lead to are among them. */
function namesIn(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value === "string") found.add(value);
  else if (typeof value === "object" && value !== null)
    for (const [key, one] of Object.entries(value)) if (key !== "name" && key !== "description") namesIn(one, found);
  return found;
}

/** The scenario with these lists; empty ones are left out. */
function withLists(scenario: Scenario, lists: Partial<Scenario>): Scenario {
  const rest = Object.fromEntries(Object.entries(scenario).filter(([key]) => !(key in lists)));
  const full = Object.entries(lists).filter(([, list]) => (list as readonly unknown[]).length > 0);
  return { ...rest, ...Object.fromEntries(full) } as unknown as Scenario;
}
