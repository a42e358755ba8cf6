/** Rules as tools have them: what one matches, its actions in the order of the tool, and how it ends. */
import type { ScenarioRuleAction } from "../../scenario/action/definition.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";

export type RuleAction = ScenarioRuleAction;
export type Match = NonNullable<ScenarioRule["match"]>;
export type Change = NonNullable<Extract<RuleAction, object>["modify"]>[number];

export type ListAction =
  | { readonly kind: "decap" | "pop" | "push" | "encap"; readonly action: RuleAction }
  | { readonly kind: "modify"; readonly changes: readonly Change[] }
  /** It reads the frame as the actions before it have changed it. */
  | { readonly kind: "read"; readonly action: RuleAction }
  /** It neither changes the frame nor reads it. */
  | { readonly kind: "any"; readonly action: RuleAction };

/** The actions of a rule, and its end or another table. */
export interface RuleBody {
  readonly actions: readonly ListAction[];
  readonly end: readonly RuleAction[] | Fork;
}

/** A table of the rule's own, whose rules decide how frames go on. */
export interface Fork {
  readonly leads: (table: string) => RuleAction;
  /** What the table is for, in its name. */
  readonly label: string;
  readonly rules: readonly Branch[];
}

export interface Branch extends RuleBody {
  /** After the name of the table. */
  readonly suffix: string;
  readonly match: Match;
  readonly priority: number;
}

export interface ImportRule extends RuleBody {
  readonly name: string;
  readonly table: string;
  readonly level: number;
  readonly priority: number;
  readonly match: Match;
  /** What it lacks. */
  readonly notImported: readonly string[];
}

/** A fork to one rule, which goes on with every frame. */
export function goesOn(body: RuleBody, label = "then"): Fork {
  return {
    leads: (table) => ({ table }),
    label,
    rules: [{ suffix: "", match: {}, priority: 0, ...body }],
  };
}
