/** Explanations of rules that frames did not hit, judged by the reference: fields that differ, or the earlier rule that took the frame. */
import { expect } from "vitest";
import type { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import type { Explainer } from "../../../../src/explain/why/why.js";
import type { Explanation, Reason } from "../../../../src/explain/why/explanation.js";
import { aside, walkBase, type Base } from "../../../oracle/generate/pipeline.js";
import { rangeMatches, ruleMatches, termMatches, type Fields } from "../../../oracle/walk/match.js";
import { tableNamed, type PipelineRule } from "../../../oracle/walk/pipeline.js";
import type { PipelineWorld } from "../../../assembly/support/pipelineWorld.js";

/** Explanations for a frame. */
const OF_FRAME = 20;

interface Visit {
  readonly table: string;
  readonly fields: Fields;
  readonly hit: PipelineRule | null;
}

/** Explains the rules that a frame came to and did not hit. */
export function explainMisses(
  world: PipelineWorld,
  explainer: Explainer,
  base: Base,
  kinds: Map<string, number>,
): number {
  const visits: Visit[] = [];
  walkBase(aside(world.world), base, (table, fields, hit) => visits.push({ table, fields, hit }));
  const hit = new Set(visits.map((visit) => visit.hit?.id));
  const tables = new Set(visits.map(({ table }) => table).filter((table) => !table.startsWith("host:")));
  const missed = [...tables].flatMap((table) =>
    tableNamed(world.world, table).rules.flatMap((rule) => (hit.has(rule.id) ? [] : { table, rule })),
  );
  let explained = 0;
  for (const { table, rule } of world.random.shuffle(missed).slice(0, OF_FRAME)) {
    const target = world.rulesMade.get(rule.id)?.rule;
    if (target === undefined) continue;
    const found = explain(world, explainer, base, target);
    const text = JSON.stringify({ rule: rule.id, table, found }, (_, value: unknown) =>
      typeof value === "bigint" ? value.toString() : value,
    );
    expect(found.reached, text).toBe(false);
    const there = visits.filter((visit) => visit.table === table);
    const [reason] = found.reasons;
    expect(reason !== undefined && isTrue(world, reason, rule, there), text).toBe(true);
    kinds.set(reason?.kind ?? "", (kinds.get(reason?.kind ?? "") ?? 0) + 1);
    explained++;
  }
  return explained;
}

function explain(
  { queues }: PipelineWorld,
  explainer: Explainer,
  { frame, sender, metadata, time }: Base,
  target: Parameters<Explainer["why"]>[2],
): Explanation {
  const options = { repairs: false, ...(time === undefined ? {} : { time }) };
  if (sender !== null)
    return explainer.whySend(queues.get(sender) as QueuePair, frame.bytes, target, { ...options, metadata });
  const { bytes, linkType, wireLength, port } = frame;
  return explainer.why(port, bytes, target, { ...options, linkType, wireLength });
}

/** Whether the reference agrees with a reason at one of the lookups in the table of the rule. */
function isTrue(world: PipelineWorld, reason: Reason, rule: PipelineRule, visits: readonly Visit[]): boolean {
  switch (reason.kind) {
    case "no match":
      return visits.some(({ fields }) =>
        differs(
          rule,
          fields,
          reason.differences.map(({ field }) => field),
        ),
      );
    case "earlier rule":
      return visits.some(
        ({ fields, hit }) =>
          hit !== null && hit.rank < rule.rank && nameOf(world, hit) === reason.by.name && ruleMatches(fields, rule),
      );
    case "not reached":
      // The frame came to the root table from a priority on.
      return visits.length > 0 && reason.leading.length === 0;
    default:
      return false;
  }
}

function nameOf({ rulesMade, names }: PipelineWorld, { id }: PipelineRule): string | undefined {
  const made = rulesMade.get(id)?.rule.name;
  if (made !== undefined) return made;
  for (const [object, name] of names) if (name === id) return (object as { name: string }).name;
  return undefined;
}

/** Whether a rule fails for a frame, in some of the named fields; none of its terms that hold is named. */
function differs(rule: PipelineRule, fields: Fields, named: readonly string[]): boolean {
  const failing = [
    ...rule.terms.filter((term) => !termMatches(fields, term)),
    ...rule.ranges.filter((range) => !rangeMatches(fields, range)),
  ].map(({ field }) => field);
  const holding = rule.terms.filter((term) => term.mask !== 0n && termMatches(fields, term)).map(({ field }) => field);
  return (
    failing.length > 0 &&
    failing.every((field) => named.includes(field)) &&
    !holding.some((field) => named.includes(field))
  );
}
