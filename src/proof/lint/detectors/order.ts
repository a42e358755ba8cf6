/** Rules whose effect depends on the order in which they were made. */
import { FlowEntry } from "../../../model/flow/entry.js";
import { HostRule } from "../../../model/flow/hostRules.js";
import { isDevxFlowTable } from "../../../model/devx/kinds.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import { Rule } from "../../../model/rule/rule.js";
import type { LintContext } from "../context.js";
import { ActionClasses } from "../actionClasses.js";
import { HeaderKinds } from "../headerKinds.js";
import type { Found, LintDetector } from "../detector.js";
import { called, installedObject, mentioned } from "../objects.js";
import { witnessOf } from "../../path/witness.js";
import { deadIds } from "./dead.js";
import { loopedOnly } from "./looped.js";

/** The priority that the maker of a rule gave it, as a text; null where ranks have no order of creation. */
function priorityOf({ object }: RuleNode): string | null {
  if (object instanceof Rule) return `${object.matcher.priority}`;
  if (object instanceof FlowEntry) return `${object.slot >> 1}`;
  return object instanceof HostRule ? `${object.application} ${object.priority}` : null;
}

/** Which of two rules of equal priority comes first. */
function orderText({ object: a }: RuleNode, { object: b }: RuleNode): string {
  if (a instanceof HostRule) return "the older one";
  const direct = a instanceof Rule && !a.matcher.table.isRoot;
  if (a instanceof Rule && b instanceof Rule && a.matcher === b.matcher) return "the older one";
  return direct ? "the one with the newer mask" : "the one with the older mask";
}

/** Whether the rules of a table rank by numbers that their makers chose, not by when they were made. */
function ranksByIndex({ device }: LintContext, table: number): boolean {
  return isDevxFlowTable(device.tables.get(table)?.object);
}

export const ORDER: readonly LintDetector[] = [
  {
    id: "order-dependent",
    severity: "warning",
    *detect(context) {
      const dead = new Set([...deadIds(context), ...loopedOnly(context).keys()]);
      const seen = new Set<number>();
      for (const table of context.cover.tables()) {
        if (!ranksByIndex(context, table)) yield* dependent(context, table, dead, seen);
      }
    },
  },
];

/** The rules of a table that overlap an earlier one of the same priority, which does something else. */
function* dependent(
  context: LintContext,
  table: number,
  dead: ReadonlySet<number>,
  seen: Set<number>,
): Iterable<Found> {
  const { cover } = context;
  const { graph, tracer } = cover.world;
  const rules = graph.rulesOf(table);
  if (rules.count < 2) return;
  const overlaps = context.overlapsOf(table);
  const actions = new ActionClasses(tracer.traced, rules, overlaps);
  const passed = overlaps.bitmapOf((i) => dead.has(rules.node(i).object.id) || graph.goesOn(rules.node(i)));
  const kinds = new HeaderKinds(context, rules);
  let left = Math.max(context.limits.searches, context.limits.searchesPerRule * rules.count);
  // Rules of one priority stand together.
  let [start, priority] = [0, priorityOf(rules.node(0))];
  for (let j = 1; j < rules.count; j++) {
    const other = rules.node(j);
    const { id } = other.object;
    const own = priorityOf(other);
    if (own !== priority || rules.slot(j) !== rules.slot(start)) [start, priority] = [j, own];
    if (own === null || start === j || seen.has(id) || dead.has(id)) continue;
    for (const i of overlaps.of(j, start, j, [passed, ...actions.like(j)])) {
      const one = rules.node(i);
      if (one.object.id === id || actions.areSame(i, j) || kinds.areExclusive(i, j)) continue;
      if (left-- === 0) {
        context.notDecided(
          table,
          `Whether the order of creation matters was decided for the first ${j} of its ${rules.count} rules. Too many of them overlap in their fields, but not in frames.`,
        );
        return;
      }
      const found = cover.find({ table, rule: one }, { also: [other] });
      if (found.kind !== "frame") continue;
      left++;
      seen.add(id);
      const [first, second] = [installedObject(one.object), installedObject(other.object)];
      yield {
        objects: [second, first],
        field: "priority",
        sentence: `${called(second)} and ${mentioned(first)} have the same priority, and some frames match both, such as the one below. At equal priority, ${orderText(one, other)} wins, so the result depends on the order in which they are created. Give one of them a different priority.`,
        witness: witnessOf(found),
      };
      break;
    }
  }
}
