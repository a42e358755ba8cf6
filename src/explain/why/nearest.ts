/** The rules that a frame came nearest to, in the tables that it visited. */
import type { Case } from "./case.js";
import { differencesOf } from "./differences.js";
import type { Near } from "./explanation.js";
import { isConsidered, type RuleNode } from "./rules.js";
import { factsAt, type Visit } from "./walked.js";

/** A rule, a lookup in its table, and how far the frame was from the rule there. */
export interface Candidate {
  readonly node: RuleNode;
  readonly visit: Visit;
  /** As `scoreOf` says: 0 for a rule that would have matched. */
  readonly score: number;
}

/** The `n` nearest rules that the frame did not hit, nearest first; among equals in the order of lookups and ranks. */
export function nearestRules(
  at: Case,
  n: number,
  visits: readonly Visit[] = at.walked.visits,
  accepts: (node: RuleNode) => boolean = () => true,
): Candidate[] {
  const { rules, walked } = at;
  if (n === 0) return [];
  const hit = new Set(walked.visits.flatMap(({ rule, step }) => (step.passedOver ? [] : rule)));
  const best: Candidate[] = [];
  const seen = new Map<number, number>();
  for (const visit of visits) {
    for (const node of rulesNear(at, visit, n + hit.size)) {
      if (hit.has(node.stored.address) || !isConsidered(node, visit) || !accepts(node)) continue;
      const limit = best.length < n ? Infinity : (best.at(-1)?.score ?? Infinity);
      const score = rules.scoreAt(node, visit, limit);
      if (score >= limit || score >= (seen.get(node.stored.id) ?? Infinity)) continue;
      const known = best.findIndex((one) => one.node.stored.id === node.stored.id);
      if (known >= 0) best.splice(known, 1);
      seen.set(node.stored.id, score);
      const place = best.findIndex((one) => one.score > score);
      best.splice(place < 0 ? best.length : place, 0, { node, visit, score });
      if (best.length > n) best.pop();
    }
  }
  return best;
}

/** Of a larger table the core lists the rules that are nearest by columns of the key; fields differ little from columns. */
const LARGE = 4096;
const LISTED = 256;

function rulesNear({ rules, walked: { traced } }: Case, { table, key }: Visit, n: number): RuleNode[] {
  if (traced.ruleCount(table) <= LARGE) return rules.rulesOf(table);
  return traced.nearestOf(table, key, LISTED + n).map(({ address }) => rules.ruleAt(table, address));
}

export function nearOf({ walked, rules }: Case, { node, visit }: Candidate): Near {
  const differences = differencesOf(rules.matchOf(node), factsAt(walked, visit));
  return { rule: rules.refOf(node), table: visit.step.table, differences };
}
