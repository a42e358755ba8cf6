/** The lookups of a traced frame as pairs: a lookup, and the one of the same copy of the frame before it. */
import type { Edge, Graph } from "../../../../src/proof/path/graph.js";
import type { LookupStep, Trace } from "../../../../src/explain/trace/trace.js";

/** What the pairs need of a lookup. */
export interface Lookup {
  readonly step: LookupStep;
  readonly table: number;
  readonly rule: number;
}

export interface Pair<L extends Lookup> {
  /** Null where a frame comes in. */
  readonly before: L | null;
  readonly after: L;
  /** Whether the frame was looped back in between: `before` is then the last lookup of any of its copies. */
  readonly looped: boolean;
}

/** The pairs of a trace. Lookups that passed over a rule go on in their table and begin no pair. */
export function pairsOf<L extends Lookup>({ steps }: Trace, lookups: readonly L[]): Pair<L>[] {
  const last = new Map<number, L>();
  const looped = new Set<number>();
  const pairs: Pair<L>[] = [];
  let next = 0;
  for (const step of steps) {
    if (step.kind === "fork") {
      const parent = last.get(step.branch);
      if (parent !== undefined) last.set(step.into, parent);
    } else if (step.kind === "move" && step.cause === "loopback") looped.add(step.branch);
    else if (step.kind === "lookup") {
      const after = lookups[next++] as L;
      const before = last.get(step.branch) ?? null;
      last.set(step.branch, after);
      if (before?.step.passedOver === true) continue;
      pairs.push({ before, after, looped: looped.delete(step.branch) });
    }
  }
  return pairs;
}

/** The edges that a pair can have taken. */
export function edgesBetween<L extends Lookup>(graph: Graph, before: L, after: L): Edge[] {
  return graph
    .edgesFrom(before.table)
    .filter(({ to, rule }) => to === after.table && (rule?.stored.address ?? 0) === before.rule);
}
