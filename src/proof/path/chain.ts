/**
 * A chain of tables as a formula: a key at the first table, and at each table the rule that the frame hits, or a miss. Rules
 * of better rank are added when a solution hits one of them, so the formula has only the rules that matter.
 */
import { KEY_SIZE } from "../../abi/key.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { AskedKey } from "../keys/askedKey.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { isConstant, type Literal } from "../literal.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { Solver } from "../solver/solver.js";
import type { Condition, Edge } from "./graph.js";
import { forbidMatch, maskedBits, rangeBits, requireMatch } from "./ruleMatch.js";
import type { Lookup } from "./oracle.js";
import type { World } from "./world.js";

/** A table of a chain. */
export interface Stage extends Lookup {
  readonly key: AskedKey;
  /** The rule that the frame hits there; null for a miss. */
  readonly wanted: RuleNode | null;
  /** Whether all that counts is that the frame comes there. */
  readonly any: boolean;
  /** Rules that were forbidden. */
  readonly forbidden: Set<number>;
}

/** Conflicts of one call of the solver. */
const CONFLICTS = 20_000;

/** Rules that are added to one formula. */
const MAX_RULES = 20_000;

/** Looks for keys that take the paths of all chains, which share a solver; undefined if the search was given up. */
export function solveAll(
  solver: Solver,
  chains: readonly Chain[],
  under: () => readonly Literal[],
): boolean | undefined {
  for (let rules = 0; rules < MAX_RULES; rules++) {
    if (!chains.every(({ possible }) => possible)) return false;
    const answer = solver.solve(under(), CONFLICTS);
    if (answer !== true) return answer;
    if (!chains.some((chain) => chain.refine())) return true;
  }
  return undefined;
}

export class Chain {
  readonly world: World;
  readonly solver: Solver;
  readonly stages: Stage[] = [];
  /** What edges ask of keys: all of the literals, or not all of them. */
  readonly conditions: { readonly literals: readonly Literal[]; readonly equal: boolean }[] = [];
  /** False once no key can take the way; then `solve` need not be called. */
  possible = true;
  /** The rules that were forbidden, by the literal under which each is; empty if they are forbidden for good. */
  readonly named = new Map<Literal, RuleNode>();
  readonly #names: boolean;
  readonly #key = new Uint8Array(KEY_SIZE);

