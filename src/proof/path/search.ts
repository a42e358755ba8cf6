/**
 * Searches a frame that hits a rule, backwards from the table of the rule: a chain of tables is extended at its front only
 * while some key could take it, and a chain that begins where frames come in gives a frame, which the engine judges.
 */
import { HITS_PER_FRAME } from "../../abi/engine.js";
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { frameOf } from "../keys/frameOf.js";
import type { ParsedKey } from "../keys/parsedKey.js";
import { Solver } from "../solver/solver.js";
import type { KeyMatch } from "../../explain/match/terms.js";
import { Chain, type Stage } from "./chain.js";
import type { Edge, Entry } from "./graph.js";
import { arrivalKey, metadataOf } from "./arrival.js";
import { preparations, type Prepared } from "./preparations.js";
import { forbidMatch } from "./ruleMatch.js";
import { asksSamples, correctedPayload, markedPayload } from "./sampledPayload.js";
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
  /** What the frame does not match at the goal's table. */
  readonly not?: readonly KeyMatch[] | undefined;
  /** The work for the goal, in tables of chains that became formulas; other work is counted as so many of them. @default 2000 */
  readonly maxWork?: number | undefined;
  /** Frames that are left out. */
  readonly except?: readonly LeftOut[] | undefined;
}

/** Frames by their arriving keys, and by where they come in. */
export interface LeftOut {
  readonly isFrom: (entry: Entry) => boolean;
  /** Adds clauses that the keys of all other frames satisfy. */
  readonly forbid: (solver: Solver, arrival: ParsedKey) => void;
}

