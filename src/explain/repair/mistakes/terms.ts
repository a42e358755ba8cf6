/** Findings about terms of the rule that the frame fails. */
import { termText, valueText } from "../../match/notation.js";
import type { FieldChange } from "../../trace/trace.js";
import type { RuleInTable } from "../context.js";
import type { Facts, TermFact } from "../facts.js";
import type { Finding } from "../finding.js";
import { changedRule } from "../ruleChange.js";

/** A term about bits of a header that the frame has. */
export interface PresentTerm extends TermFact {
  readonly found: bigint;
  readonly range: null;
}

export function isPresentTerm(term: TermFact): term is PresentTerm {
  return term.found !== null && term.range === null && term.mask !== 0n;
}

/** A finding about the first of these terms; the rule would take what the frame has in all of them. */
export function aboutValues(terms: readonly PresentTerm[], say: (term: PresentTerm) => string): Finding | null {
  const [first] = terms;
  return first === undefined ? null : { sentence: say(first), changes: terms.map(takesFound) };
}

/** The term with the value that the frame has, under the same mask. */
export function takesFound({ field, mask, wanted, found }: PresentTerm): FieldChange {
  return { field: field.name, before: wanted, after: termText(field, mask, found & mask) };
}

/** `The rule expects outer.tcp_dport = 20480, and the frame has 80` */
export function differs({ field, wanted, found }: PresentTerm): string {
  return `The rule expects ${field.name} = ${wanted}, and the frame has ${valueText(field, found)}`;
}

/** A term that moves to another field, with the same bits. */
export function moves({ field, wanted }: TermFact, to: string): FieldChange[] {
  return [
    { field: field.name, before: wanted, after: null },
    { field: to, before: null, after: wanted },
  ];
}

/** A term that is left out. */
export function leavesOut({ field, wanted }: TermFact): FieldChange {
  return { field: field.name, before: wanted, after: null };
}

/** Whether the frame comes to the target once a rule has these changes. */
export function getsThere({ context: { trial } }: Facts, rule: RuleInTable, changes: readonly FieldChange[]): boolean {
  const change = changedRule(rule, changes);
  return change !== null && trial.rule(rule, change);
}
