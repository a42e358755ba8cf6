/** The path of a frame through the picture: from where it came in, from row to row, to its ends. */
import type { VerdictName } from "flowsteer";
import type { Trace, TraceStep } from "flowsteer/explain";
import type { Pipeline } from "../../engine/api.js";
import { ruleOf, sourceId, tableId, tableOf } from "./names.js";
import { MISS, ruleKey } from "./rows.js";

/** A place in the picture. The row is null for nodes without rows. */
export interface Place {
  readonly node: string;
  readonly row: string | null;
}

export interface Hop {
  readonly from: Place;
  readonly to: Place;
  readonly branch: number;
  /** The index of the step that brought the frame there. */
  readonly step: number;
  /** Whether a copy went there. */
  readonly copy: boolean;
}

/** An end of a branch. */
export interface RouteEnd {
  readonly node: string;
  readonly verdict: VerdictName;
  readonly branch: number;
  readonly step: number;
}

export interface Route {
  readonly hops: readonly Hop[];
  readonly ends: readonly RouteEnd[];
  /** Where the frame is at each step, by its index. */
  readonly places: readonly Place[];
}

export const DROPPED = "end:drop";
export const MISSED = "end:miss";

export function routeOf(pipeline: Pipeline, trace: Trace): Route {
  return new RouteBuilder(pipeline, trace).build();
}

class RouteBuilder {
  readonly #pipeline: Pipeline;
  readonly #trace: Trace;
  readonly #hops: Hop[] = [];
  readonly #ends: RouteEnd[] = [];
  readonly #places: Place[] = [];
  /** Where each branch is. */
  readonly #at = new Map<number, Place>();
  /** The last destination of each branch; a copy where there is no other. */
  readonly #reached = new Map<number, string>();

  constructor(pipeline: Pipeline, trace: Trace) {
    this.#pipeline = pipeline;
    this.#trace = trace;
  }

  build(): Route {
    const start: Place = { node: sourceId(this.#trace.from), row: null };
    let last = start;
    this.#at.set(0, start);
    this.#trace.steps.forEach((step, index) => {
      this.#take(step, index, this.#at.get(step.branch) ?? last);
      last = this.#at.get(step.branch) ?? last;
      this.#places.push(this.#placeAt(step, last));
    });
    return { hops: this.#hops, ends: this.#ends, places: this.#places };
  }

  #take(step: TraceStep, index: number, from: Place): void {
    switch (step.kind) {
      case "lookup": {
        const table = tableOf(this.#pipeline, step.table);
        const rule = step.rule === null ? undefined : ruleOf(table, step.rule);
        const row = step.rule === null ? MISS : rule === undefined ? null : ruleKey(rule);
        const to: Place = { node: tableId(step.table), row };
        this.#hop(step.branch, from, to, index, false);
        this.#at.set(step.branch, to);
        break;
      }
      case "fork":
        this.#at.set(step.into, from);
        break;
      case "destination":
        this.#hop(step.branch, from, { node: step.to, row: null }, index, step.copy);
        if (!step.copy || !this.#reached.has(step.branch)) this.#reached.set(step.branch, step.to);
        break;
      case "end":
        this.#end(step.verdict, step.branch, index, from);
        break;
      default:
    }
  }

  #end(verdict: VerdictName, branch: number, step: number, from: Place): void {
    const lost = verdict === "drop" || verdict === "miss";
    const node = lost ? (verdict === "drop" ? DROPPED : MISSED) : (this.#reached.get(branch) ?? from.node);
    if (lost) this.#hop(branch, from, { node, row: null }, step, false);
    this.#ends.push({ node, verdict, branch, step });
  }

  #hop(branch: number, from: Place, to: Place, step: number, copy: boolean): void {
    this.#hops.push({ from, to, branch, step, copy });
  }

  #placeAt(step: TraceStep, at: Place): Place {
    if (step.kind === "destination") return { node: step.to, row: null };
    if (step.kind === "end") return { node: this.#ends.at(-1)?.node ?? at.node, row: null };
    return at;
  }
}
