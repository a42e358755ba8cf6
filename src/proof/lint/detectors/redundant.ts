/** Rules without which every frame is treated the same. */
import type { RuleContent } from "../../../engine/tracedCore.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import { ParsedKey } from "../../keys/parsedKey.js";
import { anyArrival } from "../../path/arrival.js";
import { forbidMatch, requireMatch } from "../../path/ruleMatch.js";
import type { Overlaps } from "../../path/overlaps.js";
import type { TableRules } from "../../path/tableRules.js";
import { Solver } from "../../solver/solver.js";
import type { LintContext } from "../context.js";
import { HeaderKinds } from "../headerKinds.js";
import { ActionClasses } from "../actionClasses.js";
import type { LintDetector } from "../detector.js";
import { called, installedObject, mentioned } from "../objects.js";
import { deadIds } from "./dead.js";

/** Overlapping rules that are compared with one rule. */
const MAX_LATER = 8;
/** Conflicts of the solver for one comparison. */
const CONFLICTS = 1000;

/** Compares the matches of rules over all keys that frames can have. */
class Comparison {
  readonly #context: LintContext;
  readonly #solver = new Solver();
  /** How many comparisons are left. */
  left: number;

  constructor(context: LintContext) {
    this.#context = context;
    this.left = context.limits.comparisons;
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

/** The rules of a table, and which of them overlap or do the same. */
interface Compared {
  readonly rules: TableRules;
  readonly overlaps: Overlaps;
  readonly actions: ActionClasses;
  readonly kinds: HeaderKinds;
}

/** The later rule that does the same with all frames of rule `i`, if no rule between them takes one of its frames. */
function substitute(
  context: LintContext,
  { rules, overlaps, actions, kinds }: Compared,
  i: number,
  compare: Comparison,
): RuleNode | null {
  if (actions.isAlone(i)) return null;
  const { graph } = context.cover.world;
  const one = rules.node(i);
  let tests = 0;
  for (const j of overlaps.of(i, i + 1, rules.count)) {
    if (kinds.areExclusive(i, j)) continue;
    if (tests++ === MAX_LATER) return null;
    const next = rules.node(j);
    const same = !graph.goesOn(next) && next.object.id !== one.object.id && actions.areSame(i, j);
    // A rule that frames hit shares them with one that takes all its bits.
    if (rules.contains(j, i)) return same ? next : null;
    if (compare.left <= 0) return null;
    if (compare.areDisjoint(one, next)) continue;
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
      const overlaps = context.overlapsOf(table);
      const actions = new ActionClasses(cover.world.tracer.traced, rules, overlaps);
      const compared = { rules, overlaps, actions, kinds: new HeaderKinds(context, rules) };
      let first: number | null = null;
      for (let i = 0; i < rules.count; i++) {
        const one = rules.node(i);
        const { id } = one.object;
        if (dead.has(id) || seen.has(id) || graph.goesOn(one)) continue;
        const next = substitute(context, compared, i, compare);
        if (compare.left <= 0) first ??= i;
        if (next === null || dead.has(next.object.id)) continue;
        seen.add(id);
        const [object, other] = [installedObject(one.object), installedObject(next.object)];
        yield {
          objects: [object, other],
          sentence: `${called(object)} is redundant: without it, ${mentioned(other)} takes all its frames and does the same with them.`,
        };
      }
      if (first !== null)
        context.notDecided(
          table,
          `Whether a rule is redundant was decided for the first ${first} of its ${rules.count} rules; of the others only where a rule contains another one plainly.`,
        );
    }
  },
};
