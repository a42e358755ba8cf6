/** The objects that a new document does not keep: those that it changes or lacks, and those that refer to such ones. */
import type { ScenarioAction, ScenarioRuleAction } from "../action/definition.js";
import type { Scenario } from "../document.js";

/** Names of objects that go, by section. */
export interface Gone {
  readonly counters: Set<string>;
  readonly tables: Set<string>;
  readonly actions: Set<string>;
}

/** The keys of actions that name an object. */
const KINDS: Readonly<Record<string, keyof Gone>> = {
  count: "counters",
  table: "tables",
  next_table: "tables",
  default_next_table: "tables",
  action: "actions",
  reformat: "actions",
};

type AnyAction = ScenarioRuleAction | Partial<ScenarioAction>;

/** Whether an action as the document writes it names an object that goes, at any depth. */
export function refersTo(gone: Gone, action: AnyAction): boolean {
  return namesOne(gone, action);
}

function namesOne(gone: Gone, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, one]: [string, unknown]) => {
    const kind = KINDS[key];
    return typeof one === "string" && kind !== undefined ? gone[kind].has(one) : namesOne(gone, one);
  });
}

/** What goes between two documents, before rules and matchers. */
export function goneBetween(old: Scenario, next: Scenario): Gone {
  const gone: Gone = {
    counters: changed(old.counters, next.counters),
    tables: changed(old.tables, next.tables),
    actions: changed(old.actions, next.actions),
  };
  // modify_aso changes an action for the rules after it: the order of all these rules is in it.
  const steps = [...asoSteps(old), ...asoSteps(next)];
  if (steps.length > 0 && JSON.stringify(old.rules) !== JSON.stringify(next.rules))
    for (const name of steps) gone.actions.add(name);
  const { actions = [] } = next;
  for (let before = -1; gone.actions.size !== before;) {
    before = gone.actions.size;
    for (const action of actions) if (refersTo(gone, action)) gone.actions.add(action.name);
  }
  return gone;
}

/** The names of elements of a list that another one lacks, or has otherwise. */
export function changed(old: readonly Named[] = [], next: readonly Named[] = []): Set<string> {
  const texts = new Map(next.map((one) => [one.name, JSON.stringify(one)]));
  return new Set(old.filter((one) => texts.get(one.name) !== JSON.stringify(one)).map(({ name }) => name));
}

interface Named {
  readonly name: string;
}

/** The shared actions that some rule changes. */
function asoSteps({ rules = [] }: Scenario): string[] {
  const all = rules.flatMap(({ actions = [] }) => actions);
  return all.flatMap((action) =>
    typeof action === "object" && action.modify_aso !== undefined && action.action !== undefined ? [action.action] : [],
  );
}
