/** Rules that take what the other rules of their table leave: without them the frame would have missed. */
import { Op, RANK_SLOT } from "../../../abi/engine.js";
import type { RuleContent, StoredRule, TracedCore } from "../../../engine/tracedCore.js";
import { ORIGINS, termsOf, type MatchTerm } from "../../match/terms.js";

/** Which protocol a frame has: a last rule for all frames of one takes what others leave. */
const PROTOCOLS = /\.(?:ethertype|ip_version|ip_protocol|[cs]vlan_tag|outer_second_[cs]vlan_tag)$/;

/** Rules of larger tables are not ordered to find the last one. */
const LARGE = 4096;

/** The part of a rank that is a priority. */
const slotOf = ({ rankHigh }: StoredRule): number => rankHigh >>> (RANK_SLOT - 32);

/** Whether a rule matches every frame, or every frame of one protocol as the last of its table that does not match all. */
export function isCatchAll(traced: TracedCore, table: number, address: number): boolean {
  const taker = traced.storedRule(address);
  const terms = ownTerms(traced.contentOf(taker));
  if (terms.length === 0) return true;
  if (traced.ruleCount(table) > LARGE || !terms.every(({ field }) => PROTOCOLS.test(field.name))) return false;
  // A rule of the FDB is one of the core for each direction.
  return traced
    .rulesOf(table)
    .every((one) => one.id === taker.id || slotOf(one) < slotOf(taker) || ownTerms(traced.contentOf(one)).length === 0);
}

/** A rule for all frames of a port takes what others leave, too. */
function ownTerms(content: RuleContent): MatchTerm[] {
  return termsOf(content).filter(({ field }) => !ORIGINS.has(field.name));
}

export function drops({ actions }: RuleContent): boolean {
  return actions.some((one, i) => i % 2 === 0 && one === Op.drop);
}
