/**
 * What a rule does, in steps: the device has an order of execution of its own, and testpmd's actions run
 * in the order of the list. What the order of the device does not allow goes on in another table.
 */
import type { ScenarioRule } from "../../../../scenario/rule/definition.js";

export type RuleAction = NonNullable<ScenarioRule["actions"]>[number];
type Change = Extract<Extract<RuleAction, object>["modify"], readonly unknown[]>[number];
type Match = NonNullable<ScenarioRule["match"]>;

/** Where RSS sends some of the frames; the narrower come first. */
export interface Fate {
  readonly match: Match;
  readonly suffix: string;
  readonly action: RuleAction;
}

/** The rules of a step besides the one that goes on: those of a meter's colours. */
export interface Gate {
  readonly suffix: string;
  readonly match: Match;
  readonly actions: readonly RuleAction[];
}

/** The order in which the device executes kinds of actions that change bytes. */
const RANKS = { decap: 0, pop: 1, modify: 2, push: 3, encap: 5 } as const;
export type Kind = keyof typeof RANKS;

export interface Step {
  readonly actions: RuleAction[];
  readonly changes: Change[];
  readonly gates: readonly Gate[];
  /** How it leads to the next step; left out, by a jump. */
  leads: ((next: string) => RuleAction) | undefined;
}

export class Steps {
  readonly all: Step[] = [emptyStep([])];
  /** How the rule ends. */
  end: RuleAction | undefined;
  #rank = 0;
  readonly #kinds = new Set<Kind>();

  get last(): Step {
    return this.all[this.all.length - 1] as Step;
  }

  /** Adds an action that changes bytes, in a step of its own if the device would execute it before others. */
  change(kind: Kind, action: RuleAction): void {
    this.#enter(kind);
    this.last.actions.push(action);
  }

  modify(change: Change): void {
    this.#enter("modify");
    this.last.changes.push(change);
  }

  add(action: RuleAction): void {
    this.last.actions.push(action);
  }

  /** Adds an action that reads the frame as the actions before have changed it. */
  read(action: RuleAction): void {
    if (this.#kinds.size > 0) this.next();
    this.add(action);
  }

  /** Ends the step; the next one has these rules before the one that goes on. */
  next(leads?: Step["leads"], gates: readonly Gate[] = []): void {
    this.last.leads = leads;
    this.all.push(emptyStep(gates));
    this.#rank = 0;
    this.#kinds.clear();
  }

  #enter(kind: Kind): void {
    const rank = RANKS[kind];
    const isAgain = (kind === "encap" || kind === "decap") && this.#kinds.has(kind);
    if (rank < this.#rank || isAgain) this.next();
    this.#rank = rank;
    this.#kinds.add(kind);
  }
}

function emptyStep(gates: readonly Gate[]): Step {
  return { actions: [], changes: [], gates, leads: undefined };
}

/** The actions of a step in a scenario, without the last one. */
export function actionsOf({ actions, changes }: Step): RuleAction[] {
  return changes.length === 0 ? actions : [...actions, { modify: changes }];
}
