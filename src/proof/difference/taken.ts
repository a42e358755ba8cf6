/**
 * The frames that take two paths as one clause, which the frames that take other paths satisfy. Unlike the keys that are like
 * that of one frame (alike.ts), these are all of them, so there are as many clauses as pairs of paths.
 */
import type { SymbolicKey } from "../keys/symbolicKey.js";
import type { Literal } from "../literal.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { isBefore } from "../../explain/why/rules.js";
import type { Edge } from "../path/graph.js";
import { literalsOf } from "../path/route.js";
import { forbidMatch, requireMatch } from "../path/ruleMatch.js";
import { slotOf } from "../path/tableRules.js";
import type { Solver } from "../solver/solver.js";
import { asksQueue, type Way } from "./alike.js";
import type { Path } from "./path.js";
import type { Side } from "./sides.js";

/** Rules of better rank on two paths; for more the keys that are like that of one frame are left out. */
const MAX_BLOCKERS = 4000;

/** The rules that a path depends on: those that its frames hit, and those that would take them before. */
export function rulesOn({ side, path }: Way): readonly RuleNode[] {
  return lookupsOf(path).flatMap(({ table, slot, rule }) => [
    ...(rule === null ? [] : [rule]),
    ...blockers(side, table, slot, rule),
  ]);
}

/** Whether the clause for two paths is small enough. */
export function isSmall(ways: readonly Way[]): boolean {
  return ways.reduce((sum, way) => sum + rulesOn(way).length, 0) <= MAX_BLOCKERS;
}

/** Whether two paths depend on the number of the queue that sends. */
export function dependsOnQueue(ways: readonly Way[]): boolean {
  return ways.some((way) => rulesOn(way).some((rule) => asksQueue(way.side.world.contentOf(rule))));
}

function lookupsOf({ edges, table, rule }: Path): { table: number; slot: number; rule: RuleNode | null }[] {
  const last = rule === undefined ? [] : [{ table, rule }];
  const tables = [...edges.map((edge) => ({ table: edge.from, rule: edge.rule })), ...last];
  return tables.map((one, n) => ({ ...one, slot: n === 0 ? 0 : (edges[n - 1] as Edge).slot }));
}

function blockers({ world }: Side, table: number, slot: number, wanted: RuleNode | null): RuleNode[] {
  const nodes = world.nodesOf(table);
  const end = wanted === null ? nodes.length : nodes.findIndex((rule) => !isBefore(rule, wanted));
  return nodes.slice(0, end < 0 ? nodes.length : end).filter((rule) => slotOf(rule.stored) >= slot);
}

/** A table after some edges, for one formula. */
interface Stage {
  readonly key: SymbolicKey;
  /** Literals that imply that the key matches a rule, or that it does not. */
  readonly hits: Map<RuleNode, Literal>;
  readonly misses: Map<RuleNode, Literal>;
  readonly next: Map<Edge, { readonly stage: Stage; readonly when: Literal }>;
  /** Literals that imply that the frame goes along an edge. */
  readonly takes: Map<Edge, Literal>;
  /** When frames get past the first actions of a rule, by their number. */
  readonly passes: Map<string, Literal>;
}

function stageOf(key: SymbolicKey): Stage {
  return { key, hits: new Map(), misses: new Map(), next: new Map(), takes: new Map(), passes: new Map() };
}

/** What formulas have in common for the paths that they leave out, by the key with which frames come in. */
const formulas = new WeakMap<SymbolicKey, LeftPaths>();

/** Leaves out the frames that take all of some paths. */
export function forbidPaths(solver: Solver, arrival: SymbolicKey, ways: readonly Way[]): void {
  let paths = formulas.get(arrival);
  if (paths === undefined) formulas.set(arrival, (paths = new LeftPaths(solver, arrival)));
  paths.forbid(ways);
}

class LeftPaths {
  readonly #solver: Solver;
  readonly #arrival: SymbolicKey;
  readonly #first = new Map<Side, Stage>();

