/** Tables that no frame comes to, and tables that take none. */
import { isDevxFlowTable } from "../../../model/devx/kinds.js";
import { Table } from "../../../model/table/domain.js";
import type { FindingObject, Proof } from "../../answer.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, mentioned, namedObject } from "../objects.js";
import { deadRules } from "./dead.js";

/** The tables that have an object of their own: not the root tables, which functions share. */
function* ownTables({ device }: LintContext): Iterable<readonly [address: number, object: FindingObject]> {
  for (const [address, { object }] of device.tables) {
    if (object instanceof Table) yield [address, namedObject("table", object)];
    else if (isDevxFlowTable(object)) yield [address, namedObject("flow table", object)];
  }
}

function sentenceOf(object: FindingObject, { kind, sentence }: Proof): string {
  if (kind !== "unreached") return `No frame reaches ${mentioned(object)}: ${sentence}.`;
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}, so no frame gets there.`;
}

export const REACH: readonly LintDetector[] = [
  {
    id: "unreached-table",
    severity: "warning",
    *detect(context) {
      // The frames of rules show that their tables are reached, without a search of its own for each table.
      deadRules(context);
      for (const [address, object] of ownTables(context)) {
        const { coverage } = context.cover.table(address);
        if (coverage.status !== "none") continue;
        const { proof } = coverage;
        yield { objects: [object], sentence: sentenceOf(object, proof), proof };
      }
    },
  },
  {
    id: "empty-table",
    severity: "warning",
    *detect(context) {
      const reached = context.reachedTables();
      for (const [address, object] of ownTables(context)) {
        if (!reached.has(address) || context.tracer.traced.ruleCount(address) > 0) continue;
        const [lead] = context.links.leadsTo("table", address);
        const by = lead === undefined ? [] : [context.objectOf(lead.rule)];
        const from = by.map(called).join("");
        yield {
          objects: [object, ...by],
          sentence: `${called(object)} has no rules, so every frame that gets there misses.${from === "" ? "" : ` ${from} leads to it.`}`,
        };
      }
    },
  },
];