/** Frames whose keys match. */
export function leftOut(keys: KeyMatch, isFrom: LeftOut["isFrom"] = () => true): LeftOut {
  return { isFrom, forbid: (solver, arrival) => forbidMatch(solver, keys, arrival) };
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
const MAX_TABLES = 24;
const MAX_WORK = 2000;
const FRAME_WORK = 2;
const CONFLICT_WORK = 0.02;
/** Frames that are tried for one chain. */
const MAX_FRAMES = 12;
/** Frames of one goal that others are sent before. */
const MAX_PREPARED = 3;

/** What is tried, but not shown. */
const TRANSPORTS = "packets that queue pairs make from messages, which a witness never is";

/** What a search looks for. */
interface Wanted {
  readonly goal: Goal;
  readonly options: FindOptions;
  /** Chains that wait, by how often they come to tables again. */
  readonly waiting: (readonly Edge[])[][];
}

export class Search {
  readonly world: World;
  readonly #solver = new Solver();
  readonly #tried = new Set<string>();
  #chains = 0;
  #work = 0;
  #maxWork = MAX_WORK;
  #preparedFrames = 0;

  constructor(world: World) {
    this.world = world;
  }

  find(goal: Goal, options: FindOptions = {}): Found {
    this.#chains = 0;
    this.#work = 0;
    this.#maxWork = options.maxWork ?? MAX_WORK;
    this.#tried.clear();
    this.#preparedFrames = 0;
    const found = this.#search({ goal, options, waiting: [[[]]] });
    if (found !== null) return found;
    if (this.#tried.size > 0) return { kind: "unknown", tried: [...this.#tried].join(", ") };
    return { kind: "none", chains: this.#chains };
  }

  /**
   * Extends chains at their front, depth first. Chains that come to tables again wait for those that come to fewer tables
   * again: so circles of tables do not keep the search from plain ways.
   */
  #search(wanted: Wanted): Found | null {
    const { waiting } = wanted;
    for (let again = 0; again < waiting.length; again++) {
      for (const edges of waiting[again] ?? []) {
        const found = this.#extend(edges, again, wanted);
        if (found !== null || this.#isSpent()) return found;
      }
    }
    return null;
  }

  #extend(edges: readonly Edge[], again: number, wanted: Wanted): Found | null {
    const { goal, options, waiting } = wanted;
    if (edges.length > 0 && !this.#isPossible(edges, goal, options)) return null;
    const first = edges[0]?.from ?? goal.table;
    for (const entry of this.world.graph.entries) {
      if (entry.table !== first) continue;
      const found = entry.transport
        ? this.#ofTransport(entry, edges, goal, options)
        : this.#fromEntry(entry, edges, goal, options);
      if (found !== null || this.#isSpent()) return found;
    }
    const before = this.world.origins.edgesTo(first);
    if (before.length > 0 && edges.length >= MAX_TABLES) {
      this.#tried.add(`paths of up to ${MAX_TABLES} tables`);
      return null;
    }
    const next = edges[0] === undefined ? goal.rule : edges[0].rule;
    const match = next === null || next === undefined ? null : this.world.contentOf(next);
    for (const edge of before) {
      if (edge.rule !== null && options.isDead?.(edge.rule) === true) continue;
      if (match !== null && !this.world.origins.mayMatch(edge, match)) continue;
      const longer = [edge, ...edges];
      const more = repeats(longer, goal.table);
      if (more > again) (waiting[more] ??= []).push(longer);
      else {
        const found = this.#extend(longer, again, wanted);
        if (found !== null || this.#isSpent()) return found;
      }
    }
    return null;
  }

  /** Whether the search has done as much as it may for one goal. */
  #isSpent(): boolean {
    if (this.#work < this.#maxWork) return false;
    this.#tried.add(`${this.#chains} paths to its table`);
    return true;
  }

  /** Whether any key at the first table of a chain could take it; true where that is not known. */
  #isPossible(edges: readonly Edge[], goal: Goal, options: FindOptions): boolean {
    this.#chains++;
    const [{ from }] = edges as [Edge];
    const { world } = this;
    // Where frames only come in, the chain is complete, and is solved with what is known of them.
    if (world.origins.edgesTo(from).length === 0) return true;
    const solver = this.#solver;
    solver.reset();
    const key = world.origins.keyAt(from, solver);
    const latest = { slot: this.#latestSlot(edges, goal), looped: world.graph.hasLoops };
    return this.#solve(this.#chain(solver, key, edges, goal, options, latest)) !== false;
  }

  #solve(chain: Chain): boolean | undefined {
    const { conflicts } = this.#solver;
    const answer = chain.solve();
    this.#work += CONFLICT_WORK * (this.#solver.conflicts - conflicts);
    return answer;
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
    { also = [], not = [] }: FindOptions,
    lookup: { readonly slot?: number; readonly looped?: boolean; readonly sender?: QueuePair | null } = {},
  ): Chain {
    this.#work += edges.length + 1;
    const chain = new Chain(this.world, solver, key, edges, { table: goal.table, target: goal.rule, ...lookup });
    for (const rule of also) chain.requireAtEnd(rule);
    for (const match of not) chain.forbidAtEnd(match);
    return chain;
  }

  #fromEntry(entry: Entry, edges: readonly Edge[], goal: Goal, options: FindOptions): Found | null {
    const solver = this.#solver;
    const { arrival, chain } = this.#arriving(entry, edges, goal, options);
    for (let n = 0; n < MAX_FRAMES; n++) {
      const answer = this.#solve(chain);
      if (answer === false) return null;
      if (answer === undefined) {
        this.#tried.add("the solver's conflict limit");
        return null;
      }
      const frame = frameOf(solver, arrival);
      if (frame === null) {
        this.#tried.add("no frame was built for a key that would hit it");
        chain.forbidSolution();
        continue;
      }
      const last = { frame, entry, metadata: metadataOf(solver, arrival) };
      const lookups = this.world.run(last);
      this.#work += FRAME_WORK;
      if (isShown(lookups, goal)) return { kind: "frame", last, lookups, before: [] };
      if (!learn(chain, lookups)) {
        const other = this.#prepared(last, goal) ?? this.#sampled(chain, arrival, last, goal);
        if (other !== null) return other;
        this.#tried.add("frames that took a different path from the one expected");
        chain.forbidSolution();
      }
    }
    this.#tried.add(`${MAX_FRAMES} frames for one path to its table`);
    return null;
  }

  /** The frame with a payload that samples on its way have what the chain asks for. */
  #sampled(chain: Chain, arrival: ParsedKey, last: Prepared, goal: Goal): Found | null {
    if (!chain.stages.some(asksSamples)) return null;
    let payload: Uint8Array | null = markedPayload();
    for (let n = 0; n <= chain.stages.length && payload !== null; n++) {
      const frame = frameOf(this.#solver, arrival, payload);
      if (frame === null) return null;
      const longer = { ...last, frame };
      const lookups = this.world.run(longer);
      this.#work += FRAME_WORK;
      if (isShown(lookups, goal)) return { kind: "frame", last: longer, lookups, before: [] };
      const wrong = wrongStage(chain, lookups);
      payload = wrong === null ? null : correctedPayload(this.#solver, wrong.stage, wrong.lookup, payload);
    }
    return null;
  }

  /** Packets that the device makes of messages: no witness is one, but a proof is about them too. */
  #ofTransport(entry: Entry, edges: readonly Edge[], goal: Goal, options: FindOptions): null {
    if (this.#tried.has(TRANSPORTS)) return null;
    if (this.#solve(this.#arriving(entry, edges, goal, options).chain) !== false) this.#tried.add(TRANSPORTS);
    return null;
  }

  #arriving(
    entry: Entry,
    edges: readonly Edge[],
    goal: Goal,
    options: FindOptions,
  ): { arrival: ParsedKey; chain: Chain } {
    const solver = this.#solver;
    solver.reset();
    const arrival = arrivalKey(this.world.tracer.device, entry, solver);
    for (const { isFrom, forbid } of options.except ?? []) if (isFrom(entry)) forbid(solver, arrival);
    return { arrival, chain: this.#chain(solver, arrival, edges, goal, options, { sender: entry.queue }) };
  }

  /** The frame after others that change the state of the device, if it then comes to the goal. */
  #prepared(last: Prepared, goal: Goal): Found | null {
    const { world } = this;
    if (!world.remembers || ++this.#preparedFrames > MAX_PREPARED) return null;
    for (const before of preparations(world.tracer.device, last, world.graph.entries)) {
      const lookups = world.run(last, before);
      this.#work += FRAME_WORK * (1 + before.length);
      if (isShown(lookups, goal)) return { kind: "frame", last, lookups, before };
    }
    return null;
  }
}

/** How often a chain comes to tables that it came to before. */
function repeats(edges: readonly Edge[], last: number): number {
  return edges.length + 1 - new Set([last, ...edges.map(({ from }) => from)]).size;
}

/** Whether a frame hits the goal, and its outcome lists that: an outcome has the first HITS_PER_FRAME hits. */
function isShown(lookups: readonly LookupRecord[], goal: Goal): boolean {
  if (!isHit(lookups, goal)) return false;
  if ((goal.rule ?? null) === null || lookups.length <= HITS_PER_FRAME) return true;
  return isHit(listedHits(lookups), goal);
}

/** The hits of a frame that its outcome lists. */
export function listedHits(lookups: readonly LookupRecord[]): readonly LookupRecord[] {
  return lookups.filter(({ rule, step }) => rule !== 0 && !step.passedOver).slice(0, HITS_PER_FRAME);
}

function isHit(lookups: readonly LookupRecord[], { table, rule }: Goal): boolean {
  if (rule === undefined) return lookups.some((one) => one.table === table);
  const address = rule?.stored.address ?? 0;
  return lookups.some((one) => one.table === table && one.rule === address && !one.step.passedOver);
}

/** The first stage at which a frame did not what the chain says, with its lookup there; null if it did not come there. */
function wrongStage(
  { stages }: Chain,
  lookups: readonly LookupRecord[],
): { readonly stage: Stage; readonly lookup: LookupRecord } | null {
  for (const stage of stages) {
    const there = lookups.filter(({ table }) => table === stage.table);
    if (isHit(there, { table: stage.table, rule: stage.any ? undefined : stage.wanted })) continue;
    const lookup = there.findLast(({ rule }) => rule !== 0) ?? there.at(-1);
    return lookup === undefined ? null : { stage, lookup };
  }
  return null;
}

/** Forbids the first rule that a frame hit in place of that of the chain. @returns false if none explains the frame's way */
function learn(chain: Chain, lookups: readonly LookupRecord[]): boolean {
  const wrong = wrongStage(chain, lookups);
  if (wrong === null || wrong.lookup.rule === 0) return false;
  const { stage, lookup } = wrong;
  const rule = chain.world.rules.ruleAt(stage.table, lookup.rule);
  // A rule of worse rank took the frame because its key is not that of the solution.
  return chain.world.oracle.keeps(rule, stage.wanted, stage) && chain.forbid(stage, rule);
}
