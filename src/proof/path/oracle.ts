/** The rules of a table that take a key, as the engine itself finds them. */
import { RANK_SLOT } from "../../abi/engine.js";
import { KEY_SIZE } from "../../abi/key.js";
import type { StoredRule, TracedCore } from "../../engine/tracedCore.js";
import { isBefore, type RuleNode } from "../../explain/why/rules.js";
import type { Graph } from "./graph.js";
import { slotOf } from "./tableRules.js";

/** The bit of a rank's high word at which its slot begins. */
const SLOT_SHIFT = RANK_SLOT - 32;

export class Oracle {
  readonly #traced: TracedCore;
  readonly #graph: Graph;
  /** The rule at an address. */
  readonly #node: (table: number, address: number) => RuleNode;

  constructor(traced: TracedCore, graph: Graph, node: (table: number, address: number) => RuleNode) {
    this.#traced = traced;
    this.#graph = graph;
    this.#node = node;
  }

  /**
   * What keeps a key from a rule that matches it, or, for null, from a miss: a rule of better rank that ends the frame's
   * walk through the table, or lets it go on behind the rule. Null if nothing does.
   * @param first the first slot of ranks that the lookup considers
   */
  blocker(table: number, key: Uint8Array, wanted: StoredRule | null, first: number): RuleNode | null {
    for (let lowest = first * 2 ** SLOT_SHIFT; ;) {
      const address = this.#lookup(table, key, lowest);
      if (address === 0 || address === wanted?.address) return null;
      const found = this.#node(table, address);
      const slot = slotOf(found.stored);
      if (this.blocks(found, wanted)) return found;
      lowest = (slot + 1) * 2 ** SLOT_SHIFT;
    }
  }

  /** Whether a rule of better rank than `wanted` (null: a miss) keeps frames from it. */
  blocks(rule: RuleNode, wanted: StoredRule | null): boolean {
    return !this.#graph.goesOn(rule) || (wanted !== null && slotOf(rule.stored) === slotOf(wanted));
  }

  /** Whether a rule comes before `wanted` in a lookup from slot `first` on, and keeps the frames that it matches from it. */
  keeps(rule: RuleNode, wanted: RuleNode | null, first: number): boolean {
    if (slotOf(rule.stored) < first || (wanted !== null && !isBefore(rule, wanted))) return false;
    return this.blocks(rule, wanted?.stored ?? null);
  }

  #lookup(table: number, key: Uint8Array, lowestHigh: number): number {
    const { core } = this.#traced;
    core.u8.set(key.subarray(0, KEY_SIZE), core.keys);
    core.exports.classify(table, 1, lowestHigh, 0);
    return core.u32[core.found >> 2] as number;
  }
}
