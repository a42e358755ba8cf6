/**
 * What differs between two devices, and which frames can notice it first.
 *
 * Frames of two devices take the same way as long as both hit the same rules in tables of the same name, and these rules do
 * the same. So a frame that is treated differently hits, where its ways part, a rule that is new, gone or changed, or two
 * rules whose order has changed, or misses a table whose misses go elsewhere. `Goal`s are these places.
 */
import type { RuleRef, TableRef } from "../../explain/trace/trace.js";
import { ruleText, tableText } from "../../explain/why/reasons/describe.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import type { RuleNode } from "../../explain/why/rules.js";
import type { Change } from "../answer.js";
import { slotOf } from "../path/tableRules.js";
import { asksQueue } from "./alike.js";
import { compareRules, swapsOf, type RulePair, type Swap } from "./rulePairs.js";
import type { Side, TablePair } from "./sides.js";

/** Frames that hit a rule of one device, or for null miss its table. */
export interface Goal {
  readonly side: "old" | "changed";
  readonly table: number;
  readonly rule: RuleNode | null;
  /** They match these rules of the table too. */
  readonly also?: readonly RuleNode[];
  /** They do not match these. */
  readonly not?: readonly KeyMatch[];
}

/** A change, and the frames that can notice it. */
export interface Suspect extends Omit<Change, "effect" | "tried"> {
  readonly goals: readonly Goal[];
}

/** Swapped pairs of rules of one table that are looked at one by one. */
const MAX_SWAPS = 200;

export class Changes {
  readonly #old: Side;
  readonly #changed: Side;
  readonly #suspects: Suspect[] = [];

  constructor(old: Side, changed: Side) {
    this.#old = old;
    this.#changed = changed;
  }

  /** All changes of tables that both devices have, and of the places where frames come in. */
  list(tables: readonly TablePair[]): readonly Suspect[] {
    this.#settings();
    this.#entries(tables);
    this.#queues();
    for (const pair of tables) this.#table(pair);
    return this.#suspects;
  }

  /** What decides how frames are parsed and drawn: no goal stands for it. */
  #settings(): void {
    const [a, b] = [this.#old, this.#changed].map(({ world }) => world.tracer.device);
    if (a === undefined || b === undefined) return;
    const parser = ({ parser: { geneveOption, samples, vxlanPorts } }: typeof a): string =>
      JSON.stringify([geneveOption, samples, [...vxlanPorts].sort()]);
    if (parser(a) !== parser(b)) this.#device("the parser options of the device differ");
    const seeded = [this.#old, this.#changed].some((side) => side.isRandom);
    if (a.seed !== b.seed && seeded) this.#device("the seed of the device differs, and rules sample frames");
  }

  #device(sentence: string): void {
    this.#suspects.push({ what: "device", rule: null, table: null, sentence, goals: [] });
  }

  /** Where a source leads to another first table, all frames of that table can notice it. */
  #entries(tables: readonly TablePair[]): void {
    const partners = new Map(tables.map(({ old, changed }) => [old, changed]));
    const seen = new Set<number>();
    for (const entry of this.#old.world.graph.entries) {
      const other = this.#changed.entryLike(entry);
      const { table } = entry;
      if (other === null || partners.get(table) === other.table || seen.has(table)) continue;
      seen.add(table);
      const ref = this.#old.world.rules.tableRefOf(table);
      const now = this.#changed.world.rules.tableRefOf(other.table);
      const sentence = `frames enter at ${tableText(now)} instead of ${tableText(ref)}`;
      const rules = [null, ...this.#old.world.nodesOf(table)];
      const goals = rules.map((rule): Goal => ({ side: "old", table, rule }));
      this.#suspects.push({ what: "device", rule: null, table: ref, sentence, goals });
    }
  }