  /**
   * @param first the key at the first table
   * @param edges from the first table on, each to the table of the next one
   * @param target the rule of the last table; null for a miss there, undefined for whatever happens there
   * @param names whether rules are forbidden under assumptions, so that a proof names them
   * @param slot with which the lookup in the first table begins
   * @param sender the queue pair that sends the frames, where it is known
   * @param looped whether ports may have looped frames back before they come to the first table
   */
  constructor(
    world: World,
    solver: Solver,
    first: SymbolicKey,
    edges: readonly Edge[],
    {
      table,
      target,
      names = false,
      slot = 0,
      looped = false,
      sender = null,
    }: {
      table: number;
      target: RuleNode | null | undefined;
      names?: boolean;
      slot?: number;
      looped?: boolean;
      sender?: QueuePair | null;
    },
  ) {
    this.#names = names;
    this.world = world;
    this.solver = solver;
    let key = first;
    let lookup = { slot, looped, sender };
    for (const edge of edges) {
      const asked = new AskedKey(key);
      this.#add({ table: edge.from, ...lookup, key: asked, wanted: edge.rule, any: false, forbidden: new Set() });
      if (!this.possible) return;
      const { key: next, when } = world.after(solver, asked, edge);
      if (!solver.addClause([when])) this.possible = false;
      this.conditions.push({ literals: [when], equal: true });
      for (const condition of edge.conditions) this.#require(condition, next);
      key = next;
      lookup = { slot: edge.slot, looped: lookup.looped || edge.move === "loop", sender };
    }
    this.#add({
      table,
      ...lookup,
      key: new AskedKey(key),
      wanted: target ?? null,
      any: target === undefined,
      forbidden: new Set(),
    });
  }

  #require({ bit, width, value, equal }: Condition, key: SymbolicKey): void {
    const literals = Array.from({ length: width }, (_, n) => {
      const set = Math.floor(value / 2 ** (width - 1 - n)) % 2 === 1;
      return set ? key.bit(bit + n) : -key.bit(bit + n);
    });
    this.conditions.push({ literals, equal });
    if (equal) {
      for (const literal of literals) if (!this.solver.addClause([literal])) this.possible = false;
    } else if (!this.solver.addClause(literals.map((literal) => -literal))) this.possible = false;
  }

  #add(stage: Stage): void {
    this.stages.push(stage);
    const { wanted, looped, sender } = stage;
    if (wanted === null) return;
    if (looped && sender !== null && this.world.graph.isPassedOver(wanted, sender)) this.possible = false;
    if (!requireMatch(this.solver, this.world.contentOf(wanted), stage.key)) this.possible = false;
  }

  /** Requires that a rule of the last table matches too. */
  requireAtEnd(rule: RuleNode): void {
    const [last] = this.stages.slice(-1);
    if (last === undefined) return;
    if (!requireMatch(this.solver, this.world.contentOf(rule), last.key)) this.possible = false;
  }

  /** Requires that frames at the last table do not match this. */
  forbidAtEnd(match: KeyMatch): void {
    const [last] = this.stages.slice(-1);
    if (last === undefined) return;
    if (!forbidMatch(this.solver, match, last.key)) this.possible = false;
  }

  /**
   * Looks for keys that take the way.
   * @param under assumptions
   * @returns undefined if the search was given up
   */
  solve(under: readonly Literal[] = []): boolean | undefined {
    return solveAll(this.solver, [this], () => (this.#names ? [...under, ...this.named.keys()] : under));
  }

  /** Forbids the first rule that the solution hits in place of a wanted one. @returns false if there is none */
  refine(): boolean {
    for (const stage of this.stages) {
      if (stage.any) continue;
      const key = stage.key.solution(this.solver, this.#key);
      const taken = this.world.oracle.blocker(key, stage.wanted?.stored ?? null, stage);
      if (taken !== null) {
        this.forbid(stage, taken);
        return true;
      }
    }
    return false;
  }

  /** Excludes the keys at a stage that a rule takes. @returns false if that changes nothing */
  forbid(stage: Stage, rule: RuleNode): boolean {
    if (stage.forbidden.has(rule.stored.address)) return false;
    stage.forbidden.add(rule.stored.address);
    const when: Literal[] = [];
    if (this.#names) {
      when.push(this.solver.newVariable());
      this.named.set(when[0] as Literal, rule);
    }
    if (!forbidMatch(this.solver, this.world.contentOf(rule), stage.key, when)) this.possible = false;
    return true;
  }

  /** The rules of better rank that can take frames from the chain, for each of its tables. */
  *blockers(): Generator<{ readonly stage: Stage; readonly rule: RuleNode }> {
    for (const stage of this.stages) {
      if (stage.any) continue;
      const wanted = stage.wanted?.stored ?? null;
      for (const rule of this.world.nodesOf(stage.table)) {
        if (rule.stored.address === wanted?.address) break;
        if (this.world.oracle.blocks(rule, wanted, stage)) yield { stage, rule };
      }
    }
  }

  /** Asks for every bit that decides the way, so that solutions have them all. */
  askAll(): void {
    for (const { stage, rule } of this.blockers()) {
      const content = this.world.contentOf(rule);
      maskedBits(content, (bit) => stage.key.bit(bit));
      for (const range of content.ranges) rangeBits(range, stage.key);
    }
  }

  /** Excludes the solution: its bits at the first table. @param when as long as all of these hold */
  forbidSolution(when: readonly Literal[] = []): void {
    const { key } = this.stages[0] as Stage;
    const bits = key.asked.map((bit) => key.bit(bit)).filter((literal) => !isConstant(literal));
    const clause = bits.map((bit) => (this.solver.value(bit) ? -bit : bit));
    if (!this.solver.addClause([...clause, ...when.map((literal) => -literal)])) this.possible = false;
  }
}
