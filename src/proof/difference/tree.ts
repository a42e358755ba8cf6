/** The paths of the branches of a frame that arrays split. */
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { Trace, TraceStep } from "../../explain/trace/trace.js";
import type { TracedWalk } from "../../explain/trace/tracer.js";
import { someOperation } from "../../model/action/operations.js";
import type { Edge } from "../path/graph.js";
import type { Way } from "./alike.js";
import { names } from "./compare.js";
import { edgeBetween, effectsOf, endsOf, failedAction, pathOf, readsRegister, textsOf, type Path } from "./path.js";
import type { Side } from "./sides.js";

/** A lookup of a branch, after those of the branches that it was split off from. */
interface Node {
  readonly lookup: LookupRecord;
  readonly before: Node | null;
  /** Whether a port has looped the frame back. */
  readonly isBack: boolean;
  /** From the lookup before; null for the first one. */
  readonly edge: Edge | null;
  /** The lookups after it, by their branches. */
  readonly after: Node[];
}

/**
 * The paths of a frame to each of its last lookups, in the order of its branches.
 * @returns null where the graph does not have the paths
 */
export function branchesOf(side: Side, walk: TracedWalk): readonly Path[] | null {
  const path = pathOf(side, walk);
  return path === null ? treeOf(side, walk) : [path];
}

function treeOf(side: Side, { trace, lookups }: TracedWalk): readonly Path[] | null {
  const { steps, complete } = trace;
  const fork = steps.findIndex(({ kind }) => kind === "fork");
  const back = steps.findLastIndex(isLoopback);
  if (fork < 0 || fork < back || steps.filter(isLoopback).length > 1 || !complete) return null;
  const records = new Map(lookups.map((one) => [one.step, one]));
  const last = new Map<number, Node>();
  let first: Node | null = null;
  for (const [at, step] of steps.entries()) {
    const before: Node | undefined = at === back ? [...last.values()].at(-1) : last.get(step.branch);
    if (at === back && before !== undefined) last.set(step.branch, before);
    if (step.kind === "fork" && before !== undefined) last.set(step.into, before);
    if (step.kind !== "lookup") continue;
    const node = nodeOf(side, records.get(step) as LookupRecord, before ?? null, at > back && back >= 0);
    if (node === null) return null;
    before?.after.push(node);
    first ??= node;
    last.set(step.branch, node);
  }
  const isSeen = readsRegister(side, lookups);
  return first === null ? null : leavesOf(first).map((node) => pathTo(side, node, { trace, isSeen }));
}

function isLoopback(step: TraceStep): boolean {
  return step.kind === "move" && step.cause === "loopback";
}

/**
 * @param isBack whether a port has looped the frame back
 * @returns null for a lookup that does not follow from the one before and the frame alone
 */
function nodeOf(side: Side, lookup: LookupRecord, before: Node | null, isBack: boolean): Node | null {
  const { step, table, rule: address } = lookup;
  if (step.passedOver) return null;
  if (address !== 0) {
    const { graph, rules } = side.world;
    const rule = rules.ruleAt(table, address);
    const { actions } = side.world.contentOf(rule);
    const hasSampler = someOperation(actions, ({ operand }) => operand === "sampler");
    if (hasSampler || (isBack && graph.mayBePassedOver(rule, null))) return null;
  }
  if (before === null) return { lookup, before, isBack, edge: null, after: [] };
  const edge = edgeBetween(side, before.lookup, lookup, {
    loops: isBack && !before.isBack,
    except: before.after.flatMap((one) => one.edge ?? []),
  });
  return edge === null ? null : { lookup, before, isBack, edge, after: [] };
}

function leavesOf(node: Node): Node[] {
  return node.after.length === 0 ? [node] : node.after.flatMap(leavesOf);
}

function pathTo(side: Side, leaf: Node, { trace, isSeen }: { readonly trace: Trace; readonly isSeen: boolean }): Path {
  const nodes: Node[] = [];
  for (let node: Node | null = leaf; node !== null; node = node.before) nodes.unshift(node);
  const edges = nodes.flatMap(({ edge }) => edge ?? []);
  const { table, rule: address, step } = leaf.lookup;
  const rule = address === 0 ? null : side.world.rules.ruleAt(table, address);
  const actions = rule === null ? [] : side.world.contentOf(rule).actions;
  const failed = failedAction(trace, step, actions);
  const ends =
    rule === null || failed < 0
      ? endsOf(side, table, rule, isSeen)
      : [...side.operationsOf(rule, failed, isSeen), "not a tunnel"];
  return {
    edges,
    table,
    rule,
    passed: failed < 0 ? actions.length / 2 : failed,
    failed: failed >= 0,
    ...textsOf([...edges.flatMap((edge) => effectsOf(side, edge, isSeen)), ...ends]),
    stops: [],
    branches: nodes.map(({ after }, n) =>
      after.flatMap(({ edge }) => (edge === null || edge === edges[n] ? [] : [edge])),
    ),
  };
}

/**
 * Whether the same happens to every frame with the branches of one device and of the other.
 * @param isOrdered whether the order of what happens to branches counts. They take turns table by table, so then as many
 * tables must lie before each effect.
 */
export function areAlike(was: readonly Way[], is: readonly Way[], isOrdered: boolean): boolean {
  return (
    was.length === is.length &&
    was.every(({ path: { edges, effects } }, n) => {
      const other = (is[n] as Way).path;
      return effects === other.effects && (!isOrdered || edges.length === other.edges.length);
    })
  );
}

/** Whether a destination can get two copies of a frame. */
export function mayMeet({ trace: { outcome, steps } }: TracedWalk): boolean {
  const all = names(outcome);
  return new Set(all).size < all.length || steps.some((step) => step.kind === "action" && step.hash !== undefined);
}
