/**
 * A table of the core and the ranks of its rules.
 *
 * A rank is one 64-bit number, and the first rule by rank wins:
 *
 *     63            48 47                32 31                          0
 *     | priority      | order of matchers  | order of rules            |
 *
 * SPEC: among matchers of equal priority (undefined in mlx5dv_dr) the newer one comes first in a DR table, the older one in
 * the root table, and duplicates, which the page's LIMITATIONS refuse and its Domain section allows, are allowed; rules of one
 * matcher come in the order of their making, so that of duplicates the oldest wins. Both orders count up (or down) without
 * reuse; when one is used up, the living are numbered anew.
 */
import type { Device } from "./device.js";
import type { Matcher } from "./matcher.js";
import type { Rule } from "./rule.js";

export interface RankLimits {
  /** Orders of matchers, at most 2^16. */
  orders: number;
  /** Orders of rules, at most 2^32 - 1. */
  sequence: number;
}

/** One sequence number is left out: a lookup takes the highest rank of all for "no rule". */
const LIMITS: RankLimits = { orders: 2 ** 16, sequence: 2 ** 32 - 1 };

export class Classifier {
  readonly device: Device;
  /** The table in the core. */
  readonly table: number;
  readonly #newerFirst: boolean;
  readonly #limits: RankLimits;
  readonly #matchers = new Set<Matcher>();
  #nextOrder = 0;
  #nextSequence = 0;

  constructor(device: Device, table: number, newerFirst: boolean, limits: RankLimits = LIMITS) {
    this.device = device;
    this.table = table;
    this.#newerFirst = newerFirst;
    this.#limits = limits;
  }

  /** Matchers alive. */
  get matchers(): number {
    return this.#matchers.size;
  }

  /** A place for a new matcher; undefined when as many are alive as there are places. */
  addMatcher(matcher: Matcher): boolean {
    if (this.#nextOrder === this.#limits.orders) this.#renumber();
    if (this.#nextOrder === this.#limits.orders) return false;
    matcher.order = this.#nextOrder++;
    this.#matchers.add(matcher);
    return true;
  }

  removeMatcher(matcher: Matcher): void {
    this.#matchers.delete(matcher);
  }

  /** The order of the next rule. */
  nextSequence(): number {
    if (this.#nextSequence === this.#limits.sequence) this.#renumber();
    return this.#nextSequence++;
  }

  rankHigh(matcher: Matcher): number {
    const order = this.#newerFirst ? this.#limits.orders - 1 - matcher.order : matcher.order;
    return ((matcher.priority << 16) | order) >>> 0;
  }

  /** Numbers matchers and rules anew, closing the gaps that destroyed ones left. Their order stays. */
  #renumber(): void {
    this.#nextOrder = 0;
    for (const matcher of [...this.#matchers].sort((a, b) => a.order - b.order)) matcher.order = this.#nextOrder++;
    this.#nextSequence = 0;
    const rules: Rule[] = [];
    for (const rule of this.device.rules()) if (rule.matcher.table.classifier === this) rules.push(rule);
    for (const rule of rules.sort((a, b) => a.sequence - b.sequence)) {
      rule.sequence = this.#nextSequence++;
      this.device.core.exports.rerankRule(rule.handle, this.rankHigh(rule.matcher), rule.sequence);
    }
  }
}
