/** Frames that tables lead around until the hop limit ends their way. */
import type { RuleNode } from "../../../explain/why/rules.js";
import { circleOf } from "../../../explain/why/circle.js";
import { listText } from "../../../explain/why/reasons/describe.js";
import type { RuleRef } from "../../../explain/trace/trace.js";
import type { FindingObject, Witness } from "../../answer.js";
import type { Graph } from "../../path/graph.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, installedObject, mentioned } from "../objects.js";
import { witnessOf } from "../../path/witness.js";

/** The tables that frames can leave a table for and come back from, itself included; null if there is no way back. */
function circle(graph: Graph, table: number): ReadonlySet<number> | null {
  const reach = (from: number, next: (table: number) => readonly number[]): Set<number> => {
    const reached = new Set<number>();
    for (const pending = next(from).slice(); pending.length > 0;) {
      const one = pending.pop() as number;
      if (reached.has(one)) continue;
      reached.add(one);
      pending.push(...next(one));
    }
    return reached;
  };
  const after = reach(table, (at) => graph.edgesFrom(at).flatMap(({ move, to }) => (move === "resume" ? [] : [to])));
  if (!after.has(table)) return null;
  const before = reach(table, (at) => graph.edgesTo(at).flatMap(({ move, from }) => (move === "resume" ? [] : [from])));
  return new Set([...after].filter((one) => before.has(one)));
}

/** A frame that hits a rule and runs into the hop limit, and the rules that send it in a circle. */
function looping(context: LintContext, rule: RuleNode): { witness: Witness; rules: readonly RuleRef[] } | null {
  const found = context.cover.find({ table: rule.table, rule });
  if (found.kind !== "frame" || found.before.length > 0) return null;
  const { trace } = context.walk(found.last);
  if (trace.outcome.reason !== "hop_limit") return null;
  return { witness: witnessOf(found), rules: circleOf(trace.steps) };
}

export const LOOPS: readonly LintDetector[] = [
  {
    id: "loop",
    severity: "warning",
    *detect(context) {
      const { graph } = context.cover.world;
      const done = new Set<number>();
      for (const table of context.cover.tables()) {
        const tables = done.has(table) ? null : circle(graph, table);
        if (tables === null) continue;
        for (const one of tables) done.add(one);
        for (const edge of [...tables].flatMap((one) => graph.edgesFrom(one))) {
          if (edge.rule === null || !tables.has(edge.to)) continue;
          const found = looping(context, edge.rule);
          if (found === null) continue;
          const { id } = edge.rule.object;
          const all = found.rules.filter((one) => one.id !== id).map((one) => context.device.installed.at(one.id));
          const [object, ...more] = [edge.rule.object, ...all].map(installedObject) as [
            FindingObject,
            ...FindingObject[],
          ];
          const others = [...tables].map((one) => context.rules.tableRefOf(one).table);
          yield {
            objects: [object, ...more],
            sentence: `${listText([called(object), ...more.map(mentioned)], 1 + more.length)} ${more.length === 0 ? "sends" : "send"} frames in a loop through ${others.length === 1 ? "the table" : "the tables"} ${others.map((name) => `"${name}"`).join(", ")}. The frame below loops until the hop limit drops it (hop_limit).`,
            witness: found.witness,
          };
          break;
        }
      }
    },
  },
];