  constructor(solver: Solver, arrival: SymbolicKey) {
    this.#solver = solver;
    this.#arrival = arrival;
  }

  forbid(ways: readonly Way[]): void {
    this.#solver.addClause(ways.flatMap((way) => this.#leaves(way)));
  }

  /** Literals of which one holds for each frame that does not take a path. */
  #leaves({ side, path }: Way): Literal[] {
    const clause: Literal[] = [];
    let stage = known(this.#first, side, () => stageOf(this.#arrival));
    for (const [n, { table, slot, rule }] of lookupsOf(path).entries()) {
      const edge = path.edges[n];
      if (rule !== null) clause.push(this.#miss(side, stage, rule));
      for (const one of blockers(side, table, slot, rule)) clause.push(this.#hit(side, stage, one));
      const own = [edge, ...(path.branches?.[n] ?? [])];
      for (const other of side.waysOf(table, rule?.stored.address ?? 0))
        if (!own.includes(other)) clause.push(this.#take(side, stage, other));
      if (edge === undefined) clause.push(...this.#otherEnd(side, stage, path));
      else stage = this.#along(side, stage, edge, clause);
    }
    return clause;
  }

  #miss({ world }: Side, stage: Stage, rule: RuleNode): Literal {
    return known(stage.misses, rule, () => {
      const miss = this.#solver.newVariable();
      forbidMatch(this.#solver, world.contentOf(rule), stage.key, [miss]);
      return miss;
    });
  }

  #hit({ world }: Side, stage: Stage, rule: RuleNode): Literal {
    return known(stage.hits, rule, () => {
      const hit = this.#solver.newVariable();
      requireMatch(this.#solver, world.contentOf(rule), stage.key, [hit]);
      return hit;
    });
  }

  /** Adds what frames that leave the path at an edge satisfy. */
  #along(side: Side, stage: Stage, edge: Edge, clause: Literal[]): Stage {
    const next = this.#next(side, stage, edge);
    clause.push(-next.when);
    for (const condition of edge.conditions) {
      const literals = literalsOf(condition, next.stage.key);
      if (condition.equal) clause.push(...literals.map((literal) => -literal));
      else clause.push(this.#all([literals]));
    }
    return next.stage;
  }

  #next(side: Side, stage: Stage, edge: Edge): { readonly stage: Stage; readonly when: Literal } {
    return known(stage.next, edge, () => {
      const { key, when } = side.world.after(this.#solver, stage.key, edge);
      return { stage: stageOf(key), when };
    });
  }

  #take(side: Side, stage: Stage, edge: Edge): Literal {
    return known(stage.takes, edge, () => {
      const { when, stage: next } = this.#next(side, stage, edge);
      const lists = edge.conditions.map((one) => ({ literals: literalsOf(one, next.key), equal: one.equal }));
      const take = this.#all([[when], ...lists.flatMap(({ literals, equal }) => (equal ? [literals] : []))]);
      for (const { literals, equal } of lists)
        if (!equal) this.#solver.addClause([-take, ...literals.map((literal) => -literal)]);
      return take;
    });
  }

  /** A literal that implies all literals of lists. */
  #all(lists: readonly (readonly Literal[])[]): Literal {
    const all = this.#solver.newVariable();
    for (const literal of lists.flat()) this.#solver.addClause([-all, literal]);
    return all;
  }

  #otherEnd(side: Side, stage: Stage, { rule, passed, failed }: Path): Literal[] {
    if (rule === null || rule === undefined) return [];
    const { actions } = side.world.contentOf(rule);
    const passes = (count: number): Literal =>
      known(
        stage.passes,
        `${rule.stored.address} ${count}`,
        () => side.world.afterActions(this.#solver, stage.key, actions, count).when,
      );
    return [-passes(passed), ...(failed ? [passes(passed + 1)] : [])];
  }
}

function known<Key, Value>(values: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = values.get(key);
  if (value === undefined) values.set(key, (value = make()));
  return value;
}
