/** The rules of a table in both devices: those that are in both, and those that are not. */
import type { RuleNode } from "../../explain/why/rules.js";
import { slotOf } from "../path/tableRules.js";
import { matchText, type Side, type TablePair } from "./sides.js";
import { ruleKey } from "./treatment.js";

/** A rule that both devices have. */
export interface RulePair {
  readonly old: RuleNode;
  readonly changed: RuleNode;
}

/** What differs between the rules of a table. */
export interface RuleChanges {
  /** Rules with the same match and the same effect, by the rank of the old ones. */
  readonly same: readonly RulePair[];
  /** The same match, another effect. */
  readonly effects: readonly RulePair[];
  /** Another match; the same name, or else the same effect at the same place among the other pairs. */
  readonly matches: readonly RulePair[];
  readonly removed: readonly RuleNode[];
  readonly added: readonly RuleNode[];
}

export function compareRules(old: Side, changed: Side, table: TablePair): RuleChanges {
  const left = new Left(old.world.nodesOf(table.old), changed.world.nodesOf(table.changed));
  const match = (side: Side) => (rule: RuleNode) => matchText(side.world.contentOf(rule));
  const whole = (side: Side) => (rule: RuleNode) => `${matchText(side.world.contentOf(rule))} ${side.effectOf(rule)}`;
  const name = (side: Side) => (rule: RuleNode) => ruleKey(side.world.rules.refOf(rule));
  const same = [
    ...left.pair(both(whole(old), name(old)), both(whole(changed), name(changed))),
    ...left.pair(whole(old), whole(changed)),
  ];
  same.sort((a, b) => rankOrder(a.old, b.old));
  const effects = [
    ...left.pair(both(match(old), name(old)), both(match(changed), name(changed))),
    ...left.pair(match(old), match(changed)),
  ];
  const named = left.pair(name(old), name(changed));
  const places = placesIn(
    [...same, ...effects, ...named],
    old.world.nodesOf(table.old),
    changed.world.nodesOf(table.changed),
  );
  const place = (side: Side) => (rule: RuleNode) => `${places.get(rule)} ${side.effectOf(rule)}`;
  const matches = [...named, ...left.pair(place(old), place(changed))];
  return { same, effects, matches, removed: left.old, added: left.changed };
}

/** For each rule of both tables the pair that comes before it: a number, -1 for none. */
function placesIn(pairs: readonly RulePair[], ...tables: readonly (readonly RuleNode[])[]): Map<RuleNode, number> {
  const numbers = new Map(pairs.flatMap(({ old, changed }, n) => [[old, n] as const, [changed, n] as const]));
  const places = new Map<RuleNode, number>();
  for (const rules of tables) {
    let before = -1;
    for (const rule of [...rules].sort(rankOrder)) {
      places.set(rule, before);
      before = numbers.get(rule) ?? before;
    }
  }
  return places;
}

type Text = (rule: RuleNode) => string;

function both(one: Text, other: Text): Text {
  return (rule) => `${one(rule)} ${other(rule)}`;
}

/** Rules without a partner. */
class Left {
  old: readonly RuleNode[];
  changed: readonly RuleNode[];

  constructor(old: readonly RuleNode[], changed: readonly RuleNode[]) {
    this.old = old;
    this.changed = changed;
  }

  /** Pairs rules with the same text, in the order of their ranks. */
  pair(textOld: Text, textChanged: Text): RulePair[] {
    if (this.old.length === 0 || this.changed.length === 0) return [];
    const waiting = new Map<string, RuleNode[]>();
    for (const rule of this.changed) {
      const text = textChanged(rule);
      const list = waiting.get(text);
      if (list === undefined) waiting.set(text, [rule]);
      else list.push(rule);
    }
    const pairs: RulePair[] = [];
    const partners = new Set<RuleNode>();
    this.old = this.old.filter((rule) => {
      const partner = waiting.get(textOld(rule))?.shift();
      if (partner === undefined) return true;
      partners.add(partner);
      pairs.push({ old: rule, changed: partner });
      return false;
    });
    this.changed = this.changed.filter((rule) => !partners.has(rule));
    return pairs;
  }
}

