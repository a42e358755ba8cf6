/** Rules that a driver made to carry on a rule of a text: sentences name that rule, and which part of it this one is. */
import { isMade, isReceiver, partOf } from "../../drivers/madeRules.js";
import type { Answer, Case } from "./case.js";
import { ruleText } from "./reasons/describe.js";
import type { RuleNode } from "./rules.js";

/** A rule in a sentence that may be a part of another one. */
const MADE_RULE = /\brule "(driver: [^"]+)"/g;

/** Tables between a part and the rule of the text: Open vSwitch resubmits 64 times at most. */
const MAX_TABLES = 64;

/** An answer whose sentences name the rules of the text. */
export function withParts(at: Case, answer: Answer): Answer {
  const named = (sentence: string): string =>
    sentence.replace(MADE_RULE, (text, name: string) => partText(at, name) ?? text);
  return {
    ...answer,
    sentence: named(answer.sentence),
    reasons: answer.reasons.map((reason) => ({ ...reason, sentence: named(reason.sentence) })),
  };
}

/** `rule "flows:3" (step 2: TTL)`; null for a rule that carries on no other one, or one of several. */
function partText(at: Case, name: string): string | null {
  if (isReceiver(name)) return null;
  const node = madeNamed(at, name);
  const own = node === null ? null : (walkedOwner(at, node) ?? onlyOwner(at, node));
  return own === null ? null : `${ruleText(at.rules.refOf(own))} (${partOf(name)})`;
}

function madeNamed({ walked, rules }: Case, name: string): RuleNode | null {
  for (const table of walked.device.tables.keys())
    for (const node of rules.rulesOf(table)) if (rules.refOf(node).name === name) return node;
  return null;
}

/** The rule of the text that the frame hit on its way to the table. */
function walkedOwner({ walked: { visits }, rules }: Case, { table }: RuleNode): RuleNode | null {
  const there = visits.find((visit) => visit.table === table);
  if (there === undefined) return null;
  const own = visits
    .slice(0, visits.indexOf(there))
    .findLast(
      ({ step: { rule, table: of } }) => rule !== null && !isMade(rule.name) && of.domain === there.step.table.domain,
    );
  return own === undefined ? null : rules.ruleAt(own.table, own.rule);
}

/** The only rule of the text that leads to the table, by parts of it or at once. */
function onlyOwner({ links, rules }: Case, { table }: RuleNode): RuleNode | null {
  const owners = new Map<number, RuleNode>();
  const seen = new Set([table]);
  for (const to of seen) {
    if (seen.size > MAX_TABLES) return null;
    for (const { rule } of links.leadsTo("table", to)) {
      if (!isMade(rules.refOf(rule).name)) owners.set(rule.stored.address, rule);
      else seen.add(rule.table);
    }
    if (owners.size > 1) return null;
  }
  return [...owners.values()][0] ?? null;
}
