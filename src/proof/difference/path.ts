/** The way of a frame through one device, and all that happens to it there. */
import { Op, TABLE_FDB, TABLE_ROOT, TABLE_SEND } from "../../abi/engine.js";
import type { LookupStep, Trace } from "../../explain/trace/trace.js";
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { TracedWalk } from "../../explain/trace/tracer.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { opNames } from "../../model/action/operations.js";
import type { Condition, Edge } from "../path/graph.js";
import type { Side } from "./sides.js";

/** The path of a frame, or of one branch of a frame that arrays split (tree.ts). */
export interface Path {
  readonly edges: readonly Edge[];
  /** The last table, and the rule that the frame hits there; null for none, undefined for a path that ends before it. */
  readonly table: number;
  readonly rule: RuleNode | null | undefined;
  /** How many actions of the last rule the frame got past, and whether the next one ended it for want of a tunnel. */
  readonly passed: number;
  readonly failed: boolean;
  /** Equal for paths on which the same happens to every frame. */
  readonly effects: string;
  /** The same without what changes fields of headers. */
  readonly marks: string;
  /** The same up to the table after each edge; empty for a frame that a port loops back, or that arrays split. */
  readonly stops: readonly string[];
  /** For each table the edges that other branches of the frame take from there; absent for a frame that nothing splits. */
  readonly branches?: readonly (readonly Edge[])[];
}

/** Moves that do nothing but go on. */
const PLAIN_MOVES: ReadonlySet<Edge["move"]> = new Set(["jump", "miss"]);
/** Operations that do nothing but go on. */
const JUMPS = operations(({ operand }) => operand === "table" || operand === "priority");

/**
 * Operations that a frame which is lost later does not show. A vport that leads on is that of a function. Headers that are
 * added can be the reason of a loss.
 */
const SILENT = operations(({ silent }, name) => silent === true || name === "modify" || name === "pop_vlan");
const FIELD_CHANGES = operations((_, name) => name === "modify" || name === "push_vlan" || name === "pop_vlan");
const DROP = operations((_, name) => name === "drop");
const LOSING = operations((_, name) => ["untag", "tag", "drop", "modify", "pop_vlan"].some((one) => one === name));

/** Tests the text of an operation. */
function operations(test: Parameters<typeof opNames>[0]): RegExp {
  return new RegExp(`^(${opNames(test).join("|")}) `);
}

/**
 * The path of a frame; null if it is split, or if the graph does not have the path.
 * @param end the lookup at which the path ends, as if the walk ended there
 */
