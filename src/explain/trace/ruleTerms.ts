/** What the rules of a device match, as terms. A rule never changes its match, so they are kept. */
import type { TracedCore } from "../../engine/tracedCore.js";
import type { InstalledRule } from "../../model/base/installed.js";
import { termsOf, type MatchTerm } from "../match/terms.js";

export class RuleTerms {
  readonly #traced: TracedCore;
  /** By rule, then by address: a rule of the eSwitch may have one for each direction. */
  readonly #terms = new WeakMap<InstalledRule, Map<number, readonly MatchTerm[]>>();

  constructor(traced: TracedCore) {
    this.#traced = traced;
  }

  /** The terms of a rule of the core, which belongs to a rule of the device. */
  of(rule: InstalledRule, address: number): readonly MatchTerm[] {
    const known = this.#terms.get(rule) ?? new Map<number, readonly MatchTerm[]>();
    this.#terms.set(rule, known);
    let terms = known.get(address);
    if (terms === undefined) {
      terms = termsOf(this.#traced.contentOf(this.#traced.storedRule(address)));
      known.set(address, terms);
    }
    return terms;
  }
}
