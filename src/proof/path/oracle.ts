/** The rules of a table that take a key, as the engine itself finds them. */
import { RANK_SLOT } from "../../abi/engine.js";
import { KEY_SIZE } from "../../abi/key.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { StoredRule, TracedCore } from "../../engine/tracedCore.js";
import { isBefore, type RuleNode } from "../../explain/why/rules.js";
import type { Graph } from "./graph.js";
import { slotOf } from "./tableRules.js";

/** The bit of a rank's high word at which its slot begins. */
const SLOT_SHIFT = RANK_SLOT - 32;
/** The greatest word. */
const MAX = 0xffffffff;

/** The words of a rank. */
type Rank = readonly [high: number, low: number];

/** The first rank of a slot; null if it is after the last one. */
function firstOf(slot: number): Rank | null {
  const high = slot * 2 ** SLOT_SHIFT;
  return high > MAX ? null : [high, 0];
}

/** The rank after that of a rule; null after the last one. */
export function rankAfter({ rankHigh, rankLow }: Pick<StoredRule, "rankHigh" | "rankLow">): Rank | null {
  if (rankLow < MAX) return [rankHigh, rankLow + 1];
  return rankHigh < MAX ? [rankHigh + 1, 0] : null;
}

/** A lookup in a table. */
export interface Lookup {
  readonly table: number;
  /** The first slot of ranks that it considers. */
  readonly slot: number;
  /** Whether a port may have looped the frame back: then it can pass over rules that name its sender. */
  readonly looped: boolean;
  /** The queue pair that sends the frame; null for the wire, and where that is not known. */
  readonly sender: QueuePair | null;
}

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
   */
  blocker(key: Uint8Array, wanted: StoredRule | null, lookup: Lookup): RuleNode | null {
    for (let rank: Rank | null = firstOf(lookup.slot); rank !== null;) {
      const address = this.#lookup(lookup.table, key, rank);
      if (address === 0 || address === wanted?.address) return null;
      const found = this.#node(lookup.table, address);
      if (this.blocks(found, wanted, lookup)) return found;
      rank = this.#graph.goesOn(found) ? firstOf(slotOf(found.stored) + 1) : rankAfter(found.stored);
    }
    return null;
  }

  /** Whether a rule of better rank than `wanted` (null: a miss) keeps frames from it for sure. */
  blocks(rule: RuleNode, wanted: StoredRule | null, { slot, looped, sender }: Lookup): boolean {
    const own = slotOf(rule.stored);
    if (own < slot || (looped && this.#graph.mayBePassedOver(rule, sender))) return false;
    return !this.#graph.goesOn(rule) || (wanted !== null && own === slotOf(wanted));
  }

  /** Whether a rule comes before `wanted`, and keeps the frames that it matches from it. */
  keeps(rule: RuleNode, wanted: RuleNode | null, lookup: Lookup): boolean {
    return (wanted === null || isBefore(rule, wanted)) && this.blocks(rule, wanted?.stored ?? null, lookup);
  }

  #lookup(table: number, key: Uint8Array, [high, low]: Rank): number {
    const { core } = this.#traced;
    core.u8.set(key.subarray(0, KEY_SIZE), core.keys);
    core.exports.classify(table, 1, high, low);
    return core.u32[core.found >> 2] as number;
  }
}
