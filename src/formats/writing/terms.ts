/** What rules ask for, for exporters. */
import { fieldNamed } from "../../model/match/fields.js";
import { parseMask, parseTerm, type Term } from "../../model/match/term.js";
import type { Scenario, ScenarioRule } from "../../scenario/index.js";

export type Terms = ReadonlyMap<string, Term>;

/** Thrown at an element that a format cannot have; the message says why. */
export class NotExported extends Error {}

/** What a rule asks of each field, with the mask of its matcher. @throws NotExported */
export function termsOf(rule: ScenarioRule, { matchers = [] }: Scenario): Map<string, Term> {
  const terms = new Map<string, Term>();
  const masks = matchers.find(({ name }) => name === rule.matcher)?.mask ?? {};
  for (const [name, text] of Object.entries(rule.match ?? {})) {
    const field = fieldNamed(name);
    if (field === undefined) throw new NotExported(`there is no field ${name}`);
    const mask = masks[name];
    if (mask === undefined || typeof text === "object") terms.set(name, parseTerm(name, field, text));
    else {
      const bits = parseMask(name, field, mask);
      const term = parseTerm(name, field, text);
      terms.set(name, term.kind === "bits" ? { kind: "bits", mask: bits, value: term.value & bits } : term);
    }
  }
  return terms;
}
