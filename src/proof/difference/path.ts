/** The way of a frame through one device, and all that happens to it there. */
import { Op } from "../../abi/engine.js";
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { TracedWalk } from "../../explain/trace/tracer.js";
import type { RuleNode } from "../../explain/why/rules.js";
import type { Edge } from "../path/graph.js";
import type { Side } from "./sides.js";

/** The way of a frame that is never split. */
export interface Path {
  readonly edges: readonly Edge[];
  /** The last table, and the rule that the frame hits there; null for none. */
  readonly table: number;
  readonly rule: RuleNode | null;
  /** Equal for ways on which the same happens to every frame. */
  readonly effects: string;
}

/** Moves that do nothing but go on. */
const PLAIN_MOVES: ReadonlySet<Edge["move"]> = new Set(["jump", "miss"]);
/** Operations that do nothing but go on. */
const JUMPS = new RegExp(`^(${[Op.table, Op.root].map((op) => Op[op]).join("|")}) `);

/** The way of a frame; null if it is split, or if the graph does not have the way. */
export function pathOf(side: Side, { trace, lookups }: TracedWalk): Path | null {
  if (trace.steps.some(({ kind }) => kind === "fork") || !trace.complete) return null;
  const last = lookups.at(-1);
  if (last === undefined || lookups.some(({ step }) => step.passedOver)) return null;
  const edges: Edge[] = [];
  const effects: string[] = [];
  for (const [i, lookup] of lookups.slice(0, -1).entries()) {
    const edge = edgeBetween(side, lookup, lookups[i + 1] as LookupRecord);
    if (edge === null) return null;
    edges.push(edge);
    if (edge.rule !== null)
      effects.push(side.nameOf(edge.rule), ...side.operationsOf(edge.rule).filter((text) => !JUMPS.test(text)));
    if (!PLAIN_MOVES.has(edge.move)) effects.push(`${edge.move} ${edge.vport}`);
  }
  const rule = last.rule === 0 ? null : side.world.rules.ruleAt(last.table, last.rule);
  effects.push(rule === null ? side.missEffect(last.table) : `${side.nameOf(rule)} ${side.endEffect(rule)}`);
  return { edges, table: last.table, rule, effects: effects.filter((text) => text !== "").join("; ") };
}

/** The way from one lookup to the next one; null if there is none, or more than one. */
function edgeBetween(side: Side, { table, rule }: LookupRecord, next: LookupRecord): Edge | null {
  const edges = side
    .waysOf(table, rule)
    .filter(({ to, by, move }) => to === next.table && by !== "array" && by !== "sample" && move !== "loop");
  return edges.length === 1 ? (edges[0] as Edge) : null;
}