export function pathOf(side: Side, walk: TracedWalk, end = walk.lookups.length - 1): Path | null {
  const { trace } = walk;
  const lookups = walk.lookups.slice(0, end + 1);
  const last = lookups.at(-1);
  if (last === undefined || lookups.some(({ step }) => step.passedOver)) return null;
  const steps = end === walk.lookups.length - 1 ? trace.steps : trace.steps.slice(0, trace.steps.indexOf(last.step));
  if (steps.some(({ kind }) => kind === "fork") || !trace.complete) return null;
  const back = steps.flatMap((step, at) => (step.kind === "move" && step.cause === "loopback" ? [at] : []));
  if (back.length > 1) return null;
  const isBack = (step: LookupStep): boolean => back.some((at) => at < trace.steps.indexOf(step));
  const edges: Edge[] = [];
  const effects: string[] = [];
  const written: string[] = [];
  const stops: string[] = [];
  const isSeen = readsRegister(side, lookups);
  /** How many edges and effects come before the port loops the frame back. */
  let before: readonly [edges: number, effects: number] = [0, 0];
  for (const [i, lookup] of lookups.slice(0, -1).entries()) {
    const next = lookups[i + 1] as LookupRecord;
    const edge = edgeBetween(side, lookup, next, { loops: isBack(next.step) && !isBack(lookup.step) });
    if (edge === null) return null;
    // Of a frame that a port loops back, its sender decides about such rules.
    if (isBack(lookup.step) && edge.rule !== null && side.world.graph.mayBePassedOver(edge.rule, null)) return null;
    edges.push(edge);
    effects.push(...effectsOf(side, edge, isSeen));
    // Rules of later tables can match registers.
    written.push(...effectsOf(side, edge, true));
    if (edge.move === "loop") before = [edges.length, effects.length];
    if (back.length === 0) stops.push(written.filter((text) => text !== "").join("; "));
  }
  const rule = last.rule === 0 ? null : side.world.rules.ruleAt(last.table, last.rule);
  if (rule !== null && isBack(last.step) && side.world.graph.mayBePassedOver(rule, null)) return null;
  const actions = rule === null ? [] : side.world.contentOf(rule).actions;
  const place = { edges, table: last.table, rule, stops };
  const failed = rule === null || steps !== trace.steps ? -1 : failedAction(trace, last.step, actions);
  // What is looped back leaves by its port too.
  const left = effects.slice(0, before[1]);
  if (rule !== null && failed >= 0) {
    const own = side.operationsOf(rule, failed, isSeen);
    const after = effects.slice(before[1]);
    const loud = [...after, ...own].filter((text) => !SILENT.test(text) && text !== "");
    const shown = loud.length === 0 ? left : [...effects, side.nameOf(rule), ...own];
    const text = [...shown, side.ignoresReasons ? "lost" : "not a tunnel"].filter((one) => one !== "").join("; ");
    return { ...place, passed: failed, failed: true, effects: text, marks: text };
  }
  const lost = lossOf(side, edges.slice(before[0]), last.table, rule);
  const whole = { ...place, passed: actions.length / 2, failed: false };
  if (lost !== null) {
    const text = [...left, lost].filter((one) => one !== "").join("; ");
    return { ...whole, effects: text, marks: text };
  }
  return { ...whole, ...textsOf([...effects, ...endsOf(side, last.table, rule, isSeen)]) };
}

/** What happens to a frame in its last table. */
export function endsOf(side: Side, table: number, rule: RuleNode | null, isSeen: boolean): string[] {
  return rule === null ? [side.lastMiss(table)] : [side.nameOf(rule), ...side.endEffects(rule, isSeen)];
}

export function textsOf(effects: readonly string[]): Pick<Path, "effects" | "marks"> {
  const all = effects.filter((text) => text !== "");
  return { effects: all.join("; "), marks: all.filter((text) => !FIELD_CHANGES.test(text)).join("; ") };
}

/** What happens to a frame on its way to the next lookup. */
export function effectsOf(side: Side, { rule, move, vport }: Edge, isSeen: boolean): string[] {
  const does =
    rule === null
      ? []
      : [side.nameOf(rule), ...side.operationsOf(rule, undefined, isSeen).filter((text) => !JUMPS.test(text))];
  return PLAIN_MOVES.has(move) ? does : [...does, `${move} ${vport}`];
}

/** How a frame is lost, of which nothing else can be told: no rule on its way copies, counts or remembers it; else null. */
function lossOf(side: Side, edges: readonly Edge[], table: number, rule: RuleNode | null): string | null {
  const rules = edges.flatMap((edge) => (edge.rule === null ? [] : [edge.rule]));
  const isSilent = rules.every((one) => side.nameOf(one) === "" && onlyHas(side, one, SILENT));
  if (!isSilent || side.waysOf(table, rule?.stored.address ?? 0).length > 0) return null;
  const flags = side.world.tracer.traced.flagsOf(table);
  const isLost =
    rule === null
      ? (flags & (TABLE_FDB | TABLE_SEND)) === 0
      : side.operationsOf(rule).some((text) => DROP.test(text)) && onlyHas(side, rule, LOSING);
  if (!isLost || (rule !== null && side.nameOf(rule) !== "")) return null;
  if (side.ignoresReasons) return "lost";
  return rule === null ? `missed ${flags & TABLE_ROOT}` : "dropped";
}

