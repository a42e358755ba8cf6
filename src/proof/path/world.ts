/** What a search knows of a device: its graph, its rules, the engine's answers, and what actions make of keys. */
import type { RuleContent } from "../../engine/tracedCore.js";
import { someOperation, type Operation } from "../../model/action/operations.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { DryRun, TracedWalk, Tracer } from "../../explain/trace/tracer.js";
import { RuleReader, type RuleNode } from "../../explain/why/rules.js";
import type { Literal } from "../literal.js";
import { anyArrival } from "./arrival.js";
import { ParsedKey } from "../keys/parsedKey.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import type { Solver } from "../solver/solver.js";
import type { Edge, Graph } from "./graph.js";
import { graphOf } from "./deviceGraph.js";
import type { Prepared } from "./preparations.js";
import { Oracle } from "./oracle.js";
import { Origins } from "./origins.js";
import { slotOf } from "./tableRules.js";
import { changedKey, keyAlong, type Changed, type Changing } from "./transform.js";

export class World {
  readonly tracer: Tracer;
  readonly graph: Graph;
  readonly rules: RuleReader;
  readonly oracle: Oracle;
  #remembers: boolean | undefined;
  #origins: Origins | undefined;
  #newKeys = 0;
  readonly #nodes = new Map<number, readonly RuleNode[]>();

  /** @param origins of a world in which frames come to the tables that are asked for in the same ways */
  constructor(tracer: Tracer, origins?: Origins) {
    this.tracer = tracer;
    this.#origins = origins;
    this.rules = new RuleReader(tracer);
    this.graph = graphOf(tracer);
    this.oracle = new Oracle(tracer.traced, this.graph, (table, address) => this.rules.ruleAt(table, address));
  }

  /** The rules of a table by rank. */
  nodesOf(table: number): readonly RuleNode[] {
    let nodes = this.#nodes.get(table);
    if (nodes === undefined) this.#nodes.set(table, (nodes = this.rules.rulesOf(table)));
    return nodes;
  }

  contentOf(rule: RuleNode): RuleContent {
    return this.rules.contentOf(rule);
  }

  /**
   * Of the slots with which lookups in a table begin, the one that leaves the fewest rules before a rule, or before a miss
   * (null).
   */
  latestSlot(table: number, rule: RuleNode | null): number {
    const last = rule === null ? Infinity : slotOf(rule.stored);
    const edges = this.graph.edgesTo(table).filter(({ move, slot }) => move !== "resume" && slot <= last);
    return Math.max(0, ...edges.map(({ slot }) => slot));
  }

  /** What frames have in common where they come. */
  get origins(): Origins {
    return (this.#origins ??= new Origins(this));
  }

  /** The key at the end of an edge, and when frames get there. */
  after(solver: Solver, key: SymbolicKey, edge: Edge): Changed {
    return keyAlong(this.#changing(solver), key, edge);
  }

  /** The key after the first actions of a list, and when frames get there. */
  afterActions(solver: Solver, key: SymbolicKey, actions: readonly number[], upTo = actions.length / 2): Changed {
    return changedKey(this.#changing(solver), key, actions, upTo);
  }

  #changing(solver: Solver): Changing {
    return { solver, tracer: this.tracer, newKey: this.#newKey.bind(this, solver) };
  }

  /** Keys made for bytes that were not parsed when the frame came in: nothing in its first key tells what they hold. */
  get newKeys(): number {
    return this.#newKeys;
  }

  #newKey(solver: Solver, origin?: SymbolicKey | null, link?: ((bit: number) => Literal) | null): ParsedKey {
    this.#newKeys++;
    return new ParsedKey(solver, {
      ...anyArrival(this.tracer.device, solver),
      ...(origin instanceof ParsedKey ? { insideOf: origin } : {}),
      ...(link ? { ethernet: link } : {}),
    });
  }

  /** The lookups of a frame on the real engine, in its present state and after other frames. */
  run(last: Prepared, before: readonly Prepared[] = []): readonly LookupRecord[] {
    return this.walk(last, before).lookups;
  }

  /** The dry run of a frame on the real engine, in its present state and after other frames. */
  walk(last: Prepared, before: readonly Prepared[] = []): TracedWalk {
    const { tracer } = this;
    const time = tracer.device.now();
    return tracer.walkAll([...before, last].map((one) => this.#dryRun(one, time)));
  }

  #dryRun({ frame, entry: { source, queue }, metadata }: Prepared, time: bigint): DryRun {
    if (source.kind === "wire") return this.tracer.arriving(source.port, frame, { time });
    return this.tracer.sent(queue as QueuePair, frame, { time, metadata });
  }

  /** Whether some rule has an action whose effect depends on the frames before. */
  get remembers(): boolean {
    return (this.#remembers ??= this.graph.tables.some((table) =>
      this.nodesOf(table).some((rule) => someOperation(this.tracer.traced.actionsOf(rule.stored), isStateful)),
    ));
  }
}

function isStateful({ state }: Operation): boolean {
  return state !== undefined && state.bytes > 0;
}
