/** The order in which a table of the device looks its rules up, as priorities of testpmd. */
import type { Scenario, ScenarioRule } from "../../scenario/index.js";
import { NotExported, termsOf, type Terms } from "../terms.js";

export interface Ordered {
  readonly rule: ScenarioRule;
  readonly path: string;
  readonly terms: Terms;
  readonly priority: number;
}

interface Group {
  readonly priority: number;
  readonly age: number;
  readonly own: boolean;
}

/** The rules of a table in the order of lookups; `tell` hears of those that cannot be read. */
export function ordered(
  scenario: Scenario,
  rules: readonly (readonly [rule: ScenarioRule, path: string])[],
  table: string,
  isRoot: boolean,
  tell: (path: string, reason: string, name: string) => void,
): Ordered[] {
  const groups = new Map<string, Group>();
  const runs = new Map<number, { mask: string; run: number }>();
  for (const { name, table: of, priority = 0 } of scenario.matchers ?? []) {
    if (of === table) groups.set(`matcher ${name}`, { priority, age: groups.size, own: false });
  }
  const found: (Omit<Ordered, "priority"> & { key: string })[] = [];
  for (const [rule, path] of rules) {
    try {
      const terms = termsOf(rule, scenario);
      const priority = rule.priority ?? 0;
      const mask = maskKey(terms);
      const last = runs.get(priority) ?? { mask, run: 0 };
      const run = last.mask === mask ? last.run : last.run + 1;
      if (rule.matcher === undefined) runs.set(priority, { mask, run });
      const key = rule.matcher === undefined ? `${priority} ${run} ${mask}` : `matcher ${rule.matcher}`;
      if (!groups.has(key)) groups.set(key, { priority, age: groups.size, own: true });
      found.push({ rule, path, terms, key });
    } catch (error) {
      if (!(error instanceof NotExported)) throw error;
      tell(path, error.message, rule.name);
    }
  }
  const used = new Set(found.map(({ key }) => key));
  const order = [...groups].filter(([key]) => used.has(key)).sort(([, a], [, b]) => compare(a, b, isRoot));
  // Priorities stay where each has rules of one mask only.
  const isPlain = new Set(order.map(([, { priority }]) => priority)).size === order.length;
  const priorities = new Map(order.map(([key, { priority }], n) => [key, isPlain ? priority : n]));
  return found
    .map(({ key, ...rest }) => ({ ...rest, priority: priorities.get(key) ?? 0 }))
    .sort((a, b) => a.priority - b.priority);
}

/** In a root table the mask that was there first is first; in others the newer matcher, and masks of rules before it. */
function compare(a: Group, b: Group, isRoot: boolean): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (!isRoot && a.own !== b.own) return a.own ? -1 : 1;
  return isRoot || a.own ? a.age - b.age : b.age - a.age;
}

function maskKey(terms: Terms): string {
  return [...terms]
    .map(([name, term]) => `${name} ${term.kind === "bits" ? term.mask.toString(16) : term.kind}`)
    .sort()
    .join(" ");
}