/** Negative where `a` comes first. */
export function rankOrder({ stored: a }: RuleNode, { stored: b }: RuleNode): number {
  return a.rankHigh - b.rankHigh || a.rankLow - b.rankLow;
}

/** Rules of one table that both devices have in another order: `first` comes first in the old device. */
export interface Swap {
  readonly first: RulePair;
  readonly second: RulePair;
  /** Whether their slots changed: the first one lets its frames go on. */
  readonly slots?: boolean;
}

/** Rules of one table whose order differs. */
export interface Swaps {
  readonly pairs: readonly Swap[];
  /** Rules that have moved past more rules than are listed. */
  readonly moved: readonly RulePair[];
}

/**
 * The pairs of rules that some key matches both of, and whose order has changed: their ranks, or, where one of them lets
 * its frames go on, their slots. Pairs of the same effect that end the walk are left out.
 * @param most how many pairs are listed
 */
export function swapsOf(old: Side, changed: Side, table: TablePair, pairs: readonly RulePair[], most: number): Swaps {
  const { graph } = old.world;
  const rules = graph.rulesOf(table.old);
  const places = new Map(pairs.map((pair) => [pair, rules.indexOf(pair.old.stored.address)]));
  const ordered = [...pairs].sort((a, b) => rankOrder(a.old, b.old));
  const goingOn = ordered.filter(({ old: a, changed: b }) => graph.goesOn(a) || changed.world.graph.goesOn(b));
  const stays = new Set(ordered.filter((pair) => !goingOn.includes(pair)));
  const isSame = (a: RulePair, b: RulePair): boolean =>
    stays.has(a) &&
    stays.has(b) &&
    old.effectOf(a.old) === old.effectOf(b.old) &&
    changed.effectOf(a.changed) === changed.effectOf(b.changed);
  const listed: Swap[] = [];
  const crowded: RulePair[] = [];
  const moved = movedPairs(ordered);
  const seen = new Set<RulePair>();
  for (const pair of moved) {
    seen.add(pair);
    const swapped = ordered.filter((other) => {
      if (seen.has(other) || rankOrder(pair.old, other.old) < 0 === rankOrder(pair.changed, other.changed) < 0)
        return false;
      return !isSame(pair, other) && rules.overlaps(places.get(pair) as number, places.get(other) as number);
    });
    if (listed.length + swapped.length > most) crowded.push(pair);
    else for (const other of swapped) listed.push(swapOf(pair, other));
  }
  for (const pair of goingOn) {
    for (const other of ordered) {
      if (other === pair || slotOrder(pair, other, "old") === slotOrder(pair, other, "changed")) continue;
      listed.push({ first: pair, second: other, slots: true });
    }
  }
  return { pairs: listed, moved: crowded };
}

function swapOf(a: RulePair, b: RulePair): Swap {
  return rankOrder(a.old, b.old) < 0 ? { first: a, second: b } : { first: b, second: a };
}

function slotOrder(a: RulePair, b: RulePair, side: "old" | "changed"): number {
  return Math.sign(slotOf(a[side].stored) - slotOf(b[side].stored));
}

/** The pairs outside a longest list of pairs that have the same order in both devices. */
function movedPairs(ordered: readonly RulePair[]): RulePair[] {
  /** The last pair of the best list of each length, and the pair before each pair. */
  const ends: RulePair[] = [];
  const before = new Map<RulePair, RulePair | undefined>();
  for (const pair of ordered) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rankOrder((ends[middle] as RulePair).changed, pair.changed) < 0) low = middle + 1;
      else high = middle;
    }
    before.set(pair, ends[low - 1]);
    ends[low] = pair;
  }
  const kept = new Set<RulePair>();
  let last: RulePair | undefined = ends.at(-1);
  while (last !== undefined) {
    kept.add(last);
    last = before.get(last);
  }
  return ordered.filter((pair) => !kept.has(pair));
}
