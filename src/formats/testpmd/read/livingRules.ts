/** The rules of each port under the numbers that testpmd gives them, and those that later commands destroy. */
import type { ScenarioRule } from "../../../scenario/rule/definition.js";
import type { Action } from "./actions/read.js";

/** A rule of testpmd. It has none in the scenario if it was refused. */
export interface LivingRule {
  readonly id: number;
  isGone: boolean;
  rules: readonly ScenarioRule[];
  /** Makes it with other actions. @throws NotImported */
  again: ((actions: readonly Action[]) => readonly ScenarioRule[]) | null;
}

class PortRules {
  /** The newest last. */
  readonly #living: LivingRule[] = [];
  readonly #byId = new Map<bigint, LivingRule>();
  readonly #byUserId = new Map<bigint, LivingRule>();

  /** testpmd numbers a rule after the newest one that exists; the first one has 0. */
  add(): LivingRule {
    while (this.#living.at(-1)?.isGone ?? false) this.#living.pop();
    return this.#put((this.#living.at(-1)?.id ?? -1) + 1);
  }

  /** Gives a rule a number of the user's, as `user_id` does. */
  call(rule: LivingRule, userId: bigint): void {
    this.#byUserId.set(userId, rule);
  }

  /** testpmd has said which number the newest rule has. */
  renumber(rule: LivingRule, id: number): LivingRule {
    if (rule.id === id || this.#living.at(-1) !== rule) return rule;
    this.#living.pop();
    this.#byId.delete(BigInt(rule.id));
    return Object.assign(this.#put(id), { rules: rule.rules, again: rule.again });
  }

  #put(id: number): LivingRule {
    const rule: LivingRule = { id, isGone: false, rules: [], again: null };
    this.#living.push(rule);
    this.#byId.set(BigInt(id), rule);
    return rule;
  }

  find(id: bigint, isUserId: boolean): LivingRule | undefined {
    const found = (isUserId ? this.#byUserId : this.#byId).get(id);
    return found?.isGone === true ? undefined : found;
  }

  get all(): LivingRule[] {
    return this.#living.filter(({ isGone }) => !isGone);
  }
}

export class LivingRules {
  /** Rules of the scenario that are destroyed. */
  readonly gone = new Set<object>();
  readonly #ports = new Map<bigint, PortRules>();

  of(port: bigint): PortRules {
    const found = this.#ports.get(port) ?? new PortRules();
    this.#ports.set(port, found);
    return found;
  }

  /** Whether any rule exists. */
  get some(): boolean {
    return [...this.#ports.values()].some(({ all }) => all.length > 0);
  }

  /** Destroys rules. @returns what undoes it */
  destroy(rules: readonly LivingRule[]): () => void {
    for (const rule of rules) {
      rule.isGone = true;
      for (const one of rule.rules) this.gone.add(one);
    }
    return () => {
      for (const rule of rules) {
        rule.isGone = false;
        for (const one of rule.rules) this.gone.delete(one);
      }
    };
  }
}
