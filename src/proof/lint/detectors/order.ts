/** Rules whose effect depends on the order in which they were made. */
import { FlowEntry } from "../../../model/flow/entry.js";
import { HostRule } from "../../../model/flow/hostRules.js";
import { isDevxFlowTable } from "../../../model/devx/kinds.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import { Rule } from "../../../model/rule/rule.js";
import type { TableRules } from "../../path/tableRules.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, installedObject, mentioned, witnessOf } from "../objects.js";
import { deadIds } from "./dead.js";

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

/** Rules that are tested against each other in one table. */
const MAX_TESTS = 20_000_000;

/** The pairs of overlapping rules of a table, by rank, as long as `isWanted` for the later one. */
function* overlaps(
  rules: TableRules,
  isWanted: (i: number, j: number) => boolean,
): Iterable<readonly [number, number]> {
  let tests = 0;
  for (let i = 0; i < rules.count; i++) {
    for (let j = i + 1; j < rules.count && isWanted(i, j); j++) {
      if (tests++ > MAX_TESTS) return;
      if (rules.overlaps(i, j)) yield [i, j];
    }
  }
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
      const { cover } = context;
      const { graph, tracer } = cover.world;
      const dead = deadIds(context);
      const seen = new Set<number>();
      for (const table of cover.tables()) {
        if (ranksByIndex(context, table)) continue;
        const rules = graph.rulesOf(table);
        const sameSlot = (i: number, j: number): boolean => rules.slot(i) === rules.slot(j);
        for (const [i, j] of overlaps(rules, sameSlot)) {
          const [one, other] = [rules.node(i), rules.node(j)];
          const { id } = other.object;
          if (one.object.id === id || seen.has(id) || dead.has(one.object.id) || dead.has(id)) continue;
          const priority = priorityOf(one);
          if (priority === null || priority !== priorityOf(other) || graph.goesOn(one)) continue;
          const [does, would] = [one, other].map(({ stored }) => tracer.traced.actionsOf(stored).join());
          if (does === would) continue;
          const found = cover.find({ table, rule: one }, { also: [other] });
          if (found.kind !== "frame") continue;
          seen.add(id);
          const [first, second] = [installedObject(one.object), installedObject(other.object)];
          yield {
            objects: [second, first],
            field: "priority",
            sentence: `${called(second)} and ${mentioned(first)} have the same priority, ${priority}, and some frames match both, such as the one below. At equal priority, ${orderText(one, other)} wins, so the result depends on the order in which they are created. Give one of them a different priority.`,
            witness: witnessOf(found),
          };
        }
      }
    },
  },
];