/** The action of a branch's last rule that ended it because it is no tunnel; -1 for none. */
export function failedAction({ steps }: Trace, last: LookupStep, actions: readonly number[]): number {
  const after = steps.slice(steps.indexOf(last)).filter(({ branch }) => branch === last.branch);
  // The outcome of a frame that a port loops back is that it left.
  if (!after.some((step) => step.kind === "end" && step.reason === "not_a_tunnel")) return -1;
  let left = after.filter((step) => step.kind === "action" && step.action === "reformat").length;
  return actions.findIndex((op, n) => n % 2 === 0 && op === (Op.reformat as number) && --left === 0) / 2;
}

function onlyHas(side: Side, rule: RuleNode, known: RegExp): boolean {
  return side.operationsOf(rule).every((text) => known.test(text));
}

/**
 * Whether an action on a path reads a register: no frame shows what a rule wrote to one otherwise, and which rules it hits the
 * path says.
 */
export function readsRegister(side: Side, lookups: readonly LookupRecord[]): boolean {
  return lookups.some(({ table, rule }) => rule !== 0 && side.readsRegister(side.world.rules.ruleAt(table, rule)));
}

/**
 * The way from one lookup to the next one; null if there is none, or more than one.
 * @param except ways that other branches of the frame took
 */
export function edgeBetween(
  side: Side,
  { table, rule, key }: LookupRecord,
  next: LookupRecord,
  { loops = false, except = [] as readonly Edge[] },
): Edge | null {
  const edges = side
    .waysOf(table, rule)
    .filter((one) => one.to === next.table && one.by !== "sample" && (one.move === "loop") === loops)
    .filter((one) => !except.includes(one));
  const [first] = edges;
  // Members of an array that do the same: one for each branch.
  if (first !== undefined && edges.every((one) => isTwin(one, first))) return first;
  // Ways by which a frame that nothing changes returns tell each other apart by the frame.
  const own = edges.filter(
    ({ changes, conditions }) => changes.length === 0 && conditions.every((one) => holds(one, key)),
  );
  return own.length === 1 ? (own[0] as Edge) : null;
}

function isTwin(a: Edge, b: Edge): boolean {
  return a === b || (a.by === "array" && edgeText(a) === edgeText(b));
}

function holds({ bit, width, value, equal }: Condition, key: Uint8Array): boolean {
  let number = 0;
  for (let n = bit; n < bit + width; n++) number = number * 2 + (((key[n >> 3] as number) >> (7 - (n & 7))) & 1);
  return (number === value) === equal;
}

/** Whether the frames of a path hit a rule in a table; for null whether they miss the table. */
export function hits({ edges, table, rule }: Path, at: number, wanted: RuleNode | null): boolean {
  const address = wanted?.stored.address ?? 0;
  const isThere = (one: number, hit: RuleNode | null): boolean => one === at && (hit?.stored.address ?? 0) === address;
  return (rule !== undefined && isThere(table, rule)) || edges.some((edge) => isThere(edge.from, edge.rule));
}

/** Equal for equal paths of one device. */
export function pathText({ edges, table, rule, passed, failed }: Path): string {
  return [...edges.map(edgeText), table, rule === undefined ? "any" : (rule?.stored.address ?? 0), passed, failed].join(
    " ",
  );
}

function edgeText({ from, to, rule, move, by, vport, slot, changes, conditions }: Edge): string {
  return JSON.stringify([from, to, rule?.stored.address, move, by, vport, slot, changes, conditions]);
}

/** The first edges of a path. */
export function beginning({ edges, stops }: Path, count: number): Path {
  const [effects, { to }] = [stops[count - 1] ?? "", edges[count - 1] as Edge];
  const shorter = { edges: edges.slice(0, count), stops: stops.slice(0, count) };
  return { ...shorter, table: to, rule: undefined, passed: 0, failed: false, effects, marks: effects };
}
