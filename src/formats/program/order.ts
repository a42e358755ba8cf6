/**
 * Rules with masks of their own, in matchers that each have one mask.
 *
 * In a scenario such rules share a matcher, and of two that match the one that was created earlier wins
 * (docs/rules.md). So the matchers are made in the order of the rules; in a table that is not root, where the
 * newer matcher would win, each gets a priority of its own. A rule joins an older matcher with its mask if no
 * rule of the matchers between them overlaps it.
 */
import { overlap } from "../../base/bits.js";
import type { DeviceMatch } from "./parameters.js";

export interface OrderedRule extends DeviceMatch {
  readonly name: string;
  readonly path: string;
}

export interface OrderedMatcher<Rule extends OrderedRule> {
  readonly mask: Uint8Array;
  readonly rules: Rule[];
}

/** Puts rules of one priority into matchers. */
export function matchersOf<Rule extends OrderedRule>(rules: readonly Rule[]): OrderedMatcher<Rule>[] {
  const matchers: OrderedMatcher<Rule>[] = [];
  const byMask = new Map<string, number>();
  const isMany = rules.length > COMPARED;
  for (const rule of rules) {
    const key = rule.mask.join();
    const found = byMask.get(key);
    const last = matchers.length - 1;
    if (found !== undefined && (found === last || (!isMany && isFree(rule, matchers.slice(found + 1))))) {
      (matchers[found] as OrderedMatcher<Rule>).rules.push(rule);
      continue;
    }
    byMask.set(key, matchers.length);
    matchers.push({ mask: rule.mask, rules: [rule] });
  }
  return matchers;
}

/** Rules of a priority that are compared with each other: at most. */
const COMPARED = 2000;

/** Whether no rule of these matchers can match a frame that this one matches. */
function isFree(rule: OrderedRule, matchers: readonly OrderedMatcher<OrderedRule>[]): boolean {
  return matchers.every(({ rules }) => rules.every((other) => !overlap(rule, other)));
}
