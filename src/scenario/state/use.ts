/** The state that each rule of a document uses. The last rule that wrote a register says what it means at the end of a frame. */
import type { ScenarioRuleAction, ScenarioAction } from "../action/definition.js";
import type { ScenarioHeaderChange } from "../action/changes.js";
import { asoKey } from "./asoObjects.js";
import type { Scenario } from "../document.js";
import type { ScenarioRule } from "../rule/definition.js";
import type { ScenarioAsoChoice, ScenarioAsoData } from "./definition.js";

/** A meter, a flag or a connection that a rule uses. */
export interface StateUse {
  readonly kind: keyof ScenarioAsoData;
  /** Its name in reports: `connections[3]`, or the action. */
  readonly name: string;
  /** For ASO objects: the name of the bulk, and the offset. */
  readonly object: string | null;
  readonly offset: number;
  /** The register C that gets the answer. */
  readonly register: number;
}

/** The registers that a rule writes. */
export interface RuleUses {
  readonly uses: readonly StateUse[];
  /** Registers C that it writes in other ways; null where that is unknown. */
  readonly writes: ReadonlySet<number> | null;
}

type Written = Omit<ScenarioAction, "name">;

/**
 * By rule name, in document order, since `modify_aso` affects later rules only; empty where no rule
 * uses state.
 */
export function usesOfRules(scenario: Scenario): readonly (readonly [rule: string, uses: RuleUses])[] {
  const shared = new Map((scenario.actions ?? []).map((action) => [action.name, action] as const));
  const kinds = new Map((scenario.asoObjects ?? []).map((object) => [object.name, asoKey(object)] as const));
  const choices = new Map<string, ScenarioAsoChoice>();
  const useOf = (rule: ScenarioRule, action: ScenarioRuleAction): StateUse | null => {
    if (typeof action === "string") return null;
    const { action: named, modify_aso } = action;
    if (named !== undefined && modify_aso !== undefined) choices.set(named, modify_aso);
    const { flow_meter, aso } = writtenOf(action, shared);
    if (flow_meter !== undefined) {
      return {
        kind: "flow_meter",
        name: named ?? rule.name,
        object: null,
        offset: 0,
        register: flow_meter.reg_c_index,
      };
    }
    if (aso === undefined) return null;
    const { offset = 0, return_reg_c: register } = choices.get(named ?? "") ?? aso;
    const { object } = aso;
    return { kind: kinds.get(object) ?? "first_hit", name: `${object}[${offset}]`, object, offset, register };
  };
  const rules = scenario.rules ?? [];
  const isStateful = ({ actions = [] }: ScenarioRule): boolean =>
    actions.some((action) => usesState(writtenOf(action, shared)));
  if (!rules.some(isStateful)) return [];
  return rules.map((rule): readonly [string, RuleUses] => {
    const actions = rule.actions ?? [];
    const uses = actions.map((action) => useOf(rule, action)).filter((use) => use !== null);
    return [rule.name, { uses, writes: writesOf(actions, shared) }];
  });
}

function usesState({ flow_meter, aso }: Written): boolean {
  return flow_meter !== undefined || aso !== undefined;
}

/** An action as it is written, where the rule has it or in the section `actions`. */
function writtenOf(action: ScenarioRuleAction, shared: ReadonlyMap<string, ScenarioAction>): Written {
  if (typeof action === "string") return {};
  return action.action === undefined ? action : (shared.get(action.action) ?? {});
}

function writesOf(
  actions: readonly ScenarioRuleAction[],
  shared: ReadonlyMap<string, ScenarioAction>,
): ReadonlySet<number> | null {
  const registers = new Set<number>();
  for (const action of actions) {
    const { modify = [], flow_sampler } = writtenOf(action, shared);
    const changes: readonly ScenarioHeaderChange[] = [
      ...modify,
      ...(flow_sampler?.action === undefined ? [] : [flow_sampler.action]),
    ];
    for (const change of changes) {
      if (typeof change === "string") return null;
      const [, number] = /metadata_reg_c_(\d)$/i.exec(change.set ?? change.add ?? change.into ?? "") ?? [];
      if (number !== undefined) registers.add(Number(number));
    }
  }
  return registers;
}
