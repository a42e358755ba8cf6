/**
 * The way that a frame took through a device, as literals of its key. Nothing is required of the key: the caller gives all
 * bits with which the frame came in, so what the way depends on can be told apart from what only its frame has.
 */
import type { RuleNode } from "../../explain/why/rules.js";
import { isBefore } from "../../explain/why/rules.js";
import { AskedKey } from "../keys/askedKey.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import type { Literal } from "../literal.js";
import type { Solver } from "../solver/solver.js";
import type { Conditions, Decided } from "./decisive.js";
import type { Condition, Edge } from "./graph.js";
import { bitLiterals, maskedBits, rangeBits } from "./ruleMatch.js";
import { slotOf } from "./tableRules.js";
import type { World } from "./world.js";

/** A lookup of the frame. */
interface RouteStage {
  readonly table: number;
  readonly slot: number;
  readonly key: AskedKey;
  /** The rule that the frame hit; null for none. */
  readonly wanted: RuleNode | null;
}

/** A way from one lookup to the next one. */
export interface RoutePath {
  readonly edges: readonly Edge[];
  /** The last table, and the rule that the frame hits there; null for none. */
  readonly table: number;
  readonly rule: RuleNode | null;
}

export class Route implements Decided {
  readonly world: World;
  readonly solver: Solver;
  readonly stages: RouteStage[] = [];
  readonly conditions: Conditions[] = [];

  /**
   * @param first the key with which the frame comes in
   * @param waysOf all ways from a table by a rule, or by a miss
   */
  constructor(
    world: World,
    solver: Solver,
    first: SymbolicKey,
    { edges, table, rule }: RoutePath,
    waysOf: (table: number, rule: RuleNode | null) => readonly Edge[],
  ) {
    this.world = world;
    this.solver = solver;
    let key = first;
    let slot = 0;
    for (const edge of edges) {
      const asked = this.#add(edge.from, slot, key, edge.rule);
      key = this.#along(asked, edge, waysOf(edge.from, edge.rule));
      ({ slot } = edge);
    }
    const last = this.#add(table, slot, key, rule);
    // A frame that ended here took none of these ways.
    for (const edge of waysOf(table, rule)) this.#leaveOut(last, edge);
  }

  #add(table: number, slot: number, of: SymbolicKey, wanted: RuleNode | null): AskedKey {
    const key = new AskedKey(of);
    this.stages.push({ table, slot, key, wanted });
    return key;
  }

  /** The key after the way that the frame took. */
  #along(before: AskedKey, edge: Edge, ways: readonly Edge[]): SymbolicKey {
    const { key, when } = this.world.after(this.solver, before, edge);
    this.conditions.push({ literals: [when], equal: true });
    for (const one of edge.conditions) this.conditions.push({ literals: literalsOf(one, key), equal: one.equal });
    for (const other of ways) if (other !== edge) this.#leaveOut(before, other);
    return key;
  }

  /** Notes that the frame did not take a way too. */
  #leaveOut(before: AskedKey, edge: Edge): void {
    const { key, when } = this.world.after(this.solver, before, edge);
    const all = edge.conditions.flatMap((one): Literal[] => {
      const literals = literalsOf(one, key);
      return one.equal ? literals : [];
    });
    const unequal = edge.conditions.filter(({ equal }) => !equal).map((one) => literalsOf(one, key));
    this.conditions.push({ literals: [when, ...all], equal: false, unless: unequal });
  }

  /** The rules that the frame would have hit in place of the one that it hit. */
  *blockers(): Generator<{ readonly stage: RouteStage; readonly rule: RuleNode }> {
    for (const stage of this.stages) {
      const { table, slot, wanted } = stage;
      for (const rule of this.world.nodesOf(table)) {
        if (wanted !== null && !isBefore(rule, wanted)) break;
        if (slotOf(rule.stored) >= slot) yield { stage, rule };
      }
    }
  }

  /** Asks for every bit that decides the way, so that solutions have them all. */
  askAll(): void {
    for (const { stage, rule } of this.blockers()) this.#ask(stage, rule);
    for (const stage of this.stages) if (stage.wanted !== null) this.#ask(stage, stage.wanted);
  }

  #ask({ key }: RouteStage, rule: RuleNode): void {
    const content = this.world.contentOf(rule);
    maskedBits(content, (bit) => key.bit(bit));
    for (const range of content.ranges) rangeBits(range, key);
  }

  /** Whether the solver's solution takes this way as far as its rules and conditions go. */
  get isTaken(): boolean {
    const isTrue = (literal: Literal): boolean => this.solver.value(literal);
    return (
      this.stages.every(({ key, wanted }) => wanted === null || this.#matches(wanted, key)) &&
      this.conditions.every(({ literals, equal, unless = [] }) =>
        equal ? literals.every(isTrue) : !literals.every(isTrue) || unless.some((one) => one.every(isTrue)),
      )
    );
  }

  #matches(rule: RuleNode, key: AskedKey): boolean {
    const content = this.world.contentOf(rule);
    const isTrue = (literal: Literal): boolean => this.solver.value(literal);
    const inRange = content.ranges.every((range) => {
      const value = rangeBits(range, key).reduce((number, bit) => number * 2 + (isTrue(bit) ? 1 : 0), 0);
      return range.low <= value && value <= range.high;
    });
    return inRange && (bitLiterals(content, key)?.every(isTrue) ?? false);
  }
}

/** Literals that are all true where the key has the number of a condition. */
export function literalsOf({ bit, width, value }: Condition, key: SymbolicKey): Literal[] {
  return Array.from({ length: width }, (_, n) => {
    const set = Math.floor(value / 2 ** (width - 1 - n)) % 2 === 1;
    return set ? key.bit(bit + n) : -key.bit(bit + n);
  });
}
