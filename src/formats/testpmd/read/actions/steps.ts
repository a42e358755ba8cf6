/** The list of a rule's actions under way. */
import type { Branch, Change, Fork, ListAction, Match, RuleAction, RuleBody } from "../../../rules/importRule.js";

/** Where RSS sends some of the frames; the narrower come first. */
export interface Fate {
  readonly match: Match;
  readonly suffix: string;
  readonly action: RuleAction;
}

interface OpenBody {
  readonly actions: ListAction[];
  end: RuleBody["end"];
}

export const ENDED = "another action ends the rule before it";

export class Steps {
  readonly #first: OpenBody = { actions: [], end: [] };
  #last = this.#first;
  /** How the rule ends. */
  end: RuleAction | undefined;
  /** Whether rules of another table end it. */
  isForked = false;

  get body(): RuleBody {
    if (!this.isForked) this.#last.end = this.end === undefined ? [] : [this.end];
    return this.#first;
  }

  change(kind: "decap" | "pop" | "push" | "encap", action: RuleAction): void {
    this.#last.actions.push({ kind, action });
  }

  modify(change: Change): void {
    this.#last.actions.push({ kind: "modify", changes: [change] });
  }

  add(action: RuleAction): void {
    this.#last.actions.push({ kind: "any", action });
  }

  /** Adds an action that reads the frame as the actions before have changed it. */
  read(action: RuleAction): void {
    this.#last.actions.push({ kind: "read", action });
  }

  /** Goes on in another table, which has these rules before the one that goes on. */
  next(leads: Fork["leads"] = (table) => ({ table }), gates: readonly Branch[] = []): void {
    const rest = { suffix: "", match: {}, priority: gates.length === 0 ? 0 : 1, actions: [], end: [] };
    this.#last.end = { leads, label: "step", rules: [...gates, rest] };
    this.#last = rest;
  }

  /** Ends in another table, which has a rule for every frame. */
  fork(rules: readonly Branch[]): void {
    this.#last.end = { leads: (table) => ({ table }), label: "step", rules };
    this.isForked = true;
  }
}
