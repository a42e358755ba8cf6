/** Changes a loaded scenario to another document. What both have stays, with its counters and its state. */
import { inCall } from "../../errors.js";
import type { Action } from "../../model/action/action.js";
import type { Scenario } from "../document.js";
import type { LoadedScenario } from "../load.js";
import { flowName, hostRuleName } from "../names.js";
import type { ScenarioObjects } from "../objects.js";
import { loaderPartsFor, type LoaderParts } from "../onDemand.js";
import { parseScenario } from "../scenario.js";
import { below } from "../schema/path.js";
import { planOf, type UpdatePlan } from "./plan.js";

/** What an update did to rules, flows and rules of the host, by name. */
export interface ScenarioUpdate {
  readonly created: readonly string[];
  readonly destroyed: readonly string[];
  /** Those that stay. */
  readonly kept: readonly string[];
}

/**
 * Changes a loaded scenario to another document, between two frames. Rules, flows, counters, tables, matchers, actions and
 * rules of the host that are the same in both documents stay as they are. A rule is made again where the order of rules, an
 * object that it names, or in root tables the age of masks requires it. The other sections must be the same; messages,
 * frames and expectations stay those of the first document.
 *
 * A document that is refused as a whole changes nothing. What only the device can refuse is refused in the middle: try a
 * document on a copy of the device first (`cloneDevice` with `savedScenario`).
 *
 * @throws SteeringError as `loadScenario`; EOPNOTSUPP another section differs; EBUSY
 * @example
 *     const { created, destroyed } = await updateScenario(loaded, changedText);
 */
export async function updateScenario(loaded: LoadedScenario, document: string | object): Promise<ScenarioUpdate> {
  const next = parseScenario(document);
  const parts = await loaderPartsFor(next);
  const plan = inCall("updateScenario", () => planOf(loaded, next));
  const before = hitObjects(loaded.objects);
  inCall("updateScenario", () => destroy(loaded.objects, loaded.scenario, plan));
  inCall("loadScenario", () => create(loaded.objects, parts, next));
  loaded.changeTo(next);
  const after = hitObjects(loaded.objects);
  const stays = ([name, object]: readonly [string, object]): boolean => before.get(name) === object;
  const isGone = ([name, object]: readonly [string, object]): boolean => after.get(name) !== object;
  const namesOf = (
    all: Iterable<readonly [string, object]>,
    is: (one: readonly [string, object]) => boolean,
  ): string[] => [...all].filter(is).map(([name]) => name);
  return {
    created: namesOf(after, (one) => !stays(one)),
    destroyed: namesOf(before, isGone),
    kept: namesOf(after, stays),
  };
}

/** What frames hit, by name. */
function hitObjects({ rules, flows, hostRules }: ScenarioObjects): Map<string, object> {
  return new Map<string, object>([...rules, ...flows, ...hostRules]);
}

/** Destroys what goes. Users go before what they use. */
function destroy(objects: ScenarioObjects, old: Scenario, plan: UpdatePlan): void {
  const { hostRules, flows, matchers, implied, tables, counters } = objects;
  for (const [name, rule] of without(hostRules, plan.hostRules)) {
    rule.remove();
    hostRules.delete(name);
  }
  for (const [name, flow] of [...without(flows, plan.flows)].reverse()) {
    flow.destroy();
    flows.delete(name);
  }
  const actions = objects.actions.forget(plan.gone);
  for (const action of destroyRules(objects, old, plan, actions)) actions.add(action);
  destroyActions(actions);
  for (const all of [matchers, implied]) {
    for (const [name, matcher] of without(all, plan.matchers)) {
      matcher.destroy();
      all.delete(name);
    }
  }
  for (const name of plan.gone.tables) {
    tables.get(name)?.destroy();
    tables.delete(name);
  }
  for (const name of plan.gone.counters) {
    counters.get(name)?.destroy();
    counters.delete(name);
  }
}

/** Destroys rules. Those that no document names were made by calls: they stay with what they use. @returns actions of their own */
function destroyRules(
  { rules, actions: all }: ScenarioObjects,
  old: Scenario,
  plan: UpdatePlan,
  gone: ReadonlySet<Action>,
): Action[] {
  const written = new Set([...(old.rules ?? []).map(({ name }) => name), ...plan.written]);
  const shared = all.shared();
  const own: Action[] = [];
  for (const [name, rule] of without(rules, plan.rules)) {
    const { matcher, actions } = rule;
    const stays = !written.has(name) && plan.matchers.has(matcher.name) && !actions.some((one) => gone.has(one));
    if (stays) continue;
    rule.destroy();
    rules.delete(name);
    own.push(...actions.filter((one) => !shared.has(one)));
  }
  return own;
}

/** Destroys actions that nothing uses, arrays and samplers before their members. */
function destroyActions(actions: Set<Action>): void {
  for (let before = -1; actions.size !== before;) {
    before = actions.size;
    for (const action of actions) {
      if (action.users > 0) continue;
      action.destroy();
      actions.delete(action);
    }
  }
}

/** Makes what is new, in the order of the document, and brings the objects by name into this order. */
function create(objects: ScenarioObjects, parts: LoaderParts, next: Scenario): void {
  const { counters, tables, matchers, rules, flows, hostRules, actions } = objects;
  ordered(
    counters,
    next.counters,
    ({ name }) => name,
    (one, i) => objects.makeCounter(parts, below("counters", i), one),
  );
  ordered(
    tables,
    next.tables,
    ({ name }) => name,
    (one, i) => objects.makeTable(below("tables", i), one),
  );
  actions.share(next.actions ?? []);
  ordered(
    matchers,
    next.matchers,
    ({ name }) => name,
    (one, i) => objects.makeMatcher(below("matchers", i), one),
  );
  ordered(
    rules,
    next.rules,
    ({ name }) => name,
    (one, i) => objects.makeRule(below("rules", i), one),
  );
  ordered(flows, next.flows, flowName, (one, i, name) => objects.makeFlow(parts, below("flows", i), one, name));
  ordered(hostRules, next.hostRules, hostRuleName, (one, i, name) =>
    objects.makeHostRule(below("hostRules", i), one, name),
  );
  objects.domains.begin();
}

/** Makes the elements that a map lacks. Afterwards it has the order of the list, and what the list lacks at its end. */
function ordered<T, O>(
  map: Map<string, O>,
  list: readonly T[] | undefined,
  nameOf: (one: T, i: number) => string,
  make: (one: T, i: number, name: string) => O,
): void {
  const rest = new Map(map);
  const all = new Map<string, O>();
  for (const [i, one] of (list ?? []).entries()) {
    const name = nameOf(one, i);
    all.set(name, rest.get(name) ?? make(one, i, name));
    rest.delete(name);
  }
  map.clear();
  for (const [name, one] of [...all, ...rest]) map.set(name, one);
}

function without<O>(map: ReadonlyMap<string, O>, kept: ReadonlySet<string>): [string, O][] {
  return [...map].filter(([name]) => !kept.has(name));
}
