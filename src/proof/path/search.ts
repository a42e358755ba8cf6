/**
 * Searches a frame that hits a rule, backwards from the table of the rule: a chain of tables is extended at its front only
 * while some key could take it, and a chain that begins where frames come in gives a frame, which the engine judges.
 */
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { frameOf } from "../keys/frameOf.js";
import { ParsedKey } from "../keys/parsedKey.js";
import { Solver } from "../solver/solver.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import { Chain } from "./chain.js";
import type { Edge, Entry } from "./graph.js";
import { anyArrival, arrivalKey, metadataOf } from "./arrival.js";
import { preparations, type Prepared } from "./preparations.js";
import { forbidMatch } from "./ruleMatch.js";
import type { World } from "./world.js";

/** Where a frame should come to: a rule of a table, for null the end of the table without a rule, for undefined the table. */
export interface Goal {
  readonly table: number;
  readonly rule: RuleNode | null | undefined;
}

export interface FindOptions {
  /** Tells rules that no frame hits, which no chain needs. */
  readonly isDead?: ((rule: RuleNode) => boolean) | undefined;
  /** Rules of the goal's table that match the frame too. */
  readonly also?: readonly RuleNode[] | undefined;
  /** Arriving keys that are left out, as masks and values. */
  readonly except?: readonly KeyMatch[] | undefined;
}

export type Found =
  | {
      readonly kind: "frame";
      readonly last: Prepared;
      readonly lookups: readonly LookupRecord[];
      /** Frames that must come before. */
      readonly before: readonly Prepared[];
    }
  /** No chain of tables leads to the goal for any frame. `chains`: how many were refuted. */
  | { readonly kind: "none"; readonly chains: number }
  | { readonly kind: "unknown"; readonly tried: string };

/** Tables in a chain. */
const MOST_TABLES = 24;
/** Chains that are tried for one goal. */
const MOST_CHAINS = 5000;
/** Frames that are tried for one chain. */
const MOST_FRAMES = 12;
/** Frames of one goal that others are sent before. */
const MOST_PREPARED = 3;

export class Search {
  readonly world: World;
  readonly #solver = new Solver();
  #chains = 0;
  #tried = "";
  #preparedFrames = 0;

  constructor(world: World) {
    this.world = world;
  }

  find(goal: Goal, options: FindOptions = {}): Found {
    this.#chains = 0;
    this.#tried = "";
    this.#preparedFrames = 0;
    const found = this.#extend([], goal, options);
    if (found !== null) return found;
    if (this.#tried !== "") return { kind: "unknown", tried: this.#tried };
    return { kind: "none", chains: this.#chains };
  }

  #extend(edges: readonly Edge[], goal: Goal, options: FindOptions): Found | null {
    const { graph } = this.world;
    const first = edges[0]?.from ?? goal.table;
    for (const entry of graph.entries) {
      if (entry.table !== first || entry.transport) continue;
      const found = this.#fromEntry(entry, edges, goal, options);
      if (found !== null) return found;
    }
    // Frames that a port loops back are the last ones that a reader expects.
    const before = graph.edgesTo(first).toSorted((a, b) => Number(a.move === "loop") - Number(b.move === "loop"));
    if (before.length > 0 && edges.length >= MOST_TABLES) this.#tried ||= `ways of up to ${MOST_TABLES} tables`;
    else {
      for (const edge of before) {
        if (edge.move === "resume" || (edge.rule !== null && options.isDead?.(edge.rule) === true)) continue;
        if (++this.#chains > MOST_CHAINS) {
          this.#tried ||= `${MOST_CHAINS} ways to its table`;
          return null;
        }
        const longer = [edge, ...edges];
        if (!this.#isPossible(longer, goal, options)) continue;
        const found = this.#extend(longer, goal, options);
        if (found !== null) return found;
      }
    }
    return null;
  }

  /** Whether any key at the first table of a chain could take it; true where that is not known. */
  #isPossible(edges: readonly Edge[], goal: Goal, options: FindOptions): boolean {
    const [first] = edges;
    // Where frames only come in, the chain is complete, and is solved with what is known of them.
    if (first !== undefined && this.world.graph.edgesTo(first.from).length === 0) return true;
    const solver = this.#solver;
    solver.reset();
    const key = new ParsedKey(solver, anyArrival(this.world.tracer.device, solver));
    const latest = { slot: this.#latestSlot(edges, goal), looped: this.world.graph.hasLoops };
    return this.#chain(solver, key, edges, goal, options, latest).solve() !== false;
  }

  /** The slot with which the first lookup of a chain begins, if what leads there is not known. */
  #latestSlot([first]: readonly Edge[], goal: Goal): number {
    if (first !== undefined) return this.world.latestSlot(first.from, first.rule);
    return goal.rule === undefined ? 0 : this.world.latestSlot(goal.table, goal.rule);
  }

  #chain(
    solver: Solver,
    key: ParsedKey,
    edges: readonly Edge[],
    goal: Goal,
    { also = [] }: FindOptions,
    lookup: { readonly slot?: number; readonly looped?: boolean } = {},
  ): Chain {
    const chain = new Chain(this.world, solver, key, edges, { table: goal.table, target: goal.rule, ...lookup });
    for (const rule of also) chain.requireAtEnd(rule);
    return chain;
  }

