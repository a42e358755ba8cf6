/** The way of a frame through one device, and all that happens to it there. */
import { TABLE_FDB, TABLE_ROOT, TABLE_SEND } from "../../abi/engine.js";
import type { LookupStep } from "../../explain/trace/trace.js";
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { TracedWalk } from "../../explain/trace/tracer.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { opNames } from "../../model/action/operations.js";
import type { Condition, Edge } from "../path/graph.js";
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
const JUMPS = operations(({ operand }) => operand === "table" || operand === "priority");

/** Operations that a frame which is lost does not show. A vport that leads on is that of a function. */
const SILENT = operations(({ silent }) => silent === true);
const DROP = operations((_, name) => name === "drop");
const LOSING = operations((_, name) => name === "untag" || name === "tag" || name === "drop");

/** Tests the text of an operation. */
function operations(test: Parameters<typeof opNames>[0]): RegExp {
  return new RegExp(`^(${opNames(test).join("|")}) `);
}

/** The way of a frame; null if it is split, or if the graph does not have the way. */
export function pathOf(side: Side, { trace, lookups }: TracedWalk): Path | null {
  if (trace.steps.some(({ kind }) => kind === "fork") || !trace.complete) return null;
  const last = lookups.at(-1);
  if (last === undefined || lookups.some(({ step }) => step.passedOver)) return null;
  const back = trace.steps.flatMap((step, at) => (step.kind === "move" && step.cause === "loopback" ? [at] : []));
  if (back.length > 1) return null;
  const isBack = (step: LookupStep): boolean => back.some((at) => at < trace.steps.indexOf(step));
  const edges: Edge[] = [];
  const effects: string[] = [];
  for (const [i, lookup] of lookups.slice(0, -1).entries()) {
    const next = lookups[i + 1] as LookupRecord;
    const edge = edgeBetween(side, lookup, next, isBack(next.step) && !isBack(lookup.step));
    if (edge === null) return null;
    // Of a frame that a port loops back, its sender decides about such rules.
    if (isBack(lookup.step) && edge.rule !== null && side.world.graph.mayBePassedOver(edge.rule)) return null;
    edges.push(edge);
    if (edge.rule !== null)
      effects.push(side.nameOf(edge.rule), ...side.operationsOf(edge.rule).filter((text) => !JUMPS.test(text)));
    if (!PLAIN_MOVES.has(edge.move)) effects.push(`${edge.move} ${edge.vport}`);
  }
  const rule = last.rule === 0 ? null : side.world.rules.ruleAt(last.table, last.rule);
  if (rule !== null && isBack(last.step) && side.world.graph.mayBePassedOver(rule)) return null;
  // What is looped back leaves by its port too.
  const lost = back.length > 0 ? null : lossOf(side, edges, last.table, rule);
  if (lost !== null) return { edges, table: last.table, rule, effects: lost };
  effects.push(rule === null ? side.missEffect(last.table) : `${side.nameOf(rule)} ${side.endEffect(rule)}`);
  return { edges, table: last.table, rule, effects: effects.filter((text) => text !== "").join("; ") };
}

/** How a frame is lost, of which nothing else can be told: no rule on its way copies, counts or remembers it; else null. */
function lossOf(side: Side, edges: readonly Edge[], table: number, rule: RuleNode | null): string | null {
  const rules = edges.flatMap((edge) => (edge.rule === null ? [] : [edge.rule]));
  const isSilent = rules.every((one) => side.nameOf(one) === "" && onlyHas(side, one, SILENT));
  if (!isSilent || side.waysOf(table, rule?.stored.address ?? 0).length > 0) return null;
  const flags = side.world.tracer.traced.flagsOf(table);
  if (rule === null) return (flags & (TABLE_FDB | TABLE_SEND)) === 0 ? `missed ${flags & TABLE_ROOT}` : null;
  const drops = side.operationsOf(rule).some((text) => DROP.test(text));
  return drops && side.nameOf(rule) === "" && onlyHas(side, rule, LOSING) ? "dropped" : null;
}

function onlyHas(side: Side, rule: RuleNode, known: RegExp): boolean {
  return side.operationsOf(rule).every((text) => known.test(text));
}

/** The way from one lookup to the next one; null if there is none, or more than one. */
function edgeBetween(side: Side, { table, rule, key }: LookupRecord, next: LookupRecord, loops: boolean): Edge | null {
  const edges = side
    .waysOf(table, rule)
    .filter(
      ({ to, by, move }) => to === next.table && by !== "array" && by !== "sample" && (move === "loop") === loops,
    );
  if (edges.length === 1) return edges[0] as Edge;
  // Ways by which a frame that nothing changes returns tell each other apart by the frame.
  const own = edges.filter(
    ({ changes, conditions }) => changes.length === 0 && conditions.every((one) => holds(one, key)),
  );
  return own.length === 1 ? (own[0] as Edge) : null;
}

function holds({ bit, width, value, equal }: Condition, key: Uint8Array): boolean {
  let number = 0;
  for (let n = bit; n < bit + width; n++) number = number * 2 + (((key[n >> 3] as number) >> (7 - (n & 7))) & 1);
  return (number === value) === equal;
}
