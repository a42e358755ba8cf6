/** What stays of a loaded scenario when its document changes. */
import { refuse } from "../../errors.js";
import type { Scenario } from "../document.js";
import type { LoadedScenario } from "../load.js";
import { checkNames, flowName, hostRuleName } from "../names.js";
import { impliedName } from "../objects.js";
import type { ScenarioMatcher } from "../rule/definition.js";
import { changed, goneBetween, type Gone } from "./gone.js";
import { groupsOf, inRootTable, rulesKept } from "./rulesKept.js";

/** Sections that an update changes. */
const CHANGING = ["counters", "tables", "matchers", "actions", "rules", "flows", "hostRules"] as const;
/** Sections that an update leaves as they were. */
const UNUSED = ["$schema", "title", "description", "messages", "frames", "expect", "notImported"] as const;

export interface UpdatePlan {
  readonly gone: Gone;
  /** The matchers that stay, implied ones included. */
  readonly matchers: ReadonlySet<string>;
  readonly rules: ReadonlySet<string>;
  /** The names of all rules of the new document. */
  readonly written: ReadonlySet<string>;
  readonly flows: ReadonlySet<string>;
  readonly hostRules: ReadonlySet<string>;
}

/** @throws SteeringError EOPNOTSUPP: a section differs that no update changes */
export function planOf({ scenario: old, objects }: LoadedScenario, next: Scenario): UpdatePlan {
  checkSections(old, next);
  const gone = goneBetween(old, next);
  checkUsed(next, gone);
  const matchers = matchersKept(old, next, gone, [...objects.implied.keys()]);
  const matcherStays = (name: string): boolean => matchers.has(name);
  const rules = rulesKept(old, next, { living: objects.rules, gone, matcherStays });
  const rootRulesStay = [old, next].every((one) =>
    (one.rules ?? []).filter(inRootTable(one)).every(({ name }) => rules.has(name)),
  );
  // Flows and rules of root tables have one order, in which the age of masks decides.
  const flows = rootRulesStay ? first(nameAll(old.flows, flowName), nameAll(next.flows, flowName)) : new Set<string>();
  const hostRules = first(nameAll(old.hostRules, hostRuleName), nameAll(next.hostRules, hostRuleName));
  const written = new Set((next.rules ?? []).map(({ name }) => name));
  return { gone, matchers, rules, written, flows, hostRules };
}

function checkSections(old: Scenario, next: Scenario): void {
  const free: readonly string[] = [...CHANGING, ...UNUSED];
  const names = new Set([...Object.keys(old), ...Object.keys(next)]) as Set<keyof Scenario>;
  for (const name of names) {
    if (free.includes(name) || JSON.stringify(old[name]) === JSON.stringify(next[name])) continue;
    const hint = `an update changes ${CHANGING.join(", ")}: load the document again`;
    refuse({ code: "EOPNOTSUPP", reason: "bad_scenario", path: name, hint });
  }
}

/** Refuses a change of what objects use that stay in any case. */
function checkUsed(next: Scenario, gone: Gone): void {
  const fixed = Object.entries(next).filter(([name]) => name.startsWith("flow") || name === "deviceFlows");
  const all: Readonly<Record<string, ReadonlySet<string>>> = { counters: gone.counters, tables: gone.tables };
  const noteUse = (kind: string, name: string): void => {
    if (all[kind]?.has(name) !== true) return;
    const hint = "an entry of a flow table or a flow in device bytes uses it: load the document again";
    refuse({ code: "EBUSY", reason: "in_use", path: kind, value: name, hint });
  };
  checkNames({ flowsteer: 1, ...Object.fromEntries(fixed) }, () => undefined, noteUse);
}

/** In each table and priority, matchers stay up to the first change: their age is their order. */
function matchersKept(old: Scenario, next: Scenario, gone: Gone, implied: readonly string[]): Set<string> {
  const kept = new Set<string>();
  const placeOf = ({ table, priority = 0 }: ScenarioMatcher): string => impliedName(table, priority);
  const before = groupsOf(old.matchers ?? [], placeOf);
  const moved = new Set<string>();
  for (const [place, group] of groupsOf(next.matchers ?? [], placeOf)) {
    for (const [i, matcher] of group.entries()) {
      if (gone.tables.has(matcher.table) || JSON.stringify(before.get(place)?.[i]) !== JSON.stringify(matcher)) {
        moved.add(place);
        break;
      }
      kept.add(matcher.name);
    }
  }
  const tables = (next.tables ?? []).map(({ name }) => name).filter((name) => !gone.tables.has(name));
  const isLiving = (place: string): boolean => tables.some((table) => place.startsWith(`${table} at priority `));
  for (const place of implied) if (isLiving(place) && !moved.has(place)) kept.add(place);
  return kept;
}

interface NamedElement {
  readonly name: string;
}

function nameAll<T extends { readonly name?: string }>(
  list: readonly T[] | undefined,
  nameOf: (one: T, i: number) => string,
): (T & NamedElement)[] {
  return (list ?? []).map((one, i) => ({ ...one, name: nameOf(one, i) }));
}

/** The names of the elements before the first change. */
function first(old: readonly NamedElement[], next: readonly NamedElement[]): Set<string> {
  const same = changed(old, next);
  const kept = new Set<string>();
  for (const [i, { name }] of next.entries()) {
    if (old[i]?.name !== name || same.has(name)) break;
    kept.add(name);
  }
  return kept;
}