  /** What a sender brings besides its first table: the number that rules match, and which of its frames a port loops back. */
  #queues(): void {
    const sides = [this.#old, this.#changed] as const;
    const pairs = this.#old.world.graph.entries.flatMap(({ queue, ...entry }) => {
      const other = this.#changed.entryLike({ queue, ...entry })?.queue ?? null;
      return queue === null || other === null ? [] : [[queue, other] as const];
    });
    if (pairs.some(([a, b]) => a.qp_num !== b.qp_num)) {
      const goals = (["old", "changed"] as const).flatMap((side, i) => rulesAbout(sides[i] as Side, side));
      const sentence = "the numbers of queues differ, and rules match them";
      if (goals.length > 0) this.#suspects.push({ what: "device", rule: null, table: null, sentence, goals });
    }
    for (const [{ label, selfLoopback: a }, { selfLoopback: b }] of pairs) {
      if (a.unicast !== b.unicast || a.multicast !== b.multicast)
        this.#device(`${label} gets different looped-back frames of its own`);
    }
  }

  #table(pair: TablePair): void {
    const table = this.#changed.world.rules.tableRefOf(pair.changed);
    const { same, effects, matches, removed, added } = compareRules(this.#old, this.#changed, pair);
    const alike = matches.filter((one) => this.#doAlike(one));
    const old = (rule: RuleNode): Goal => ({ side: "old", table: pair.old, rule });
    const changed = (rule: RuleNode): Goal => ({ side: "changed", table: pair.changed, rule });
    for (const one of effects) {
      const goals = this.#isPassedOver(one) ? [old(one.old), changed(one.changed)] : [old(one.old)];
      this.#rule("actions", one.changed, table, "does something else", goals);
    }
    for (const one of matches) {
      const goals = alike.includes(one)
        ? [
            { ...old(one.old), not: [this.#changed.world.contentOf(one.changed)] },
            { ...changed(one.changed), not: [this.#old.world.contentOf(one.old)] },
          ]
        : [old(one.old), changed(one.changed)];
      this.#rule("match", one.changed, table, `matches other frames${this.#renamed(one)}`, goals);
    }
    for (const one of added) this.#rule("added", one, table, "is new", [changed(one)]);
    for (const one of removed) this.#add("removed", this.#old.world.rules.refOf(one), table, `is gone`, [old(one)]);
    this.#order([...same, ...effects, ...alike], pair, table);
    this.#begins([...same, ...effects, ...alike], pair, table);
    if (this.#old.missEffect(pair.old) !== this.#changed.missEffect(pair.changed)) {
      const sentence = `frames that no rule of ${tableText(table)} takes go elsewhere`;
      const goals: Goal[] = [{ side: "old", table: pair.old, rule: null }];
      this.#suspects.push({ what: "unmatched", rule: null, table, sentence, goals });
    }
  }

  /** The old rule, where it has another name. */
  #renamed({ old, changed }: RulePair): string {
    const [before, now] = [this.#old.world.rules.refOf(old), this.#changed.world.rules.refOf(changed)];
    return before.name === now.name ? "" : ` than ${ruleText(before)} did`;
  }

  /**
   * Whether both rules do the same with frames that match both. Then only the other frames can notice that the match is
   * another one: where both devices come to the pair, the ways of a frame that both rules take do not part.
   */
  #doAlike(pair: RulePair): boolean {
    const contents = [this.#old.world.contentOf(pair.old), this.#changed.world.contentOf(pair.changed)];
    if (contents.some(asksQueue) || this.#isPassedOver(pair)) return false;
    return this.#old.effectOf(pair.old) === this.#changed.effectOf(pair.changed);
  }

  /** Whether frames of some queue pass over one of the rules: those that the other one takes may be theirs. */
  #isPassedOver({ old, changed }: RulePair): boolean {
    return this.#old.world.graph.mayBePassedOver(old, null) || this.#changed.world.graph.mayBePassedOver(changed, null);
  }

  #rule(what: Change["what"], rule: RuleNode, table: TableRef, predicate: string, goals: readonly Goal[]): void {
    this.#add(what, this.#changed.world.rules.refOf(rule), table, predicate, goals);
  }

  #add(what: Change["what"], rule: RuleRef, table: TableRef, predicate: string, goals: readonly Goal[]): void {
    const sentence = `${ruleText(rule)} of ${tableText(table)} ${predicate}`;
    this.#suspects.push({ what, rule, table, sentence, goals });
  }

  /** One change for each pair of rules whose order differs; for many pairs one for each rule that moved. */
  #order(pairs: readonly RulePair[], table: TablePair, ref: TableRef): void {
    const swaps = swapsOf(this.#old, this.#changed, table, pairs, MAX_SWAPS);
    for (const { first, second } of swaps.pairs) {
      const before = ruleText(this.#changed.world.rules.refOf(second.changed));
      this.#rule("order", first.changed, ref, `now comes after ${before}`, this.#swapGoals({ first, second }, table));
    }
    for (const pair of swaps.moved) {
      const goals: Goal[] = [
        { side: "old", table: table.old, rule: pair.old },
        { side: "changed", table: table.changed, rule: pair.changed },
      ];
      this.#rule("order", pair.changed, ref, "has another place among the rules that it overlaps", goals);
    }
  }

  /** Rules that came before the place where a rule leads into the table, or after it, and no longer do. */
  #begins(pairs: readonly RulePair[], table: TablePair, ref: TableRef): void {
    const [old, changed] = [this.#old.beginsOf(table.old), this.#changed.beginsOf(table.changed)];
    for (const pair of pairs) {
      const isElsewhere = [...old].some(([name, slot]) => {
        const now = changed.get(name);
        return now !== undefined && slotOf(pair.old.stored) < slot !== slotOf(pair.changed.stored) < now;
      });
      if (!isElsewhere) continue;
      const goals: Goal[] = [
        { side: "old", table: table.old, rule: pair.old },
        { side: "changed", table: table.changed, rule: pair.changed },
      ];
      this.#rule("order", pair.changed, ref, "has another place beside the one where rules lead in", goals);
    }
  }

  #swapGoals({ first, second, slots }: Swap, table: TablePair): Goal[] {
    const both: Goal = { side: "old", table: table.old, rule: first.old, also: [second.old] };
    if (slots !== true) return [both];
    // The second rule gets the frames that the first one lets go on, or no longer does: they may have changed on the way.
    return [
      { side: "old", table: table.old, rule: second.old },
      { side: "changed", table: table.changed, rule: second.changed },
    ];
  }
}

/** The rules of a device that match the number of the queue that sent a frame. */
function rulesAbout({ world }: Side, side: Goal["side"]): Goal[] {
  return world.graph.tables.flatMap((table) =>
    world.nodesOf(table).flatMap((rule) => (asksQueue(world.contentOf(rule)) ? [{ side, table, rule }] : [])),
  );
}