  #fromEntry(entry: Entry, edges: readonly Edge[], goal: Goal, options: FindOptions): Found | null {
    const solver = this.#solver;
    solver.reset();
    const arrival = arrivalKey(this.world.tracer.device, entry, solver);
    for (const cube of options.except ?? []) forbidMatch(solver, cube, arrival);
    const chain = this.#chain(solver, arrival, edges, goal, options);
    for (let n = 0; n < MOST_FRAMES; n++) {
      const answer = chain.solve();
      if (answer === false) return null;
      if (answer === undefined) {
        this.#tried ||= "the solver's limit of conflicts";
        return null;
      }
      const frame = frameOf(solver, arrival);
      if (frame === null) {
        this.#tried ||= "no frame was built for a key that would hit it";
        chain.forbidSolution();
        continue;
      }
      const last = { frame, entry, metadata: metadataOf(solver, arrival) };
      const lookups = this.world.run(last);
      if (isHit(lookups, goal)) return { kind: "frame", last, lookups, before: [] };
      if (!learn(chain, lookups)) {
        const prepared = this.#prepared(last, goal);
        if (prepared !== null) return prepared;
        this.#tried ||= "frames that took another way than foreseen";
        chain.forbidSolution();
      }
    }
    this.#tried ||= `${MOST_FRAMES} frames for one way to its table`;
    return null;
  }

  /** The frame after others that change the state of the device, if it then comes to the goal. */
  #prepared(last: Prepared, goal: Goal): Found | null {
    const { world } = this;
    if (!world.remembers || ++this.#preparedFrames > MOST_PREPARED) return null;
    for (const before of preparations(world.tracer.device, last, world.graph.entries)) {
      const lookups = world.run(last, before);
      if (isHit(lookups, goal)) return { kind: "frame", last, lookups, before };
    }
    return null;
  }
}

function isHit(lookups: readonly LookupRecord[], { table, rule }: Goal): boolean {
  if (rule === undefined) return lookups.some((one) => one.table === table);
  const address = rule?.stored.address ?? 0;
  return lookups.some((one) => one.table === table && one.rule === address && !one.step.passedOver);
}

/** Forbids the first rule that a frame hit in place of that of the chain. @returns false if none explains the frame's way */
function learn(chain: Chain, lookups: readonly LookupRecord[]): boolean {
  for (const stage of chain.stages) {
    const there = lookups.filter(({ table }) => table === stage.table);
    if (isHit(there, { table: stage.table, rule: stage.any ? undefined : stage.wanted })) continue;
    const taken = there.findLast(({ rule }) => rule !== 0);
    if (taken === undefined) return false;
    const rule = chain.world.rules.ruleAt(stage.table, taken.rule);
    // A rule of worse rank took the frame because its key is not that of the solution.
    return chain.world.oracle.keeps(rule, stage.wanted, stage) && chain.forbid(stage, rule);
  }
  return false;
}
