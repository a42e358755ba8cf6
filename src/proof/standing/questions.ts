/** Which frames a change of a rule may affect, as goals of a search: all but those that the change is about. */
import type { RepairContext, RuleInTable, TriedChange } from "../../explain/repair/context.js";
import { inFlowFields } from "../../explain/repair/flowFields.js";
import { FLAGS, isOfMatch, PRIORITY } from "../../explain/repair/ruleChange.js";
import type { FieldChange } from "../../explain/trace/trace.js";
import { listText } from "../../explain/why/reasons/describe.js";
import { isBefore, type RuleNode } from "../../explain/why/rules.js";
import type { FindOptions, Goal } from "../path/search.js";
import { slotOf } from "../path/tableRules.js";
import { bothMatches } from "../path/ruleMatch.js";
import type { World } from "../path/world.js";
import type { Part } from "./changedCopy.js";
import { likeFrame } from "./likeFrame.js";

/** Frames to look for. */
export interface Question extends Goal, Pick<FindOptions, "also" | "not"> {
  /** Which they are, such as "frames to TCP port 80". */
  readonly frames: string;
}

/** Rules that a rule may pass when its priority changes. */
const MAX_PASSED = 32;

/** Frames that match the rule no longer. */
export function leaving({ rule, changes }: TriedChange, parts: readonly Part[]): Question[] {
  const frames = `frames with ${replacedText(rule, changes)}`;
  return parts.map(({ node, after }) => ({ table: node.table, rule: node, not: [after], frames }));
}

/** A bit that says whether there is a tag, and its place in the name. */
const TAG = /^(.*[._])[cs]vlan_tag$/;

/** What a frame has that a change is about, beside the fields that it leaves out: a bit says of no VLAN which one it is. */
function meantFields(changes: readonly FieldChange[]): string[] {
  return changes.flatMap(({ field, after }) => {
    if (after !== null) return field;
    const [, place] = TAG.exec(field) ?? [];
    return place === undefined ? [] : `${place}${place.endsWith(".") ? "first_" : ""}vid`;
  });
}

/** The values that a change replaces: "outer.tcp_dport 80". */
export function replacedText(rule: RuleInTable, changes: readonly FieldChange[]): string {
  const replaced = inFlowFields(rule, changes.filter(isOfMatch));
  return listText(replaced.flatMap(({ field, before }) => (before === null ? [] : `${field} ${before}`)));
}

/** The values that a change brings: "outer.tcp_dport 443". */
export function matchedText(rule: RuleInTable, changes: readonly FieldChange[]): string {
  const brought = inFlowFields(rule, changes.filter(isOfMatch));
  return listText(brought.flatMap(({ field, after }) => (after === null ? [] : `${field} ${after}`)));
}

/** The rule that the change is about beside the changed one: the one that it comes before, or that comes before it. */
export function partnerOf({ rule, taker }: RepairContext, change: TriedChange): RuleInTable | null {
  return change.rule.ref.id === rule?.ref.id ? taker : rule;
}

/** The rules of the core that a rule is. */
export function nodesOf(world: World, rule: RuleInTable | null): RuleNode[] {
  if (rule === null) return [];
  const { table, stored } = rule.inCore;
  return world.nodesOf(table).filter((node) => node.stored.id === stored.id);
}

/**
 * Frames that hit the changed rule, or one that it has changed places with, and did not before. Null for too many rules to
 * ask about.
 * @param world the changed device
 * @param nodes the changed rules, as the parts
 */
export function joining(
  world: World,
  context: RepairContext,
  change: TriedChange,
  parts: readonly Part[],
  nodes: readonly RuleNode[],
): Question[] | null {
  const { changes } = change;
  const matched = changes.filter(isOfMatch);
  const isRanked = changes.some(({ field }) => field === PRIORITY || field === FLAGS);
  const partners = nodesOf(world, partnerOf(context, change));
  const questions: Question[] = [];
  for (const [i, { node, rule, after }] of parts.entries()) {
    const now = nodes[i] as RuleNode;
    const alike = matched.length === 0 ? rule : likeFrame(rule, after, context.key, meantFields(matched));
    if (matched.length > 0) {
      // A protocol that takes the place of its header's fields is no other one.
      const named = matched.filter(({ field, before }) => before !== null || !field.endsWith(".ip_protocol"));
      const isOfTags = named.every(({ field, after }) => after === null && TAG.test(field));
      const others = listText(inFlowFields(rule, named).map(({ field }) => field));
      const frames = isOfTags ? "frames of another VLAN" : `frames with another ${others}`;
      questions.push({ table: node.table, rule: now, not: [rule, alike], frames });
    }
    if (!isRanked) continue;
    const not = partners.map((one) => bothMatches(alike, world.contentOf(one)));
    const passed = passedBy(world, node, now);
    if (passed.length > MAX_PASSED) return null;
    for (const other of passed) {
      const [rule, also] = isBefore(now, other) ? [now, other] : [other, now];
      questions.push({ table: node.table, rule, also: [also], not, frames: "frames" });
    }
    if (changes.some(({ field }) => field === FLAGS)) questions.push(...continuing(world, now, not));
  }
  return questions;
}

/**
 * The rules that a rule has changed places with, and that have frames in common with it. Among those of its new priority its
 * place depends on its matcher, which the repair leaves open.
 */
function passedBy(world: World, was: RuleNode, now: RuleNode): RuleNode[] {
  const slot = slotOf(now.stored);
  return overlapping(
    world,
    now,
    (other) => isBefore(was, other) !== isBefore(now, other) || slotOf(other.stored) === slot,
  );
}

function overlapping(world: World, now: RuleNode, accepts: (other: RuleNode) => boolean): RuleNode[] {
  const rules = world.graph.rulesOf(now.table);
  const at = rules.indexOf(now.stored.address);
  return world
    .nodesOf(now.table)
    .filter((other, i) => other.stored.id !== now.stored.id && accepts(other) && rules.overlaps(at, i));
}

/** Frames that a flow lets go on: to later rules, and to what comes after the table. */
function continuing(world: World, now: RuleNode, not: Question["not"]): Question[] {
  const { table } = now;
  const later: (RuleNode | null)[] = overlapping(world, now, (other) => isBefore(now, other));
  if (world.graph.edgesFrom(table).some(({ rule }) => rule === null)) later.push(null);
  return later.map((rule) => ({ table, rule, also: [now], not, frames: "frames" }));
}
