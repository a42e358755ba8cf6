/** The order in which a table of the device looks its rules up, for exporters. */
import type { Scenario, ScenarioRule } from "../../scenario/index.js";
import { NotExported, termsOf, type Terms } from "./terms.js";

export interface OrderedRule {
  readonly rule: ScenarioRule;
  readonly path: string;
  readonly terms: Terms;
  /** Of its matcher. */
  readonly priority: number;
  /**
   * Grows along the list: the rules of a matcher share one, and so do rules without a matcher that follow each
   * other with one mask.
   */
  readonly group: number;
}

/**
 * The rules of tables that the device has as one, in the order of lookups (docs/rules.md). Of equal priorities the
 * newer matcher is first, in a root table the older one. Rules without a matcher share one for each priority, which
 * is made with the first of them, after the matchers that have names. Rules of a matcher are in their order.
 *
 * @param tell hears of rules that cannot be read
 */
export function lookupOrder(
  scenario: Scenario,
  tables: readonly string[],
  isRoot: boolean,
  tell: (path: string, reason: string, name: string) => void,
): OrderedRule[] {
  const { rules = [], matchers = [] } = scenario;
  const named = new Map(
    matchers.flatMap(({ name, table, priority = 0 }, age) =>
      tables.includes(table) ? [[name, { priority, age }]] : [],
    ),
  );
  const keyed: (Omit<OrderedRule, "group"> & { readonly age: number; readonly key: string })[] = [];
  for (const [n, rule] of rules.entries()) {
    const isOwn = rule.matcher === undefined;
    const matcher = isOwn ? { priority: rule.priority ?? 0, age: matchers.length } : named.get(rule.matcher ?? "");
    if (matcher === undefined || (isOwn && !tables.includes(rule.table ?? ""))) continue;
    const path = `rules[${n}]`;
    try {
      const terms = termsOf(rule, scenario);
      const key = isOwn ? `${matcher.priority} ${maskKey(terms)}` : `matcher ${rule.matcher}`;
      keyed.push({ rule, path, terms, ...matcher, key });
    } catch (error) {
      if (!(error instanceof NotExported)) throw error;
      tell(path, error.message, rule.name);
    }
  }
  // The sort is stable: rules of a matcher stay in their order.
  keyed.sort((a, b) => a.priority - b.priority || (isRoot ? a.age - b.age : b.age - a.age));
  let group = -1;
  let last: string | null = null;
  return keyed.map(({ rule, path, terms, priority, key }) => {
    if (key !== last) group++;
    last = key;
    return { rule, path, terms, priority, group };
  });
}

function maskKey(terms: Terms): string {
  return [...terms]
    .map(([name, term]) => `${name} ${term.kind === "bits" ? term.mask.toString(16) : term.kind}`)
    .sort()
    .join(" ");
}
