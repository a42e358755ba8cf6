/** Rules that no frame hits. */
import { ownersOf } from "../../../explain/trace/names.js";
import { Flow } from "../../../model/flow/flow.js";
import { ConnectedRule } from "../../../model/roce/connectionRule.js";
import { Rule } from "../../../model/rule/rule.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import type { FindingObject, Proof } from "../../answer.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, installedObject, mentioned, namedObject } from "../objects.js";
import { unknownSourceOf } from "./matches.js";

/** A rule that no frame hits, with the proof of its first record in the core. */
interface Dead {
  readonly node: RuleNode;
  readonly object: FindingObject;
  readonly proof: Proof;
}

const FOUND = new WeakMap<LintContext, readonly Dead[]>();

/** The rules that no frame hits, in the order of tables and ranks. */
export function deadRules(context: LintContext): readonly Dead[] {
  let dead = FOUND.get(context);
  if (dead === undefined) FOUND.set(context, (dead = [...judged(context)]));
  return dead;
}

function* judged(context: LintContext): Iterable<Dead> {
  const { cover } = context;
  const dead = new Map<unknown, Dead>();
  const alive = new Set<unknown>();
  for (const table of cover.tables()) {
    for (const node of cover.world.nodesOf(table)) {
      if (node.object instanceof ConnectedRule) continue;
      const coverage = cover.coverageOf(node);
      for (const one of ownersOf(node.object)) {
        if (coverage.status !== "none") alive.add(one);
        else if (!dead.has(one)) dead.set(one, { node, object: objectOf(one, node), proof: coverage.proof });
      }
    }
  }
  for (const [one, found] of dead) if (!alive.has(one)) yield found;
}

function objectOf(maker: object, { object }: RuleNode): FindingObject {
  if (maker instanceof Flow) return namedObject("flow", maker);
  return maker instanceof Rule ? namedObject("rule", maker) : installedObject(object);
}

/** The numbers of rules that no frame hits. */
export function deadIds(context: LintContext): ReadonlySet<number> {
  return new Set(deadRules(context).map(({ node }) => node.object.id));
}

/** The finding of each dead rule that `sentence` has words for. */
function deadBy(
  id: string,
  sentence: (
    context: LintContext,
    dead: Dead,
  ) => { readonly sentence: string; readonly others?: readonly FindingObject[] } | null,
): LintDetector {
  return {
    id,
    severity: "warning",
    *detect(context) {
      for (const dead of deadRules(context)) {
        const found = sentence(context, dead);
        if (found === null) continue;
        const { object, proof } = dead;
        yield {
          objects: [object, ...(found.others ?? [])],
          field: "terms" in proof ? (proof.terms[0]?.field ?? null) : null,
          sentence: found.sentence,
          proof,
        };
      }
    },
  };
}

function coveringRules(context: LintContext, { proof }: Dead): FindingObject[] {
  if (proof.kind !== "covered") return [];
  return proof.by.map(({ id }) => installedObject(context.device.installed.at(id)));
}

/** The rule before a dead one that has the same match; null for none. */
function original({ cover }: LintContext, { node, proof }: Dead): RuleNode | null {
  if (proof.kind !== "covered" || proof.by.length !== 1) return null;
  const rules = cover.world.graph.rulesOf(node.table);
  const at = rules.indexOf(node.stored.address);
  for (let i = 0; i < at; i++) {
    const other = rules.node(i);
    if (other.object.id === proof.by[0]?.id && rules.contains(at, i) && rules.contains(i, at)) return other;
  }
  return null;
}

/** Whether two rules do the same with a frame. */
export function sameActions({ cover }: LintContext, a: RuleNode, b: RuleNode): boolean {
  const { traced } = cover.world.tracer;
  const [one, other] = [traced.actionsOf(a.stored), traced.actionsOf(b.stored)];
  return one.length === other.length && one.every((word, i) => word === other[i]);
}

/** A table whose own finding covers its rules: no frame comes there. */
function hasOwnFinding({ device }: LintContext, table: number): boolean {
  const { stage } = device.tables.get(table) ?? {};
  return stage === null;
}

export const DEAD: readonly LintDetector[] = [
  deadBy("duplicate-rule", (context, dead) => {
    const first = original(context, dead);
    if (first === null) return null;
    const does = sameActions(context, first, dead.node) ? "and does the same" : "and takes all its frames";
    const other = installedObject(first.object);
    return {
      others: [other],
      sentence: `${called(dead.object)} has no effect: ${mentioned(other)} before it has the same match, ${does}.`,
    };
  }),
  deadBy("dead-rule", (context, dead) => {
    if (dead.proof.kind !== "covered" || original(context, dead) !== null) return null;
    return {
      others: coveringRules(context, dead),
      sentence: `${called(dead.object)} is never hit: ${dead.proof.sentence}.`,
    };
  }),
  deadBy("contradiction", (_, { object, proof }) =>
    proof.kind === "contradiction" ? { sentence: `${called(object)} is never hit: ${proof.sentence}.` } : null,
  ),
  deadBy("unreached-rule", (context, { node, object, proof }) => {
    const isOfTable = context.cover.table(node.table).coverage.status === "none" && hasOwnFinding(context, node.table);
    if (
      isOfTable ||
      unknownSourceOf(context, node) !== null ||
      (proof.kind !== "unreached" && proof.kind !== "cannot match")
    )
      return null;
    return { sentence: `${called(object)} is never hit: ${proof.sentence}.` };
  }),
];
