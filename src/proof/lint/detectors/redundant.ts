/** Rules without which every frame is treated the same. */
import type { RuleContent } from "../../../engine/tracedCore.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import { ParsedKey } from "../../keys/parsedKey.js";
import { anyArrival } from "../../path/arrival.js";
import { forbidMatch, requireMatch } from "../../path/ruleMatch.js";
import type { TableRules } from "../../path/tableRules.js";
import { Solver } from "../../solver/solver.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, installedObject, mentioned } from "../objects.js";
import { deadIds, sameActions } from "./dead.js";

/** Overlapping rules that are compared with one rule, and comparisons with the solver in all. */
const MAX_LATER = 8;
const MAX_COMPARISONS = 20_000;
/** Conflicts of the solver for one comparison. */
const CONFLICTS = 1000;

/** Compares the matches of rules over all keys that frames can have. */
class Comparison {
  readonly #context: LintContext;
  readonly #solver = new Solver();
  /** How many comparisons are left. */
  left = MAX_COMPARISONS;

  constructor(context: LintContext) {
    this.#context = context;
  }

  /** Whether every key that one rule matches is one that the other rule matches too. */
  isWithin(one: RuleNode, other: RuleNode): boolean {
    return this.#isImpossible((solver, key, content) => {
      requireMatch(solver, content(one), key);
      forbidMatch(solver, content(other), key);
    });
  }

  areDisjoint(one: RuleNode, other: RuleNode): boolean {
    return this.#isImpossible((solver, key, content) => {
      requireMatch(solver, content(one), key);
      requireMatch(solver, content(other), key);
    });
  }

  #isImpossible(require: (solver: Solver, key: ParsedKey, content: (rule: RuleNode) => RuleContent) => void): boolean {
    const { world } = this.#context.cover;
    this.left--;
    this.#solver.reset();
    const key = new ParsedKey(this.#solver, anyArrival(this.#context.device, this.#solver));
    require(this.#solver, key, (rule) => world.contentOf(rule));
    return this.#solver.solve([], CONFLICTS) === false;
  }
}

/** The later rule that does the same with all frames of rule `i`, if no rule between them takes one of its frames. */
function substitute(context: LintContext, rules: TableRules, i: number, compare: Comparison): RuleNode | null {
  const { graph } = context.cover.world;
  const one = rules.node(i);
  let tests = 0;
  for (let j = i + 1; j < rules.count && tests < MAX_LATER && compare.left > 0; j++) {
    if (!rules.overlaps(i, j)) continue;
    tests++;
    const next = rules.node(j);
    if (compare.areDisjoint(one, next)) continue;
    const same = !graph.goesOn(next) && next.object.id !== one.object.id && sameActions(context, one, next);
    return same && compare.isWithin(one, next) ? next : null;
  }
  return null;
}

export const REDUNDANT: LintDetector = {
  id: "redundant-rule",
  severity: "note",
  *detect(context) {
    const { cover } = context;
    const { graph } = cover.world;
    const dead = deadIds(context);
    const seen = new Set<number>();
    const compare = new Comparison(context);
    for (const table of cover.tables()) {
      const rules = graph.rulesOf(table);
      for (let i = 0; i < rules.count; i++) {
        const one = rules.node(i);
        const { id } = one.object;
        if (dead.has(id) || seen.has(id) || graph.goesOn(one)) continue;
        const next = substitute(context, rules, i, compare);
        if (next === null || dead.has(next.object.id)) continue;
        seen.add(id);
        const [object, other] = [installedObject(one.object), installedObject(next.object)];
        yield {
          objects: [object, other],
          sentence: `${called(object)} is redundant: without it, ${mentioned(other)} takes all its frames and does the same with them.`,
        };
      }
    }
  },
};
